import { hiddenRuns } from '../../src/core/base/plainText.ts';
import { element } from '../shared/dom.ts';

/** What has more marks than these says the rest in plain characters, so that no row becomes a page of elements. */
export const MOST_MARKS = 500;
/** As many codes of a run are named one by one. */
const MOST_CODES = 4;
/** Of the text that tag characters spell. */
const MOST_SPELLED = 500;

/** Characters that are not seen, and how they are named: `U+202E`. */
export interface Invisible {
  text: string;
  label: string;
}

/** How many marks may still be drawn. */
export interface MarkBudget {
  marksLeft: number;
}

/** A text in pieces: what is seen as it is, and what is not with a label, as often as there are marks left. */
export function splitInvisible(text: string, marksLeft: number): (string | Invisible)[] {
  // Most texts have nothing that could be.
  if (/^[\t\n\r -~]*$/.test(text)) return [text];
  const pieces: (string | Invisible)[] = [];
  let [seen, end] = ['', 0];
  for (const [index, { at, run }] of hiddenRuns(text).entries()) {
    seen += text.slice(end, at);
    end = at + run.length;
    if (index < marksLeft) {
      pieces.push(seen, { text: run, label: labelOf(run) });
      seen = '';
    } else seen += `[${labelOf(run)}]`;
  }
  return [...pieces, seen + text.slice(end)].filter((piece) => piece !== '');
}

/**
 * A text whose invisible characters have a mark each. The mark's text is the characters themselves, so that they are found and
 * copied as they are; its label comes from the style sheet.
 * @param budget of the row, which the marks are taken from
 */
export function drawReadable(text: string, budget: MarkBudget): Node[] {
  return splitInvisible(text, budget.marksLeft).map((piece) => {
    if (typeof piece === 'string') return document.createTextNode(piece);
    budget.marksLeft -= 1;
    return element('span', {
      class: 'invisible',
      text: piece.text,
      attributes: {
        'data-label': piece.label,
        role: 'img',
        'aria-label': piece.label,
        title: piece.label,
      },
    });
  });
}

function labelOf(run: string): string {
  const points = Array.from(run, (one) => one.codePointAt(0) ?? 0);
  const codes = points.map((point) => `U+${point.toString(16).toUpperCase().padStart(4, '0')}`);
  const [first = ''] = codes;
  const named =
    codes.length > 1 && codes.every((code) => code === first)
      ? `${first} ×${codes.length}`
      : codes.length <= MOST_CODES
        ? codes.join(' ')
        : `${first}–${codes.at(-1) ?? ''} ×${codes.length}`;
  // What only a model reads.
  const spelled = points
    .filter((point) => point >= 0xe0020 && point <= 0xe007e)
    .map((point) => String.fromCodePoint(point - 0xe0000))
    .join('');
  if (spelled === '') return named;
  return `${named} “${spelled.slice(0, MOST_SPELLED)}${spelled.length > MOST_SPELLED ? '…' : ''}”`;
}
