import { instantOf } from '../base/clock.ts';
import { markerOf, userLabel } from '../runs/marker.ts';
import type { RunStore } from '../runs/runStore.ts';
import { submissionOfLabel } from './ownRuns.ts';
import { isCharged, type ChargedReceipt, type Submission, type Receipt } from './submission.ts';

/**
 * An earlier submission of the same bytes to the same service:
 * - `draft`: no attempt to send it has begun.
 * - `open`: it was or is being sent, and its outcome is open.
 * - `discarded`: the user discarded it; it may have been charged.
 * - `elsewhere`: a run with the same label and a marker that no readable record here has. It was submitted on
 *   another machine, or its record was lost. Its bytes are unknown.
 */
export interface EarlierSubmission {
  kind: 'draft' | 'open' | 'charged' | 'discarded' | 'elsewhere';
  /** The ID of its record, or of its run if it is from elsewhere. */
  id: string;
  accountId: string;
  /** The run that was charged; undefined if none is known. */
  runId: string | undefined;
  modelId: string;
  /** As sent, including the marker. */
  label?: string | undefined;
  /** Undefined if it is from elsewhere. */
  priority: boolean | undefined;
  /** Milliseconds since the epoch. */
  submittedAtMs: number;
  priceCents: number | undefined;
  currency: string | undefined;
  /** The number of dataset rows, if they were counted. */
  rows: number | undefined;
}

/** A charged submission whose run is known. */
type ChargedBefore = EarlierSubmission & { runId: string };

interface Sources {
  /** All submissions, also those that are over, of all accounts. */
  records: readonly Submission[];
  /** An account's known runs, and the label that the user chose: to find runs that were submitted elsewhere. */
  listed?:
    | { accountId: string; label: string; runs: Pick<RunStore, 'detail' | 'label' | 'rows'> }
    | undefined;
}

/**
 * Returns the earlier submissions of these bytes to a service, newest first, with any model. All accounts count: two
 * accounts here may be one account there. Leaves out those that were refused or found not charged.
 */
export function earlierSubmissionsOf(
  sha256: string,
  origin: string,
  { records, listed }: Sources,
): EarlierSubmission[] {
  const isMeant = (record: Submission) => record.origin === origin && record.dataset.sha256 === sha256;
  return newestFirst([...records.filter(isMeant).flatMap(earlierOf), ...elsewhereOf(listed, records)]);
}

/** The last run trained with a file: `same` has the same bytes, `changed` other bytes at its path. */
export interface TrainedBefore {
  kind: 'same' | 'changed';
  run: ChargedBefore;
}

/**
 * Returns the last run that was trained with a file; undefined if there is none.
 * @param sha256 undefined while it isn't known. Then the result is undefined, too, if an earlier dataset has this size
 */
export function trainedBefore(
  receipts: readonly Receipt[],
  origin: string,
  { path, sizeBytes }: { path: string; sizeBytes: number },
  sha256: string | undefined,
): TrainedBefore | undefined {
  if (sha256 === undefined && wasSubmittedInSize(receipts, origin, sizeBytes)) return undefined;
  const charged = chargedTo(receipts, origin);
  const last = (isMeant: (dataset: Submission['dataset']) => boolean) =>
    newestFirst(charged.filter(({ dataset }) => isMeant(dataset)).flatMap(earlierOf)).find(hasRun);
  const same = sha256 === undefined ? undefined : last((dataset) => dataset.sha256 === sha256);
  if (same !== undefined) return { kind: 'same', run: same };
  const run = last((dataset) => dataset.path === path);
  return run && { kind: 'changed', run };
}

/** Whether a charged dataset had this size. Only then can the bytes be the same, so only then are they hashed. */
export function wasSubmittedInSize(receipts: readonly Receipt[], origin: string, sizeBytes: number): boolean {
  return chargedTo(receipts, origin).some(({ dataset }) => dataset.sizeBytes === sizeBytes);
}

/**
 * Returns the charged submissions of a file to a service, newest first: those after the last one with these bytes.
 * @param beforeMs only those before this time
 */
export function chargedSince(
  receipts: readonly Receipt[],
  origin: string,
  { path, sha256 }: { path: string; sha256: string | undefined },
  beforeMs = Infinity,
): ChargedReceipt[] {
  const charged = chargedTo(receipts, origin)
    .filter(({ created, dataset }) => dataset.path === path && created.localMs < beforeMs)
    .sort((one, other) => other.created.localMs - one.created.localMs);
  const same = charged.findIndex(({ dataset }) => dataset.sha256 === sha256);
  return same === -1 ? charged : charged.slice(0, same);
}

/** Whether it is charged or ended, so that nothing of it will be sent. */
export function isPast({ kind }: EarlierSubmission): boolean {
  return kind !== 'draft' && kind !== 'open';
}

/** Repeating a submission within this time is most likely a mistake. */
const RECENT_MS = 24 * 60 * 60_000;

/** Whether a run would soon repeat an earlier submission, with the same model and queue. */
export function isRepeat(
  chosen: { modelId: string | undefined; priority: boolean },
  { modelId, priority = chosen.priority, submittedAtMs }: EarlierSubmission,
  nowMs: number,
): boolean {
  return modelId === chosen.modelId && priority === chosen.priority && nowMs - submittedAtMs < RECENT_MS;
}

function chargedTo(receipts: readonly Receipt[], origin: string): ChargedReceipt[] {
  return receipts.filter(isCharged).filter((receipt) => receipt.origin === origin);
}

function hasRun(one: EarlierSubmission): one is ChargedBefore {
  return one.runId !== undefined;
}

function newestFirst(all: EarlierSubmission[]): EarlierSubmission[] {
  return all.sort((one, other) => other.submittedAtMs - one.submittedAtMs);
}

/** Returns a record as an earlier submission; none if it was refused or found not charged. */
function earlierOf(record: Submission): EarlierSubmission[] {
  const kind = kindOf(record);
  if (kind === undefined) return [];
  const { id, accountId, model_id, label, priority_processing, created, balanceBefore, dataset } = record;
  const run = isCharged(record) ? record.charge.run : undefined;
  return [
    {
      ...{ kind, id, accountId, runId: run?.run_id, modelId: model_id, priority: priority_processing },
      ...{ submittedAtMs: created.localMs, label, priceCents: run?.price_cents, rows: dataset.rows },
      currency: run?.currency ?? balanceBefore?.currency,
    },
  ];
}

function kindOf({ attempts, stage, reason }: Submission): EarlierSubmission['kind'] | undefined {
  if (stage === 'ended') return reason === 'discarded' ? reason : undefined;
  if (stage === 'charged') return stage;
  return attempts.length === 0 ? 'draft' : 'open';
}

/**
 * Returns the runs with the chosen label and a marker that no record has. Runs without a marker may be of any
 * dataset.
 */
function elsewhereOf(listed: Sources['listed'], records: readonly Submission[]): EarlierSubmission[] {
  const chosen = userLabel(listed?.label);
  if (listed === undefined || chosen === undefined) return [];
  const { accountId, runs } = listed;
  return (runs.rows ?? []).flatMap(({ run_id: id, model_id: modelId, created_at }) => {
    const label = runs.label(id) ?? '';
    const submittedAtMs = instantOf(created_at);
    if (userLabel(label) !== chosen || Number.isNaN(submittedAtMs)) return [];
    if (markerOf(label) === undefined || submissionOfLabel(records, label) !== undefined) return [];
    const { price_cents: priceCents, assumedCurrency: currency } = runs.detail(id) ?? {};
    return {
      ...{ kind: 'elsewhere', id, accountId, runId: id, modelId, priority: undefined, rows: undefined },
      ...{ submittedAtMs, priceCents, currency },
    };
  });
}
