import type { Mode } from './books.ts';
import type { SubmissionState } from '../../../src/core/submission/pendingSubmission.ts';
import type { FaultName } from './faults.ts';
import type { LieName } from './lies.ts';
import type { Crash, CrashPoint } from './protocol.ts';

/** What the person does with what is left open. */
export type Policy =
  /** Continues it: the same Idempotency-Key. */
  | 'continues'
  /** Looks until there is a verdict, then continues what was not charged. */
  | 'checks'
  /** Looks, and discards what was not charged to submit anew. */
  | 'checks, then starts anew'
  /** Submits the same again at once, then continues. */
  | 'impatient'
  /** Gives up whatever is open, though a charge may exist, and submits anew. */
  | 'discards';

export const POLICIES: readonly Policy[] = [
  'continues',
  'checks',
  'checks, then starts anew',
  'impatient',
  'discards',
];

/** One combination of everything that can go wrong. */
export interface CellSpec {
  name: string;
  seed: number;
  mode: Mode;
  person: Policy;
  /** Of the attempts, in order; afterwards nothing happens to them. */
  faults: readonly FaultName[];
  /** Of the windows, in order; later ones live. */
  crashes: readonly Crash[];
  /** What storage or network do against the rules, in the first window: the harness must notice. */
  lie?: LieName;
  /** Before the cell begins: how far the machine's clock is off. */
  wallOffsetMs?: number;
  /** Between windows: how far it is set, and how long the machine sleeps. */
  setWallMs?: number;
  sleepMs?: number;
  /** Without a marker nobody can be sure which run it is. */
  withoutMarker?: boolean;
  /** How often a read fails; until the cell is healed. */
  readTrouble?: number;
  /** How long the person waits before the first look. */
  lookAfterMs?: number;
  /** Runs of others before it, of the same model and just now. */
  otherRuns?: number;
  pageRows?: number;
  listLagMs?: number;
  /** The service tells no time. */
  withoutDate?: boolean;
  /** The person cancels when it comes to this state, by the row's button or the notification's. */
  cancelAt?: SubmissionState;
  cancelBy?: 'cancel' | 'abort';
  /** Between windows the person enters another API key. */
  replacesKey?: boolean;
  /** The first window is killed so long after its first word. */
  killAfterMs?: number;
  /** What becomes of the dataset between two windows. */
  datasetBecomes?: 'other' | 'longer' | 'shorter' | 'gone';
  /** How often somebody else's run lowers the balance, before an attempt. */
  othersSpend?: number;
  /**
   * While the first window pauses at its point, a second one does what it can; then the first ends, or goes on. `lock lost`:
   * its lock file is taken away, and the second one gives up what it has. `at once`: both submit, and nobody pauses.
   */
  second?: 'then kill' | 'then release' | 'lock lost' | 'at once';
  /** Somebody adds funds after the first attempt, so that the balance says nothing. */
  addsFunds?: boolean;
  /** Details of runs cannot be read until the cell is healed. */
  withoutDetails?: boolean;
  /** After the first end a window with another account comes first, and tries what it should not. */
  otherAccount?: boolean;
}

/** What a cell came to. */
export interface CellResult {
  spec: CellSpec;
  violations: string[];
  kills: number;
  windows: number;
  attempts: number;
  charges: number;
  /** What happened to its attempts, and where its processes were killed. */
  faults: FaultName[];
  killedAt: CrashPoint[];
  /** How it ended, and how the person came there. */
  end: 'charged' | 'open';
  story: string[];
}
