import type { PreviewProblem, PreviewRow } from '../../src/ui/datasets/protocol.ts';
import { button, element, icon } from '../shared/dom.ts';
import { drawReadable, MOST_MARKS, type MarkBudget } from '../shared/invisible.ts';
import { drawContent, type ContentContext, parseRow } from './content.ts';
import { marksOf } from './marks.ts';

const FOLD_RAW = 2_000;
/** The part that is open if the user switched from content to raw text. */
export const RAW = '/raw';

/** Context for drawing a row. */
export interface RowContext extends ContentContext {
  hasSource: boolean;
  onOpenSource: (problem: number | undefined) => void;
  onGoTo: (row: number) => void;
}

/** Draws the parts of a row: head, problems, and content or raw text. */
export function drawRow(row: PreviewRow, titleId: string, context: RowContext): HTMLElement[] {
  const { words } = context;
  const isBlank = row.text.trim() === '' && row.rest === undefined;
  const parsed = row.rest === undefined && !isBlank ? parseRow(row.text) : undefined;
  const isRaw = parsed === undefined ? true : context.isOpen(RAW);
  const actions = element('div', { class: 'actions' });
  if (parsed !== undefined) {
    const pressed = { 'aria-pressed': String(isRaw) };
    const onSwitch = () => context.toggle(RAW);
    actions.append(button(words.raw, onSwitch, { class: 'link', key: RAW, attributes: pressed }));
  }
  if (context.hasSource)
    actions.append(
      button(words.openSource, () => context.onOpenSource(undefined), { class: 'link', key: 'source' }),
    );
  const drawn = [
    element('header', { class: 'rowHead' }, [
      element('h2', { text: row.title, attributes: { id: titleId } }),
      actions,
    ]),
  ];
  if (row.problems.length > 0) drawn.push(drawProblems(row, context));
  if (isBlank) drawn.push(element('div', { class: 'text empty', text: words.blankRow }));
  else if (parsed === undefined && isQuotedCompletely(row)) return drawn;
  else if (parsed === undefined || isRaw) drawn.push(...drawRawRow(row, parsed === undefined, context));
  else drawn.push(drawContent(parsed.value, context, marksOf(row)));
  if (row.rest !== undefined) drawn.push(element('p', { class: 'note', text: row.rest }));
  return drawn;
}

/** Whether an error already quotes the complete row. */
function isQuotedCompletely({ text, problems }: PreviewRow): boolean {
  return problems.some(
    ({ excerpt }) => excerpt !== undefined && excerpt.before + excerpt.marked + excerpt.after === text,
  );
}

function drawRawRow(row: PreviewRow, isBroken: boolean, context: RowContext): HTMLElement[] {
  const { words } = context;
  const key = 'rawText';
  const isLong = row.text.length > FOLD_RAW * 1.2;
  const isOpen = !isLong || context.isOpen(key);
  const drawn = [drawRaw(row.text, isOpen ? row.text.length : FOLD_RAW, row.problems)];
  if (isBroken && row.rest === undefined)
    drawn.unshift(element('p', { class: 'note', text: words.notParsed }));
  if (isLong)
    drawn.push(
      button(isOpen ? words.showLess : words.showMore, () => context.toggle(key), { class: 'link', key }),
    );
  return drawn;
}

function drawProblems(row: PreviewRow, context: RowContext): HTMLElement {
  const list = element(
    'ul',
    { class: 'problems', attributes: { 'aria-label': context.words.problemsOfRow } },
    row.problems.map((problem, index) => drawProblem(problem, index, context)),
  );
  if (row.moreProblems !== undefined) list.append(element('li', { class: 'note', text: row.moreProblems }));
  return list;
}

function drawProblem(problem: PreviewProblem, index: number, context: RowContext): HTMLElement {
  const place = context.hasSource
    ? button(problem.place, () => context.onOpenSource(index), { class: 'link', key: `problem${index}` })
    : element('span', { class: 'note', text: problem.place });
  const text = element('span', {}, [document.createTextNode(`${problem.text} `), place]);
  const { repeats } = problem;
  if (repeats !== undefined) {
    const goTo = () => context.onGoTo(repeats.row);
    text.append(' · ', button(repeats.text, goTo, { class: 'link', key: `repeats${index}` }));
  }
  const line = element('div', { class: 'problem' }, [icon(problem.severity), text]);
  const item = element('li', {}, [line]);
  if (problem.excerpt !== undefined) item.append(drawExcerpt(problem.excerpt));
  return item;
}

/** Draws a text with control characters as their Unicode pictures (U+2400 on); each is one unit, too. */
function visible(text: string, budget: MarkBudget): Node[] {
  return drawReadable(
    text.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, (unit) =>
      unit === '\u007f' ? '\u2421' : String.fromCharCode(0x2400 + unit.charCodeAt(0)),
    ),
    budget,
  );
}

/** Draws the raw text of a row with its problems underlined. @param end where to cut it, in UTF-16 units */
function drawRaw(text: string, end: number, problems: readonly PreviewProblem[]): HTMLElement {
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

/** Draws the characters around an error, with a caret below the error. */
function drawExcerpt({ before, marked: text, after }: NonNullable<PreviewProblem['excerpt']>): HTMLElement {
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
