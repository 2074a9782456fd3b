import type { PreviewWord } from '../../src/ui/datasets/protocol.ts';
import { button, element, fill } from '../shared/dom.ts';
import { foldAt } from '../shared/fold.ts';
import { drawReadable, MOST_MARKS, type MarkBudget } from '../shared/invisible.ts';
import type { OpenParts } from '../shared/rowFeed.ts';
import type { SecretMarks } from './marks.ts';

const FOLD_TURNS = 12;
/** Maximum fields, turns, parts and calls drawn separately per row; the rest is shown as JSON. */
const MOST_ITEMS = 200;
/** The same limit after the user expanded a list of turns. */
const MOST_OPENED = 1_000;
/** Deeper than any dataset, but far from overflowing the stack. */
const MAX_DEPTH = 100;

/** Context for drawing the content of a row. */
export interface ContentContext extends OpenParts {
  words: Readonly<Record<PreviewWord, string>>;
  language: string;
  /** The role of each name of a speaker. */
  speakers: readonly (readonly [name: unknown, role: string])[];
}

/** The context with the remaining items and marks of one row. */
interface RowDrawing extends ContentContext, MarkBudget {
  left: number;
  hasOpened: boolean;
  marks: SecretMarks;
}

/** Draws a row for reading: conversations as messages, everything else as named fields. */
export function drawContent(value: unknown, context: ContentContext, marks: SecretMarks): HTMLElement {
  const budget = { left: MOST_ITEMS, hasOpened: false, marksLeft: MOST_MARKS };
  const content = drawRowContent(value, { ...context, ...budget, marks });
  marks.markParts();
  return content;
}

function drawRowContent(value: unknown, drawing: RowDrawing): HTMLElement {
  const content = element('div', { class: 'content' });
  if (!isFields(value)) {
    content.append(drawValue(value, 'value', drawing));
    return content;
  }
  const entries = Object.entries(value);
  const [only] = entries;
  const turns = entries.length === 1 && only !== undefined ? turnsOf(only[1]) : undefined;
  if (only !== undefined && turns !== undefined)
    content.append(drawing.marks.drawPart(only[0], () => drawTurns(turns, only[0], drawing)));
  else
    content.append(...drawFields(entries, '', drawing, (name, draw) => drawing.marks.drawPart(name, draw)));
  if (entries.length === 0) content.append(drawText('{}', 'value', drawing));
  return content;
}

/** Draws items separately while the row's limit allows it, and the rest as one text. */
function drawItems<T>(
  items: readonly T[],
  key: string,
  drawing: RowDrawing,
  draw: (item: T, index: number) => HTMLElement,
  rest: (items: readonly T[]) => unknown = (left) => left,
): HTMLElement[] {
  const drawn: HTMLElement[] = [];
  for (const [index, item] of items.entries()) {
    if (drawing.left <= 0) {
      drawn.push(drawCode(rest(items.slice(index)), `${key}/rest`, drawing));
      break;
    }
    drawing.left -= 1;
    drawn.push(draw(item, index));
  }
  return drawn;
}

function drawFields(
  entries: readonly (readonly [name: string, value: unknown])[],
  prefix: string,
  drawing: RowDrawing,
  wrap = (_name: string, draw: () => HTMLElement) => draw(),
): HTMLElement[] {
  const draw = ([name, value]: readonly [string, unknown]) =>
    wrap(name, () => drawField(name, value, `${prefix}${name}`, drawing));
  return drawItems(entries, `${prefix}/fields`, drawing, draw, Object.fromEntries);
}

/** Draws a text; a long one is folded, with a button to expand it. */
function drawText(text: string, key: string, context: RowDrawing): HTMLElement {
  const { words } = context;
  if (text === '') return element('div', { class: 'text empty', text: words.emptyText });
  const cut = foldAt(text);
  const drawShown = (shown: string) =>
    element('div', { class: 'text', attributes: { dir: 'auto' } }, context.marks.drawText(shown, context));
  if (cut === text.length) return drawShown(text);
  const isOpen = context.isOpen(key);
  return element('div', { class: 'folded' }, [
    drawShown(isOpen ? text : `${text.slice(0, cut)}…`),
    button(isOpen ? words.showLess : words.showMore, () => context.toggle(key), {
      class: 'link',
      key,
      attributes: { 'aria-expanded': String(isOpen) },
    }),
  ]);
}

function drawField(name: string, value: unknown, key: string, context: RowDrawing): HTMLElement {
  const turns = turnsOf(value);
  return element('div', { class: 'field' }, [
    element('div', { class: 'name' }, drawReadable(name, context)),
    turns === undefined ? drawValue(value, key, context) : drawTurns(turns, key, context),
  ]);
}

function drawValue(value: unknown, key: string, context: RowDrawing): HTMLElement {
  if (typeof value === 'string') return drawText(value, key, context);
  if (value === null || typeof value !== 'object' || value instanceof ExactNumber)
    return element('div', { class: 'text code' }, context.marks.drawText(printValue(value), context));
  return drawCode(value, key, context);
}

function drawCode(value: unknown, key: string, context: RowDrawing): HTMLElement {
  const drawn = drawText(depthOf(value) > MAX_DEPTH ? '[…]' : printValue(value), key, context);
  drawn.classList.add('code');
  return drawn;
}

/** Not recursive, because hostile rows could overflow the stack. */
function depthOf(value: unknown): number {
  let depth = 0;
  let level: unknown[] = [value];
  while (level.length > 0 && depth <= MAX_DEPTH) {
    depth += 1;
    level = level.flatMap((item) =>
      typeof item === 'object' && item !== null ? (Object.values(item) as unknown[]) : [],
    );
  }
  return depth;
}

/** Returns the turns of a conversation: a list of objects, where at least one has a role. */
function turnsOf(value: unknown): Record<string, unknown>[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const turns = value.filter(isFields);
  return turns.length === value.length && turns.some((turn) => 'role' in turn || 'from' in turn)
    ? turns
    : undefined;
}

function drawTurns(turns: readonly Record<string, unknown>[], key: string, context: RowDrawing): HTMLElement {
  const allKey = `${key}/all`;
  const isOpen = context.isOpen(allKey);
  if (isOpen && !context.hasOpened) [context.left, context.hasOpened] = [MOST_OPENED, true];
  const shown = isOpen ? turns : turns.slice(0, FOLD_TURNS);
  const list = element(
    'div',
    { class: 'turns' },
    drawItems(shown, key, context, (turn, index) => {
      const turnKey = `${key}/${index}`;
      return context.marks.drawPart(turnKey, () => drawTurn(turn, turnKey, context));
    }),
  );
  const hidden = turns.length - shown.length;
  if (hidden > 0) {
    const words = fill(context.words.moreTurns, hidden.toLocaleString(context.language));
    list.append(button(words, () => context.toggle(allKey), { class: 'link', key: allKey }));
  }
  return list;
}

function drawTurn(turn: Record<string, unknown>, key: string, context: RowDrawing): HTMLElement {
  const { words } = context;
  const speakerKey = 'role' in turn ? 'role' : 'from';
  const contentKey = 'content' in turn || !('value' in turn) ? 'content' : 'value';
  const {
    [speakerKey]: spoken,
    [contentKey]: content,
    tool_calls: calls,
    tool_call_id: callId,
    ...rest
  } = turn;
  const name = typeof spoken === 'string' && spoken !== '' ? spoken : words.noRole;
  // Some roles have a color.
  const speaker = context.speakers.find(([known]) => known === name.toLowerCase())?.[1] ?? 'other';
  const head = element('div', { class: 'head' }, [
    element('span', { class: 'role' }, drawReadable(name, context)),
  ]);
  if (typeof callId === 'string')
    head.append(element('span', { class: 'note' }, drawReadable(fill(words.toolCallId, callId), context)));
  const drawn = element('div', { class: 'turn', attributes: { 'data-speaker': speaker } }, [head]);
  if (contentKey in turn && !(content === null && calls !== undefined))
    drawn.append(drawParts(content, `${key}/content`, context));
  if (calls !== undefined) drawn.append(...drawCalls(calls, `${key}/calls`, context));
  drawn.append(...drawFields(Object.entries(rest), `${key}/`, context));
  return drawn;
}

function drawParts(content: unknown, key: string, context: RowDrawing): HTMLElement {
  if (!Array.isArray(content)) return drawValue(content, key, context);
  return element(
    'div',
    { class: 'parts' },
    drawItems(content, key, context, (part: unknown, index) => {
      const partKey = `${key}/${index}`;
      if (isFields(part) && typeof part['text'] === 'string' && (part['type'] ?? 'text') === 'text')
        return drawText(part['text'], partKey, context);
      const type = isFields(part) && typeof part['type'] === 'string' ? part['type'] : '';
      return element('div', { class: 'part' }, [
        element('div', { class: 'name' }, drawReadable(type, context)),
        drawValue(part, partKey, context),
      ]);
    }),
  );
}

function drawCalls(calls: unknown, key: string, context: RowDrawing): HTMLElement[] {
  if (!Array.isArray(calls)) return [drawField('tool_calls', calls, key, context)];
  return drawItems(calls, key, context, (call: unknown, index) => {
    const callKey = `${key}/${index}`;
    const called = isFields(call) ? call['function'] : undefined;
    if (!isFields(called) || typeof called['name'] !== 'string')
      return drawField('tool_calls', call, callKey, context);
    const name = fill(context.words.toolCall, called['name']);
    const drawn = element('div', { class: 'call' }, [
      element('div', { class: 'name' }, drawReadable(name, context)),
    ]);
    if (called['arguments'] === undefined) return drawn;
    const given = drawValue(called['arguments'], callKey, context);
    given.classList.add('code');
    drawn.append(given);
    return drawn;
  });
}

/** Owns the original digits of a number that JavaScript would print differently. */
class ExactNumber {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }
}

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

/** Parses a row; returns undefined if it is not JSON. */
export function parseRow(text: string): { value: unknown } | undefined {
  try {
    // Engines without `source` return ordinary numbers.
    const reviver: Reviver = (_key, value, context) =>
      typeof value === 'number' && context?.source !== undefined && String(value) !== context.source
        ? new ExactNumber(context.source)
        : value;
    return { value: JSON.parse(text.replace(/^\uFEFF/, ''), reviver) as unknown };
  } catch {
    return undefined;
  }
}

/** Prints a value as indented JSON, with numbers as in the file. */
function printValue(value: unknown, indent = ''): string {
  if (value instanceof ExactNumber) return value.digits;
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((item) => inner + printValue(item, inner)).join(',\n')}\n${indent}]`;
  }
  if (isFields(value)) {
    const entries = Object.entries(value);
    if (entries.length === 0) return '{}';
    const lines = entries.map(([key, item]) => `${inner}${JSON.stringify(key)}: ${printValue(item, inner)}`);
    return `{\n${lines.join(',\n')}\n${indent}}`;
  }
  return JSON.stringify(value);
}

/** Whether a value is a JSON object. */
function isFields(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
  );
}
