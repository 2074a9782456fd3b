import * as v from 'valibot';
import type { Codec } from '../storage/versions.ts';
import { submissionSchema, isOver, runsOf, type ChargedReceipt, type Submission } from './submission.ts';

/** A record in a later format that is over. Every format keeps `stage`. */
const laterSchema = v.object({
  version: v.pipe(v.number(), v.integer(), v.minValue(2)),
  stage: v.picklist(['charged', 'ended']),
});

/** How the journal's records are parsed and formatted. */
export const CODEC: Readonly<Codec<Submission>> = { parse, format, isOver };

function parse(text: string): ReturnType<Codec<Submission>['parse']> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (v.is(laterSchema, value)) return value.stage;
  const submission = v.safeParse(submissionSchema, value);
  return submission.success && isComplete(submission.output) ? submission.output : undefined;
}

/** Whether a record has the fields that its stage requires. */
function isComplete({ stage, reason, end, charge }: Submission): boolean {
  if (stage === 'charged') return charge !== undefined;
  return stage !== 'ended' || (reason !== undefined && end !== undefined);
}

/** @throws ValiError if it could not be read back */
function format(record: Submission): string {
  // Parsing removes fields that the service sent in addition to those of the contract.
  const asRead = v.parse(submissionSchema, JSON.parse(JSON.stringify(record)));
  // A submission that is over is never sent again, so it needs nothing derived from the API key.
  if (isOver(asRead)) delete asRead.keyCheck;
  return `${JSON.stringify(asRead, null, 2)}\n`;
}

/** Returns the receipt with further runs of the same marker; undefined if it has them already. */
export function withRuns(
  { charge: known, ...submission }: ChargedReceipt,
  charge: ChargedReceipt['charge'],
): ChargedReceipt | undefined {
  const ids = new Set(runsOf(known).map(({ run_id }) => run_id));
  const further = runsOf(charge).filter(({ run_id }) => !ids.has(run_id));
  if (further.length === 0) return undefined;
  const furtherRuns = [...(known.furtherRuns ?? []), ...further];
  return { ...submission, charge: { ...known, furtherRuns, unshown: true } };
}
