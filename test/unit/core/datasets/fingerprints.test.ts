import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { stampOf } from '../../../../src/core/base/fileStamp.ts';
import type { DatasetFile } from '../../../../src/core/datasets/fileKind.ts';
import {
  Fingerprints,
  type RowDifference,
  type SubmittedDataset,
} from '../../../../src/core/datasets/fingerprints.ts';
import { readHashes } from '../../../../src/core/datasets/rowHashes.ts';
import { Scanner } from '../../../../src/core/datasets/scanner.ts';
import { HASH_NORMALIZED } from '../../../../src/core/datasets/scanner/codes.ts';
import { checkerFiles, useChecker } from '../../../helpers/checker.ts';
import { useFolderSyncs } from '../../../helpers/folderSyncs.ts';
import { ESCAPING_WRITERS, escaped, written } from '../../../helpers/jsonWriters.ts';
import { Random } from '../../../helpers/random.ts';

interface Row {
  system: string;
  prompt: string;
  answer: string;
}

const WORDS = 'Alpha, beta gamma. Delta/epsilon "zeta" eta: thêta 家 Жук a𝒳b iota\n kappa\tλ <mu> & nu'.split(
  ' ',
);

function rowsOf(random: Random, count: number): Row[] {
  const text = (words: number) => Array.from({ length: words }, () => random.of(WORDS)).join(' ');
  return Array.from({ length: count }, (_, index) => ({
    system: random.chance(0.5) ? '' : text(3),
    prompt: `${index} ${text(2 + random.below(20))}`,
    answer: text(1 + random.below(30)),
  }));
}

const messagesOf = ({ system, prompt, answer }: Row) => [
  ...(system === '' ? [] : [{ role: 'system', content: system }]),
  { role: 'user', content: prompt },
  { role: 'assistant', content: answer },
];
const plain = (row: Row) => JSON.stringify({ messages: messagesOf(row) });
/** Returns the row as another program writes it: escapes, another order of keys, blanks, an ID. */
const rewritten = (row: Row, index: number) => {
  const messages = messagesOf(row).map(
    ({ role, content }) =>
      `{ "content" : "${written(content, ESCAPING_WRITERS['PHP']!)}", "role": "${role}" }`,
  );
  return escaped(`{"id": ${index}, "messages": [ ${messages.join(' ,')} ] }`);
};

function shuffled<T>(random: Random, all: readonly T[]): T[] {
  return all
    .map((one) => [random.fraction(), one] as const)
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one);
}

describe('Fingerprints', function () {
  const { checker, folder } = useChecker();
  const failSync = useFolderSyncs();
  let made = 0;
  const fresh = () =>
    new Fingerprints(path.join(folder(), `kept${made++}`), () => Promise.resolve(checker()));
  const fileOf = async (file: string): Promise<DatasetFile> => ({
    path: file,
    ...stampOf(await stat(file, { bigint: true })),
  });
  const write = async (lines: readonly string[], name = `d${made++}.jsonl`): Promise<DatasetFile> => {
    const file = path.join(folder(), name);
    await writeFile(file, lines.map((line) => `${line}\n`).join(''));
    return fileOf(file);
  };
  const keep = async (kept: Fingerprints, id: string, lines: readonly string[]) => {
    const dataset = await write(lines);
    await kept.keep({ id, dataset, submittedAtMs: 0 }, []);
    return dataset;
  };
  const counts = ({ added, removed, changed, equal }: RowDifference) => ({ added, removed, changed, equal });

  it('says exactly what seeded edits changed, however the rows are ordered and written', async () => {
    const kept = fresh();
    for (let seed = 1; seed <= 50; seed++) {
      const random = new Random(seed);
      const before = rowsOf(random, 200 + random.below(200));
      const after: (Row & { isEdited?: true })[] = [];
      const expected = { added: 0, removed: 0, changed: 0, equal: 0 };
      for (const row of before) {
        const edit = random.of(['keep', 'keep', 'keep', 'remove', 'answer', 'system', 'repeat'] as const);
        if (edit === 'remove') expected.removed++;
        else if (edit === 'keep' || edit === 'repeat') {
          after.push(row);
          expected.equal++;
        } else {
          const change = edit === 'answer' ? { answer: `${row.answer}.` } : { system: `${row.system}!` };
          after.push({ ...row, ...change, isEdited: true });
          expected.changed++;
        }
        if (edit !== 'repeat') continue;
        after.push({ ...row, isEdited: true });
        expected.added++;
      }
      for (const row of rowsOf(random, random.below(50))) {
        after.push({ ...row, prompt: `new ${row.prompt}`, isEdited: true });
        expected.added++;
      }
      await keep(kept, `s${seed}`, before.map(plain));
      const now = shuffled(random, after);
      const file = await write(now.map(rewritten));
      const difference = (await kept.since(`s${seed}`, file))!;
      assert.deepEqual(counts(difference), expected, `seed ${seed}`);
      assert.equal(difference.rows.total, expected.added + expected.changed);
      assert.equal(difference.rows.rows.length, difference.rows.total);
      for (const row of difference.rows.rows) {
        const { isEdited, prompt } = now[row - 1]!;
        // If two rows are equal, either can be the added one.
        assert.ok(
          isEdited ?? now.filter((one) => one.prompt === prompt).length > 1,
          `seed ${seed}, row ${row}`,
        );
      }
    }
  });

  it('tells roles, order, parts of a conversation, tool calls and reasoning apart, but not ids or weights', async () => {
    const user = { role: 'user', content: 'Hi' };
    const call = (name: string, id: string, args: string) => ({
      ...{ role: 'assistant', content: null },
      tool_calls: [{ id, type: 'function', function: { name, arguments: args } }],
    });
    const answer = { role: 'assistant', content: 'Hello' };
    const one = (...messages: unknown[]) => [JSON.stringify({ messages })];
    const field = (row: object) => [JSON.stringify(row)];
    const cases: [string, string[], string[], 'same' | 'other'][] = [
      ['a weight', one(user, answer), one(user, { ...answer, weight: 0 }), 'same'],
      ['an id of a call', one(user, call('f', '1', '{}')), one(user, call('f', '2', '{}')), 'same'],
      ['arguments', one(user, call('f', '1', '{}')), one(user, call('f', '1', '{"a":1}')), 'other'],
      ['a tool', one(user, call('f', '1', '{}')), one(user, call('g', '1', '{}')), 'other'],
      ['reasoning', one(user, answer), one(user, { ...answer, reasoning: 'Hm' }), 'other'],
      [
        'a role in the prompt',
        one(user, answer, user, answer),
        one(user, answer, { ...user, role: 'tool' }, answer),
        'other',
      ],
      ['a role', one(user, answer), one(user, { ...answer, role: 'tool' }), 'other'],
      ['case', one(user, answer), one(user, { ...answer, content: 'hello' }), 'other'],
      ['a blank', one(user, answer), one(user, { ...answer, content: 'Hello ' }), 'other'],
      [
        'two messages',
        one(user, { role: 'assistant', content: 'ab' }, { role: 'assistant', content: 'c' }),
        one(user, { role: 'assistant', content: 'a' }, { role: 'assistant', content: 'bc' }),
        'other',
      ],
      [
        'an alias',
        field({ instruction: 'a', output: 'b' }),
        field({ output: 'b', instruction: 'a', n: 1 }),
        'same',
      ],
      [
        'an empty input',
        field({ instruction: 'a', input: '', output: 'b' }),
        field({ instruction: 'a', output: 'b' }),
        'same',
      ],
      [
        'moved text',
        field({ instruction: 'a', input: 'b', output: 'c' }),
        field({ instruction: 'b', input: 'a', output: 'c' }),
        'other',
      ],
      [
        'a rejected answer',
        field({ prompt: 'a', chosen: 'b', rejected: 'c' }),
        field({ prompt: 'a', chosen: 'b', rejected: 'd' }),
        'other',
      ],
      [
        'a system beside an instruction',
        field({ system: 'x', instruction: 'a', output: 'b' }),
        field({ system: 'y', instruction: 'a', output: 'b' }),
        'other',
      ],
      [
        'a system field',
        field({
          system: 'x',
          conversations: [
            { from: 'human', value: 'a' },
            { from: 'gpt', value: 'b' },
          ],
        }),
        field({
          system: 'y',
          conversations: [
            { from: 'human', value: 'a' },
            { from: 'gpt', value: 'b' },
          ],
        }),
        'other',
      ],
      [
        'the system in an input',
        field({ input: { messages: [user] }, preferred_output: [answer], non_preferred_output: [user] }),
        field({
          input: { messages: [{ role: 'system', content: 's' }, user] },
          preferred_output: [answer],
          non_preferred_output: [user],
        }),
        'other',
      ],
      ['an unknown format', field({ a: 1 }), field({ a: 2 }), 'other'],
    ];
    const kept = fresh();
    for (const [what, then, now, expected] of cases) {
      await keep(kept, what, then);
      const { equal } = (await kept.since(what, await write(now)))!;
      assert.equal(equal === 1 ? 'same' : 'other', expected, what);
    }
  });

  it('compares text of any length, also around the border of a chunk', async () => {
    const kept = fresh();
    const row = (text: string) => plain({ system: '', prompt: 'p', answer: text });
    for (let length = 4090; length <= 4100; length++) {
      const text = `${'x'.repeat(length)}é/${'y'.repeat(4093)}`;
      await keep(kept, `c${length}`, [row(text)]);
      const other = await write([escaped(row(text)).replaceAll('/', String.raw`\/`)]);
      assert.equal((await kept.since(`c${length}`, other))!.equal, 1, `${length}`);
      assert.equal((await kept.since(`c${length}`, await write([row(`${text}z`)])))!.changed, 1);
    }
  });

  it('counts repeated rows as often as they are there, and leaves out rows with errors', async () => {
    const kept = fresh();
    const [a, b] = [
      { system: '', prompt: 'a', answer: '1' },
      { system: '', prompt: 'a', answer: '2' },
    ].map(plain) as [string, string];
    // A row broken off in a message, and one that is too long to check.
    const long = `{"text":"${'x'.repeat(64 * 1024 * 1024)}"}`;
    await keep(kept, 'one', [a, a, b.slice(0, -3), b, '']);
    const difference = (await kept.since('one', await write([a, b, b, b, 'null', '', long])))!;
    assert.deepEqual(counts(difference), { added: 1, removed: 0, changed: 1, equal: 2 });
    assert.equal(difference.notCompared, 2);
    assert.equal(difference.rows.total, 2);
  });

  it('compares rows of one prompt in any order', async () => {
    const kept = fresh();
    const rows = Array.from({ length: 100 }, (_, at) => plain({ system: '', prompt: 'a', answer: `${at}` }));
    await keep(kept, 'one', rows);
    const difference = (await kept.since('one', await write(shuffled(new Random(1), rows.slice(1)))))!;
    assert.deepEqual(counts(difference), { added: 0, removed: 1, changed: 0, equal: 99 });
  });

  it('keeps what is known of a submission, and leaves nothing if it can’t be stored', async () => {
    const kept = fresh();
    const place = path.join(folder(), `kept${made - 1}`);
    const dataset = await keep(kept, 'one', [plain({ system: '', prompt: 'a', answer: 'b' })]);
    const other = await write([]);
    await kept.keep({ id: 'one', dataset: other, submittedAtMs: 0 }, []);
    assert.equal((await kept.since('one', dataset))!.equal, 1);
    await mkdir(path.join(place, 'taken/x'), { recursive: true });
    await assert.rejects(kept.keep({ id: 'taken', dataset, submittedAtMs: 0 }, []));
    assert.deepEqual((await readdir(place)).sort(), ['key', 'one', 'taken']);
  });

  it('compares two submissions without their datasets', async () => {
    const kept = fresh();
    const rows = rowsOf(new Random(5), 30).map(plain);
    for (const [id, lines] of [
      ['first', rows.slice(0, 20)],
      ['second', rows.slice(5)],
    ] as const) {
      const dataset = await keep(kept, id, lines);
      await rm(dataset.path);
    }
    const difference = (await kept.between('first', 'second'))!;
    assert.deepEqual(counts(difference), { added: 10, removed: 5, changed: 0, equal: 15 });
    assert.equal(await kept.between('first', 'none'), undefined);
    assert.equal(await kept.between('none', 'first'), undefined);
  });

  it('keeps nothing of a changed file or of more than 1,000,000 rows, and leaves nothing behind', async () => {
    const kept = fresh();
    const dataset = await write([plain({ system: '', prompt: 'a', answer: 'b' })]);
    await kept.keep({ id: 'other', dataset: { ...dataset, sizeBytes: 1 }, submittedAtMs: 0 }, []);
    const many = await write(Array.from({ length: 1_000_001 }, (_, row) => `{"text":"${row}"}`));
    await kept.keep({ id: 'many', dataset: many, submittedAtMs: 0 }, []);
    // What the check counted isn't read again.
    await kept.keep({ id: 'counted', dataset: { ...dataset, rows: 1_000_001 }, submittedAtMs: 0 }, []);
    assert.equal(await kept.has('counted'), false);
    assert.deepEqual([await kept.has('other'), await kept.has('many')], [false, false]);
    assert.equal(await kept.since('many', dataset), undefined);
    await kept.keep({ id: 'one', dataset, submittedAtMs: 0 }, []);
    assert.deepEqual((await readdir(path.join(folder(), `kept${made - 3}`))).sort(), ['key', 'one']);
  });

  it('writes no text, and the same rows otherwise under another key', async () => {
    const [one, other] = [fresh(), fresh()];
    const at = made;
    const lines = rowsOf(new Random(9), 100).map(plain);
    await keep(one, 'x', lines);
    await keep(other, 'x', lines);
    const read = (number: number, name: string) => readFile(path.join(folder(), `kept${number}`, name));
    const files = await Promise.all([at - 2, at - 1].map((number) => read(number, 'x')));
    assert.deepEqual(
      files.map(({ length }) => length),
      [1628, 1628],
    );
    assert.ok(!files[0]!.subarray(28).equals(files[1]!.subarray(28)));
    for (const number of [at - 2, at - 1]) {
      const key = path.join(folder(), `kept${number}`, 'key');
      if (process.platform !== 'win32') assert.equal((await stat(key)).mode & 0o777, 0o600);
    }
    // A copied file isn't compared under this key: all of its rows would differ.
    await writeFile(path.join(folder(), `kept${at - 2}`, 'copied'), files[1]!);
    assert.equal(await one.since('copied', await write(lines)), undefined);
    await assert.rejects(one.find(Buffer.from(lines[0]!), { fingerprints: 'copied' }), { code: 'missing' });
    await truncate(path.join(folder(), `kept${at - 2}`, 'x'), 1000);
    assert.equal(await one.since('x', await write(lines)), undefined);
  });

  it('has one key, whichever window makes it, and drops what a lost key left', async () => {
    for (let round = 0; round < 60; round++) {
      const one = fresh();
      const place = path.join(folder(), `kept${made - 1}`);
      const other = new Fingerprints(place, () => Promise.resolve(checker()));
      const dataset = await write([plain({ system: '', prompt: 'a', answer: 'b' })]);
      let kept = 0;
      one.onDidKeep(() => kept++);
      const submitted = ['a', 'b'].map((id) => ({ id, dataset, submittedAtMs: 0 }));
      const first = one.keep(submitted[0]!, submitted);
      for (let turn = 0; turn < round % 10; turn++) await setImmediate();
      await Promise.all([first, other.keep(submitted[1]!, submitted)]);
      assert.equal(kept, 1);
      for (const id of ['a', 'b']) assert.equal((await one.since(id, dataset))?.equal, 1, `round ${round}`);
      if (round > 0) continue;
      await rm(path.join(place, 'key'));
      assert.equal(await one.since('a', dataset), undefined);
      await one.keep({ id: 'c', dataset, submittedAtMs: 0 }, []);
      assert.deepEqual((await readdir(place)).sort(), ['c', 'key']);
    }
  });

  it('syncs its key before and after it has its name', async () => {
    const dataset = await write([plain({ system: '', prompt: 'a', answer: 'b' })]);
    for (const synced of ['file', 'folder'] as const) {
      failSync('EIO', synced);
      await assert.rejects(fresh().keep({ id: 'a', dataset, submittedAtMs: 0 }, []), { code: 'EIO' });
    }
  });

  it('says nothing of a file with any changed byte, of another length, version or key', async () => {
    const kept = fresh();
    const place = path.join(folder(), `kept${made - 1}`);
    const dataset = await keep(kept, 'a', rowsOf(new Random(6), 3).map(plain));
    const [file, key] = [path.join(place, 'a'), path.join(place, 'key')];
    const good = await readFile(file);
    const said = async (bytes: Uint8Array) => {
      await writeFile(file, bytes);
      return kept.since('a', dataset);
    };
    for (let at = 0; at < good.length; at++)
      for (const bit of [1, 0x80]) {
        const changed = Buffer.from(good);
        changed[at]! ^= bit;
        assert.equal(await said(changed), undefined, `byte ${at}`);
        assert.equal(await said(good.subarray(0, at)), undefined, `${at} bytes`);
      }
    assert.equal(await said(Buffer.concat([good, good.subarray(-16)])), undefined);
    const older = Buffer.from(good);
    older.writeUInt32LE(1, 4);
    await writeFile(file, older);
    assert.equal(await kept.has('a'), false);
    // An invalid file of fingerprints is replaced.
    await kept.keep({ id: 'a', dataset, submittedAtMs: 0 }, []);
    assert.equal((await kept.since('a', dataset))?.equal, 3);
    await writeFile(key, Buffer.alloc(16));
    assert.equal(await kept.since('a', dataset), undefined);
  });

  it('compares rows without a prompt by their texts, and finds no prompts among them', async () => {
    const kept = fresh();
    const texts = Array.from({ length: 20 }, (_, at) => `Hello ${at}`);
    await keep(
      kept,
      'text',
      texts.map((text) => JSON.stringify({ text })),
    );
    const other = await write(texts.map((text) => `{ "id": 1, "text" : ${JSON.stringify(text)} }`));
    assert.deepEqual(counts((await kept.since('text', other))!), {
      added: 0,
      removed: 0,
      changed: 0,
      equal: 20,
    });
    const rows = Buffer.from(
      texts.map((text) => plain({ system: '', prompt: text, answer: 'a' })).join('\n'),
    );
    for (const data of [{ fingerprints: 'text' }, { file: other }, { file: await write(['[1,2]', 'a;b']) }])
      await assert.rejects(kept.find(rows, data), { code: 'missing' });
  });

  it('rejects if the folder can’t be written, and works again when it can', async () => {
    const place = path.join(folder(), 'taken');
    const kept = new Fingerprints(place, () => Promise.resolve(checker()));
    await writeFile(place, '');
    const dataset = await write([plain({ system: '', prompt: 'a', answer: 'b' })]);
    await assert.rejects(kept.keep({ id: 'x', dataset, submittedAtMs: 0 }, []));
    assert.equal(await kept.has('x'), false);
    await rm(place);
    await kept.keep({ id: 'x', dataset, submittedAtMs: 0 }, []);
    assert.equal(await kept.has('x'), true);
    await kept.removeAll();
    assert.equal(await stat(place).catch(() => undefined), undefined);
  });

  it('removes the oldest above 64 MB, the newest of each dataset last, and what killed processes left', async () => {
    const place = path.join(folder(), 'full');
    const kept = new Fingerprints(place, () => Promise.resolve(checker()));
    const dataset = await write([plain({ system: '', prompt: 'a', answer: 'b' })]);
    await kept.keep({ id: 'a0', dataset, submittedAtMs: 0 }, []);
    const size = 16 * 1024 * 1024;
    const submitted: SubmittedDataset[] = [];
    // Oldest first. Dataset `a` has two submissions: the newer one stays.
    for (const [at, [id, of]] of [
      ['a1', 'a'],
      ['b1', 'b'],
      ['a2', 'a'],
      ['b2', 'b'],
    ].entries()) {
      await writeFile(path.join(place, id!), '');
      await truncate(path.join(place, id!), size);
      const dataset = { path: `/${of}.jsonl`, sizeBytes: 1, mtimeMs: 1, ctimeMs: 1 };
      submitted.push({ id: id!, dataset, submittedAtMs: at });
    }
    for (const [name, ageMs] of [
      ['old.part', 2 * 3_600_000],
      ['new.part', 0],
    ] as const) {
      await writeFile(path.join(place, name), 'x');
      const time = new Date(Date.now() - ageMs);
      await utimes(path.join(place, name), time, time);
    }
    const newest = { id: 'c1', dataset, submittedAtMs: 9 };
    await kept.keep(newest, [...submitted, newest]);
    assert.deepEqual((await readdir(place)).sort(), ['a2', 'b1', 'b2', 'c1', 'key', 'new.part']);
  });

  it('counts rows that are also in another file, in either direction, while both are unchanged', async () => {
    const kept = fresh();
    const rows = rowsOf(new Random(3), 50);
    const dataset = await write([...rows.map(plain), plain(rows[0]!), '{"broken', '']);
    const holdOut = await write([rows[0]!, rows[7]!, { ...rows[9]!, prompt: 'other' }].map(rewritten));
    assert.equal(await kept.alsoIn(holdOut.path, dataset), 3);
    assert.equal(await kept.alsoIn(dataset.path, holdOut), 2);
    assert.equal(await kept.alsoIn(dataset.path, dataset), 51);
    await writeFile(holdOut.path, '');
    assert.equal(await kept.alsoIn(holdOut.path, dataset), 0);
    const stale = { ...(await fileOf(holdOut.path)), mtimeMs: 1 };
    await assert.rejects(kept.alsoIn(dataset.path, stale), { code: 'changing' });
    await assert.rejects(kept.alsoIn(dataset.path, stale, AbortSignal.abort()), CancelledError);
  });

  it('joins 12,000 spellings of prompts as a rule of three lines does, also at the border of a chunk', async () => {
    const random = new Random(12);
    const keyOf = (text: string) =>
      text.replaceAll(/[\0-\u0020]/g, '').replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
    const letters = Array.from('aAbBéÉ\u00a0家𝒳ß/"\\Zz09Kſ');
    const pool = Array.from({ length: 600 }, (_, at) => {
      const text = Array.from({ length: 1 + random.below(6) }, () => random.of(letters)).join('');
      return at % 20 === 0
        ? `${'x'.repeat(4085 + random.below(12))}${text}${'Y'.repeat(at % 3 === 0 ? 4100 : 0)}`
        : text;
    });
    const spelled = () =>
      Array.from(random.of(pool), (character) => {
        const blank = random.chance(0.02) ? random.of([' ', '\n', '\t', '\u0001']) : '';
        return (
          blank + (random.chance(0.1) && /[A-Za-z]/.test(character) ? character.toUpperCase() : character)
        );
      }).join('');
    const rowOf = (text: string, at: number) =>
      (at % 2 === 0 ? plain : (row: Row) => rewritten(row, at))({
        system: '',
        prompt: text,
        answer: `${at}`,
      });
    const [ones, others] = [11_000, 1_000].map((count) => Array.from({ length: count }, spelled)) as [
      string[],
      string[],
    ];
    const keys = new Set(others.map(keyOf));
    const expected = ones.filter((text) => keys.has(keyOf(text))).length;
    const [file, other] = [await write(ones.map(rowOf)), await write(others.map(rowOf))];
    assert.ok(expected > 1_000 && expected < 10_000, `${expected}`);
    assert.equal(await fresh().alsoIn(other.path, file), expected);
  });

  it('finds the rows of answers in a file and in fingerprints, whatever their spelling', async () => {
    const rows = rowsOf(new Random(4), 1_000).map((row) => ({ ...row, prompt: `Q ${row.prompt} end?` }));
    const dataset = await write(rows.map(plain));
    const kept = fresh();
    await kept.keep({ id: 'run', dataset, submittedAtMs: 0 }, []);
    const chat = (messages: readonly object[]) => JSON.stringify({ messages });
    const said = (row: Row, change: Partial<Row>) => plain({ ...row, ...change });
    const mutations: Record<string, readonly [(row: Row) => string, 'found' | 'not found']> = {
      'escapes and blanks in JSON': [(row) => rewritten(row, 1), 'found'],
      'white space': [(row) => said(row, { prompt: ` ${row.prompt.replaceAll(' ', '  ')}\n` }), 'found'],
      'case of ASCII': [
        (row) => said(row, { prompt: row.prompt.replaceAll(/[a-z]/g, (one) => one.toUpperCase()) }),
        'found',
      ],
      'one part': [
        (row) =>
          chat([
            { role: 'user', content: [{ type: 'text', text: row.prompt }] },
            { role: 'assistant', content: 'x' },
          ]),
        'found',
      ],
      'another system message': [(row) => said(row, { system: 'You are new.' }), 'found'],
      'no system message': [(row) => said(row, { system: '' }), 'found'],
      'another answer': [(row) => said(row, { answer: 'Other' }), 'found'],
      'role developer': [
        (row) =>
          chat([
            { role: 'developer', content: 'x' },
            { role: 'user', content: row.prompt },
            { role: 'assistant', content: 'x' },
          ]),
        'found',
      ],
      'one word': [(row) => said(row, { prompt: `${row.prompt} please` }), 'not found'],
      'the question mark': [(row) => said(row, { prompt: row.prompt.slice(0, -1) }), 'not found'],
      'a further turn': [
        (row) =>
          chat([...messagesOf(row), { role: 'user', content: 'More?' }, { role: 'assistant', content: 'x' }]),
        'not found',
      ],
      'role User': [
        (row) =>
          chat([
            { role: 'system', content: 's' },
            { role: 'Assistant', content: 'c' },
            { role: 'user', content: row.prompt },
            { role: 'assistant', content: 'x' },
          ]),
        'not found',
      ],
    };
    for (const [what, [mutated, expected]] of Object.entries(mutations)) {
      const chatRows = Buffer.from(rows.map(mutated).join('\n'));
      for (const data of [{ file: dataset }, { fingerprints: 'run' }] as const) {
        const { isFound } = await kept.find(chatRows, data);
        assert.equal(
          isFound.filter((one) => one).length,
          expected === 'found' ? 1_000 : 0,
          `${what}, ${Object.keys(data)[0]}`,
        );
      }
    }
  });

  it('counts rows with the long answer of one to three other rows', async () => {
    const kept = fresh();
    const long = (of: string) => `${of} `.repeat(50);
    const row = (prompt: string, answer: string) => plain({ system: '', prompt, answer });
    const data = await write([
      ...[
        row('a', long('one')),
        row('b', long('four')),
        row('c', long('four')),
        row('d', long('four')),
        row('e', long('four')),
      ],
      ...[row('f', 'short'), row('g', long('seen'))],
    ]);
    const asked = ['one', 'four', 'seen'].map(long);
    const rows = [row('1', asked[0]!), row('2', asked[1]!), row('g', asked[2]!), row('3', 'short')].join(
      '\n',
    );
    const found = await kept.find(Buffer.from(rows), { file: data });
    assert.deepEqual(found, { isFound: [false, false, true, false], sameAnswer: 1 });
  });

  it('notices that a file changes while it is read', async () => {
    const scanner = new Scanner(await WebAssembly.compile(await readFile((await checkerFiles()).scanner)));
    const dataset = await write([plain({ system: '', prompt: 'a', answer: 'b' })]);
    const shouldContinue = () => {
      appendFileSync(dataset.path, '\n');
      return true;
    };
    const read = () =>
      readHashes(dataset, { scanner, hashing: HASH_NORMALIZED, shouldContinue }, () => undefined);
    assert.throws(read, { code: 'changing' });
  });

  it('says which file changed since it was read', async () => {
    const kept = fresh();
    const dataset = await write([plain({ system: '', prompt: 'a', answer: 'b' })]);
    await writeFile(dataset.path, '{}\n');
    await assert.rejects(kept.find(Buffer.from('{}'), { file: dataset }), { code: 'changing' });
    await assert.rejects(kept.find(Buffer.from('{}'), { fingerprints: 'none' }), { code: 'missing' });
    if (process.getuid?.() === 0) return;
    await chmod(dataset.path, 0);
    await assert.rejects(kept.find(Buffer.from('{}'), { file: dataset }));
  });
});
