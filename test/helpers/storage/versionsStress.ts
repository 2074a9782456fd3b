// Three processes append to three records, and are killed and stopped at random. Then what they did is compared with what is left.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '../random.ts';
import { violationsOf, type Operation } from './versionsHistory.ts';

/** `freed names`: clean-up removes files, as the store never does. Then forks must be found. */
export type Variant = 'hard links' | 'no hard links' | 'freed names';

export interface StressResult {
  violations: string[];
  /** Tries to append. */
  rounds: number;
  acknowledged: number;
  kills: number;
  stops: number;
}

const WINDOWS = 3;
/** Disturbances between two looks at all of the log. */
const AT_ONCE = 10;
/** What the windows log in about 15 rounds: on a slow machine, too, they do something between two kills. */
const BYTES_PER_KILL = 8_000;

/** @param folder new @param rounds how many appends are tried at least */
export async function stressVersions(
  folder: string,
  { rounds, variant, seed }: { rounds: number; variant: Variant; seed: number },
): Promise<StressResult> {
  const log = path.join(folder, 'log.jsonl');
  const store = path.join(folder, 'store');
  const random = new Random(seed);
  const windows = Array.from({ length: WINDOWS }, () => new Window([store, log, variant], random));
  // One that stands still would outlive this process.
  const killAll = () => windows.forEach((window) => window.kill());
  process.once('exit', killAll);
  const counts = { kills: 0, stops: 0 };
  let bytesAtKill = 0;
  while (triesIn(log) < rounds)
    for (let done = 0; done < AT_ONCE; done++) {
      await delay(5 + random.below(30));
      const window = windows.filter(({ hasStarted }) => hasStarted)[random.below(WINDOWS)];
      const bytes = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
      if (random.chance(0.2) && bytes - bytesAtKill >= BYTES_PER_KILL) {
        window?.kill();
        bytesAtKill = bytes;
        counts.kills++;
      } else {
        window?.stop(random.chance(0.03) ? 300 : random.below(30));
        counts.stops++;
      }
    }
  for (const window of windows) await window.end();
  process.off('exit', killAll);
  const operations = readFileSync(log, 'utf8').split('\n').flatMap(operationIn);
  const count = (wanted: Operation['kind']) => operations.filter(({ kind }) => kind === wanted).length;
  return {
    violations: violationsOf(store, operations, variant === 'freed names'),
    rounds: count('try'),
    acknowledged: count('acknowledged'),
    ...counts,
  };
}

/** A process that is replaced by another one when it is killed. */
class Window {
  readonly #args: readonly string[];
  readonly #random: Random;
  #process: ChildProcess;
  #isOver = false;
  hasStarted = false;

  constructor(args: readonly string[], random: Random) {
    this.#args = args;
    this.#random = random;
    this.#process = this.#start();
  }

  kill(): void {
    this.hasStarted = false;
    this.#process.kill('SIGKILL');
  }

  /** Lets it stand still for a time. */
  stop(ms: number): void {
    const stopped = this.#process;
    stopped.kill('SIGSTOP');
    setTimeout(() => stopped.kill('SIGCONT'), ms).unref();
  }

  async end(): Promise<void> {
    this.#isOver = true;
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, 'close');
    this.kill();
    await ended;
  }

  #start(): ChildProcess {
    const program = path.join(import.meta.dirname, 'versionsChild.ts');
    const child = fork(program, [...this.#args, `${this.#random.below(2 ** 31)}`]);
    child.once('message', () => (this.hasStarted = true));
    child.once('close', () => {
      if (!this.#isOver) this.#process = this.#start();
    });
    return child;
  }
}

function triesIn(log: string): number {
  return existsSync(log) ? readFileSync(log, 'utf8').split('"kind":"try"').length - 1 : 0;
}

/** A process that is killed may leave a part of a line. */
function operationIn(line: string): Operation[] {
  try {
    return [JSON.parse(line) as Operation];
  } catch {
    return [];
  }
}
