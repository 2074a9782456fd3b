import { l10n, Uri } from 'vscode';
import { isVisible } from '../../core/base/plainText.ts';
import type { ActiveDownload, DownloadRecord } from '../../core/downloads/downloads.ts';
import { isAdapter } from '../../core/downloads/localFiles.ts';
import type { ArtifactsState } from '../../core/runs/run.ts';
import { compact, formatBytes, formatTime } from '../shared/format.ts';
import { revealOf } from '../shared/open.ts';
import { serviceText } from '../shared/runText.ts';
import { factLine, TERMS } from '../shared/terms.ts';
import type { RunPageDownload, RunPageFact, RunPageFile, RunPageSection } from './protocol.ts';
import { adapterHere, runButton, fact, withLabel, type KnownRun } from './runPageFacts.ts';

export function adapterSection(view: KnownRun): RunPageSection | undefined {
  const { artifacts, downloads, records, phase, answers } = view;
  const isPromised = phase !== 'ended' || artifacts.kind !== 'not-known';
  if (!isPromised && downloads.length + records.length === 0) return undefined;
  const isLost = artifacts.kind === 'expired' && adapterHere(view) === undefined && answers === undefined;
  return {
    kind: 'adapter',
    key: 'adapter',
    title: l10n.t('Adapter'),
    text:
      artifacts.kind === 'available' && adapterHere(view) !== undefined
        ? l10n.t('The adapter is downloaded.')
        : ADAPTERS[isPromised ? artifacts.kind : 'unknown'],
    facts: phase === 'finished' && !isLost ? [comparison(view)] : [],
    downloads: downloads.map(downloadOf),
    files: records.map(fileOf),
  };
}

/** Whether training helped: only the user's own comparison can show that. */
function comparison(view: KnownRun): RunPageFact {
  const { answers, isActive, verdict } = view;
  const adapter = adapterHere(view);
  return fact(
    'comparison',
    l10n.t('Did it help?'),
    verdict ?? l10n.t('Compare it with the base model on rows it wasn’t trained on.'),
    ...compact(
      {
        ...runButton('howToCompare', adapter?.path ?? '', l10n.t('Show How')),
        label: l10n.t('Show how to compare it with the base model'),
        // Without the adapter, the command says how to get it; it finds the run only in the active account.
        isDisabled: adapter === undefined && !isActive,
      },
      answers !== undefined && runButton('compareAnswers', answers, l10n.t('Compare Answers')),
    ),
  );
}

const MAY_COME = l10n.t('If the run completes, its adapter appears here.');
/** Whether there is an adapter to download. The timeline shows when it expires. */
const ADAPTERS: Readonly<Record<ArtifactsState['kind'], string>> = {
  'not-yet': MAY_COME,
  'not-known': MAY_COME,
  available: l10n.t('The adapter can be downloaded.'),
  expired: l10n.t('This adapter has expired.'),
  unknown: l10n.t('The service lists no adapter for this run.'),
};

/** The contract defines one type of artifact; others are shown with the service's name for the type. */
function artifactName({ artifactType, filename }: Pick<DownloadRecord, 'artifactType' | 'filename'>): string {
  const name = filename === undefined ? l10n.t('unnamed') : serviceText(filename);
  return isAdapter(artifactType)
    ? l10n.t('Adapter: {0}', name)
    : l10n.t('Other file ({0}): {1}', serviceText(artifactType), name);
}

function downloadOf(download: ActiveDownload): RunPageDownload {
  const { id, state, receivedBytes, totalBytes } = download;
  const name = artifactName(download);
  const isBusy = state !== 'interrupted';
  const cancel = runButton('cancelDownload', id, isBusy ? TERMS.cancel : TERMS.discard);
  return {
    key: id,
    name,
    text: downloadText(download),
    fraction: totalBytes === undefined || totalBytes === 0 ? undefined : receivedBytes / totalBytes,
    isBusy,
    buttons: [withLabel(name, cancel)],
  };
}

function downloadText({ state, receivedBytes, totalBytes, target }: ActiveDownload): string {
  const received = formatBytes(receivedBytes);
  if (state === 'waiting') return l10n.t('Waiting for the network · {0}', target);
  if (state === 'verifying') return l10n.t('Verifying {0} in {1}', received, target);
  const amount =
    totalBytes === undefined ? received : l10n.t('{0} of {1}', received, formatBytes(totalBytes));
  return state === 'downloading'
    ? l10n.t('{0} · {1}', amount, target)
    : l10n.t('Interrupted at {0} · {1}', amount, target);
}

function fileOf(record: DownloadRecord): RunPageFile {
  const { path, sha256, sizeBytes, completedAtMs, verified, isGone = false } = record;
  const name = artifactName(record);
  const reveal = revealOf(Uri.file(path));
  return {
    key: `${completedAtMs} ${path}`,
    name,
    lines: compact(
      isGone && l10n.t('The file was moved or deleted.'),
      l10n.t('{0}, downloaded {1}', formatBytes(sizeBytes), formatTime(completedAtMs)),
      !isGone && VERIFIED[verified],
      factLine('SHA-256', sha256),
    ),
    path,
    isGone,
    buttons: compact(
      !isGone && runButton('inspect', path, l10n.t('Inspect Adapter')),
      !isGone && reveal.title !== TERMS.copyPath && runButton('reveal', path, reveal.title),
      isVisible(path) && runButton('copy', path, TERMS.copyPath),
      runButton('copy', sha256, l10n.t('Copy SHA-256')),
    ).map((one) => withLabel(name, one)),
  };
}

const CHECKSUMS_MATCH = l10n.t('Verified: its checksums match.');
const SIZE_ONLY = l10n.t('Only its size could be verified.');

/** The contract has no digest, so only the length and the archive's own checksums can be verified. */
const VERIFIED: Readonly<Record<DownloadRecord['verified'], string>> = {
  zip: CHECKSUMS_MATCH,
  gzip: CHECKSUMS_MATCH,
  tar: CHECKSUMS_MATCH,
  safetensors: l10n.t('Verified: its lengths match.'),
  unread: SIZE_ONLY,
  length: SIZE_ONLY,
  html: l10n.t('A web page, not an adapter.'),
  damaged: l10n.t('Damaged. Download it again.'),
};
