import { fork, type ChildProcess } from 'node:child_process';
import type {
  AttemptPlan,
  CrashPoint,
  FromCell,
  FromWindow,
  Shown,
  Verb,
  Verbs,
  WindowConfig,
} from './protocol.ts';

/** The process has ended, by whichever hand. */
export class Died extends Error {
  constructor() {
    super('the process has ended');
  }
}

/** What a cell does for its processes. */
export interface Surroundings {
  pass(ms: number): void;
  planOf(window: number, ordinal: number): AttemptPlan;
  shown(window: number, shown: Shown, isGone: boolean, posts: number): void;
  answered(window: number, verb: Verb, args: unknown[], value: unknown, posts: number): void;
}

interface Call {
  verb: Verb;
  args: unknown[];
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

/** A process that is a window of one cell after the other, until it is killed. */
export class WindowProcess {
  readonly #child: ChildProcess;
  readonly #calls = new Map<number, Call>();
  readonly #ended: Promise<void>;
  #surroundings: Surroundings | undefined;
  #number = 0;
  #paused: Promise<CrashPoint> = new Promise(() => undefined);
  #pausedAt: ((point: CrashPoint) => void) | undefined;
  #count = 0;
  #isOver = false;
  #isDoomed = false;
  #output = '';

  constructor(program: string) {
    this.#child = fork(program, [], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // Nothing of the machine's own proxies.
      env: { PATH: process.env['PATH'] },
      execArgv: ['--no-warnings'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => (this.#output += chunk.toString()));
    this.#child.on('message', (message) => this.#hear(message as FromWindow));
    this.#child.on('error', () => undefined);
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', () => {
        this.#isOver = true;
        for (const { reject } of this.#calls.values()) reject(new Died());
        this.#calls.clear();
        resolve();
      });
    });
  }

  /** Which of its cell's windows it is, from 1. */
  get number(): number {
    return this.#number;
  }

  /** Everything that it printed in this cell. */
  get output(): string {
    return this.#output;
  }

  /** Resolves when it pauses at its point. */
  get paused(): Promise<CrashPoint> {
    return this.#paused;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Becomes a window of a cell. */
  start(surroundings: Surroundings, config: WindowConfig): Promise<null> {
    this.#surroundings = surroundings;
    this.#number = config.window;
    this.#output = '';
    this.#paused = new Promise((resolve) => (this.#pausedAt = resolve));
    return this.call('start', config);
  }

  /** @throws Died, and what the verb throws there */
  call<Name extends Verb>(verb: Name, ...args: Parameters<Verbs[Name]>): Promise<ReturnType<Verbs[Name]>> {
    return new Promise<unknown>((resolve, reject) => {
      if (this.#isOver) {
        reject(new Died());
        return;
      }
      this.#count += 1;
      this.#calls.set(this.#count, { verb, args, resolve, reject });
      this.#say({ kind: 'call', call: this.#count, verb, args });
    }) as Promise<ReturnType<Verbs[Name]>>;
  }

  goOn(): void {
    this.#say({ kind: 'go on' });
  }

  kill(): Promise<void> {
    this.#isDoomed = true;
    this.#child.kill('SIGKILL');
    return this.#ended;
  }

  /** Ends the window as a person closes it; the process lives on. @throws Died */
  async close(): Promise<void> {
    await this.call('close');
    this.#surroundings = undefined;
  }

  get ended(): Promise<void> {
    return this.#ended;
  }

  #say(message: FromCell): void {
    this.#child.send(message, () => undefined);
  }

  #hear(message: FromWindow): void {
    switch (message.kind) {
      case 'value': {
        const call = this.#calls.get(message.call);
        this.#calls.delete(message.call);
        if (call === undefined) return;
        this.#surroundings?.answered(this.number, call.verb, call.args, message.value, message.posts);
        call.resolve(message.value);
        return;
      }
      case 'failed': {
        const call = this.#calls.get(message.call);
        this.#calls.delete(message.call);
        call?.reject(new Error(`${call.verb} threw: ${message.text}`));
        return;
      }
      case 'pass':
        // The dead wait for nothing.
        if (this.#isDoomed) return;
        this.#surroundings?.pass(message.ms);
        this.#say({ kind: 'passed', call: message.call });
        return;
      case 'plan?':
        this.#say({
          kind: 'plan',
          call: message.call,
          plan: this.#surroundings?.planOf(this.number, message.ordinal) ?? { isSilent: false },
        });
        return;
      case 'at':
        this.#pausedAt?.(message.point);
        return;
      case 'state':
        this.#surroundings?.shown(this.number, message.shown, message.isGone, message.posts);
    }
  }
}
