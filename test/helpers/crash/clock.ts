import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import type { Clock } from '../../../src/core/base/clock.ts';
import { throwIfCancelled, unlessCancelled } from '../../../src/core/base/errors.ts';

/** The service's time, the wall clock's deviation from it, and how long the machine has slept. */
interface Time {
  serviceMs: number;
  wallOffsetMs: number;
  asleepMs: number;
}

const TIME_BYTES = 24;

/** Cells are independent of the real time. */
const START_MS = Date.UTC(2031, 4, 3, 12, 0, 0, 250);

/** Owns the time of a cell, which only moves on request. It is in a file, so every process reads it synchronously. */
export class SimulatedClock {
  readonly file: string;
  readonly #fd: number;
  readonly #time: Time = { serviceMs: START_MS, wallOffsetMs: 0, asleepMs: 0 };
  #events: { atMs: number; action: () => void }[] = [];

  constructor(file: string) {
    this.file = file;
    this.#fd = openSync(file, 'w');
    this.#write();
  }

  /** The service's time. */
  get nowMs(): number {
    return this.#time.serviceMs;
  }

  /** Lets time pass and runs the actions that become due, each at its time. */
  pass(ms: number): void {
    const untilMs = this.#time.serviceMs + Math.max(0, ms);
    for (;;) {
      const next = this.#events.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined) break;
      this.#events = this.#events.filter((event) => event !== next);
      this.#time.serviceMs = Math.max(this.#time.serviceMs, next.atMs);
      next.action();
    }
    this.#time.serviceMs = Math.max(this.#time.serviceMs, untilMs);
    this.#write();
  }

  /** The machine sleeps, so its monotonic clock stops. */
  sleepMachine(ms: number): void {
    this.#time.asleepMs += ms;
    this.pass(ms);
  }

  setWall(byMs: number): void {
    this.#time.wallOffsetMs += byMs;
    this.#write();
  }

  at(atMs: number, action: () => void): void {
    this.#events.push({ atMs, action });
  }

  dispose(): void {
    closeSync(this.#fd);
  }

  #write(): void {
    const { serviceMs, wallOffsetMs, asleepMs } = this.#time;
    writeSync(this.#fd, new Float64Array([serviceMs, wallOffsetMs, asleepMs]), 0, TIME_BYTES, 0);
  }
}

/** The clocks of a process in a cell. `sleep` lets simulated time pass instead of waiting. */
export class ProcessClock implements Clock {
  readonly #fd: number;
  readonly #pass: (ms: number) => Promise<void>;
  readonly #bytes = new Float64Array(TIME_BYTES / 8);
  readonly #originMs: number;

  /** @param pass resolves after that much simulated time has passed */
  constructor(file: string, pass: (ms: number) => Promise<void>) {
    this.#fd = openSync(file, 'r');
    this.#pass = pass;
    // As on a real machine: unrelated to the time of day, and the same in every process.
    this.#originMs = START_MS - 12_345;
  }

  nowMs(): number {
    const { serviceMs, wallOffsetMs } = this.#read();
    return serviceMs + wallOffsetMs;
  }

  monotonicMs(): number {
    const { serviceMs, asleepMs } = this.#read();
    return serviceMs - asleepMs - this.#originMs;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    throwIfCancelled(signal);
    await unlessCancelled(this.#pass(ms), signal);
  }

  dispose(): void {
    closeSync(this.#fd);
  }

  #read(): Time {
    readSync(this.#fd, this.#bytes, 0, TIME_BYTES, 0);
    const [serviceMs = NaN, wallOffsetMs = NaN, asleepMs = NaN] = this.#bytes;
    return { serviceMs, wallOffsetMs, asleepMs };
  }
}
