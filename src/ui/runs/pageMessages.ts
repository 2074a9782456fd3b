import { l10n, Uri } from 'vscode';
import type { RunSummary } from '../../core/api/types.ts';
import { currencyOf, type Estimate, type rangeAccuracy } from '../../core/money/estimate.ts';
import type { ActiveDownload, DownloadRecord } from '../../core/downloads/types.ts';
import type { KnownDetail } from '../../core/runs/detailStore.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import type { Phase } from '../../core/runs/phase.ts';
import type { Session } from '../../core/runs/session.ts';
import { isChargedOnce } from '../../core/submission/chargedOnce.ts';
import type { ChargedReceipt } from '../../core/submission/intent.ts';
import {
  artifactsOf,
  balanceEffectOf,
  datasetStateOf,
  spanMs,
  timesOf,
  usualTime,
  type ArtifactsState,
  type DatasetState,
  type Span,
} from '../../core/submission/receipts.ts';
import { keyAction } from '../shared/accountMessages.ts';
import type { Loading } from '../shared/accountPage.ts';
import {
  compact,
  formatBytes,
  formatCount,
  formatDuration,
  formatLeft,
  formatMoney,
  formatTime,
  sandboxNote,
} from '../shared/format.ts';
import { revealOf } from '../shared/open.ts';
import { keyProblem, leftText, offlineText, runStatus, serviceText } from '../shared/runMessages.ts';
import { asText, explain, isNotFound } from '../shared/serviceErrors.ts';
import { estimateText, rangeTooltip, survivedText, unexpectedPrice } from '../shared/moneyMessages.ts';
import { sanitizeServiceText, sanitizeText } from '../shared/serviceText.ts';
import { factLine, TERMS } from '../shared/termMessages.ts';
import type {
  RunPageButton,
  RunPageDownload,
  RunPageEntry,
  RunPageFact,
  RunPageFile,
  RunPageHeading,
  RunPageMemory,
  RunPageNotice,
  RunPageSection,
  RunPageState,
} from './protocol.ts';
import { priceText, queuedFor, trainedFor } from './runTooltip.ts';

/** How many characters of its ID name a run about which nothing else is known. */
const SHORT_ID_LENGTH = 8;

/** The current state of a file on disk. */
export interface FileNow {
  sizeBytes: number;
  changedAtMs: number;
}

/** What is known about the run of a page. */
export interface RunPageView extends RunPageMemory {
  /** Undefined if the account is not on this machine. */
  session: Session | undefined;
  isActive: boolean;
  /** As last read. */
  detail: KnownDetail | undefined;
  isReading: boolean;
  receipt: ChargedReceipt | undefined;
  receiptLoading: Loading;
  /** The estimate before the charge, and how accurate ranges have been. */
  estimate?: { before: Estimate; accuracy: ReturnType<typeof rangeAccuracy> } | undefined;
  /** Of this run only. */
  downloads: readonly ActiveDownload[];
  /** Of this run only. */
  records: readonly DownloadRecord[];
  /** The submitted file as it is now; `null` if it is gone, undefined if not known yet. */
  dataset?: FileNow | null | undefined;
  link: string;
  /** By the service's clock. */
  nowMs: number;
}

interface KnownRun extends RunPageView {
  session: Session;
  run: RunSummary;
  details: Loading;
  phase: Phase;
  modelName: string;
  artifacts: ArtifactsState;
}

/** The title of the page's tab. */
export function runPageTitle(view: RunPageView): string {
  return l10n.t('Run: {0}', nameOf(view, knownRun(view)));
}

/** Everything that a run's page shows now. */
export function runPageState(view: RunPageView): RunPageState {
  const { accountId, runId, hasOwnTab } = view;
  const known = knownRun(view);
  const name = nameOf(view, known);
  const content = known === undefined ? absent(view, name) : present(known, name);
  const memory = { accountId, runId, ...(hasOwnTab === true && { hasOwnTab }) };
  return { type: 'state', memory, actionsName: TERMS.actions, ...content };
}

type Content = Pick<RunPageState, 'heading' | 'notices' | 'actions' | 'sections'>;

/** Returns undefined if the run is unknown, or if it must be hidden because the API key was rejected. */
function knownRun(view: RunPageView): KnownRun | undefined {
  const { session, runId, detail, nowMs } = view;
  if (session === undefined || session.isLocked) return undefined;
  const { runs, models } = session;
  const run = runs.get(runId);
  if (run === undefined) return undefined;
  const isFailed = runs.detailFailure(runId) !== undefined;
  return {
    ...view,
    session,
    run,
    details: detail !== undefined ? 'loaded' : isFailed ? 'failed' : 'loading',
    phase: runs.phase(run),
    modelName: models.nameOf(run.model_id),
    artifacts: artifactsOf(run, detail, nowMs),
  };
}

function nameOf({ runId }: RunPageView, known: KnownRun | undefined): string {
  if (known === undefined) return runId.slice(0, SHORT_ID_LENGTH);
  const label = withoutMarker(known.session.runs.label(runId) ?? '');
  return label === '' ? known.modelName : serviceText(label);
}

/** The page without a run, which is loading, unknown, unreachable, or hidden. */
function absent({ accountId, session, runId, isReading }: RunPageView, name: string): Content {
  const because = (kind: RunPageNotice['kind'], text: string, ...buttons: RunPageButton[]): Content => ({
    heading: { title: l10n.t('Run {0}', name), phase: 'none', status: '', lines: [] },
    notices: [{ key: 'absent', kind, text, buttons }],
    actions: [],
    sections: [],
  });
  if (session === undefined) return because('info', l10n.t('This run’s account is not on this machine.'));
  const [keyFault, newKey] = [keyProblem(session.state), keyAction(session.state)];
  if (keyFault !== undefined && newKey !== undefined)
    return because('error', keyFault, button('replaceKey', accountId, newKey));
  const failure = session.runs.detailFailure(runId);
  if (isNotFound(failure) && session.account.kind === 'sandbox')
    return because('info', l10n.t('The sandbox no longer has this run.'));
  if (isNotFound(failure))
    return because(
      'warning',
      l10n.t('{0} has no such run. Try another account.', sanitizeServiceText(session.account.name)),
      button('switchAccount', '', TERMS.switchAccount),
      retry(runId),
    );
  if (failure !== undefined) return because('error', asText(explain(failure)), retry(runId));
  return isReading
    ? because('info', l10n.t('Loading the run…'))
    : because('info', l10n.t('The service no longer lists this run.'), retry(runId));
}

function present(view: KnownRun, name: string): Content {
  const { runId } = view;
  return {
    heading: heading(view, name),
    notices: notices(view),
    actions: [
      ...adapterActions(view),
      button('submitAgain', runId, TERMS.submitAgain),
      button('copy', runId, TERMS.copyRunId),
      button('refresh', runId, TERMS.refresh),
    ],
    sections: compact(
      timeline(view),
      adapterSection(view),
      moneySection(view),
      runSection(view),
      ...receipt(view),
    ),
  };
}

function heading({ session, run, phase, modelName }: KnownRun, name: string): RunPageHeading {
  const { account } = session;
  const whose =
    account.kind === 'sandbox' ? sandboxNote() : factLine(TERMS.account, sanitizeServiceText(account.name));
  return {
    title: name,
    phase,
    status: runStatus(run.status, phase),
    lines: name === modelName ? [whose] : [factLine(TERMS.model, serviceText(modelName)), whose],
  };
}

function notices(view: KnownRun): RunPageNotice[] {
  const { session, runId, isActive } = view;
  const failure = session.runs.detailFailure(runId);
  const { id, name } = session.account;
  const accountName = sanitizeServiceText(name);
  const warning =
    session.state === 'offline'
      ? offlineText(session.offlineSince)
      : failure !== undefined && l10n.t('Couldn’t load the details. {0}', asText(explain(failure)));
  const ended = endedText(view);
  return compact<RunPageNotice>(
    ended && {
      key: 'ended',
      kind: 'warning',
      text: ended,
      buttons: [button('copy', runId, TERMS.copyRunId)],
    },
    warning && { key: 'warning', kind: 'warning', text: warning, buttons: [retry(runId)] },
    !isActive && {
      key: 'inactive',
      kind: 'info',
      text: l10n.t('Not updated: {0} is not the active account.', accountName),
      buttons: [button('useAccount', id, l10n.t('Switch to {0}', accountName))],
    },
  );
}

/** What to do about a run that reads as failed: it was charged when it was submitted. */
function endedText({ session, runId, phase, receipt, receiptLoading, detail, details }: KnownRun) {
  if (phase !== 'ended') return undefined;
  const price = priceText(receipt, detail);
  const id = serviceText(runId);
  if (price === undefined)
    return details !== 'loading' && receiptLoading !== 'loading' && session.account.kind === 'service'
      ? l10n.t('The price is unknown. Contact the service with run {0}.', id)
      : undefined;
  return session.account.kind === 'sandbox'
    ? l10n.t('The run cost {0} of sandbox money.', price)
    : l10n.t('Charged {0}. Contact the service with run {1}.', price, id);
}

function button(action: RunPageButton['action'], target: string, words: string): RunPageButton {
  return { action, target, words };
}

function retry(runId: string): RunPageButton {
  return button('refresh', runId, TERMS.retry);
}

/** Adds a label for screen readers that names what the button acts on. */
function withLabel(name: string, { action, target, words }: RunPageButton): RunPageButton {
  return { action, target, words, label: factLine(words, name) };
}

/** Always returns the same two buttons; a button that can't be used now is disabled. */
function adapterActions({ runId, artifacts: { kind }, downloads, records }: KnownRun) {
  const here = records.filter(({ isGone }) => !isGone);
  const adapter = here.find(
    ({ artifactType, verified }) => artifactType === 'model' && verified !== 'html' && verified !== 'damaged',
  );
  const isBusy = downloads.some(({ state }) => state !== 'interrupted');
  const words =
    downloads.length > 0 && !isBusy
      ? l10n.t('Resume Download…')
      : here.length > 0
        ? TERMS.downloadAgain
        : TERMS.downloadAdapter;
  const canDownload = (kind === 'available' || kind === 'unknown') && !isBusy;
  return [
    {
      ...button('inspect', adapter?.path ?? '', l10n.t('Inspect Adapter')),
      isFirst: adapter !== undefined,
      isDisabled: adapter === undefined,
    },
    {
      ...button('download', runId, words),
      isFirst: canDownload && adapter === undefined,
      isDisabled: !canDownload,
    },
  ];
}

/** The text for a missing value. @param mayCome whether the service may still provide it */
function missingText(loading: Loading, mayCome = false): string {
  if (loading === 'loading') return l10n.t('loading…');
  if (loading === 'failed') return l10n.t('could not be loaded');
  return mayCome ? l10n.t('not provided yet') : l10n.t('not provided');
}

/** Whether values that the service didn't provide are left out: it will provide none for a run that reads as failed. */
function hidesMissing({ phase, details }: KnownRun): boolean {
  return phase === 'ended' && details === 'loaded';
}

/** The events of a run in order, including future ones. */
function timeline(view: KnownRun): RunPageSection {
  const { session, run, detail, details, phase, nowMs } = view;
  const times = timesOf({ ...run, ...detail });
  const { createdAtMs, startedAtMs, completedAtMs } = times;
  const known = (session.runs.rows ?? []).flatMap((row) => session.runs.detail(row.run_id) ?? []);
  const usually = (span: Span) => usualText(usualTime(span, run, known));
  const withUsual = (text: string, span: Span) => {
    const usual = usually(span);
    return usual === undefined ? text : l10n.t('{0} ({1})', text, usual);
  };
  const took = (span: Span, say: (ms: number) => string) => {
    const ms = spanMs(times, span);
    return ms !== undefined && withUsual(say(ms), span);
  };
  const since = (atMs: number | undefined) => formatDuration(nowMs - (atMs ?? nowMs));
  const isWaiting = phase === 'waiting';
  // The contract doesn't say whether a time that doesn't apply yet is null or missing. Show "not yet" only if that is certain.
  const toCome = isWaiting ? l10n.t('not yet') : missingText(details, phase === 'active');
  const event = (
    key: string,
    name: string,
    atMs: number | undefined,
    notes: string[],
    usual: string[] = [],
  ) =>
    atMs === undefined
      ? entry(key, isWaiting ? 'next' : 'unknown', name, toCome, usual)
      : entry(key, 'done', name, atMs, notes);
  const soFar = isWaiting && withUsual(l10n.t('{0} so far', since(createdAtMs)), 'queue');
  // No status in the contract shows whether the run is still training.
  const ago = phase === 'active' && l10n.t('{0} ago', since(startedAtMs));
  const events = compact(
    submitted(view),
    createdAtMs === undefined
      ? entry('queued', 'unknown', TERMS.queued, missingText('loaded'))
      : entry('queued', isWaiting ? 'now' : 'done', TERMS.queued, createdAtMs, compact(soFar)),
    event('started', TERMS.started, startedAtMs, compact(took('queue', queuedFor), ago)),
    event(
      'completed',
      TERMS.completed,
      completedAtMs,
      compact(took('training', trainedFor)),
      compact(usually('training')),
    ),
    expiry(view),
  );
  const entries = hidesMissing(view) ? events.filter(({ state }) => state !== 'unknown') : events;
  return { kind: 'timeline', key: 'timeline', title: l10n.t('Timeline'), entries };
}

/** Undefined for a run that was submitted elsewhere, as its section says. */
function submitted({ session, detail, receipt, receiptLoading }: KnownRun): RunPageEntry | undefined {
  const name = TERMS.submitted;
  if (receipt === undefined)
    return receiptLoading === 'loaded'
      ? undefined
      : entry('submitted', 'unknown', name, missingText(receiptLoading));
  const { attempts, created, dataset, settled } = receipt;
  const price = isChargedOnce(receipt, session.runs) ? priceText(receipt, detail) : undefined;
  const survived = price && survivedText(receipt, price, session.account.kind === 'sandbox');
  const isAnswered = settled.how === 'answered';
  const notes = compact(
    l10n.t('From this machine: {0}', sanitizeServiceText(dataset.filename)),
    attempts.length > 1 && !(survived && isAnswered) && l10n.t('{0} attempts', formatCount(attempts.length)),
    survived,
    settled.furtherRuns &&
      l10n.t(
        'Another run has its marker: {0}',
        sanitizeServiceText(settled.furtherRuns.map(({ run_id }) => run_id).join(', ')),
      ),
    settled.how === 'found' && !survived && l10n.t('Response lost; found by its marker'),
    settled.how === 'recognised' && l10n.t('Response lost; you confirmed the run'),
  );
  return entry('submitted', 'done', name, created.localMs, notes);
}

function expiry({ artifacts: { kind, expiresAtMs }, phase, nowMs }: KnownRun): RunPageEntry {
  const name = kind === 'expired' ? l10n.t('Adapter expired') : TERMS.adapterExpires;
  if (kind === 'not-yet') return entry('adapter', 'next', name, l10n.t('not yet'));
  if (expiresAtMs === undefined)
    return entry('adapter', 'unknown', name, missingText('loaded', phase === 'active'));
  if (kind === 'expired') return entry('adapter', 'over', name, expiresAtMs);
  const left = leftText(formatLeft(expiresAtMs - nowMs));
  return entry('adapter', 'next', name, expiresAtMs, [left]);
}

/** @param at milliseconds since the epoch, or the text for an unknown time */
function entry(
  key: string,
  state: RunPageEntry['state'],
  name: string,
  at: number | string,
  notes: readonly string[] = [],
): RunPageEntry {
  if (typeof at === 'string') return { key, state, name, when: at, notes };
  return { key, state, name, when: formatTime(at), iso: new Date(at).toISOString(), notes };
}

/** `usually 12–18 min` */
function usualText(usual: ReturnType<typeof usualTime>): string | undefined {
  if (usual === undefined) return undefined;
  const { fromMs, toMs } = usual;
  const [from, to] = [formatDuration(fromMs), formatDuration(toMs)];
  if (from === to) return l10n.t('usually {0}', from);
  const minutes = [fromMs, toMs].map((ms) => Math.round(ms / 60_000));
  return minutes.every((one) => one >= 1 && one < 60)
    ? l10n.t('usually {0}–{1} min', ...minutes)
    : l10n.t('usually {0} to {1}', from, to);
}

function adapterSection({ artifacts, downloads, records, phase }: KnownRun): RunPageSection | undefined {
  const isPromised = phase !== 'ended' || artifacts.kind !== 'not-known';
  if (!isPromised && downloads.length + records.length === 0) return undefined;
  return {
    kind: 'adapter',
    key: 'adapter',
    title: l10n.t('Adapter'),
    text: ADAPTERS[isPromised ? artifacts.kind : 'unknown'],
    downloads: downloads.map(downloadOf),
    files: records.map(fileOf),
  };
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
  return artifactType === 'model'
    ? l10n.t('Adapter: {0}', name)
    : l10n.t('Other file ({0}): {1}', serviceText(artifactType), name);
}

function downloadOf(download: ActiveDownload): RunPageDownload {
  const { id, state, receivedBytes, totalBytes, isKept } = download;
  const name = artifactName(download);
  const isBusy = state !== 'interrupted';
  const cancel = button('cancelDownload', id, isBusy ? TERMS.cancel : TERMS.discard);
  return {
    key: id,
    name,
    text: compact(downloadText(download), isKept === false && l10n.t('can’t be resumed')).join(' · '),
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
      VERIFIED[verified],
      factLine('SHA-256', sha256),
    ),
    path,
    isGone,
    buttons: compact(
      !isGone && button('inspect', path, l10n.t('Inspect Adapter')),
      !isGone && reveal.title !== TERMS.copyPath && button('reveal', path, reveal.title),
      button('copy', path, TERMS.copyPath),
      button('copy', sha256, l10n.t('Copy SHA-256')),
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

function facts(key: string, title: string, list: readonly RunPageFact[], note?: string): RunPageSection {
  return { kind: 'facts', key, title, facts: list, note };
}

function fact(key: string, name: string, value: string, ...buttons: RunPageButton[]): RunPageFact {
  return { key, name, value, buttons };
}

/** A button that copies a fact. */
function copy(name: string, text: string): RunPageButton {
  return { ...button('copy', text, TERMS.copy), label: l10n.t('Copy {0}', name) };
}

function moneySection(view: KnownRun): RunPageSection | undefined {
  const { session, phase, detail, details, receipt, estimate } = view;
  const charged = receipt?.settled.run;
  const priceCents = detail?.price_cents ?? charged?.price_cents;
  const plan = detail?.plan ?? charged?.plan_name;
  const expected = estimate && estimateText(estimate.before);
  const currency = (receipt && currencyOf(receipt)) ?? detail?.assumedCurrency;
  const missing = hidesMissing(view) ? undefined : missingText(details);
  const price = priceText(receipt, detail) ?? missing;
  const planName = plan === undefined ? missing : serviceText(plan);
  const list = compact(
    price && fact('price', TERMS.price, price),
    planName && fact('plan', TERMS.plan, planName),
    expected && fact('estimate', TERMS.estimate, expected),
    ...(receipt === undefined ? [] : balanceFacts(receipt, priceCents, missing && missingText('loaded'))),
  );
  if (list.length === 0) return undefined;
  const unexpected =
    estimate && priceCents !== undefined ? unexpectedPrice(estimate.before, priceCents, currency) : undefined;
  const note =
    unexpected !== undefined
      ? session.account.kind === 'sandbox'
        ? l10n.t('Sandbox money: {0}.', unexpected)
        : l10n.t('Charged {0}.', unexpected)
      : // Users ask about the charge if a run's status is unclear; a notice answers it for one that reads as failed.
        phase === 'active' && priceCents !== undefined
        ? l10n.t('Charged when the run was submitted.')
        : estimate?.before.kind === 'range'
          ? rangeTooltip(estimate.accuracy)
          : undefined;
  return facts('money', l10n.t('Price and balance'), list, note);
}

/** @param missing the text for an unknown effect; undefined to leave it out */
function balanceFacts(
  receipt: ChargedReceipt,
  priceCents: number | undefined,
  missing: string | undefined,
): RunPageFact[] {
  const effect = balanceEffectOf(receipt, priceCents);
  if (effect === undefined) return compact(missing && fact('effect', TERMS.balance, missing));
  const { beforeCents, afterCents, otherCents = 0, currency } = effect;
  const money = (cents: number) => formatMoney(cents, currency);
  const change = l10n.t('{0} before, {1} after', money(beforeCents), money(afterCents));
  return compact(
    fact('effect', TERMS.balance, change),
    otherCents !== 0 && fact('other', l10n.t('Other balance changes'), money(otherCents)),
  );
}

function runSection(view: KnownRun): RunPageSection {
  const { runId, run, modelName, detail, link, receipt, receiptLoading } = view;
  const [idName, linkName] = [TERMS.runId, l10n.t('Link')];
  const list = compact(
    // The heading has the name.
    modelName !== run.model_id && fact('model', l10n.t('Model ID'), serviceText(run.model_id)),
    fact('label', TERMS.label, labelText(view)),
    fact('status', TERMS.status, serviceText(detail?.status ?? run.status) || TERMS.unknown),
    receipt && fact('queue', TERMS.queue, receipt.priority_processing ? TERMS.priority : TERMS.standard),
    fact('run', idName, serviceText(runId), copy(idName, runId)),
    fact('link', linkName, link, copy(linkName, link)),
    receipt && fact('idempotency', 'Idempotency-Key', receipt.id, copy('Idempotency-Key', receipt.id)),
  );
  const isElsewhere = receipt === undefined && receiptLoading === 'loaded';
  const note = isElsewhere ? l10n.t('Submitted elsewhere.') : undefined;
  return facts('run', l10n.t('Run'), list, note);
}

function labelText({ session, runId, details }: KnownRun): string {
  const label = session.runs.label(runId);
  // Only the details have labels.
  if (label === undefined && details !== 'loaded') return missingText(details);
  if (label === undefined || label === '') return TERMS.none;
  return serviceText(label);
}

/** The dataset and the consents, which only the submitting machine stores. */
function receipt({ receipt, dataset: now }: KnownRun): RunPageSection[] {
  if (receipt === undefined) return [];
  const { path, sizeBytes, sha256, rows } = receipt.dataset;
  const open = now != null && button('openDataset', path, l10n.t('Open Dataset'));
  const fileName = l10n.t('File');
  const state = now !== undefined && DATASET_STATES[datasetStateOf(receipt, now ?? undefined)];
  const dataset = compact(
    fact('path', fileName, sanitizeText(path), ...compact(open, copy(fileName, path))),
    state && fact('now', l10n.t('Now'), state),
    fact('rows', TERMS.rows, rows === undefined ? TERMS.unknown : formatCount(rows)),
    fact('size', TERMS.size, formatBytes(sizeBytes)),
    fact('sha256', 'SHA-256', sha256, copy('SHA-256', sha256)),
  );
  return [
    facts('dataset', TERMS.dataset, dataset),
    facts('consents', l10n.t('Consents'), consentFacts(receipt.consents)),
  ];
}

const MODIFIED = l10n.t('modified since');
const DATASET_STATES: Readonly<Record<DatasetState, string>> = {
  same: l10n.t('unchanged (same size and time)'),
  written: MODIFIED,
  changed: MODIFIED,
  gone: l10n.t('moved or deleted'),
};

function consentFacts({ model_terms, data_policy }: ChargedReceipt['consents']): RunPageFact[] {
  const accepted = (at: string) => l10n.t('accepted {0}', formatTime(at));
  const { urls, accepted_at } = model_terms;
  // Two links are stored in the order in which they were shown; a single one may be either.
  const names = urls.length === 2 ? [TERMS.licenseTerms, TERMS.usePolicy] : [];
  const shown = l10n.t('Link shown');
  const links = urls.map((url, index) => {
    const name = names[index] ?? shown;
    return fact(`link:${index}`, name, sanitizeText(url), copy(name, url));
  });
  return [
    fact('terms', l10n.t('Terms of the provider'), accepted(accepted_at)),
    ...(links.length > 0 ? links : [fact('link', shown, TERMS.none)]),
    fact('data-policy', l10n.t('Data policy'), accepted(data_policy.accepted_at)),
  ];
}
