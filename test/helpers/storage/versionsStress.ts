// Three processes submit the same bytes, and are killed and stopped at random. Then their logs are compared with the records.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '../random.ts';
import { violationsOf, type Operation } from './versionsHistory.ts';

/** The last two break rules of the store: naming replaces a file, and a claim lists again after the question. */
export type Variant = 'hard links' | 'no hard links' | 'replaced names' | 'list read again';

export interface StressResult {
  violations: string[];
  /** How often a window read the records and acted. */
  rounds: number;
  claimed: number;
  /** Claims that were too late. */
  lost: number;
  overtaken: number;
  sent: number;
  charges: number;
  kills: number;
  stops: number;
}

const WINDOWS = 3;
/** How many disturbances come between two reads of the complete log. */
const AT_ONCE = 10;
/** How much the windows log at least between two kills, even on a slow machine. */
const BYTES_PER_KILL = 16_000;

/** @param folder new @param rounds how often the windows act at least */
export async function stressVersions(
  folder: string,
  { rounds, variant, seed }: { rounds: number; variant: Variant; seed: number },
): Promise<StressResult> {
  const log = path.join(folder, 'log.jsonl');
  const service = path.join(folder, 'service');
  mkdirSync(path.join(folder, 'store'), { recursive: true });
  mkdirSync(service);
  const random = new Random(seed);
  const windows = Array.from({ length: WINDOWS }, () => new Window([folder, variant], random));
  // A process that stands still would outlive this one.
  const killAll = () => windows.forEach((window) => window.kill());
  process.once('exit', killAll);
  const counts = { kills: 0, stops: 0 };
  let bytesAtKill = 0;
  while (roundsIn(log) < rounds)
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
  const count = (wanted: Operation['kind'], n?: number) =>
    operations.filter((one) => one.kind === wanted && (n === undefined || one.n === n)).length;
  return {
    violations: violationsOf(folder, operations),
    rounds: count('round'),
    claimed: count('acknowledged', 1),
    lost: count('overtaken', 1),
    overtaken: count('overtaken'),
    sent: count('gate'),
    charges: readdirSync(service).length,
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

function roundsIn(log: string): number {
  return existsSync(log) ? readFileSync(log, 'utf8').split('"kind":"round"').length - 1 : 0;
}

/** A process that is killed may leave a part of a line. */
function operationIn(line: string): Operation[] {
  try {
    return [JSON.parse(line) as Operation];
  } catch {
    return [];
  }
}
