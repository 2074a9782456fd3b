import { hiddenRuns } from '../../src/core/base/plainText.ts';
import { element } from './dom.ts';

/** Maximum marks per row; further labels become plain text, which limits the number of elements. */
export const MOST_MARKS = 500;
/** A longer run is labeled with only its first and last code. */
const MOST_CODES = 4;
/** Maximum characters shown of a text that is hidden in tag characters. */
const MOST_SPELLED = 500;

/** Invisible characters and their label, such as `U+202E`. */
export interface Invisible {
  text: string;
  label: string;
}

/** The number of marks that may still be drawn. */
export interface MarkBudget {
  marksLeft: number;
}

/** Splits a text into visible pieces and, up to `marksLeft`, invisible pieces with labels. */
export function splitInvisible(text: string, marksLeft: number): (string | Invisible)[] {
  // Most texts are plain ASCII.
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
 * Draws a text with a mark for each run of invisible characters. The mark contains the characters, so that
 * search and copy work; the style sheet shows its label.
 * @param budget the marks left for the row
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
  // Tag characters spell a text that only a model reads.
  const spelled = points
    .filter((point) => point >= 0xe0020 && point <= 0xe007e)
    .map((point) => String.fromCodePoint(point - 0xe0000))
    .join('');
  if (spelled === '') return named;
  return `${named} “${spelled.slice(0, MOST_SPELLED)}${spelled.length > MOST_SPELLED ? '…' : ''}”`;
}
