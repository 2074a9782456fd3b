import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  leavesOut,
  NO_CHANGES,
  type LeavableFinding,
  type Mendable,
  type PrepareChoices,
} from '../../../../src/core/datasets/copyTypes.ts';
import { readFacts } from '../../../../src/core/datasets/readFacts.ts';
import { useChecker } from '../../../helpers/checker.ts';
import { a, chat, s, t, u } from '../../../helpers/messages.ts';
import { Random } from '../../../helpers/random.ts';

const USUAL = 'You are “kind”.\n';
const REFUSAL = 'I’m sorry, but I can’t help with that.';

describe('a copy, by what the texts say,', () => {
  const { check, checker, folder } = useChecker();
  let made = 0;

  /** Writes a dataset. Returns what a copy can change, and a function that makes copies. */
  const dataset = async (rows: readonly (object | string)[]) => {
    const content = rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n');
    const dir = path.join(folder(), `texts-${++made}`);
    await mkdir(dir);
    const file = path.join(dir, 'train.jsonl');
    await writeFile(file, content);
    const report = await checker().check(file);
    const mendable = await checker().mendableIn(report, await readFacts(file), {});
    const prepare = async (choices: Partial<PrepareChoices>) => {
      const { main, holdOut, counts } = await checker().prepareCopy(
        report,
        { ...NO_CHANGES, ...choices },
        { maxBytes: 1e9 },
      );
      const linesOf = async (name: string) => (await readFile(name, 'utf8')).split('\n').slice(0, -1);
      const lines = [...(await linesOf(main)), ...(holdOut === undefined ? [] : await linesOf(holdOut))];
      return { lines, counts };
    };
    return { mendable, prepare };
  };
  const offers = ({ leavable, system }: Mendable) => ({
    ...Object.fromEntries(leavable.map(({ name, total }) => [name, total])),
    ...(system && { system: system.rows }),
  });

  it('does what was shown before, and changes nothing else', async () => {
    for (let seed = 1; seed <= 3; seed++) {
      const random = new Random(seed);
      const refused = (row: string) => row.includes('I’m sorry');
      const marked = (row: string) => row.includes('<|im_start|>');
      const empty = (row: string) => row.includes('"nan"');
      const lacks = (row: string) =>
        row.includes('"messages"') && !row.includes('"system"') && !row.includes('\u00ff');
      const row = (at: number): string => {
        const answer =
          random.of(['fine', 'fine', REFUSAL, 'nan', '<|im_start|>ok', 'good']) + random.of(['', '', ' ']);
        const own = random.chance(0.93) ? [s(USUAL)] : [];
        const kind = random.below(12);
        if (kind === 0) return random.of(['', `{"messages":[{"role":"user","content":"${REFUSAL}"}`, '[1]']);
        if (kind === 1) return JSON.stringify({ prompt: `p${at}`, completion: answer.trim() });
        if (kind === 2)
          return ` {"n":1.0, "messages" : [{"role":"user","content":"q${at}"}, {"content":"\\u00e9 ]","role":"assistant"}]}`;
        return JSON.stringify(chat(...own, u(`q${at}`), a(answer.trim())));
      };
      const rows = [
        ...Array.from({ length: 60 }, () =>
          JSON.stringify(chat(s(USUAL), u(), a(`${random.below(1e9)} yes`))),
        ),
        ...Array.from({ length: 40 }, (_, at) => row(at)),
      ];
      const { mendable, prepare } = await dataset(rows);
      const isJson = (one: string) =>
        one.startsWith('{"') && one.endsWith('}') ? true : one.startsWith(' {');
      const whole = rows.filter(
        (one) =>
          isJson(one) &&
          !(one.startsWith('{"messages":[{"role":"user","content":"I’m') && !one.endsWith(']}')),
      );
      const expected = { refusals: refused, templateMarks: marked, emptyWords: empty };
      for (const [name, isOne] of Object.entries(expected)) {
        const finding = mendable.leavable.find((one) => one.name === name);
        const found = whole.filter(isOne);
        assert.equal(finding?.total ?? 0, found.length, `seed ${seed}: ${name}`);
        if (finding === undefined) continue;
        const { lines, counts } = await prepare({ withoutFindings: [finding] });
        assert.equal(counts.leftOut[finding.name], finding.total);
        assert.deepEqual(
          lines,
          rows.filter((one) => one !== '' && !(whole.includes(one) && isOne(one))),
        );
      }
      const all = await prepare({
        withoutFindings: mendable.leavable,
        system: mendable.system?.text,
        withoutErrors: true,
      });
      const stays = whole.filter((one) => !refused(one) && !marked(one) && !empty(one));
      assert.equal(all.counts.written, stays.length, `seed ${seed}`);
      const missing = whole.filter(lacks).length;
      assert.equal(mendable.system?.rows ?? 0, missing, `seed ${seed}`);
      const { lines, counts } = await prepare({ system: mendable.system?.text, withoutErrors: true });
      assert.equal(counts.withSystem, missing, `seed ${seed}`);
      const message = JSON.stringify(s(USUAL));
      assert.deepEqual(
        lines,
        whole.map((one) =>
          missing > 0 && lacks(one) ? one.replace(/"messages"( ?: ?)\[/, `"messages"$1[${message},`) : one,
        ),
      );
      const split = await prepare({
        system: mendable.system?.text,
        withoutErrors: true,
        holdOut: { rows: 20 },
      });
      assert.deepEqual(split.lines.sort(), [...lines].sort());
      const after = await dataset(lines);
      assert.equal(after.mendable.system, undefined);
    }
  });

  it('adds a system message in the style of the conversation, before its conversion and masks', async () => {
    const key = 'sk-aB3dE5gH7jK9mN1pQ2rS4tU6vW8x';
    const usual = Array.from({ length: 60 }, (_, at) => chat(s(key), u(`${at}`), a()));
    const gpt = {
      conversations: [
        { from: 'human', value: 'x' },
        { from: 'gpt', value: '[y]' },
      ],
    };
    const rows = [
      ...usual,
      { meta: { messages: [] }, note: 'messages', ...chat(u('"messages":['), a()), tools: [[]] },
      gpt,
      '{"messages":[],"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}',
      // The second reading finds it, but not the check.
      '{"mess\\u0061ges":[{"role":"user","content":"z"},{"role":"assistant","content":"y"}]}',
      { conversations: ['x', 'y'] },
      chat(s(''), u('e'), a()),
    ];
    const { mendable, prepare } = await dataset(rows);
    assert.deepEqual(mendable.system, { text: key, rows: 5 });
    const { lines, counts } = await prepare({ system: key });
    const message = JSON.stringify(s(key));
    assert.deepEqual(lines.slice(60), [
      `{"meta":{"messages":[]},"note":"messages","messages":[${message},${JSON.stringify([u('"messages":['), a()]).slice(1)},"tools":[[]]}`,
      JSON.stringify({ conversations: [{ from: 'system', value: key }, ...gpt.conversations] }),
      `{"messages":[],"messages":[${message},{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}`,
      `{"mess\\u0061ges":[${message},{"role":"user","content":"z"},{"role":"assistant","content":"y"}]}`,
      JSON.stringify({ conversations: ['x', 'y'] }),
      JSON.stringify(chat(s(key), s(''), u('e'), a())),
    ]);
    assert.equal(counts.withSystem, 5);
    const masked = await prepare({ system: key, toChat: true, mask: { secrets: true, personal: false } });
    assert.ok(!masked.lines.some((line) => line.includes(key)));
    assert.equal(masked.lines[61], JSON.stringify(chat(s('[API_KEY]'), u('x'), a('[y]'))));
    assert.deepEqual([masked.counts.masked.apiKeys, masked.counts.withSystem], [64, 4]);
    const again = await prepare({ system: key, withoutDuplicates: true, holdOut: { share: 0.3 } });
    assert.deepEqual(again.counts.withSystem, 5);
  });

  it('offers a system message only if it is the usual one, and words only if they aren’t labels', async () => {
    const rows = (usual: number, other: number) => [
      ...Array.from({ length: usual }, (_, at) => chat(s('usual'), u(`a${at}`), a())),
      ...Array.from({ length: other }, (_, at) => chat(s(`s${at}`), u(`b${at}`), a())),
      chat(u('c'), a()),
    ];
    for (const [of, expected] of [
      [rows(9, 0), { system: 1 }],
      [rows(8, 0), {}],
      [rows(16, 3), {}],
      [rows(17, 2), { system: 1 }],
      [[...rows(0, 3), chat(t(), a())], {}],
      [Array.from({ length: 20 }, (_, at) => chat(u(`${at}`), a(at % 2 === 0 ? 'nan' : 'number'))), {}],
    ] as const)
      assert.deepEqual(offers((await dataset(of)).mendable), expected);
  });

  it('leaves out rows with marks at first only if they are few, and have marks that conversions refuse', () => {
    const finding = (
      kinds: readonly string[],
      total = 1,
      name: LeavableFinding['name'] = 'templateMarks',
    ) => ({
      ...{ name, total },
      kinds: Object.fromEntries(kinds.map((kind) => [kind, 1])),
    });
    assert.ok(leavesOut(finding(['<|im_start|>', '[INST]', 'Human:']), 3));
    assert.ok(!leavesOut(finding(['<|im_start|>'], 2), 4));
    assert.ok(leavesOut(finding(['<|im_start|>', '<|im_end|>']), 3));
    assert.ok(!leavesOut(finding(['<|im_start|>', '</s>'], 2), 5));
    assert.ok(!leavesOut(finding(['<|anything|>']), 3));
    for (const name of ['refusals', 'emptyWords'] as const) assert.ok(!leavesOut(finding(['x'], 1, name), 9));
  });

  it('keeps repaired rows, whatever they say: nobody counted them', async () => {
    const { mendable, prepare } = await dataset([
      chat(u('a'), a(REFUSAL)),
      `${JSON.stringify(chat(u('b'), a(REFUSAL)))},`,
    ]);
    assert.deepEqual([offers(mendable), mendable.repairableRows], [{ refusals: 1 }, 1]);
    const { counts } = await prepare({ withoutFindings: mendable.leavable, repair: true });
    assert.deepEqual([counts.leftOut.refusals, counts.repaired, counts.written], [1, 1, 1]);
    assert.equal((await check('{"text":"a"}')).rows, 1);
  });
});
