// Says what is wrong with what several windows did to records and what is left of them.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Entry } from './entry.ts';

/** What a window did, from and to when (microseconds): it took effect in between. */
export interface Operation {
  kind:
    | 'read'
    | 'try'
    | 'acknowledged'
    | 'overtaken'
    | 'highest'
    | 'failed'
    | 'damaged'
    | 'unreadable'
    | 'emptied';
  id: string;
  /** The version that was read or to be written. */
  n: number;
  nonce?: string | undefined;
  below?: string;
  fromUs?: number;
  toUs?: number;
}

/** @param freesNames then gaps are meant */
export function violationsOf(
  folder: string,
  operations: readonly Operation[],
  freesNames: boolean,
): string[] {
  const found: string[] = [];
  for (const { kind, id, n, nonce } of operations)
    if (['failed', 'damaged', 'unreadable', 'emptied'].includes(kind))
      found.push(`${kind}: ${id}.${n} ${nonce ?? ''}`);
  for (const id of new Set(operations.map((operation) => operation.id))) {
    const own = operations.filter((operation) => operation.id === id);
    const chain = new Chain(id, own, found);
    chain.compareFiles(folder, freesNames);
    chain.compareOperations();
    chain.compareTimes();
  }
  return found;
}

/** The versions of one record. */
class Chain {
  readonly #id: string;
  readonly #operations: readonly Operation[];
  readonly #found: string[];
  /** By number, the content of each version that anything is known of. */
  readonly #nonces = new Map<number, string>();
  readonly #tries: ReadonlyMap<string, Operation>;
  #highest = 0;

  constructor(id: string, operations: readonly Operation[], found: string[]) {
    this.#id = id;
    this.#operations = operations;
    this.#found = found;
    this.#tries = new Map(this.#of('try').map((one) => [one.nonce ?? '', one]));
  }

  #of(...kinds: Operation['kind'][]): Operation[] {
    return this.#operations.filter(({ kind }) => kinds.includes(kind));
  }

  #say(what: string): void {
    this.#found.push(`${what} (${this.#id})`);
  }

  /** Version `n` has this content, says `who`. */
  #has(n: number, nonce: string | undefined, who: string): void {
    if (n < 1 || nonce === undefined) return;
    const known = this.#nonces.get(n) ?? nonce;
    if (known !== nonce) this.#say(`fork: version ${n} has two contents: ${who}`);
    this.#nonces.set(n, nonce);
  }

  compareFiles(folder: string, freesNames: boolean): void {
    const numbers = new Set<number>();
    for (const name of readdirSync(folder)) {
      const [, id, number] = /^([0-9a-f-]{36})\.(\d+)\.json$/.exec(name) ?? [];
      if (id !== this.#id) continue;
      const n = Number(number);
      numbers.add(n);
      const file = path.join(folder, name);
      const text = readFileSync(statSync(file).isDirectory() ? path.join(file, 'record') : file, 'utf8');
      if (text !== '') this.#compareFile(n, text);
    }
    this.#highest = Math.max(...numbers);
    if (!freesNames)
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
      if (kind === 'highest' && n < known) this.#say(`stale: ${n} was the highest when ${known} was known`);
      if (kind === 'acknowledged' && n <= known) this.#say(`late: ${n} was written when ${known} was known`);
      const begun = this.#tries.get(this.#nonces.get(n) ?? '')?.fromUs ?? 0;
      if ((kind === 'read' || kind === 'overtaken') && begun > toUs)
        this.#say(`early: ${kind} of ${n} before it was written`);
    }
  }
}
