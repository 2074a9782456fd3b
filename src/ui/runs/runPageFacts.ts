import { l10n } from 'vscode';
import type { RunSummary } from '../../core/api/types.ts';
import type { FileStamp } from '../../core/base/fileStamp.ts';
import { isVisible } from '../../core/base/plainText.ts';
import type { RowDifference } from '../../core/datasets/fingerprints.ts';
import type { ActiveDownload, DownloadRecord } from '../../core/downloads/downloads.ts';
import { isAdapter } from '../../core/downloads/localFiles.ts';
import { type Estimate, type rangeAccuracy } from '../../core/money/estimate.ts';
import type { KnownDetail, Phase, ArtifactsState } from '../../core/runs/run.ts';
import type { Session } from '../../core/runs/session.ts';
import type { ChargedReceipt } from '../../core/submission/submission.ts';
import type { Loading } from '../shared/accountPage.ts';
import { factLine, TERMS } from '../shared/terms.ts';
import type { RunPageButton, RunPageFact, RunPageMemory, RunPageSection } from './protocol.ts';

/** The current state of a file on disk. */
export interface FileNow {
  sizeBytes: number;
  changedAtMs: number;
}

/** How the rows of a run differ from those of its file now, and from those of the run before. */
export interface RowsSince {
  /** Without a difference if its bytes are the same, or there are no fingerprints. */
  now?: { file: FileStamp; difference: RowDifference | undefined } | undefined;
  before?: { difference: RowDifference; run: ChargedReceipt } | undefined;
}

/** Facts about the run of a page. */
export interface RunPageView extends RunPageMemory {
  /** Undefined if the account is not on this machine. */
  session: Session | undefined;
  isActive: boolean;
  /** As last read. */
  detail: KnownDetail | undefined;
  isReading: boolean;
  receipt: ChargedReceipt | undefined;
  receiptLoading: Loading;
  /** The receipt of its submission, if that has several runs. */
  several?: ChargedReceipt | undefined;
  /** Whether it may be the run of an open submission. */
  mayBeOpen?: boolean | undefined;
  /** The estimate before the charge, and how accurate ranges have been. */
  estimate?: { before: Estimate; accuracy: ReturnType<typeof rangeAccuracy> } | undefined;
  /** Of this run only. */
  downloads: readonly ActiveDownload[];
  /** Of this run only. */
  records: readonly DownloadRecord[];
  /** The submitted file as it is now; `null` if it is gone, undefined if not known yet. */
  dataset?: FileNow | null | undefined;
  rows?: RowsSince | undefined;
  /** The file of answers beside the dataset, if there is one. */
  answers?: string | undefined;
  /** What their comparison showed. */
  verdict?: string | undefined;
  link: string;
  /** By the service's clock. */
  nowMs: number;
}

export interface KnownRun extends RunPageView {
  session: Session;
  run: RunSummary;
  details: Loading;
  phase: Phase;
  modelName: string;
  artifacts: ArtifactsState;
}

/** Returns a run's downloaded adapter that still exists, and isn't known to be damaged. */
export function adapterHere({ records }: Pick<RunPageView, 'records'>): DownloadRecord | undefined {
  return records.find(
    ({ artifactType, isGone, verified }) =>
      isGone !== true && isAdapter(artifactType) && verified !== 'html' && verified !== 'damaged',
  );
}

/** The text for a missing value. @param mayCome whether the service may still provide it */
export function missingText(loading: Loading, mayCome = false): string {
  if (loading === 'loading') return l10n.t('loading…');
  if (loading === 'failed') return l10n.t('couldn’t be loaded');
  return mayCome ? l10n.t('not provided yet') : l10n.t('not provided');
}

/** Whether missing values are left out: the service won't provide any for a run that reads as failed. */
export function hidesMissing({ phase, details }: KnownRun): boolean {
  return phase === 'ended' && details === 'loaded';
}

export function runButton(action: RunPageButton['action'], target: string, words: string): RunPageButton {
  return { action, target, words };
}

export function retry(runId: string): RunPageButton {
  return runButton('refresh', runId, TERMS.retry);
}

/** Adds a label for screen readers that names what the button acts on. */
export function withLabel(name: string, { action, target, words }: RunPageButton): RunPageButton {
  return { action, target, words, label: factLine(words, name) };
}

export function facts(
  key: string,
  title: string,
  list: readonly RunPageFact[],
  note?: string,
): RunPageSection {
  return { kind: 'facts', key, title, facts: list, note };
}

export function fact(key: string, name: string, value: string, ...buttons: RunPageButton[]): RunPageFact {
  return { key, name, value, buttons };
}

/** A fact with a button that copies it, if nothing of it is hidden. @param value as it is shown */
export function copied(key: string, name: string, text: string, value = text): RunPageFact {
  const copy = { ...runButton('copy', text, TERMS.copy), label: l10n.t('Copy {0}', name) };
  return fact(key, name, value, ...(isVisible(text) ? [copy] : []));
}
