/**
 * `rank_pattern` or `alpha_pattern`, as PEFT takes it: the first key that fits the end of a module's path. Keys are regular
 * expressions there; only plain names are matched here, for another's regular expression could run for ever.
 */
export class ModulePattern {
  /** Whether it can be told what fits. */
  readonly isClear: boolean;
  /** Key → its place in the order, and its value. */
  readonly #values: ReadonlyMap<string, { order: number; value: number }>;

  constructor(pattern: Readonly<Record<string, number>>) {
    const entries = Object.entries(pattern);
    this.isClear = entries.every(([key]) => /^\^?(?:[\w-]|\\?\.)+\$?$/.test(key));
    this.#values = new Map(
      entries.map(([key, value], order) => [key.replace(/\\(?=\.)|\$$/g, ''), { order, value }]),
    );
  }

  valueOf(path: string): number | undefined {
    if (this.#values.size === 0) return undefined;
    const found = [...endsOf(path), `^${path}`].flatMap((end) => this.#values.get(end) ?? []);
    return found.sort((a, b) => a.order - b.order)[0]?.value;
  }
}

/** `a.b.c`, `b.c`, `c`. */
export function endsOf(path: string): string[] {
  const parts = path.split('.');
  return parts.map((_, from) => parts.slice(from).join('.'));
}
