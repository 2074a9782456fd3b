import { element } from '../shared/dom.ts';

/** What has more marks than these says the rest in plain characters, so that no row becomes a page of elements. */
export const MOST_MARKS = 500;
/** As many codes of a run are named one by one. */
const MOST_CODES = 4;
/** Of the text that tag characters spell. */
const MOST_SPELLED = 500;

/** In these scripts joiners shape letters, and are part of ordinary text. */
const SHAPED =
  'Arabic|Syriac|Mongolian|Devanagari|Bengali|Gurmukhi|Gujarati|Oriya|Tamil|Telugu|Kannada|Malayalam|Sinhala|Khmer|Myanmar|Tibetan'.replace(
    /(\w+)\|?/g,
    '\\p{Script=$1}',
  );

/** Runs of characters that a reader does not see: they change the direction, join, hide, or have no shape at all. */
const INVISIBLE = new RegExp(
  `(?:${[
    // Control characters other than tab and the ends of lines.
    '[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]',
    '[\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b\\u200e\\u200f\\u2028-\\u202e]',
    '[\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb]',
    `(?<![${SHAPED}])\\u200c`,
    `(?<![${SHAPED}\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d`,
    // A single one behind what has such variants is ordinary; the others can hide text.
    '[\\ufe03-\\ufe0d]',
    '(?<!\\p{Emoji})[\\ufe0e\\ufe0f]',
    '(?<!\\p{Script=Han})[\\ufe00-\\ufe02]',
    // Tag characters, more variants, and what is reserved for their kind.
    '[\\u{e0000}-\\u{e0fff}]',
  ].join('|')})+`,
  'gu',
);

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
  let at = 0;
  for (const { 0: run, index } of text.matchAll(INVISIBLE)) {
    if (marksLeft-- <= 0) break;
    if (index > at) pieces.push(text.slice(at, index));
    pieces.push({ text: run, label: labelOf(run) });
    at = index + run.length;
  }
  if (at < text.length) pieces.push(text.slice(at).replace(INVISIBLE, (run) => `[${labelOf(run)}]`));
  return pieces;
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
