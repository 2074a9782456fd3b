import { Gram } from './gram.ts';
import type { Parts } from '../pairs.ts';
import type { LoraPair, MatrixMeasure, PairMeasure } from '../report.ts';
import type { Tensor } from '../safetensors.ts';
import type { Sums } from './values.ts';

/** A's values stay in memory until its last one is there. */
const MAX_A_VALUES = 2 ** 24;
/** Of all Gram matrices that wait for their partners. */
const MAX_WAITING_BYTES = 128 * 2 ** 20;

/** Takes the values of A's and B's as they come, and holds of them only what their product needs. */
export class PairMeter {
  readonly #roles = new Map<Tensor, { index: number; part: 'a' | 'b' }>();
  readonly #pairs: readonly LoraPair[];
  readonly #measures: PairMeasure[];
  /** By pair: what came first of the two. */
  readonly #waiting = new Map<number, Gram>();
  readonly #shapes: readonly (number | undefined)[];
  #waitingBytes = 0;
  #gram: Gram | undefined;
  #a: Float32Array | undefined;
  #filled = 0;

  /** @param parts those of `pairs`, in the same order */
  constructor(pairs: readonly LoraPair[], parts: readonly Parts[]) {
    this.#pairs = pairs;
    this.#measures = pairs.map(({ path, layer, module }) => ({
      path,
      ...(layer === undefined ? {} : { layer }),
      module,
    }));
    parts.forEach(({ a, b }, index) => {
      if (a !== undefined) this.#roles.set(a, { index, part: 'a' });
      if (b !== undefined) this.#roles.set(b, { index, part: 'b' });
    });
    this.#shapes = parts.map(rankToMultiply);
  }

  begin(tensor: Tensor): void {
    this.#gram = undefined;
    this.#a = undefined;
    this.#filled = 0;
    const role = this.#roles.get(tensor);
    const rank = role && this.#shapes[role.index];
    if (role === undefined || rank === undefined) return;
    if (!this.#waiting.has(role.index) && this.#waitingBytes + Gram.bytesOf(rank) > MAX_WAITING_BYTES) return;
    if (role.part === 'a') {
      if (tensor.parameters > MAX_A_VALUES) return;
      this.#a = new Float32Array(tensor.parameters);
    }
    this.#gram = new Gram(rank);
  }

  take(values: Float32Array): void {
    if (this.#a !== undefined) {
      this.#a.set(values, this.#filled);
      this.#filled += values.length;
    } else this.#gram?.add(values);
  }

  end(tensor: Tensor, sums: Sums): void {
    const role = this.#roles.get(tensor);
    if (role === undefined) return;
    const measure = this.#measures[role.index];
    if (measure === undefined) return;
    measure[role.part] = matrixMeasure(sums);
    const gram = this.#gram;
    if (gram === undefined || !Number.isFinite(sums.squares)) return;
    if (this.#a !== undefined) gram.addColumns(this.#a);
    const other = this.#waiting.get(role.index);
    if (other === undefined) {
      this.#waiting.set(role.index, gram);
      this.#waitingBytes += Gram.bytesOf(gram.length);
      return;
    }
    this.#waiting.delete(role.index);
    this.#waitingBytes -= Gram.bytesOf(gram.length);
    const scale = this.#pairs[role.index]?.scale;
    if (scale !== undefined) measure.update = Math.abs(scale) * Math.sqrt(Math.max(0, gram.trace(other)));
  }

  measures(): PairMeasure[] {
    return this.#measures.map((measure, index) => {
      const scale = this.#pairs[index]?.scale;
      const bound = (measure.a?.norm ?? NaN) * (measure.b?.norm ?? NaN) * Math.abs(scale ?? NaN);
      if (!Number.isFinite(bound)) return measure;
      return {
        ...measure,
        // Rounding must not make it larger than what it can never exceed.
        ...(measure.update === undefined ? {} : { update: Math.min(measure.update, bound) }),
        updateBound: bound,
      };
    });
  }
}

/** The rank, where A is rank × anything and B anything × rank; undefined where they cannot be multiplied. */
function rankToMultiply({ a, b }: Parts): number | undefined {
  const rank = a?.shape[0];
  const outputs = b?.shape[0];
  if (rank === undefined || b === undefined || !rank || !outputs || b.parameters !== rank * outputs)
    return undefined;
  return b.shape[1] === rank ? rank : undefined;
}

function matrixMeasure({ squares, nans, infinities, isZero }: Sums): MatrixMeasure {
  return { norm: nans + infinities > 0 ? NaN : Math.sqrt(squares), nans, infinities, isZero };
}
