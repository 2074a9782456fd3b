// Checks what several windows did to records, and the records that are left, for violations.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Entry } from './entry.ts';

/** An operation of a window, with its beginning and end in microseconds: it took effect in between. */
export interface Operation {
  kind: 'round' | 'read' | 'try' | 'acknowledged' | 'overtaken' | 'look' | 'gate' | 'failed' | 'unreadable';
  /** `<bytes>.<k>` */
  key: string;
  /** The version that was read or to be written. */
  n: number;
  nonce?: string | undefined;
  below?: string;
  /** Before a claim: each k that the user was told of. */
  told?: number[];
  fromUs?: number;
  toUs?: number;
}

/** @param folder with `store` and `service` */
export function violationsOf(folder: string, operations: readonly Operation[]): string[] {
  const found: string[] = [];
  for (const { kind, key, n, nonce } of operations)
    if (kind === 'failed' || kind === 'unreadable') found.push(`${kind}: ${key}.${n} ${nonce ?? ''}`);
  const files = Map.groupBy(readdirSync(path.join(folder, 'store')), keyIn);
  const charges = Map.groupBy(readdirSync(path.join(folder, 'service')), keyIn);
  for (const [key, own] of Map.groupBy(operations, (operation) => operation.key)) {
    if (!/\.\d+$/.test(key)) continue;
    const chain = new Chain(key, own, found);
    chain.compareFiles(path.join(folder, 'store'), files.get(key) ?? []);
    chain.compareOperations();
    chain.compareTimes();
    chain.compareCharges(charges.get(key) ?? []);
  }
  return found;
}

function keyIn(name: string): string {
  return name.split('.', 2).join('.');
}

/** The versions of one record. */
class Chain {
  readonly #key: string;
  readonly #operations: readonly Operation[];
  readonly #found: string[];
  /** The content of each known version, by its number. */
  readonly #nonces = new Map<number, string>();
  readonly #tries: ReadonlyMap<string, Operation>;
  #highest = 0;

  constructor(key: string, operations: readonly Operation[], found: string[]) {
    this.#key = key;
    this.#operations = operations;
    this.#found = found;
    this.#tries = new Map(this.#of('try').map((one) => [one.nonce ?? '', one]));
  }

  #of(...kinds: Operation['kind'][]): Operation[] {
    return this.#operations.filter(({ kind }) => kinds.includes(kind));
  }

  #say(what: string): void {
    this.#found.push(`${what} (${this.#key})`);
  }

  /** Records that version `n` has this content, according to `who`. */
  #has(n: number, nonce: string | undefined, who: string): void {
    if (n < 1 || nonce === undefined) return;
    const known = this.#nonces.get(n) ?? nonce;
    if (known !== nonce) this.#say(`fork: version ${n} has two contents: ${who}`);
    this.#nonces.set(n, nonce);
  }

  compareFiles(folder: string, names: readonly string[]): void {
    const numbers = new Set<number>();
    for (const name of names) {
      const [, number] = /\.(\d+)\.json$/.exec(name) ?? [];
      if (number === undefined) continue;
      const n = Number(number);
      numbers.add(n);
      const file = path.join(folder, name);
      const text = readFileSync(statSync(file).isDirectory() ? path.join(file, 'record') : file, 'utf8');
      if (text !== '') this.#compareFile(n, text);
    }
    this.#highest = Math.max(0, ...numbers);
    for (let n = 1; n < this.#highest; n++) if (!numbers.has(n)) this.#say(`gap: no version ${n}`);
  }

  #compareFile(n: number, text: string): void {
    try {
      const { nonce, below } = JSON.parse(text) as Entry;
      this.#has(n, nonce, 'its file');
      this.#has(n - 1, below, 'the file above');
      if (this.#tries.get(nonce)?.n !== n) this.#say(`nobody wrote what version ${n} contains`);
    } catch {
      this.#say(`torn: version ${n}`);
    }
  }

  compareOperations(): void {
    for (const { n, nonce, below } of this.#of('acknowledged')) {
      this.#has(n, nonce, 'who wrote it');
      this.#has(n - 1, below, 'who appended to it');
      if (n > this.#highest) this.#say(`lost: version ${n} was acknowledged`);
    }
    for (const { n, nonce } of this.#of('read')) this.#has(n, nonce, 'who read it');
    for (const { n } of this.#of('overtaken')) if (n > this.#highest) this.#say(`nobody wrote version ${n}`);
    const k = Number(this.#key.split('.')[1]);
    const { told = [] } = this.#tries.get(this.#nonces.get(1) ?? '') ?? {};
    if (this.#highest > 0 && told.join() !== Array.from({ length: k - 1 }, (_, index) => index + 1).join())
      this.#say(`claimed, and the user was told of ${told.join()}`);
  }

  /** Each operation must agree with all that ended before it began, and with none that began after it ended. */
  compareTimes(): void {
    const ends = this.#of('acknowledged', 'read').sort((one, other) => one.toUs! - other.toUs!);
    const begins = this.#operations
      .filter(({ fromUs }) => fromUs !== undefined)
      .sort((one, other) => one.fromUs! - other.fromUs!);
    let known = 0;
    let ended = 0;
    for (const { kind, n, fromUs = 0, toUs = 0 } of begins) {
      for (; ended < ends.length && ends[ended]!.toUs! < fromUs; ended++)
        known = Math.max(known, ends[ended]!.n);
      if (kind === 'read' && n < known) this.#say(`stale: ${n} was read when ${known} was known`);
      if (kind === 'gate' && n < known) this.#say(`stale: ${n} passed the gate when ${known} was known`);
      if (kind === 'acknowledged' && n <= known) this.#say(`late: ${n} was written when ${known} was known`);
      const begun = this.#tries.get(this.#nonces.get(n) ?? '')?.fromUs ?? 0;
      if ((kind === 'read' || kind === 'overtaken') && begun > toUs)
        this.#say(`early: ${kind} of ${n} before it was written`);
    }
  }

  /** A service that keeps its promise charges each ID once. One that forgets it relies on a look before each repeat. */
  compareCharges(charges: readonly string[]): void {
    if (charges.length > 1) this.#say(`charged ${charges.length} times`);
    const looks = this.#of('look');
    const gates = this.#of('gate').sort((one, other) => one.fromUs! - other.fromUs!);
    for (const [index, gate] of gates.entries()) {
      const last = gates[index - 1];
      if (last && !looks.some(({ fromUs, toUs }) => fromUs! >= last.fromUs! && toUs! <= gate.toUs!))
        this.#say(`passed the gate twice without a look`);
    }
  }
}
