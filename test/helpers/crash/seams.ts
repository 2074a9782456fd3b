import { writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { writeFileDurably } from '../../../src/core/storage/durableFile.ts';
import { Journal } from '../../../src/core/submission/journal.ts';
import type { Lease } from '../../../src/core/storage/lease.ts';
import type { Intent, Receipt } from '../../../src/core/submission/intent.ts';
import { lieOf, type LieName, type Write } from './lies.ts';
import type { Crash, CrashPoint } from './protocol.ts';

/** Points at which nothing is being written. */
const NO_WRITE: ReadonlySet<CrashPoint> = new Set(['intent durable', 'mid-body', 'settled']);

/** Waits for ever where the process is to end, or until it is told to go on. */
export class CrashSeam {
  readonly #crash: Crash | undefined;
  readonly #tell: (point: CrashPoint) => void;
  #isOver = false;
  #goOn: (() => void) | undefined;

  constructor(crash: Crash | undefined, tell: (point: CrashPoint) => void) {
    this.#crash = crash;
    this.#tell = tell;
  }

  isAt(point: CrashPoint, attempt = Infinity): boolean {
    return !this.#isOver && this.#crash?.point === point && attempt >= (this.#crash.fromAttempt ?? 0);
  }

  /** A process reaches a point, in its attempt. */
  async reach(point: CrashPoint, attempt = Infinity): Promise<void> {
    if (!this.isAt(point, attempt)) return;
    this.#isOver = true;
    if (this.#crash?.by === 'disk full' && !NO_WRITE.has(point))
      throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    if (this.#crash?.by !== 'pause') {
      process.kill(process.pid, 'SIGKILL');
      // The signal needs a moment: nothing more may happen.
      await new Promise(() => undefined);
    }
    const goneOn = new Promise<void>((resolve) => (this.#goOn = resolve));
    this.#tell(point);
    await goneOn;
  }

  goOn(): void {
    this.#goOn?.();
  }
}

/** The real journal, which a process can be killed in the middle of. */
export class CrashingJournal extends Journal {
  readonly #seam: CrashSeam;
  readonly #closed = new Map<string, number>();
  /** Of the intent that was to be created last. */
  lastId: string | undefined;

  constructor(folder: string, seam: CrashSeam, lie: LieName | undefined, onSetAside: (file: string) => void) {
    const sound: Write = (file, text) => writing(file, text, seam);
    const { write } = lieOf(lie);
    super(folder, {
      onSetAside,
      createWaitMs: 400,
      write: write === undefined ? sound : (file, text) => write(sound, file, text),
    });
    this.#seam = seam;
  }

  override async create(intent: Intent): ReturnType<Journal['create']> {
    this.lastId = intent.id;
    await this.#seam.reach('before the intent');
    const created = await super.create(intent);
    if ('lease' in created) await this.#seam.reach('intent durable');
    return created;
  }

  override async write(lease: Lease, intent: Intent): Promise<void> {
    const { length } = intent.attempts;
    const last = intent.attempts.at(-1);
    const isUnderWay = last !== undefined && last.ended === undefined && intent.refused === undefined;
    const isClosing = isUnderWay && last.closed !== undefined && (this.#closed.get(intent.id) ?? 0) < length;
    if (isClosing) {
      this.#closed.set(intent.id, length);
      await this.#seam.reach('digest equal', length);
    }
    await super.write(lease, intent);
    if (isClosing) await this.#seam.reach('closed-mark written', length);
    else if (isUnderWay && last.closed === undefined) await this.#seam.reach('marked as sending', length);
  }

  override async settle(lease: Lease, receipt: Receipt): Promise<void> {
    const isCharged = receipt.settled.kind === 'charged';
    const { length } = receipt.attempts;
    if (isCharged) await this.#seam.reach('answer parsed', length);
    await super.settle(lease, receipt);
    if (isCharged) await this.#seam.reach('settled', length);
  }
}

/** The steps of `writeFileDurably`, so that a process can be killed between them. */
async function writing(file: string, text: string, seam: CrashSeam): Promise<void> {
  const { attempts, settled } = JSON.parse(text) as Intent;
  const isReceipt = settled?.kind === 'charged';
  const isClosing = attempts.at(-1)?.closed !== undefined && attempts.at(-1)?.ended === undefined;
  const points: [boolean, CrashPoint, string][] = [
    [attempts.length === 0, 'temporary file only', text],
    [attempts.length === 0, 'temporary file torn', text.slice(0, text.length / 2)],
    [isClosing && !isReceipt, 'closed-mark in a temporary file', text],
    [isReceipt, 'receipt in a temporary file', text],
  ];
  for (const [isHere, point, written] of points)
    if (isHere && seam.isAt(point, attempts.length || Infinity)) {
      await writeFile(`${file}.${randomUUID()}.tmp`, written);
      await seam.reach(point);
    }
  await writeFileDurably(file, text);
  if (isReceipt) await seam.reach('receipt durable', attempts.length);
}
