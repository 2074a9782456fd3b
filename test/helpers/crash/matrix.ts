import { MODES } from './books.ts';
import { POLICIES, type CellSpec } from './cellSpec.ts';
import { FAULTS, type Fault, type FaultName } from './faults.ts';
import { CRASH_POINTS, type CrashPoint } from './protocol.ts';

/** Points at which the attempt has begun: it uses up what was to happen to it. */
const IN_ATTEMPT: ReadonlySet<CrashPoint> = new Set([
  'mid-body',
  'digest equal',
  'closed-mark in a temporary file',
  'closed-mark written',
  'sent',
  'answer torn',
  'waiting',
]);
/** What happens to the attempt that the process ends in, so that something is left to be sent. */
const AT_CRASH: Partial<Record<CrashPoint, FaultName>> = {
  sent: 'reset after body, not processed',
  'answer torn': 'truncated answer, not processed',
  waiting: '429 seconds',
};

const HALVES: ReadonlySet<CrashPoint> = new Set([
  'temporary file torn',
  'closed-mark in a temporary file',
  'receipt in a temporary file',
  'waiting',
]);

/** Every fault that there is; one breaks the rule that nothing is charged before the closing boundary. */
export const FAULT_NAMES = (Object.keys(FAULTS) as FaultName[]).filter((name) => name !== '201, early');

/** Every crash point with every fault: a cell meets several after its crash, or before it where that needs an answer. */
export function matrixCells(): CellSpec[] {
  const groups = faultGroups();
  return CRASH_POINTS.flatMap((point, row) =>
    groups.flatMap((group, column): CellSpec[] => {
      // What differs from its neighbour by half a file only meets fewer of them.
      if (HALVES.has(point) && column % 4 !== 0) return [];
      const seed = 1000 * (row + 1) + column;
      return [
        {
          name: `${point} × ${group.join(', ')}`,
          seed,
          mode: MODES[(row + column) % MODES.length]!,
          person: POLICIES[(row + 2 * column) % POLICIES.length]!,
          faults: IN_ATTEMPT.has(point) ? [AT_CRASH[point] ?? 'ok', ...group] : group,
          crashes: [{ point }],
        },
      ];
    }),
  );
}

/** At every crash point that lasts a second window, and then the first one dies or goes on. */
export function secondWindowCells(): CellSpec[] {
  return CRASH_POINTS.filter((point) => point !== 'waiting').flatMap((point, row) =>
    (['then kill', 'then release'] as const).map((second, column): CellSpec => ({
      name: `${point}, a second window, ${second}`,
      seed: 100_000 + 10 * row + column,
      mode: MODES[row % MODES.length]!,
      person: POLICIES[(row + column) % 2]!,
      faults: point === 'answer torn' ? ['truncated answer'] : [],
      crashes: [{ point }],
      second,
    })),
  );
}

/** First what charges nothing, then what does and is repeated, then what ends it: so that one cell comes to all of them. */
function faultGroups(): FaultName[][] {
  const gentle = FAULT_NAMES.filter((name) => FAULTS[name].work === 'none');
  const charging = FAULT_NAMES.filter((name) => FAULTS[name].work !== 'none' && name !== 'ok');
  const repeated = charging.filter((name) => isRepeated(FAULTS[name]));
  const final = charging.filter((name) => !isRepeated(FAULTS[name]));
  const count = Math.max(repeated.length, final.length);
  return Array.from({ length: count }, (_, index) => [
    ...gentle.filter((_name, at) => at % count === index),
    ...[repeated[index], final[index]].filter((name) => name !== undefined),
  ]);
}

/** Whether the client tries again by itself. */
function isRepeated({ connect, reply, sleepMs, setWallMs }: Fault): boolean {
  if (connect === 'tls' || sleepMs !== undefined || setWallMs !== undefined) return false;
  if (reply.kind === 'torn') return reply.by === 'length';
  if (reply.kind === 'error')
    return (
      reply.status === 408 || reply.status >= 500 || (reply.status === 429 && reply.retryAfter !== '86400')
    );
  return ['reset', 'half-close', 'silence'].includes(reply.kind);
}
