import type { PreviewRow } from '../../src/ui/datasets/protocol.ts';
import { element, icon } from '../shared/dom.ts';
import { drawReadable, type MarkBudget } from '../shared/invisible.ts';

/** A secret or personal data in a row. */
interface Secret {
  /** As the row spells it. */
  text: string;
  /** For screen readers. */
  name: string;
  /** Where it is, from the widest part: a field, and an element of its list. */
  parts: readonly string[];
}

/** Owns the secrets of one row, and records which ones were marked. */
export class SecretMarks {
  readonly #secrets: readonly Secret[];
  readonly #names: ReadonlyMap<string, string>;
  /** The drawn parts of the row by key, and the part that is being drawn. */
  readonly #parts = new Map<string, HTMLElement>();
  #part = '';
  /** The texts that were marked, with their parts. */
  readonly #marked = new Set<string>();

  constructor(secrets: readonly Secret[]) {
    this.#secrets = secrets;
    this.#names = new Map(secrets.map(({ text, name }) => [text, name]));
  }

  /** Draws a part of the row, whose texts are marked. */
  drawPart(key: string, draw: () => HTMLElement): HTMLElement {
    const outer = this.#part;
    this.#part = key;
    const drawn = draw();
    this.#part = outer;
    this.#parts.set(key, drawn);
    return drawn;
  }

  /** Draws a text with every secret of the row marked, wherever it occurs. */
  drawText(text: string, budget: MarkBudget): Node[] {
    const drawn: Node[] = [];
    let end = 0;
    for (const { at, secret } of this.#found(text)) {
      if (budget.marksLeft <= 0) break;
      if (at < end) continue;
      budget.marksLeft -= 1;
      const name = this.#names.get(secret) ?? '';
      this.#marked.add(`${this.#part} ${secret}`);
      drawn.push(...drawReadable(text.slice(end, at), budget), drawMark(secret, name));
      end = at + secret.length;
    }
    return [...drawn, ...drawReadable(text.slice(end), budget)];
  }

  /** Names each secret that is folded away or spelled otherwise, on the part of the row that contains it. */
  markParts(): void {
    const named = new Set<string>();
    for (const { text, name, parts } of this.#secrets) {
      const key = parts.findLast((part) => this.#parts.has(part));
      const drawn = this.#parts.get(key ?? '');
      if (key === undefined || drawn === undefined) continue;
      if (this.#marked.has(`${key} ${text}`) || named.has(`${key} ${name}`)) continue;
      named.add(`${key} ${name}`);
      drawn.append(
        element('p', { class: 'note marked' }, [icon('warning'), element('span', { text: name })]),
      );
    }
  }

  /** Returns where the secrets occur, in order, the longest first. */
  #found(text: string): { at: number; secret: string }[] {
    const found: { at: number; secret: string }[] = [];
    for (const secret of this.#names.keys())
      for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + secret.length))
        found.push({ at, secret });
    return found.sort((a, b) => a.at - b.at || b.secret.length - a.secret.length);
  }
}

/** Draws a marked text. Its name is read, but neither shown nor copied. */
function drawMark(text: string, name: string): HTMLElement {
  return element('mark', { class: 'secret', attributes: { title: name } }, [
    element('span', { class: 'spoken', text: `${name}: ` }),
    document.createTextNode(text),
  ]);
}

/** Returns the marks of a row that is JSON. */
export function marksOf({ text, problems }: PreviewRow): SecretMarks {
  const secrets = problems.flatMap(({ at, length, mark }) =>
    mark === undefined || at === undefined ? [] : [{ at, text: text.slice(at, at + length), name: mark }],
  );
  return new SecretMarks(secrets.map(({ at, ...secret }) => ({ ...secret, parts: partsAt(text, at) })));
}

/** Returns the field of an object at an offset in its JSON text, and the element of the field's list. */
function partsAt(json: string, offset: number): string[] {
  let [depth, field, isList, index, last] = [0, '', false, 0, ''];
  for (const { 0: token, index: at } of json.matchAll(/"[^"\\]*(?:\\[^][^"\\]*)*"|[{}[\],]/g)) {
    if (token === '{' || token === '[') {
      depth += 1;
      if (depth === 2) [isList, index] = [token === '[', 0];
    } else if (token === '}' || token === ']') depth -= 1;
    else if (token === ',') index += depth === 2 ? 1 : 0;
    else if (depth === 1 && (last === '{' || last === ','))
      [field, isList] = [JSON.parse(token) as string, false];
    if (at + token.length > offset) break;
    last = token;
  }
  return isList ? [field, `${field}/${index}`] : [field];
}
