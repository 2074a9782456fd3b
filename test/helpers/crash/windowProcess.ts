import { fork, type ChildProcess } from 'node:child_process';
import { Rpc } from '../rpc.ts';
import type { CrashPoint } from './cells.ts';
import type { AttemptPlan, Shown, WindowConfig, WindowMethods } from './window.ts';

/** The calls of a window to the simulation. */
export interface Surroundings {
  pass(ms: number): void;
  violate(text: string): void;
  plan(window: WindowProcess, ordinal: number): AttemptPlan;
  shown(window: WindowProcess, shown: Shown): void;
  answered(window: WindowProcess, method: keyof WindowMethods, args: unknown[], value: unknown): void;
}

/** The process has ended, for any reason. */
export class Died extends Error {
  constructor() {
    super('the process has ended');
  }
}

/** Owns a process that serves as a window of one cell after another, until it is killed. */
export class WindowProcess {
  readonly #child: ChildProcess;
  readonly #rpc: Rpc;
  readonly #ended: Promise<void>;
  #surroundings: Surroundings | undefined;
  /** Number of the window in its cell, from 1. */
  number = 0;
  /** Attempts that it has started in this cell. */
  posts = 0;
  output = '';
  isOver = false;
  /** Resolves when the window pauses at its crash point. */
  paused: Promise<unknown> = Promise.resolve();
  #pausedAt: ((point: CrashPoint) => void) | undefined;
  #isDoomed = false;

  constructor(program: string, cacheFolder: string) {
    this.#child = fork(program, [], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // Excludes the machine's proxy settings.
      env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: cacheFolder },
      // A window is too short-lived for optimizing undici's WebAssembly.
      execArgv: ['--no-warnings', '--liftoff-only'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    const methods: Record<string, (...args: never[]) => unknown> = {
      // A killed process lets no time pass.
      pass: (ms: number) => (this.#isDoomed ? undefined : this.#surroundings?.pass(ms)),
      plan: (ordinal: number) => {
        this.posts = ordinal;
        return this.#surroundings?.plan(this, ordinal) ?? { isSilent: false };
      },
      show: (shown: Shown, isGone: boolean) => (isGone ? undefined : this.#surroundings?.shown(this, shown)),
      at: (point: CrashPoint) => this.#pausedAt?.(point),
      violate: (text: string) => this.#surroundings?.violate(text),
    };
    this.#rpc = new Rpc(
      (message) => this.#child.send(message, () => undefined),
      () => methods,
    );
    this.#child.on('message', (message) => void this.#rpc.hear(message));
    this.#child.on('error', () => undefined);
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', () => {
        this.isOver = true;
        this.#rpc.end(new Died());
        resolve();
      });
    });
  }

  /** Starts a window of a cell in the process. */
  async start(surroundings: Surroundings, config: WindowConfig): Promise<void> {
    this.#surroundings = surroundings;
    this.number = config.window;
    this.posts = 0;
    this.output = '';
    this.paused = new Promise((resolve) => (this.#pausedAt = resolve));
    await this.call('start', config);
  }

  /** @throws Died, and the errors of the method */
  async call<Name extends keyof WindowMethods>(
    method: Name,
    ...args: Parameters<WindowMethods[Name]>
  ): Promise<Awaited<ReturnType<WindowMethods[Name]>>> {
    if (this.isOver) throw new Died();
    const value = (await this.#rpc.call(method, ...args)) as Awaited<ReturnType<WindowMethods[Name]>>;
    this.#surroundings?.answered(this, method, args, value);
    return value;
  }

  kill(): Promise<void> {
    this.#isDoomed = true;
    this.#child.kill('SIGKILL');
    return this.#ended;
  }

  /** Closes the window but keeps the process. @throws Died */
  async close(): Promise<void> {
    await this.call('close');
    this.#surroundings = undefined;
  }
}
