import { fork, type ChildProcess } from 'node:child_process';
import type { RunCreation } from '../../../src/core/api/types.ts';
import type { Draft, Intent, Receipt } from '../../../src/core/submission/intent.ts';
import type { SubmissionState } from '../../../src/core/submission/pendingSubmission.ts';
import type { Crash, CrashPoint } from './cells.ts';
import type { LieName } from './lies.ts';
import { Rpc } from './rpc.ts';

export interface WindowConfig {
  window: number;
  folder: string;
  clockFile: string;
  account: { id: string; baseUrl: string; apiKey: string; keyId: string };
  crash?: Crash;
  /** What its storage or its network does against the rules. */
  lie?: LieName;
  seed: number;
}

/** A pending submission as the user sees it. */
export interface Shown {
  id: string;
  accountId: string;
  state: SubmissionState;
  intent: Intent;
}

/** What the user reads of a result, with everything of an error that could reach a log or the user. */
export interface Told {
  kind: string;
  id?: string;
  run?: RunCreation;
  reason?: string;
  candidates?: readonly { run_id: string }[];
  kept?: boolean;
  error?: { code: string; text: string; serviceMessage: string };
}

/** What the user can do in a window. */
export interface WindowMethods {
  start: (config: WindowConfig) => null;
  submit: (draft: Draft) => Told;
  resume: (id: string) => Told;
  check: (id: string) => Told;
  checkDue: () => null;
  adopt: (id: string, runId: string) => Told;
  discard: (id: string) => boolean;
  cancel: (id: string) => boolean;
  /** Cancel in the notification. */
  abort: () => null;
  pending: () => Shown[];
  receipts: () => Receipt[];
  reconnect: (account: WindowConfig['account']) => null;
  /** Lets it leave the point at which it pauses. */
  goOn: () => null;
  /** What this process has open of the folder and the dataset. */
  descriptors: () => string[];
  close: () => null;
}

/** What happens to the attempt that is about to be sent. */
export interface AttemptPlan {
  connect?: 'refused' | 'dns' | 'tls';
  /** Another address in the place of the service's. */
  insteadOf?: string;
  isSilent: boolean;
}

/** What the simulation does for a window. */
export interface Surroundings {
  pass(ms: number): void;
  plan(window: WindowProcess, ordinal: number): AttemptPlan;
  shown(window: WindowProcess, shown: Shown): void;
  answered(window: WindowProcess, method: keyof WindowMethods, args: unknown[], value: unknown): void;
}

/** The process has ended, by whichever hand. */
export class Died extends Error {
  constructor() {
    super('the process has ended');
  }
}

/** A process that is a window of one cell after the other, until it is killed. */
export class WindowProcess {
  readonly #child: ChildProcess;
  readonly #rpc: Rpc;
  readonly #ended: Promise<void>;
  #surroundings: Surroundings | undefined;
  /** Which of its cell's windows it is, from 1. */
  number = 0;
  /** How many attempts it has begun in this cell. */
  posts = 0;
  /** Everything that it printed in this cell. */
  output = '';
  isOver = false;
  /** Resolves when it pauses at its point. */
  paused: Promise<unknown> = Promise.resolve();
  #pausedAt: ((point: CrashPoint) => void) | undefined;
  #isDoomed = false;

  constructor(program: string, cacheFolder: string) {
    this.#child = fork(program, [], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // Nothing of the machine's own proxies.
      env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: cacheFolder },
      execArgv: ['--no-warnings'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    const methods: Record<string, (...args: never[]) => unknown> = {
      // The dead wait for nothing.
      pass: (ms: number) => (this.#isDoomed ? undefined : this.#surroundings?.pass(ms)),
      plan: (ordinal: number) => {
        this.posts = ordinal;
        return this.#surroundings?.plan(this, ordinal) ?? { isSilent: false };
      },
      show: (shown: Shown, isGone: boolean) => (isGone ? undefined : this.#surroundings?.shown(this, shown)),
      at: (point: CrashPoint) => this.#pausedAt?.(point),
    };
    this.#rpc = new Rpc(
      (message) => this.#child.send(message, () => undefined),
      (name) => methods[name]!,
    );
    this.#child.on('message', (message) => this.#rpc.hear(message));
    this.#child.on('error', () => undefined);
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', () => {
        this.isOver = true;
        this.#rpc.end(new Died());
        resolve();
      });
    });
  }

  /** Becomes a window of a cell. */
  async start(surroundings: Surroundings, config: WindowConfig): Promise<void> {
    this.#surroundings = surroundings;
    this.number = config.window;
    this.posts = 0;
    this.output = '';
    this.paused = new Promise((resolve) => (this.#pausedAt = resolve));
    await this.call('start', config);
  }

  /** @throws Died, and what the method throws there */
  async call<Name extends keyof WindowMethods>(
    method: Name,
    ...args: Parameters<WindowMethods[Name]>
  ): Promise<ReturnType<WindowMethods[Name]>> {
    if (this.isOver) throw new Died();
    const value = (await this.#rpc.call(method, ...args)) as ReturnType<WindowMethods[Name]>;
    this.#surroundings?.answered(this, method, args, value);
    return value;
  }

  kill(): Promise<void> {
    this.#isDoomed = true;
    this.#child.kill('SIGKILL');
    return this.#ended;
  }

  /** Ends the window as a user closes it; the process lives on. @throws Died */
  async close(): Promise<void> {
    await this.call('close');
    this.#surroundings = undefined;
  }
}
