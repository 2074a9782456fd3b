import type { PreviewProblem, PreviewRow } from '../../src/ui/datasets/protocol.ts';
import { drawContent, type ContentContext } from './content.ts';
import { button, element, icon } from '../shared/dom.ts';
import { parseRow } from './json.ts';
import { drawExcerpt, drawRaw } from './raw.ts';

const FOLD_RAW = 2_000;

/** What a row is drawn with. */
export interface RowContext extends ContentContext {
  /** Shown the other way than it would be by itself. */
  isSwitched: boolean;
  hasSource: boolean;
  onSwitch: () => void;
  onOpenSource: (problem: number | undefined) => void;
}

/** Draws what stands in a row's article: its head, its problems, and its content or its raw text. */
export function drawRow(row: PreviewRow, titleId: string, context: RowContext): HTMLElement[] {
  const { words } = context;
  const isBlank = row.text.trim() === '' && row.rest === undefined;
  const parsed = row.rest === undefined && !isBlank ? parseRow(row.text) : undefined;
  const isRaw = parsed === undefined ? true : context.isSwitched;
  const actions = element('div', { class: 'actions' });
  if (parsed !== undefined) {
    const pressed = { 'aria-pressed': String(isRaw) };
    actions.append(button(words.raw, context.onSwitch, { class: 'link', key: 'raw', attributes: pressed }));
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
  else if (parsed === undefined && isQuotedWhole(row)) return drawn;
  else if (parsed === undefined || isRaw) drawn.push(...drawRawRow(row, parsed === undefined, context));
  else drawn.push(drawContent(parsed.value, context));
  if (row.rest !== undefined) drawn.push(element('p', { class: 'note', text: row.rest }));
  return drawn;
}

/** Whether an error shows the whole row beside its place already. */
function isQuotedWhole({ text, problems }: PreviewRow): boolean {
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
  const line = element('div', { class: 'problem' }, [
    icon(problem.severity),
    element('span', {}, [document.createTextNode(`${problem.text} `), place]),
  ]);
  const item = element('li', {}, [line]);
  if (problem.excerpt !== undefined) item.append(drawExcerpt(problem.excerpt));
  return item;
}

/** What stands in place of a row until it was read. */
export function drawPending(words: ContentContext['words']): HTMLElement[] {
  return [element('div', { class: 'note pending', text: words.rowsLoading })];
}
