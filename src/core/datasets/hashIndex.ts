/** Comparisons between two checks for cancellation. */
const STEP = 4096;
const FIRST_ENTRIES = 1024;

/** Gives each different 64-bit hash a number, from 0 in the order of adding. Takes 14 bytes for each. */
export class HashIndex {
  readonly #shouldContinue: () => boolean;
  /** Open addressing, at most two thirds full. A slot has an entry's number plus 1; 0 is a free slot. */
  #slots = new Int32Array(FIRST_ENTRIES * 1.5);
  /** Two numbers for each entry, the lower one first. */
  #hashes = new Uint32Array(FIRST_ENTRIES * 2);
  #probes = 0;
  size = 0;

  /** @param shouldContinue called regularly, since hashes can be crafted to collide; `add` and `find` throw once it returns false */
  constructor(shouldContinue: () => boolean) {
    this.#shouldContinue = shouldContinue;
  }

  /** Adds a hash, and returns its number. A new hash gets what `size` was before. @throws StoppedError */
  add(low: number, high: number): number {
    const slot = this.#slotOf(low, high);
    const known = this.#slots[slot] ?? 0;
    if (known !== 0) return known - 1;
    if (2 * this.size === this.#hashes.length) {
      this.#grow();
      return this.add(low, high);
    }
    this.#hashes[2 * this.size] = low;
    this.#hashes[2 * this.size + 1] = high;
    this.#slots[slot] = ++this.size;
    return this.size - 1;
  }

  /** Returns a hash's number, or -1. @throws StoppedError */
  find(low: number, high: number): number {
    return (this.#slots[this.#slotOf(low, high)] ?? 0) - 1;
  }

  /** Returns all hashes in their order, two numbers for each. */
  hashes(): Uint32Array<ArrayBuffer> {
    return this.#hashes.slice(0, 2 * this.size);
  }

  /** Returns the numbers of all hashes, in ascending order of the hashes. */
  sorted(): Uint32Array {
    const hashes = this.hashes();
    // As 64-bit numbers in the same memory: VS Code runs only on little-endian machines.
    new BigUint64Array(hashes.buffer).sort();
    return Uint32Array.from({ length: this.size }, (_, at) =>
      this.find(hashes[2 * at] ?? 0, hashes[2 * at + 1] ?? 0),
    );
  }

  #slotOf(low: number, high: number): number {
    const slots = this.#slots;
    for (let slot = Math.trunc((low / 2 ** 32) * slots.length); ; slot++) {
      if (slot === slots.length) slot = 0;
      if (this.#probes++ % STEP === 0 && !this.#shouldContinue()) throw new StoppedError();
      const known = slots[slot] ?? 0;
      if (known === 0) return slot;
      if (this.#hashes[2 * known - 2] === low && this.#hashes[2 * known - 1] === high) return slot;
    }
  }

  #grow(): void {
    // Free the old memory now: until the garbage collector runs, there would be twice as much.
    const hashes = (this.#hashes = new Uint32Array(
      this.#hashes.buffer.transfer(2 * this.#hashes.byteLength),
    ));
    this.#slots.buffer.transfer(0);
    this.#slots = new Int32Array(Math.ceil(hashes.length * 0.75));
    for (let entry = 0; entry < this.size; entry++)
      this.#slots[this.#slotOf(hashes[2 * entry] ?? 0, hashes[2 * entry + 1] ?? 0)] = entry + 1;
  }

  /** Frees its memory; it can't be used afterwards. */
  clear(): void {
    for (const { buffer } of [this.#slots, this.#hashes]) buffer.transfer(0);
  }
}

/** Thrown in a thread whose work was canceled. */
export class StoppedError extends Error {}
