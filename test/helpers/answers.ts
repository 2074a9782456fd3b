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
}

export function writtenAnswer(fields: WrittenAnswer = {}): string {
  const messages = [{ role: 'user', content: '2+3?' }];
  return JSON.stringify({ messages, expected: '5', base: '6', adapter: '5', ...fields });
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
