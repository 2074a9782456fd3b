import { MODES } from './books.ts';
import type { CellSpec } from './cellSpec.ts';
import type { FaultName } from './faults.ts';
import { CRASH_POINTS, type CrashPoint } from './protocol.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const YEAR_MS = 365 * 24 * HOUR_MS;

/** A cell of which only the unusual is said. */
export function cellOf(spec: Partial<CellSpec> & { name: string }, seed: number): CellSpec {
  return { seed, mode: MODES[seed % MODES.length]!, person: 'continues', faults: [], crashes: [], ...spec };
}

const killedAt = (point: CrashPoint) => ({ crashes: [{ point }] });
const PROCESSED: FaultName = 'reset after body, processed';
const UNPROCESSED: FaultName = 'reset after body, not processed';

/** What the matrix of crash points and faults has no place for: clocks, keys, accounts, files, people. */
export function storyCells(): CellSpec[] {
  return [...clocks(), ...windows(), ...people(), ...machines(), ...services()].map((spec, index) =>
    cellOf(spec, 200_000 + index),
  );
}

type Story = Partial<CellSpec> & { name: string };

function clocks(): Story[] {
  const wrong = [-11, 11].flatMap((years): Story[] => [
    {
      name: `the clock is ${years} years off`,
      wallOffsetMs: years * YEAR_MS,
      faults: ['404, processed'],
      person: 'checks',
    },
    {
      name: `the clock is ${years} years off, killed, not processed`,
      wallOffsetMs: years * YEAR_MS,
      faults: [UNPROCESSED, '500'],
      ...killedAt('sent'),
      person: 'checks',
    },
    {
      name: `the clock is set by ${years} years between two windows`,
      setWallMs: years * YEAR_MS,
      faults: [PROCESSED],
      ...killedAt('sent'),
      person: 'checks',
      addsFunds: true,
    },
  ]);
  const waits = [-11, 11].flatMap((years) =>
    (['429 seconds', '429 date', '503'] as const).map((fault): Story => ({
      name: `killed while it waits after ${fault}, and the clock is set by ${years} years`,
      faults: [fault],
      ...killedAt('waiting'),
      setWallMs: years * YEAR_MS,
    })),
  );
  const edges = [22.9, 22.99, 23, 23.01, 24.01].flatMap((hours): Story[] =>
    ([PROCESSED, UNPROCESSED] as const).map((fault) => ({
      name: `${hours} h asleep after ${fault}`,
      mode: 'forgets',
      sleepMs: hours * HOUR_MS,
      withoutDetails: true,
      faults: [fault, 'reset mid-body'],
      ...killedAt('sent'),
    })),
  );
  return [...wrong, ...waits, ...edges];
}

function windows(): Story[] {
  return [
    { name: 'two windows submit at once', second: 'at once' },
    { name: 'two windows submit at once, and the answer is lost', second: 'at once', faults: [PROCESSED] },
    { name: 'the lock is lost mid-body', second: 'lock lost', ...killedAt('mid-body') },
    { name: 'the lock is lost before the mark', second: 'lock lost', ...killedAt('digest equal') },
    { name: 'the lock is lost before the boundary', second: 'lock lost', ...killedAt('closed-mark written') },
    ...Array.from({ length: 12 }, (_, index): Story => ({
      name: `killed after ${12 * index} ms`,
      killAfterMs: 12 * index,
      faults: index % 2 === 0 ? [PROCESSED] : ['500'],
      person: index % 3 === 0 ? 'checks' : 'continues',
    })),
    { name: 'killed three times', crashes: CRASH_POINTS.slice(4, 7).map((point) => ({ point })) },
    {
      name: 'killed at every step, one after the other',
      crashes: CRASH_POINTS.filter((point) => !['answer torn', 'waiting'].includes(point)).map((point) => ({
        point,
      })),
      faults: ['ok', 'ok', 'ok', 'ok', UNPROCESSED],
      person: 'continues',
    },
  ];
}

function people(): Story[] {
  const states = ['queued', 'uploading', 'validating', 'waiting'] as const;
  const cancels = states.flatMap((state): Story[] =>
    (['cancel', 'abort'] as const).map((by) => ({
      name: `${by} while ${state}`,
      cancelAt: state,
      cancelBy: by,
      faults: state === 'waiting' ? ['500'] : ['header timeout, processed'],
      person: 'checks',
    })),
  );
  const points = ['marked as sending', 'closed-mark written', 'sent'] as const;
  const keys = points.map((point): Story => ({
    name: `another API key after: ${point}`,
    replacesKey: true,
    faults: point === 'sent' ? [PROCESSED] : [],
    ...killedAt(point),
  }));
  const accounts = points.map((point): Story => ({
    name: `another account after: ${point}`,
    otherAccount: true,
    faults: point === 'sent' ? [UNPROCESSED] : [],
    ...killedAt(point),
  }));
  return [
    ...cancels,
    ...keys,
    ...accounts,
    {
      name: 'no marker, and the run stands there',
      withoutMarker: true,
      faults: ['404, processed'],
      person: 'checks',
    },
    { name: 'no marker, and no run', withoutMarker: true, faults: ['404'], person: 'checks' },
    { name: 'funds are added meanwhile', addsFunds: true, faults: ['404, processed'], person: 'checks' },
    { name: 'others spend meanwhile', othersSpend: 1, faults: ['404', '404'], person: 'checks' },
  ];
}

function machines(): Story[] {
  const full = CRASH_POINTS.filter(
    (point) => !['sent', 'answer torn', 'waiting', 'mid-body', 'settled'].includes(point),
  );
  const files = (['other', 'longer', 'shorter', 'gone'] as const).flatMap((datasetBecomes): Story[] =>
    (['marked as sending', 'closed-mark written'] as const).map((point) => ({
      name: `the dataset is ${datasetBecomes} after: ${point}`,
      datasetBecomes,
      ...killedAt(point),
    })),
  );
  return [
    ...full.map((point): Story => ({
      name: `the disk is full at: ${point}`,
      crashes: [{ point, by: 'disk full' }],
      faults: ['ok', '500'],
      person: 'checks',
    })),
    ...files,
  ];
}

function services(): Story[] {
  return [
    { name: 'early and yet a success', faults: ['201, early'] },
    { name: 'no Date', withoutDate: true, faults: ['404, processed', UNPROCESSED], person: 'checks' },
    {
      name: 'small pages, many runs',
      pageRows: 1,
      otherRuns: 12,
      faults: ['404, processed'],
      person: 'checks',
    },
    {
      name: 'a run is listed late',
      listLagMs: 100_000,
      faults: ['reset after body, processed late'],
      ...killedAt('sent'),
      person: 'checks',
      addsFunds: true,
      lookAfterMs: 0,
    },
    { name: 'reads fail', readTrouble: 0.5, faults: ['404, processed', '500'], person: 'checks' },
    { name: 'details cannot be read', withoutDetails: true, faults: ['404, processed'], person: 'checks' },
  ];
}
