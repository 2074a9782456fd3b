import { Random } from '../random.ts';
import { MODES } from './books.ts';
import { POLICIES, type CellSpec } from './cellSpec.ts';
import { FAULTS, isSilent, type FaultName } from './faults.ts';
import { CRASH_POINTS, type Crash } from './protocol.ts';

const HOUR_MS = 3_600_000;
const NAMES = (Object.keys(FAULTS) as FaultName[]).filter((name) => name !== '201, early');

/** Any combination of everything, the same one for the same seed. */
export function randomCell(seed: number): CellSpec {
  const random = new Random(seed);
  const maybe = <T>(probability: number, name: string, make: () => T) =>
    random.chance(probability) ? { [name]: make() } : {};
  const crash = (): Crash => ({
    point: random.of(CRASH_POINTS),
    fromAttempt: random.below(3),
    by: random.chance(0.1) ? 'disk full' : 'kill',
  });
  const isDuel = random.chance(0.15);
  // Whoever pauses must not run out of time.
  const names = isDuel ? NAMES.filter((name) => !isSilent(FAULTS[name])) : NAMES;
  const faults = random.several(6, () => random.of(names));
  const crashes = random.several(3, crash);
  const spec: CellSpec = {
    name: `seed ${seed}`,
    seed,
    mode: random.of(MODES),
    person: random.of(POLICIES),
    faults,
    crashes,
    ...maybe(0.3, 'wallOffsetMs', () => (random.fraction() - 0.5) * 20 * 365 * 24 * HOUR_MS),
    ...maybe(0.2, 'setWallMs', () => (random.fraction() - 0.5) * 60 * HOUR_MS),
    ...maybe(0.25, 'sleepMs', () => random.of([0.2, 2, 22.5, 22.99, 23.01, 23.9, 24.1, 30]) * HOUR_MS),
    ...maybe(0.25, 'readTrouble', () => random.fraction() * 0.5),
    ...maybe(0.3, 'otherRuns', () => random.below(12)),
    ...maybe(0.3, 'pageRows', () => 1 + random.below(4)),
    ...maybe(0.3, 'listLagMs', () => random.below(90_000)),
    ...maybe(0.2, 'othersSpend', () => random.fraction() * 0.5),
    ...maybe(0.1, 'withoutMarker', () => true),
    ...maybe(0.15, 'addsFunds', () => true),
    ...maybe(0.1, 'withoutDetails', () => true),
    ...maybe(0.1, 'otherAccount', () => true),
    ...maybe(0.05, 'withoutDate', () => true),
    ...maybe(0.1, 'replacesKey', () => true),
    ...maybe(0.15, 'cancelAt', () =>
      random.of(['queued', 'uploading', 'validating', 'waiting', 'checking'] as const),
    ),
    ...maybe(0.5, 'cancelBy', () => random.of(['cancel', 'abort'] as const)),
    ...maybe(0.3, 'killAfterMs', () => random.below(160)),
    ...maybe(0.08, 'datasetBecomes', () => random.of(['other', 'longer', 'shorter', 'gone'] as const)),
    ...maybe(isDuel ? 1 : 0, 'second', () =>
      random.of(['then kill', 'then release', 'lock lost', 'at once'] as const),
    ),
  };
  return spec;
}
