import assert from 'node:assert/strict';
import type { ProblemCode } from '../../../../../src/core/datasets/problems.ts';
import { problemsOf, useChecker } from '../../../../helpers/checker.ts';
import { a, args, c, chat, d, s, t, u, type Message } from '../../../../helpers/messages.ts';
import { Random } from '../../../../helpers/random.ts';

/** A valid conversation with at least two exchanges, each with a call. */
const valid = (random: Random): Message[] => {
  const text = () => random.of(['Hi.', '{}', ' x ', 'é 模型', 'tool\nuser']);
  const call = () => a(random.of([null, '', text()]), args(random.of<unknown>(['{"a":1}', ' {} ', {}, ''])));
  const exchange = () => [
    u(random.chance(0.3) ? [{ type: 'text', text: text() }, { type: 'image_url' }] : text()),
    ...random.several(1, () => [a(text(), { weight: 1 })]).flat(),
    call(),
    t(random.of(['', text()])),
    ...random.several(2, () => t(text())),
    ...random.several(1, () => [call(), t(text())]).flat(),
    a(text()),
  ];
  const first = random.several(2, () => random.of([s, d])(text()));
  return [...first, ...exchange(), ...exchange(), ...random.several(2, exchange).flat()];
};
const indexesOf = (all: readonly Message[], isOne: (message: Message, before?: Message) => boolean) =>
  all.flatMap((message, index) => (isOne(message, all[index - 1]) ? [index] : []));
const isCall = ({ tool_calls: calls }: Message) => calls !== undefined;
const CHANGES: Readonly<
  Record<string, readonly [ProblemCode, (all: Message[], random: Random) => Message[]]>
> = {
  'without its first user message': [
    'starts-with-assistant',
    (all) =>
      all.toSpliced(
        all.findIndex(({ role }) => role === 'user'),
        1,
      ),
  ],
  'with a user message twice': [
    'repeated-role',
    (all, random) => all.toSpliced(random.of(indexesOf(all, ({ role }) => role === 'user')), 0, u('again')),
  ],
  'with an answer twice': [
    'repeated-role',
    (all, random) => {
      const at = random.of(
        indexesOf(all, (one) => one.role === 'assistant' && !isCall(one) && !('weight' in one)),
      );
      return all.toSpliced(at + 1, 0, a('again'));
    },
  ],
  'with a system message anywhere but first': [
    'system-inside',
    (all, random) => {
      const first = all.findIndex(({ role }) => role === 'user');
      return all.toSpliced(first + 1 + random.below(all.length - first), 0, random.of([s, d])('late'));
    },
  ],
  'without a call': [
    'tool-order',
    (all, random) =>
      all.toSpliced(random.of(indexesOf(all, (one, before) => isCall(one) && before?.role !== 'tool')), 1),
  ],
  'with text instead of a call': [
    'tool-order',
    (all, random) => all.with(random.of(indexesOf(all, isCall)), a('f()', { weight: 1 })),
  ],
  'without a result': [
    'tool-order',
    (all, random) => {
      const call = random.of(indexesOf(all, isCall));
      const after = all.findIndex(({ role }, index) => index > call && role !== 'tool');
      return all.toSpliced(call + 1, after - call - 1);
    },
  ],
  'with broken arguments': [
    'tool-arguments',
    (all, random) => all.with(random.of(indexesOf(all, isCall)), c(random.of(['{"a":', 'a', '[{}]']))),
  ],
};
const ROUNDS = 300;

describe('a valid conversation with one change', () => {
  const { check } = useChecker();

  for (const seed of [1, Date.now() % 1e9])
    it(`has no problem without it, else that of the change (seed ${seed})`, async () => {
      const random = new Random(seed);
      const cases = Array.from({ length: ROUNDS }, () => valid(random)).flatMap((all) => [
        { name: 'unchanged', code: undefined, all },
        ...Object.entries(CHANGES).map(([name, [code, change]]) => ({
          name,
          code,
          all: change(all, random),
        })),
      ]);
      const frame = () => random.of([{}, { id: 1, tools: [{ type: 'function' }] }]);
      const rows = cases.map(({ all }) => JSON.stringify({ ...frame(), ...chat(...all) }));
      const spaced = (row: string) => (random.chance(0.3) ? row.replaceAll('"role":', '"role" : ') : row);
      const problems = problemsOf(await check(rows.map(spaced).join('\n')));
      const byRow = Map.groupBy(problems, ({ row }) => row);
      for (const [index, { name, code, all }] of cases.entries()) {
        const hint = `seed ${seed}, ${name}: ${JSON.stringify(all)}`;
        const found: string[] = (byRow.get(index + 1) ?? [])
          .map((one) => one.code)
          .filter((one) => one !== 'duplicate-row');
        if (code === undefined) assert.deepEqual(found, [], hint);
        else assert.ok(found.includes(code), `${hint}: ${found.join()}`);
      }
    });
});
