import * as v from 'valibot';
import type { Codec } from '../storage/versions.ts';
import {
  intentSchema,
  isCharged,
  isSettled,
  runsOf,
  type ChargedReceipt,
  type Intent,
  type SameDataset,
} from './intent.ts';
import { withoutObservations } from './reconcilePolicy.ts';

/** What a version in the journal contains. */
export type JournalRecord = Intent | LaterRecord;

/** Written by a later version of the extension. Only that version may change it. */
export interface LaterRecord {
  kind: 'later';
  id: string;
  /** Undefined if it isn't where this version expects it. */
  key: SameDataset | undefined;
  /** Whether it was settled or refused: these fields stay where they are in every later format. */
  isDecided: boolean;
}

export function isLater(record: JournalRecord): record is LaterRecord {
  return 'kind' in record;
}

const versionSchema = v.object({ version: v.pipe(v.number(), v.integer(), v.minValue(2)) });
const duplicateKeySchema = v.object({
  origin: v.string(),
  model_id: v.string(),
  dataset: v.object({ sha256: v.string() }),
});
const decidedSchema = v.union([v.object({ settled: v.object({}) }), v.object({ refused: v.object({}) })]);

/** How the journal's records are read and written. */
export const CODEC: Readonly<Codec<JournalRecord>> = { parse, format, isSettled: isOver, afterDamage };

function parse(text: string, id: string): JournalRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (v.is(versionSchema, value)) {
    const key = v.safeParse(duplicateKeySchema, value);
    const isDecided = v.is(decidedSchema, value);
    return { kind: 'later', id, key: key.success ? key.output : undefined, isDecided };
  }
  const intent = v.safeParse(intentSchema, value);
  return intent.success && intent.output.id === id ? intent.output : undefined;
}

/** @throws ValiError if it could not be read back */
function format(record: JournalRecord): string {
  // Parsing removes fields that the service sent in addition to those of the contract.
  const asRead = v.parse(intentSchema, JSON.parse(JSON.stringify(record)));
  // A refused or settled record is never sent again, so nothing derived from the API key remains.
  if (isOver(asRead)) delete asRead.keyCheck;
  return `${JSON.stringify(asRead, null, 2)}\n`;
}

function isOver(record: JournalRecord): boolean {
  return isLater(record) ? record.isDecided : record.refused !== undefined || isSettled(record);
}

/**
 * The worst that an unreadable version above `below` may say: that a closing boundary was sent. A known
 * charge stays known.
 */
function afterDamage(below: JournalRecord): JournalRecord {
  if (isLater(below)) return { ...below, isDecided: false };
  if (isSettled(below) && isCharged(below)) return below;
  const { attempts, created } = below;
  const started = attempts.at(-1)?.started ?? created;
  const lost = { started, closed: started };
  return withoutObservations({
    ...below,
    attempts: [...attempts, lost],
    refused: undefined,
    settled: undefined,
  });
}

/** Returns the receipt with further runs of the same marker; undefined if it has them already. */
export function withRuns(
  { settled: known, ...intent }: ChargedReceipt,
  settled: ChargedReceipt['settled'],
): ChargedReceipt | undefined {
  const ids = new Set(runsOf(known).map(({ run_id }) => run_id));
  const further = runsOf(settled).filter(({ run_id }) => !ids.has(run_id));
  if (further.length === 0) return undefined;
  const furtherRuns = [...(known.furtherRuns ?? []), ...further];
  return { ...intent, settled: { ...known, furtherRuns, unshown: true } };
}
