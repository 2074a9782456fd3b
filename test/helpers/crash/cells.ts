import type { SubmissionState } from '../../../src/core/submission/pendingSubmission.ts';
import { Random } from '../random.ts';
import { FAULTS, isSilent, type FaultName } from './faults.ts';
import type { LieName } from './lies.ts';
import { MODES, type Mode } from './service.ts';

/**
 * The points at which a process can be killed, in the order of a submission. A crash at any point of a line leaves the same
 * state on the disk.
 */
const CRASH_POINTS_BY_STATE = [
  ['before the submission', 'temporary file only', 'temporary file torn'],
  ['submission durable'],
  ['marked as sending', 'mid-body', 'digest equal', 'closed-mark in a temporary file'],
  [
    'closed-mark written',
    'closed-mark durable',
    'sent',
    'answer torn',
    'answer parsed',
    'receipt in a temporary file',
  ],
  ['waiting'],
  ['receipt written', 'settled', 'older versions emptied'],
] as const;
type SubmissionPoint = (typeof CRASH_POINTS_BY_STATE)[number][number];
export const CRASH_POINTS: readonly SubmissionPoint[] = CRASH_POINTS_BY_STATE.flat();
/** All of them, and the points of a later process: it claims an open record before it looks for its run. */
export type CrashPoint = SubmissionPoint | 'claim in a temporary file' | 'claim written';

/** Where a process is killed, pauses until released, or cannot write; `fromAttempt` is the first attempt to which it applies. */
export interface Crash {
  point: CrashPoint;
  fromAttempt?: number;
  by?: 'kill' | 'pause' | 'disk full';
}

/** How the user handles open submissions. */
const POLICIES = [
  /** Resends them with the same Idempotency-Key. */
  'continues',
  /** Checks until there is a verdict, then resends those that were not charged. */
  'checks',
  /** Checks, then discards those that were not charged and submits again. */
  'checks, then starts over',
  /** Submits the same again immediately, then resends. */
  'impatient',
  /** Discards them although they may be charged, and submits again. */
  'discards',
] as const;

/** One combination of failures. */
export interface Cell {
  name: string;
  seed: number;
  mode: Mode;
  user: (typeof POLICIES)[number];
  /** One per attempt, in order; later attempts have none. */
  faults: readonly FaultName[];
  /** One per window, in order; later windows have none. */
  crashes: readonly Crash[];
  /** How storage or network lie to the first window. The invariants must detect it. */
  lie?: LieName;
  /** Error of the machine's clock from the start. */
  wallOffsetMs?: number;
  /** Between windows: the clock is set by this much, and the machine sleeps. */
  setWallMs?: number;
  sleepMs?: number;
  /** Without a marker, no run can be identified for certain. */
  withoutMarker?: boolean;
  /** Probability that a read fails, until the cell is healed. */
  readTrouble?: number;
  checkAfterMs?: number;
  /** Number of recent runs by others, with the same model. */
  otherRuns?: number;
  pageRows?: number;
  listLagMs?: number;
  withoutDate?: boolean;
  /** The user cancels in this state, with the row's button or the notification's. */
  cancelAt?: SubmissionState;
  cancelBy?: 'cancel' | 'abort';
  replacesKey?: boolean;
  /** Real time after which the first window is killed. */
  killAfterMs?: number;
  datasetBecomes?: 'other' | 'longer' | 'shorter' | 'gone';
  /** Probability that someone else's run lowers the balance before an attempt. */
  othersSpend?: number;
  /**
   * While the first window pauses at its point, a second one tries everything. Then the first one is killed or released.
   * `lock lost`: the first one's lock is lost, and the second one takes its submission over. `set back`: the storage is set back to
   * before the first one's submission, and the second one's gets its name. `at once`: all submit without a pause. `all continue`: the
   * first one submits and is gone, then all others continue its submission without a pause.
   */
  second?: 'then kill' | 'then release' | 'lock lost' | 'set back' | 'at once' | 'all continue';
  /** How the lock is lost: its file is removed, or the first window doesn't notice. */
  loss?: 'removed' | 'silent';
  /** The second window's action after that. */
  taker?: 'discards' | 'resends' | 'checks';
  /**
   * Where the storage is set back to once the first window is gone. `true`: the beginning of the first
   * attempt. A number: that version of the newest record, at most the one below its highest.
   */
  rollsBack?: true | number;
  /** No file can be locked. */
  withoutLocks?: true;
  /** How many windows submit, or continue the first one's submission, at once. */
  windowsAtOnce?: number;
  /** Once the first window is gone, the newest version of its record is damaged. */
  damages?: boolean;
  /** Once the first window is gone, someone deletes the first or the last submission of several. */
  deletes?: 'first' | 'last';
  /** Someone adds funds after the first attempt, so the balance proves nothing. */
  addsFunds?: boolean;
  /** Details of runs cannot be read until the cell is healed. */
  withoutDetails?: boolean;
  /** After the first window, one with another account tries forbidden actions. */
  otherAccount?: boolean;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const YEAR_MS = 365 * 24 * HOUR_MS;

/** Every fault except the one that violates the contract by charging before the closing boundary. */
export const FAULT_NAMES = (Object.keys(FAULTS) as FaultName[]).filter((name) => name !== '201, early');

type Partly = Partial<Cell> & { name: string };

export function cellOf(cell: Partly, seed: number): Cell {
  return { seed, mode: MODES[seed % MODES.length]!, user: 'continues', faults: [], crashes: [], ...cell };
}

/** Points within an attempt, which has then used up its fault. */
const IN_ATTEMPT: ReadonlySet<CrashPoint> = new Set([
  'mid-body',
  'digest equal',
  'closed-mark in a temporary file',
  'closed-mark written',
  'closed-mark durable',
  'sent',
  'answer torn',
  'waiting',
]);
/** Faults of the attempt in which the process is killed, chosen so that a resend is necessary. */
const AT_CRASH: Partial<Record<CrashPoint, FaultName>> = {
  sent: 'reset after body, not processed',
  'answer torn': 'truncated answer, not processed',
  waiting: '429 seconds',
};

/**
 * Crash points with faults: each cell has several after its crash, or before it if the crash needs an answer.
 * @param isFull every point with every fault. Otherwise, every fault follows a third of the states that a crash leaves on
 * the disk, at points that depend on the seed
 */
export function crashCells(seed: number, isFull: boolean): Cell[] {
  const random = new Random(seed);
  const groups = faultGroups();
  return CRASH_POINTS_BY_STATE.flatMap((points, row) => {
    const shift = random.below(points.length);
    return groups.flatMap((group, column) => {
      if (!isFull && (row + column + seed) % 3 > 0) return [];
      const chosen = isFull ? points : [points[(Math.floor(column / 3) + shift) % points.length]!];
      return chosen.map((point): Cell => {
        const place = CRASH_POINTS.indexOf(point);
        return {
          name: `${point} × ${group.join(', ')}`,
          seed: 1000 * (place + 1) + column,
          mode: MODES[(place + column) % MODES.length]!,
          user: POLICIES[(row + 2 * column) % POLICIES.length]!,
          faults: IN_ATTEMPT.has(point) ? [AT_CRASH[point] ?? 'ok', ...group] : group,
          crashes: [{ point }],
        };
      });
    });
  });
}

/** Groups faults that charge nothing, then one that charges: its run is found before it would be sent again. */
function faultGroups(): FaultName[][] {
  const gentle = FAULT_NAMES.filter((name) => FAULTS[name].work === 'none');
  const charging = FAULT_NAMES.filter((name) => FAULTS[name].work !== 'none' && name !== 'ok');
  return charging.map((last, index) => [
    ...gentle.filter((_name, at) => at % charging.length === index),
    last,
  ]);
}

/** A second window at every crash point where the first can pause: it is then released, or killed once per state of the disk. */
export function secondWindowCells(): Cell[] {
  const dying = new Set(CRASH_POINTS_BY_STATE.map((points) => points.at(-1)));
  return CRASH_POINTS.filter((point) => point !== 'waiting').flatMap((point, row) =>
    (dying.has(point) ? (['then release', 'then kill'] as const) : (['then release'] as const)).map(
      (second, column) => ({
        name: `${point}, a second window, ${second}`,
        seed: 100_000 + 10 * row + column,
        mode: MODES[row % MODES.length]!,
        user: POLICIES[(row + column) % 2]!,
        faults: point === 'answer torn' ? (['truncated answer'] as const) : [],
        crashes: [{ point }],
        second,
      }),
    ),
  );
}

const killedAt = (point: CrashPoint) => ({ crashes: [{ point }] });
const PROCESSED: FaultName = 'reset after body, processed';
const UNPROCESSED: FaultName = 'reset after body, not processed';
const NOT_FOUND: FaultName = '404, processed';
const HOUR_ASKED: FaultName = '429 of an hour, early';

/** Cells beyond crash points and faults: clocks, windows, API keys, accounts, files, users, services. */
export function storyCells(): Cell[] {
  return [...clocks(), ...windows(), ...users(), ...machines(), ...services()].map((story, index) =>
    cellOf(story, 200_000 + index),
  );
}

function clocks(): Partly[] {
  const wrong = [-11, 11].flatMap((years): Partly[] => {
    const wallOffsetMs = years * YEAR_MS;
    const set = { ...killedAt('sent'), setWallMs: wallOffsetMs, addsFunds: true };
    return [
      { name: `the clock is ${years} years off`, wallOffsetMs, faults: [NOT_FOUND], user: 'checks' },
      {
        name: `the clock is ${years} years off, killed, not processed`,
        wallOffsetMs,
        faults: [UNPROCESSED, '500'],
        ...killedAt('sent'),
        user: 'checks',
      },
      {
        name: `the clock is set by ${years} years between two windows`,
        faults: [PROCESSED],
        ...set,
        user: 'checks',
      },
      ...(['429 seconds', '429 date', '503'] as const).map((fault) => ({
        name: `killed while it waits after ${fault}, and the clock is set by ${years} years`,
        faults: [fault],
        ...killedAt('waiting'),
        setWallMs: wallOffsetMs,
      })),
    ];
  });
  const edges = [22.99, 23.01, 24.01].flatMap((hours) =>
    ([PROCESSED, UNPROCESSED] as const).map((fault): Partly => ({
      name: `${hours} h asleep after ${fault}`,
      mode: 'forgets',
      sleepMs: hours * HOUR_MS,
      withoutDetails: true,
      faults: [fault, 'reset mid-body'],
      ...killedAt('sent'),
    })),
  );
  return [...wrong, ...edges];
}

function windows(): Partly[] {
  return [
    ...withoutLocks(),
    ...setBack(),
    ...claims(),
    { name: 'two windows submit at once', second: 'at once' },
    { name: 'two windows submit at once, and the answer is lost', second: 'at once', faults: [PROCESSED] },
    ...LOCK_POINTS.flatMap((point) =>
      (['discards', 'resends', 'checks'] as const)
        .filter((taker) => isPossible(taker, point))
        .map((taker): Partly => ({
          name: `the lock is lost at: ${point}, and another window ${taker}`,
          second: 'lock lost',
          loss: taker === 'discards' && point === 'mid-body' ? 'removed' : 'silent',
          taker,
          ...killedAt(point),
        })),
    ),
    ...(['sent', 'answer parsed', 'receipt written', 'closed-mark durable'] as const).map(
      (point, index): Partly => ({
        name: `the machine is set back after: ${point}`,
        rollsBack: true,
        faults: point === 'sent' ? [PROCESSED] : [],
        ...killedAt(point),
        ...(index % 2 === 1 && { mode: 'forgets', sleepMs: 25 * HOUR_MS }),
      }),
    ),
    // One per state of the disk, and where the service has it.
    ...(
      ['submission durable', 'mid-body', 'closed-mark durable', 'sent', 'receipt written', 'settled'] as const
    ).map((point): Partly => ({
      name: `the newest version is damaged after: ${point}`,
      damages: true,
      faults: point === 'sent' ? [PROCESSED] : [],
      ...killedAt(point),
    })),
    ...Array.from({ length: 8 }, (_, index): Partly => ({
      name: `killed after ${18 * index} ms`,
      killAfterMs: 18 * index,
      faults: [index % 2 === 0 ? PROCESSED : '500'],
      user: index % 3 === 0 ? 'checks' : 'continues',
    })),
    {
      name: 'killed three times',
      crashes: [{ point: 'marked as sending' }, { point: 'mid-body' }, { point: 'digest equal' }],
    },
    {
      name: 'killed at every step, one after the other',
      crashes: CRASH_POINTS.filter((point) => !['answer torn', 'waiting'].includes(point)).map((point) => ({
        point,
      })),
      faults: ['ok', 'ok', 'ok', 'ok', UNPROCESSED],
    },
  ];
}

/** Without locks, and several windows at once. */
function withoutLocks(): Partly[] {
  return [
    ...LOCK_POINTS.map((point, index): Partly => {
      const taker = (['discards', 'resends', 'checks'] as const)[index % 3]!;
      return {
        name: `no locks at: ${point}, and another window ${taker}`,
        second: 'lock lost',
        withoutLocks: true,
        taker: isPossible(taker, point) ? taker : 'resends',
        ...killedAt(point),
      };
    }),
    ...([undefined, true] as const).flatMap((without) =>
      (['submission durable', 'mid-body', 'closed-mark durable', 'sent', 'receipt written'] as const).flatMap(
        (point) =>
          (['at once', 'all continue'] as const).map((second): Partly => ({
            name: `three windows, ${second}${without ? ', no locks' : ''}, one is killed at: ${point}`,
            second,
            windowsAtOnce: 3,
            ...(without && { withoutLocks: without }),
            faults: point === 'sent' ? [PROCESSED] : [],
            ...killedAt(point),
          })),
      ),
    ),
    ...(['mid-body', 'sent'] as const).flatMap((point) =>
      (['kill', 'disk full'] as const).map((by): Partly => ({
        name: `${point}, then ${by} at the claim`,
        faults: point === 'sent' ? [PROCESSED] : [],
        crashes: [{ point }, { point: by === 'kill' ? 'claim written' : 'claim in a temporary file', by }],
      })),
    ),
  ];
}

/** Names are claims: two windows claim one, and one is given again. */
function claims(): Partly[] {
  const refused = { faults: ['402', UNPROCESSED], crashes: [{ point: 'sent', fromAttempt: 2 }] } as const;
  return [
    ...(
      ['before the submission', 'temporary file only', 'temporary file torn', 'submission durable'] as const
    ).map((point): Partly => ({
      name: `two windows claim the same bytes, and one is killed at: ${point}`,
      second: 'at once',
      ...killedAt(point),
    })),
    // The second window stops at the same version, or goes on until it is charged.
    ...(
      [
        ['marked as sending', undefined],
        ['mid-body', 'mid-body'],
        ['digest equal', undefined],
        ['closed-mark written', 'sent'],
        ['closed-mark durable', undefined],
      ] as const
    ).map(([point, other]): Partly => ({
      name: `a name is given again after the storage was set back at: ${point}`,
      second: 'set back',
      faults: ['ok', other === 'sent' ? PROCESSED : 'ok'],
      crashes: [{ point }, ...(other === undefined ? [] : [{ point: other }])],
    })),
    {
      name: 'the first of two is deleted, and the second is open',
      deletes: 'first',
      user: 'impatient',
      ...refused,
    },
    {
      name: 'the first of two is deleted, and a third follows',
      deletes: 'first',
      user: 'discards',
      ...refused,
    },
    {
      name: 'the last of two is deleted, and its name is given again',
      deletes: 'last',
      faults: ['402', '402'],
      crashes: [{ point: 'mid-body', fromAttempt: 3 }],
    },
  ];
}

/** The storage set back to any version: while nothing is priced, or during that, with the repeat refused or not. */
function setBack(): Partly[] {
  return [1, 2, 3, 4].flatMap((rollsBack) =>
    (
      [
        ['nothing is priced', 'replays 2xx', PROCESSED],
        ['it is priced', 'replays 2xx', 'reset after body, processed late'],
        ['it is priced, and its repeat refused', '409 in flight', 'reset after body, processed late'],
      ] as const
    ).flatMap(([what, mode, fault]) =>
      (['sent', 'settled'] as const).map((point): Partly => ({
        name: `set back to version ${rollsBack} after: ${point}, and ${what}`,
        rollsBack,
        mode,
        faults: point === 'sent' ? [fault] : [],
        ...killedAt(point),
      })),
    ),
  );
}

function users(): Partly[] {
  const cancels = (['queued', 'uploading', 'validating', 'waiting'] as const).flatMap((state) =>
    (['cancel', 'abort'] as const).map((by): Partly => ({
      name: `${by} while ${state}`,
      cancelAt: state,
      cancelBy: by,
      faults: [state === 'waiting' ? '500' : 'header timeout, processed'],
      user: 'checks',
    })),
  );
  const changes = (
    ['submission durable', 'marked as sending', 'closed-mark written', 'sent'] as const
  ).flatMap((point): Partly[] => [
    {
      name: `another API key after: ${point}`,
      replacesKey: true,
      faults: point === 'sent' ? [PROCESSED] : [],
      ...killedAt(point),
    },
    {
      name: `another account after: ${point}`,
      otherAccount: true,
      faults: point === 'sent' ? [UNPROCESSED] : [],
      ...killedAt(point),
    },
  ]);
  return [
    ...cancels,
    ...changes,
    { name: 'no marker, and the run is there', withoutMarker: true, faults: [NOT_FOUND], user: 'checks' },
    { name: 'no marker, and no run', withoutMarker: true, faults: ['404'], user: 'checks' },
    { name: 'funds are added meanwhile', addsFunds: true, faults: [NOT_FOUND], user: 'checks' },
    { name: 'others spend meanwhile', othersSpend: 1, faults: ['404', '404'], user: 'checks' },
  ];
}

function machines(): Partly[] {
  const full = CRASH_POINTS.filter(
    (point) =>
      !['sent', 'answer torn', 'waiting', 'mid-body', 'settled', 'older versions emptied'].includes(point),
  );
  return [
    ...full.map((point): Partly => ({
      name: `the disk is full at: ${point}`,
      crashes: [{ point, by: 'disk full' }],
      faults: ['ok', '500'],
      user: 'checks',
    })),
    ...(['other', 'longer', 'shorter', 'gone'] as const).flatMap((datasetBecomes) =>
      (['marked as sending', 'closed-mark written'] as const).map((point): Partly => ({
        name: `the dataset is ${datasetBecomes} after: ${point}`,
        datasetBecomes,
        ...killedAt(point),
      })),
    ),
  ];
}

function services(): Partly[] {
  const checked = { faults: [NOT_FOUND], user: 'checks' } as const;
  return [
    { name: 'early and yet a success', faults: ['201, early'] },
    { name: 'no Date', withoutDate: true, faults: [NOT_FOUND, UNPROCESSED], user: 'checks' },
    { name: 'small pages, many runs', pageRows: 1, otherRuns: 12, ...checked },
    {
      name: 'a run is listed late',
      listLagMs: 100_000,
      faults: ['reset after body, processed late'],
      ...killedAt('sent'),
      user: 'checks',
      addsFunds: true,
      checkAfterMs: 0,
    },
    { name: 'reads fail', readTrouble: 0.5, faults: [NOT_FOUND, '500'], user: 'checks' },
    { name: 'details cannot be read', withoutDetails: true, ...checked },
    {
      name: 'it refuses a repeat while it prices the first',
      mode: '409 in flight',
      faults: ['reset after body, processed late'],
      ...killedAt('sent'),
    },
    // A service that breaks its promise: a submission isn't resent if its run is listed.
    ...(['500, processed', '408, processed', PROCESSED, '504, processed soon'] as const).map(
      (fault): Partly => ({
        name: `it forgets the Idempotency-Key at once, ${fault}`,
        mode: 'forgets at once',
        faults: [fault],
        listLagMs: 2_000,
      }),
    ),
    { name: 'it asks for an hour', faults: [HOUR_ASKED] },
    { name: 'it asks for an hour, and the same is submitted again', faults: [HOUR_ASKED], user: 'discards' },
    { name: 'it asks for an hour each time', faults: [HOUR_ASKED, HOUR_ASKED, HOUR_ASKED] },
    { name: 'killed while it waits as asked', faults: ['429, early'], ...killedAt('waiting') },
    { name: 'canceled while it waits as asked', faults: ['429, early'], cancelAt: 'waiting' },
  ];
}

/** Where the first window pauses while its lock is lost. */
const LOCK_POINTS = [
  'submission durable',
  'marked as sending',
  'mid-body',
  'digest equal',
  'closed-mark in a temporary file',
  'closed-mark written',
  'closed-mark durable',
  'sent',
  'answer parsed',
] as const;

/** The service prices a complete upload within 15 minutes, so two checks that find nothing come later than that. */
function isPossible(taker: NonNullable<Cell['taker']>, point: CrashPoint): boolean {
  return taker !== 'checks' || !['sent', 'answer torn', 'answer parsed'].includes(point);
}

/** A random combination of everything, determined by the seed. */
export function randomCell(seed: number): Cell {
  const random = new Random(seed);
  const maybe = <T>(probability: number, name: keyof Cell, make: () => T) =>
    random.chance(probability) ? { [name]: make() } : {};
  const hasSecond = random.chance(0.15);
  // A paused window must not run into a timeout.
  const names = hasSecond ? FAULT_NAMES.filter((name) => !isSilent(FAULTS[name])) : FAULT_NAMES;
  return {
    name: `seed ${seed}`,
    seed,
    mode: random.of(MODES),
    user: random.of(POLICIES),
    faults: random.several(6, () => random.of(names)),
    crashes: random.several(3, () => ({
      point: random.of(CRASH_POINTS),
      fromAttempt: random.below(3),
      by: random.chance(0.1) ? 'disk full' : 'kill',
    })),
    ...maybe(0.3, 'wallOffsetMs', () => (random.fraction() - 0.5) * 20 * YEAR_MS),
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
    ...maybe(hasSecond ? 1 : 0, 'second', () =>
      random.of(['then kill', 'then release', 'lock lost', 'at once', 'all continue'] as const),
    ),
    ...maybe(0.5, 'windowsAtOnce', () => 3),
    ...maybe(0.5, 'withoutLocks', () => true),
    ...maybe(0.6, 'loss', () => 'silent'),
    ...maybe(0.6, 'taker', () => random.of(['resends', 'checks'] as const)),
    ...maybe(hasSecond ? 0 : 0.1, 'rollsBack', () => random.of([true, 1, 2, 3, 4, 5] as const)),
    ...maybe(hasSecond ? 0 : 0.05, 'damages', () => true),
  };
}
