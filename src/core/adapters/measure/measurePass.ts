import type { Archive } from '../archive/archive.ts';
import { BrokenArchiveError, verdictOf } from '../faults.ts';
import { inspect, type Inspection } from '../inspect.ts';
import { openArchive } from '../archive/openArchive.ts';
import { PairMeter } from './pairMeter.ts';
import { printable } from '../printable.ts';
import type { Measurements, PairMeasure, Progress, Verdict } from '../report.ts';
import type { Tensor } from '../safetensors.ts';
import { isMeasured, Values } from './values.ts';
import { DtypeShares, type WeightsFile } from '../weights.ts';

const MAX_NAMES = 10;

/** One pass over all values of an adapter, or why there is none. */
export async function measurePass(
  file: string,
  onProgress: (progress: Progress) => void,
): Promise<Measurements | { verdict: Verdict }> {
  const inspection = await inspect(file);
  if (inspection.report.verdict.code !== 'adapter') return { verdict: inspection.report.verdict };
  try {
    const archive = await openArchive(file);
    try {
      return await new Pass(inspection, onProgress).run(archive);
    } finally {
      await archive.close();
    }
  } catch (error) {
    if (error instanceof BrokenArchiveError) return { verdict: verdictOf(error) };
    throw error;
  }
}

class Pass {
  readonly #inspection: Inspection;
  readonly #onProgress: (progress: Progress) => void;
  readonly #meter: PairMeter;
  readonly #values = new Values();
  readonly #counted = { values: 0, nans: 0, infinities: 0, others: 0 };
  readonly #nonFinite: string[] = [];
  readonly #skipped = new DtypeShares();
  readonly #paired: ReadonlySet<Tensor>;
  #doneBytes = 0;

  constructor(inspection: Inspection, onProgress: (progress: Progress) => void) {
    this.#inspection = inspection;
    this.#onProgress = onProgress;
    const parts = inspection.sorted.parts.filter(({ a, b }) => a !== undefined || b !== undefined);
    this.#meter = new PairMeter(inspection.pairs, parts);
    this.#paired = new Set(parts.flatMap(({ a, b }) => [a ?? [], b ?? []].flat()));
  }

  async run(archive: Archive): Promise<Measurements> {
    const waiting = new Map(this.#inspection.files.map((file) => [file.name, file]));
    for await (const member of archive.members()) {
      const file = waiting.get(member.name);
      if (file === undefined) continue;
      await this.#file(file, member.open());
      waiting.delete(member.name);
      if (waiting.size === 0) break;
    }
    // The file was changed between the two looks at it.
    if (waiting.size > 0) throw new BrokenArchiveError('truncated');
    return this.#result();
  }

  async #file({ header, name }: WeightsFile, pieces: AsyncGenerator<Buffer, void>): Promise<void> {
    let skip = header.dataAt;
    let index = -1;
    let tensor: Tensor | undefined;
    let left = 0;
    const next = () => {
      while (left === 0) {
        if (tensor !== undefined) this.#end(tensor);
        tensor = header.tensors[++index];
        if (tensor === undefined) return;
        this.#begin(tensor);
        left = tensor.to - tensor.from;
      }
    };
    next();
    for await (const piece of pieces) {
      let from = Math.min(skip, piece.length);
      skip -= from;
      while (from < piece.length) {
        if (tensor === undefined) throw new BrokenArchiveError('safetensors-length', name);
        const taken = piece.subarray(from, from + left);
        if (isMeasured(tensor.dtype)) this.#values.add(taken, (values) => this.#meter.take(values));
        from += taken.length;
        left -= taken.length;
        next();
      }
      this.#doneBytes += piece.length;
      this.#onProgress({ doneBytes: this.#doneBytes, totalBytes: this.#totalBytes() });
    }
    if (tensor !== undefined) throw new BrokenArchiveError('truncated', name);
  }

  #begin(tensor: Tensor): void {
    if (!isMeasured(tensor.dtype)) return;
    this.#values.begin(tensor.dtype);
    this.#meter.begin(tensor);
  }

  #end(tensor: Tensor): void {
    if (!isMeasured(tensor.dtype)) {
      this.#skipped.add(tensor);
      return;
    }
    const sums = this.#values.end();
    this.#meter.end(tensor, sums);
    this.#counted.values += sums.values;
    this.#counted.nans += sums.nans;
    this.#counted.infinities += sums.infinities;
    if (!this.#paired.has(tensor) && !sums.isZero) this.#counted.others++;
    if (sums.nans + sums.infinities > 0 && this.#nonFinite.length < MAX_NAMES)
      this.#nonFinite.push(printable(tensor.name));
  }

  #totalBytes(): number {
    return this.#inspection.files.reduce(
      (sum, { header }) => sum + header.dataAt + (header.tensors.at(-1)?.to ?? 0),
      0,
    );
  }

  #result(): Measurements {
    const pairs = this.#meter.measures();
    const { values, nans, infinities, others } = this.#counted;
    const zeroPairs = pairs.filter(isZero).length;
    const notMeasured = this.#skipped.list();
    return {
      pairs,
      update: Math.sqrt(pairs.reduce((sum, { update = 0 }) => sum + update ** 2, 0)),
      values,
      nans,
      infinities,
      nonFinite: this.#nonFinite,
      zeroPairs,
      hasNoEffect: zeroPairs === pairs.length && others === 0 && notMeasured.length === 0,
      notMeasured,
    };
  }
}

function isZero({ a, b }: PairMeasure): boolean {
  return a?.isZero === true || b?.isZero === true;
}
