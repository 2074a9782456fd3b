import type { PreviewProblem } from '../../src/ui/datasets/protocol.ts';
import { element } from '../shared/dom.ts';
import { drawReadable, MOST_MARKS, type MarkBudget } from './invisible.ts';

/** A control character has no shape of its own: U+2400 and the following are pictures of them, one unit each. */
function visible(text: string, budget: MarkBudget): Node[] {
  return drawReadable(
    text.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, (unit) =>
      unit === '\u007f' ? '\u2421' : String.fromCharCode(0x2400 + unit.charCodeAt(0)),
    ),
    budget,
  );
}

/** A row's own text, with its problems underlined. @param end where it is cut, in UTF-16 units */
export function drawRaw(text: string, end: number, problems: readonly PreviewProblem[]): HTMLElement {
  const drawn = element('div', { class: 'text code raw' });
  const budget = { marksLeft: MOST_MARKS };
  let at = 0;
  const places = problems
    .flatMap(({ at: start, length, severity }) => (start === undefined ? [] : [{ start, length, severity }]))
    .sort((a, b) => a.start - b.start);
  for (const { start, length, severity } of places) {
    if (start < at || start > end) continue;
    const to = Math.min(start + length, end);
    drawn.append(...visible(text.slice(at, start), budget), marked(text.slice(start, to), severity, budget));
    at = to;
  }
  drawn.append(...visible(text.slice(at, end), budget), end < text.length ? '…' : '');
  return drawn;
}

/** The few characters around an error, with a caret below its place. */
export function drawExcerpt({
  before,
  marked: text,
  after,
}: NonNullable<PreviewProblem['excerpt']>): HTMLElement {
  const budget = { marksLeft: MOST_MARKS };
  const mark = marked(text, 'error', budget);
  mark.classList.add('caret');
  return element('div', { class: 'text code excerpt' }, [
    ...visible(before, budget),
    mark,
    ...visible(after, budget),
  ]);
}

function marked(text: string, severity: PreviewProblem['severity'], budget: MarkBudget): HTMLElement {
  return element('mark', { class: text === '' ? `${severity} end` : severity }, visible(text, budget));
}
