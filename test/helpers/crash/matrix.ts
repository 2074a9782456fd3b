import { MODES } from './books.ts';
import { POLICIES, type CellSpec } from './cellSpec.ts';
import { FAULTS, type FaultName } from './faults.ts';
import { CRASH_POINTS, type CrashPoint } from './protocol.ts';

/** Points that a process comes to only with an answer: the fault has to come before. */
const AFTER_ANSWER: ReadonlySet<CrashPoint> = new Set([
  'answer parsed',
  'receipt in a temporary file',
  'receipt durable',
  'settled',
]);
/** Points at which the attempt has begun: it uses up what was to happen to it. */
const IN_ATTEMPT: ReadonlySet<CrashPoint> = new Set([
  'mid-body',
  'digest equal',
  'closed-mark in a temporary file',
  'closed-mark written',
  'sent',
  'answer torn',
]);
/** What happens to the attempt that the process ends in, so that something is left to be sent. */
const AT_CRASH: Partial<Record<CrashPoint, FaultName>> = {
  sent: 'reset after body, not processed',
  'answer torn': 'truncated answer, not processed',
};

/** Every crash point with every fault: whatever can be sent again after the crash meets the fault then, the rest before. */
export function matrixCells(): CellSpec[] {
  const faults = (Object.keys(FAULTS) as FaultName[]).filter((name) => name !== '201, early');
  return CRASH_POINTS.flatMap((point, row) =>
    faults.map((fault, column): CellSpec => {
      const seed = 1000 * (row + 1) + column;
      return {
        name: `${point} × ${fault}`,
        seed,
        mode: MODES[(row + column) % MODES.length]!,
        person: POLICIES[(row + 2 * column) % POLICIES.length]!,
        faults: AFTER_ANSWER.has(point) || !IN_ATTEMPT.has(point) ? [fault] : [AT_CRASH[point] ?? 'ok', fault],
        crashes: [{ point }],
      };
    }),
  );
}
