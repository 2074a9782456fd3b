import type { Draft, Intent, Receipt } from '../../../src/core/submission/intent.ts';
import type { SubmissionState } from '../../../src/core/submission/pendingSubmission.ts';
import type { RunCreation } from '../../../src/core/api/types.ts';
import type { LieName } from './lies.ts';

/** The moments at which a process can be killed, in the order in which a submission comes to them. */
export const CRASH_POINTS = [
  'before the intent',
  'temporary file only',
  'temporary file torn',
  'intent durable',
  'marked as sending',
  'mid-body',
  'digest equal',
  'closed-mark in a temporary file',
  'closed-mark written',
  'sent',
  'answer torn',
  'waiting',
  'answer parsed',
  'receipt in a temporary file',
  'receipt durable',
  'settled',
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

/** Where a process ends, pauses until it is told to go on, or cannot write; the points of an attempt: of this one or a later one. */
export interface Crash {
  point: CrashPoint;
  fromAttempt?: number;
  by?: 'kill' | 'pause' | 'disk full';
}

export interface AccountConfig {
  id: string;
  baseUrl: string;
  apiKey: string;
  keyId: string;
}

export interface WindowConfig {
  window: number;
  folder: string;
  clockFile: string;
  digestWorker: string;
  account: AccountConfig;
  crash?: Crash;
  /** What its storage or its network does against the rules. */
  lie?: LieName;
  seed: number;
}

/** A pending submission as it is told to the person. */
export interface Shown {
  id: string;
  accountId: string;
  state: SubmissionState;
  attempt: number;
  intent: Intent;
}

/** An outcome or a finding as it is told, with everything of an error that could reach a log or a person. */
export interface Told {
  kind: string;
  id?: string;
  run?: RunCreation;
  reason?: string;
  againAtMs?: number;
  candidates?: readonly { run_id: string }[];
  kept?: boolean;
  error?: { code: string; text: string; serviceMessage: string };
}

/** What the person, that is the cell, can ask of a window. */
export interface Verbs {
  start: (config: WindowConfig) => null;
  submit: (draft: Draft) => Told;
  resume: (id: string) => Told;
  check: (id: string) => Told;
  look: () => null;
  adopt: (id: string, runId: string) => Told;
  discard: (id: string) => boolean;
  cancel: (id: string) => boolean;
  /** Ends what is under way, as the person pressed Cancel in the notification. */
  abort: () => null;
  pending: () => Shown[];
  receipts: () => Receipt[];
  reconnect: (account: AccountConfig) => null;
  /** What this process has open of the folder and the dataset. */
  descriptors: () => string[];
  close: () => null;
}

export type Verb = keyof Verbs;

/** What happens to the attempt that is about to be sent. */
export interface AttemptPlan {
  connect?: 'refused' | 'dns' | 'tls';
  /** Another address in the place of the service's. */
  insteadOf?: string;
  isSilent: boolean;
}

export type FromCell =
  | { kind: 'call'; call: number; verb: Verb; args: unknown[] }
  | { kind: 'passed'; call: number }
  | { kind: 'plan'; call: number; plan: AttemptPlan }
  | { kind: 'go on' };

export type FromWindow =
  | { kind: 'value'; call: number; value: unknown; posts: number }
  | { kind: 'failed'; call: number; text: string }
  | { kind: 'pass'; call: number; ms: number }
  | { kind: 'plan?'; call: number; ordinal: number }
  | { kind: 'at'; point: CrashPoint }
  | { kind: 'state'; shown: Shown; isGone: boolean; posts: number };
