// Rows of answers, made up or random.
import type { AnswerRow } from '../../src/core/answers/answerRow.ts';
import type { Random } from './random.ts';

/** A row as a program writes it. */
export interface WrittenAnswer {
  messages?: unknown;
  expected?: unknown;
  base?: unknown;
  adapter?: unknown;
  base_end?: unknown;
  adapter_end?: unknown;
  run?: unknown;
}

export function writtenAnswer(fields: WrittenAnswer = {}): string {
  const messages = [{ role: 'user', content: '2+3?' }];
  return JSON.stringify({ messages, expected: '5', base: '6', adapter: '5', ...fields });
}

/** A word in `supportRow` that must not appear anywhere else. */
export const WORD = 'zebrafinch';

/** A row of a support bot as a program writes it. @param ahead whose answer is close to the expected one */
export function supportRow(
  index: number,
  ahead: 'base' | 'adapter' | 'both' = 'adapter',
  more: WrittenAnswer = {},
): string {
  const order = 1_000 + index * 37;
  const expected = `Your order ${order} left our warehouse on Monday. It arrives within three days; a ${WORD} brings it.`;
  const far = `Sure! I'd be happy to help. To find order ${order}, please open your account, choose Orders, and look for the number.`;
  const near = expected.replace('Monday', 'Tuesday');
  const content = `You are the support bot of a shop.\nWhere is order ${order}?`;
  const [base, adapter] = [ahead === 'adapter' ? far : near, ahead === 'base' ? far : near];
  return `${writtenAnswer({ messages: [{ role: 'user', content }], expected, base, adapter, ...more })}\n`;
}

export function supportRows(
  count: number,
  ...how: [ahead?: 'base' | 'adapter' | 'both', more?: WrittenAnswer]
): string[] {
  return Array.from({ length: count }, (_, index) => supportRow(index, ...how));
}

/** A row of a dataset, with the prompt of a row of answers or another one, and the expected answer. */
export function datasetRow(answers: string, prompt?: string): string {
  const { messages, expected: content } = JSON.parse(answers) as { messages: object[]; expected: string };
  const asked = prompt === undefined ? messages : [{ role: 'user', content: prompt }];
  return `${JSON.stringify({ messages: [...asked, { role: 'assistant', content }] })}\n`;
}

export function answerRow(texts: Partial<AnswerRow> = {}): AnswerRow {
  const messages = [{ role: 'user', text: '2+3?' }];
  return { line: 1, messages, expected: '5', base: '6', adapter: '5', ends: {}, ...texts };
}

const PIECES = [
  'the ',
  'sum ',
  'is ',
  '5',
  '7',
  '{"a":1}',
  '{"b":[1,2]}',
  ' ',
  '\n',
  'é',
  'e\u0301',
  '👩‍🚀',
  '\ud800',
];
const JSONS = [
  '{"a":1,"b":2}',
  '{"b":2,"a":1}',
  '{"a":1}',
  '{"b":2}',
  '[1,2]',
  '{"a":"e\u0301"}',
  '{"a":"é"}',
  'no JSON',
];
const THINKING = '<think>Hm.</think>';

/** Rows whose expected answers are short, JSON, or long texts, so that each measure occurs. */
export function randomRows(random: Random): AnswerRow[] {
  const kind = random.below(3);
  const text = (most: number) => random.several(most, () => random.of(PIECES)).join('');
  const padding = '"'.padEnd(60, 'x');
  const answer = (): string => {
    if (kind === 1) return random.of(JSONS).replace('{', `{${padding}":1,`).replace('[', `[${padding}",`);
    return text(kind === 0 ? 3 : 30) + (kind === 2 ? 'y'.repeat(50) : '');
  };
  const end = () => random.of([undefined, undefined, undefined, 'length', 'error'] as const);
  return Array.from({ length: 1 + random.below(30) }, (_, index) => {
    const base = (random.chance(0.2) ? THINKING : '') + answer();
    const adapter = random.chance(0.2) ? base : answer();
    const ends = { base: end(), adapter: end() };
    return answerRow({ line: index + 1, expected: answer() || 'x', base, adapter, ends });
  });
}
