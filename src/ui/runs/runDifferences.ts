import { stat } from 'node:fs/promises';
import { sha256OfFile } from '../../core/api/dataset.ts';
import { isMissing } from '../../core/base/diskError.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import { CancelledError } from '../../core/base/errors.ts';
import { isSameStamp, stampOf, type FileStamp } from '../../core/base/fileStamp.ts';
import type { Difference } from '../../core/datasets/fingerprints.ts';
import { chargedAtPath } from '../../core/submission/earlier.ts';
import type { ChargedReceipt, Receipt } from '../../core/submission/intent.ts';
import type { Services } from '../../services.ts';
import type { RowsSince } from './runPageFacts.ts';

interface Parts extends Pick<Services, 'log'> {
  fingerprints: Pick<Services['fingerprints'], 'between' | 'has' | 'since'>;
}

/** Owns how the rows of a run differ from those of its file now, and from the run before, as far as fingerprints say it. */
export class RunDifferences implements Disposable {
  readonly #parts: Parts;
  readonly #changed: () => void;
  readonly #stop = new AbortController();
  #now: { stamp: FileStamp; difference?: Difference | undefined } | undefined;
  #before: RowsSince['before'];

  /** @param changed called when a difference is known */
  constructor(parts: Parts, changed: () => void) {
    this.#parts = parts;
    this.#changed = changed;
  }

  get known(): RowsSince {
    return { now: this.#now?.difference, before: this.#before };
  }

  /** Reads what isn't known, or not of this version of the file. Never rejects. */
  async read(receipt: ChargedReceipt, receipts: readonly Receipt[]): Promise<void> {
    const log = (error: unknown) => {
      if (!isMissing(error) && !(error instanceof CancelledError)) this.#parts.log.error('run-rows', error);
    };
    await Promise.all([this.#readNow(receipt).catch(log), this.#readBefore(receipt, receipts).catch(log)]);
  }

  dispose(): void {
    this.#stop.abort();
  }

  async #readNow({ id, dataset }: ChargedReceipt): Promise<void> {
    const { path, sizeBytes, sha256 } = dataset;
    const { signal } = this.#stop;
    const stamp = stampOf(await stat(path, { bigint: true }));
    if (isSameStamp(this.#now?.stamp ?? {}, stamp)) return;
    const now = (this.#now = { stamp });
    const file = { path, ...stamp };
    // A file that was only touched is the same.
    if (stamp.sizeBytes === sizeBytes && (await sha256OfFile(file, signal)) === sha256) return;
    const difference = await this.#parts.fingerprints.since(id, file, signal);
    if (this.#now !== now) return;
    this.#now = { stamp, difference };
    this.#changed();
  }

  async #readBefore(receipt: ChargedReceipt, receipts: readonly Receipt[]): Promise<void> {
    const { fingerprints } = this.#parts;
    const { created, dataset, id, origin } = receipt;
    if (this.#before !== undefined) return;
    for (const run of chargedAtPath(receipts, origin, dataset.path)) {
      if (run.created.localMs >= created.localMs) continue;
      // Rows of the same bytes don't differ.
      if (run.dataset.sha256 === dataset.sha256) return;
      if (!(await fingerprints.has(run.id))) continue;
      const difference = await fingerprints.between(run.id, id);
      this.#before = difference && { difference, run };
      this.#changed();
      return;
    }
  }
}
