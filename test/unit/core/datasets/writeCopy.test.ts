import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFile,
  chmod,
  mkdir,
  open,
  readdir,
  readFile,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DiskError } from '../../../../src/core/base/diskError.ts';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { PreparePass } from '../../../../src/core/datasets/copyPass.ts';
import {
  isMendable,
  MAX_SPLIT_ROWS,
  NO_CHANGES,
  PrepareError,
  type PrepareChoices,
} from '../../../../src/core/datasets/copyTypes.ts';
import { inspectDataset, type DatasetFile } from '../../../../src/core/datasets/fileKind.ts';
import { HashIndex, StoppedError } from '../../../../src/core/datasets/hashIndex.ts';
import { CheckError, countOf } from '../../../../src/core/datasets/report.ts';
import { Scanner } from '../../../../src/core/datasets/scanner.ts';
import { SEGMENT_BYTES } from '../../../../src/core/datasets/segments.ts';
import { prepareCopy, type Prepared } from '../../../../src/core/datasets/writeCopy.ts';
import { checkerFiles, useChecker } from '../../../helpers/checker.ts';
import { ESCAPING_WRITERS, written } from '../../../helpers/jsonWriters.ts';
import { itOnLinux, itOnPosix } from '../../../helpers/platform.ts';
import { Random } from '../../../helpers/random.ts';

const MAX_BYTES = 600_000_000;
const CHILD = fileURLToPath(new URL('../../../helpers/prepareChild.ts', import.meta.url));
const KEY = 'sk-aB3dE5gH7jK9mN1pQ2rS4tU6vW8x';
const PEM =
  '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\nxyz\n-----END PRIVATE KEY-----';
/** Rows with errors, and what they are once repaired. */
const REPAIRED: Readonly<Record<string, string>> = {
  '{"text":"a",}': '{"text":"a"}',
  "{'text':'b'}": '{"text":"b"}',
  '{"text":"c"},': '{"text":"c"}',
  '{"text":"\u0001"}': '{"text":"\\u0001"}',
};
const chat = (prompt: string, answer: string) => ({
  messages: [
    { role: 'user', content: prompt },
    { role: 'assistant', content: answer },
  ],
});

describe('a prepared copy', () => {
  const { check, checker, folder } = useChecker();
  let made = 0;

  const sourceOf = async (content: string | Uint8Array, name = 'train.jsonl'): Promise<DatasetFile> => {
    const dir = path.join(folder(), `prepare-${++made}`);
    await mkdir(dir);
    await writeFile(path.join(dir, name), content);
    const source = await inspectDataset(path.join(dir, name), MAX_BYTES);
    assert.ok(typeof source !== 'string');
    return source;
  };
  const prepare = (
    source: DatasetFile,
    choices: Partial<PrepareChoices>,
    more: object = {},
  ): Promise<Prepared> =>
    prepareCopy(checker(), source, { ...NO_CHANGES, ...choices }, { maxBytes: MAX_BYTES, ...more });
  const linesOf = async (file: string): Promise<string[]> => {
    const text = await readFile(file, 'utf8');
    assert.ok(text.endsWith('\n'));
    return text.slice(0, -1).split('\n');
  };
  const filesBeside = async (source: DatasetFile) => (await readdir(path.dirname(source.path))).sort();

  it('keeps rows that nothing changes, without blank rows, a byte order mark and CRs before line ends', async () => {
    const rows = [
      '{"text": "a", "n":1.0}',
      ' {"text":"\u00e9\\u00e9","id":12345678901234567890}\t',
      '{"text":"b"}',
    ];
    const source = await sourceOf(`\uFEFF${rows[0]}\r\n\n \t\r\n${rows[1]}\r\r\n\n${rows[2]}\r`);
    const { main, holdOut, counts } = await prepare(source, {});
    assert.deepEqual(await linesOf(main), rows);
    assert.deepEqual([path.basename(main), holdOut], ['train.prepared.jsonl', undefined]);
    assert.deepEqual([counts.rows, counts.written, counts.leftOut.blank], [6, 3, 3]);
    assert.deepEqual(await filesBeside(source), ['train.jsonl', 'train.prepared.jsonl']);
  });

  it('never replaces a file, numbers its files alike, and does not add to the name of an earlier copy', async () => {
    const source = await sourceOf('{"text":"a"}\n{"text":"b"}\n', 'train.prepared.jsonl');
    await writeFile(path.join(path.dirname(source.path), 'train.holdout-2.jsonl'), 'mine');
    const { main, holdOut } = await prepare(source, { holdOut: { rows: 1 } });
    assert.deepEqual(
      [main, holdOut ?? ''].map((file) => path.basename(file)),
      ['train.prepared-3.jsonl', 'train.holdout-3.jsonl'],
    );
    const trial = await prepare(source, { trial: { rows: 1 } });
    assert.equal(path.basename(trial.main), 'train.trial.jsonl');
  });

  it('leaves out what was chosen, as a simple implementation does, and counts every row once', async function () {
    for (let seed = 1; seed <= 60; seed++) {
      const random = new Random(seed);
      const row = (): string => {
        const kind = random.below(12);
        const prompt = `p${random.below(8)}`;
        if (kind === 0) return random.of(['', ' ', '\t']);
        if (kind === 1) return random.of([...Object.keys(REPAIRED), '[1]', '{"a":', 'x', "{'a':'b'c'}"]);
        if (kind === 2)
          return JSON.stringify({ prompt, completion: `${random.of(['', 'mail '])}me@corp.org ${KEY}` });
        if (kind === 3) return JSON.stringify({ text: random.of(['one', 'two']) });
        if (kind < 6) return JSON.stringify({ instruction: prompt, output: `o${random.below(3)}` });
        return JSON.stringify(chat(prompt, `a${random.below(3)}`));
      };
      const rows = Array.from({ length: 1 + random.below(60) }, row);
      const ends = rows.map(() => random.of(['\n', '\n', '\r\n']));
      if (random.chance(0.5)) ends[ends.length - 1] = '';
      const text = rows.map((one, at) => `${one}${ends[at] ?? ''}`).join('');
      if (text === '') continue;
      const choices = {
        ...{ withoutErrors: random.chance(0.5), withoutDuplicates: random.chance(0.5) },
        repair: random.chance(0.5),
      };
      const holdOut = random.chance(0.5) ? { share: random.of([0.1, 0.3, 0.5]) } : undefined;
      const seen = new Set<string>();
      const isJson = (one: string) => {
        try {
          return typeof JSON.parse(one) === 'object' && !Array.isArray(JSON.parse(one));
        } catch {
          return false;
        }
      };
      const repaired = rows.map((one) => (choices.repair ? (REPAIRED[one] ?? one) : one));
      const expected = repaired.filter((one) => {
        if (/^[ \t]*$/.test(one) || (choices.withoutErrors && !isJson(one))) return false;
        const isNew = !seen.has(one);
        // An array is JSON, so it can be a duplicate.
        if (isJson(one) || one === '[1]') seen.add(one);
        return isNew || !choices.withoutDuplicates;
      });
      const source = await sourceOf(text);
      const before = await readFile(source.path);
      const mendable = await checker().mendableIn(await checker().check(source.path), undefined, {});
      const repairs = rows.filter((one) => REPAIRED[one] !== undefined).length;
      assert.equal(mendable.repairableRows, repairs, `seed ${seed}`);
      const result = await prepare(source, { ...choices, holdOut }).catch((error: unknown) => {
        assert.ok(error instanceof PrepareError, String(error));
        return error;
      });
      assert.deepEqual(await readFile(source.path), before);
      if (result instanceof PrepareError) {
        const isExpected = result.code === (expected.length === 0 ? 'empty' : result.code);
        assert.ok(
          isExpected && (expected.length === 0 || holdOut !== undefined),
          `seed ${seed}: ${result.code}`,
        );
        assert.deepEqual(await filesBeside(source), ['train.jsonl']);
        continue;
      }
      const { counts } = result;
      const main = await linesOf(result.main);
      const heldOut = result.holdOut === undefined ? [] : await linesOf(result.holdOut);
      // Both keep the order of the source.
      const left = { main: [...main], heldOut: [...heldOut] };
      for (const one of expected) {
        if (left.main[0] === one) left.main.shift();
        else assert.equal(left.heldOut.shift(), one, `seed ${seed}`);
      }
      assert.deepEqual(left, { main: [], heldOut: [] }, `seed ${seed}`);
      const leftOut = Object.values(counts.leftOut).reduce((sum, count) => sum + count, 0);
      const total = rows.length - (rows.at(-1) === '' && ends.at(-1) === '' ? 1 : 0);
      assert.deepEqual(
        [counts.rows, counts.written, counts.heldOut, counts.rows],
        [total, main.length, heldOut.length, counts.written + counts.heldOut + leftOut],
        `seed ${seed}`,
      );
      const isShown = choices.repair && !choices.withoutDuplicates;
      if (isShown) assert.equal(counts.repaired, mendable.repairableRows, `seed ${seed}`);
      if (isShown && choices.withoutErrors)
        assert.equal(counts.leftOut.error, mendable.errorRows - mendable.repairableRows, `seed ${seed}`);
      assert.deepEqual(sharedPrompts(main, heldOut), [], `seed ${seed}`);
    }
  });

  it('repairs rows as their quick fixes do, and then converts, masks and compares them', async () => {
    const rows = [
      '{"prompt":"q1","completion":"a",}',
      `{'prompt':'q2','completion':'${KEY} \u00e9'},`,
      '\uFEFF{"instruction":"q3","output":"b"}',
      '{“messages”:[{“role”:“user”,“content”:“q4”},{“role”:“assistant”,“content”:“d”}]}',
      JSON.stringify(chat('q1', 'a')),
      '{"prompt":"q5","prompt":"q6","completion":"x",}',
      '{"prompt":"q7","completion":None}',
      '{"prompt":"q8",}',
    ];
    const binary = Buffer.concat([
      Buffer.from('{"prompt":"'),
      Buffer.of(0xff),
      Buffer.from('","completion":"x",}'),
    ]);
    const content = Buffer.concat([
      Buffer.from(`${JSON.stringify({ text: 'x' })}\n${rows.join('\n')}\n`),
      binary,
    ]);
    const source = await sourceOf(content);
    const all = {
      ...{ repair: true, withoutErrors: true, withoutDuplicates: true, toChat: true },
      mask: { secrets: true, personal: false },
    };
    const expected = [chat('q1', 'a'), chat('q2', '[API_KEY] é'), chat('q3', 'b'), chat('q4', 'd')];
    const lines = expected.map((row) => JSON.stringify(row));
    const { main, counts } = await prepare(source, all);
    assert.deepEqual(await linesOf(main), lines);
    assert.deepEqual(
      [
        counts.repaired,
        counts.converted,
        counts.masked.apiKeys,
        counts.leftOut.error,
        counts.leftOut.duplicate,
      ],
      [4, 3, 1, 3, 1],
    );
    assert.deepEqual(counts.notConverted, { text: 1, key: 1 });
    const { repairableRows, errorRows } = await checker().mendableIn(await check(content), undefined, {});
    assert.deepEqual([repairableRows, errorRows], [5, 8]);
    const split = await prepare(source, { ...all, holdOut: { rows: 2 } });
    const written = [...(await linesOf(split.main)), ...(await linesOf(split.holdOut ?? ''))];
    assert.deepEqual(written.sort(), [...lines].sort());
    assert.equal(split.counts.repaired, 4);
    const { counts: kept } = await prepare(source, { withoutErrors: true });
    assert.deepEqual([kept.repaired, kept.leftOut.error], [0, 8]);
    assert.ok(isMendable(await check('{"text":"a",}\n{"text":"b",}')));
    assert.ok(!isMendable(await check('{"text":"a"\n{"text":"b"')));
  });

  it('masks secrets and personal data completely, in rows that stay JSON, and nothing else', async () => {
    const rows = [
      chat(`key ${KEY}`, 'ok'),
      chat('cards 4012888888881881 and 4000-1234-5678-9017', 'jane.doe@corp.org, jane.doe@corp.org'),
      { id: 4012888888881881, ...chat('a', 'b') },
      chat('pem', `before ${PEM} after`),
      chat(
        'no end',
        '-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA1c7+9z5Pad7OejecsQ0buQIDAQABAoIBAHx9k2ZqvTzN1w8E and so on',
      ),
      chat('azure', `AccountKey=${'aB3dE5gH7jK9mN1pQ2rS4tU6vW8x'.repeat(4).slice(0, 86)}==;Endpoint=x`),
      chat('nothing', 'here'),
      {
        messages: [
          { role: 'user', content: 'pay' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ function: { name: 'pay', arguments: '{"card": 4012888888881881}' } }],
          },
        ],
      },
    ].map((row) => JSON.stringify(row));
    const broken = `{"text":"${KEY}`;
    const binary = Buffer.concat([
      Buffer.from('{"text":"\u00e9'),
      Buffer.of(0xff),
      Buffer.from(` ${KEY} me@corp.org"}`),
    ]);
    const source = await sourceOf(Buffer.concat([Buffer.from(`${rows.join('\n')}\n${broken}\n`), binary]));
    const both = { secrets: true, personal: true };
    const { main, counts } = await prepare(source, { mask: both });
    const lines = (await readFile(main, 'latin1')).split('\n');
    const texts = lines.map((line) => line.slice(line.indexOf('"content":')));
    assert.ok(lines[0]?.includes('key [API_KEY]"'));
    assert.ok(
      lines[1]?.includes('cards 4000000000000000 and 4000-0000-0000-0000') &&
        lines[1].includes('"[EMAIL], [EMAIL]"'),
    );
    assert.ok(lines[2]?.startsWith('{"id":4000000000000000,'));
    assert.ok(texts[3]?.includes('before [PRIVATE_KEY] after'));
    assert.ok(texts[4]?.includes('"[PRIVATE_KEY]"'), texts[4]);
    assert.ok(texts[5]?.includes('AccountKey=[API_KEY];Endpoint=x'));
    assert.equal(lines[6], rows[6]);
    assert.ok(lines[7]?.includes(String.raw`{\"card\": 4000000000000000}`));
    assert.deepEqual([lines[8], lines[9]?.includes('[API_KEY] [EMAIL]')], ['{"text":"[API_KEY]', true]);
    for (const line of lines.slice(0, 8)) JSON.parse(line);
    assert.deepEqual(counts.masked, { apiKeys: 4, privateKeys: 2, emailAddresses: 3, cardNumbers: 4 });
    const report = await check(await readFile(main));
    assert.equal(countOf(report, 'api-key', 'private-key', 'email-address', 'card-number'), 0);

    const onlySecrets = await prepare(source, { mask: { secrets: true, personal: false } });
    assert.equal((await linesOf(onlySecrets.main))[1], rows[1]);
  });

  it('masks all of what is written with the escapes of other writers, or in JSON in a string', async () => {
    const secret = 'aB3dE+gH7jK9m/1pQ2rS'.repeat(5);
    const AWS_ID = 'AKIA' + 'A2B4C6D8E1F3G5H7';
    const azure = `AccountKey=${secret.slice(0, 86)}==`;
    const pem = `-----BEGIN DSA PRIVATE KEY-----\n${secret}\n${secret}\n-----END DSA PRIVATE KEY-----`;
    const ssh = `---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n${secret}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----`;
    const text = `key:\n${KEY}\n${azure};x\n"o'brien+1@corp.org", jörg@münchen.de\n${pem}.\n${ssh}.\n<a href='https://a:S3cr3t+P&w=1@b.org'>\n\u001b[1;32m${KEY}\u001b[0m, ?t%3D${KEY}%26, secret_key\t=\t"${secret.slice(0, 40)}"\n${AWS_ID},${secret.slice(0, 40)}\nhttps://a:$x(Y)'3#@*q@b.org`;
    const expected =
      'key:\n[API_KEY]\nAccountKey=[API_KEY];x\n"[EMAIL]", [EMAIL]\n[PRIVATE_KEY].\n[PRIVATE_KEY].\n<a href=\'https://a:[API_KEY]@b.org\'>' +
      '\n\u001b[1;32m[API_KEY]\u001b[0m, ?t%3D[API_KEY]%26, secret_key\t=\t"[API_KEY]"\n[API_KEY],[API_KEY]\nhttps://a:[API_KEY]@b.org';
    const depths = [1, 2, 3];
    const rows = Object.values(ESCAPING_WRITERS).flatMap((escape) =>
      depths.map((depth) => `{"text":"${written(text, escape, depth)}"}`),
    );
    const source = await sourceOf(rows.join('\n'));
    const { main } = await prepare(source, { mask: { secrets: true, personal: true } });
    const texts = (await linesOf(main)).map((line, at) =>
      Array.from({ length: at % depths.length }).reduce<string>(
        (inner) => JSON.parse(`"${inner}"`) as string,
        (JSON.parse(line) as { text: string }).text,
      ),
    );
    assert.deepEqual(texts, Array<string>(rows.length).fill(expected));
  });

  it('leaves out a row whose private key is in several strings, or whose keys would be one', async () => {
    const [begin, ...others] = PEM.split('\n');
    const parts = [begin, ...others].map((text) => ({ type: 'text', text }));
    const rows = [
      JSON.stringify({
        messages: [
          { role: 'user', content: parts },
          { role: 'assistant', content: 'ok' },
        ],
      }),
      JSON.stringify({ ...chat('a', 'b'), scores: { 'ann@corp.org': 1, 'bob@corp.org': 2 } }),
      JSON.stringify(
        chat(
          'certificate',
          `${begin}\n${others[0]}\n-----END CERTIFICATE-----\n${others.slice(1).join('\n')} end`,
        ),
      ),
      JSON.stringify(chat('arguments', JSON.stringify({ k: `${begin}\n${others[0]}${others[0]}` }))),
      `{"text":"${begin}`,
      ...others.map((line) => (line === others.at(-1) ? `${line}"}` : line)),
      JSON.stringify(chat('last', 'row')),
    ];
    const source = await sourceOf(rows.join('\n'));
    const { main, counts } = await prepare(source, { mask: { secrets: true, personal: true } });
    const lines = await linesOf(main);
    assert.ok(lines[0]?.endsWith('"[PRIVATE_KEY] end"}]}'), lines[0]);
    assert.ok(lines[1]?.includes(String.raw`{\"k\":\"[PRIVATE_KEY]\"}`), lines[1]);
    assert.deepEqual([lines[2], lines.length], [rows.at(-1), 3]);
    assert.equal(counts.leftOut.mask, rows.length - 3);
    assert.ok(!lines.join('').includes('MIIEvQ'));
  });

  it('masks 9,000 addresses in one row, and in 9,000 rows', async function () {
    const addresses = Array.from({ length: 9_000 }, (_, at) => `user${at}@corp.org`);
    const source = await sourceOf(
      `${JSON.stringify({ text: addresses.join(' ') })}\n${addresses.map((one) => JSON.stringify({ text: one })).join('\n')}\n`,
    );
    const { main, counts } = await prepare(source, { mask: { secrets: false, personal: true } });
    assert.equal(counts.masked.emailAddresses, 18_000);
    assert.equal(countOf(await check(await readFile(main)), 'email-address'), 0);
  });

  it('converts rows to chat, masks what only their texts show, and counts what it drops and can’t convert', async () => {
    const source = await sourceOf(
      [
        JSON.stringify({ instruction: 'a', input: '', output: ' b ', id: 1, source: 'x' }),
        JSON.stringify(chat('c', 'd')),
        `{"instruction":"\\u0073k-${KEY.slice(3)}","output":"e","id":2}`,
        JSON.stringify({ text: 'plain' }),
        JSON.stringify({ prompt: 'p', chosen: 'x', rejected: 'y' }),
        '{"a":}',
      ].join('\n'),
    );
    const { main, counts } = await prepare(source, {
      toChat: true,
      mask: { secrets: true, personal: false },
    });
    assert.deepEqual(await linesOf(main), [
      JSON.stringify(chat('a', ' b ')),
      JSON.stringify(chat('c', 'd')),
      JSON.stringify(chat('[API_KEY]', 'e')),
      '{"a":}',
    ]);
    assert.deepEqual(counts.notConverted, { text: 1, preference: 1 });
    assert.deepEqual(
      [...counts.dropped],
      [
        ['id', 2],
        ['source', 1],
      ],
    );
    assert.deepEqual([counts.converted, counts.leftOut.format, counts.masked.apiKeys], [2, 2, 1]);
  });

  it('holds out exact numbers of rows, the same each time, and never a prompt that stays', async function () {
    const split = async (rows: readonly object[], choices: Partial<PrepareChoices>) => {
      const source = await sourceOf(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      const { main, holdOut, counts } = await prepare(source, choices);
      return {
        main: await linesOf(main),
        heldOut: holdOut === undefined ? [] : await linesOf(holdOut),
        counts,
      };
    };
    const different = (count: number) =>
      Array.from({ length: count }, (_, at) => chat(`question ${at}`, 'a'));
    for (const [rows, expected] of [
      [9, 1],
      [2, 1],
      [100, 10],
      [1_000, 100],
      [7_473, 747],
    ] as const) {
      const one = await split(different(rows), { holdOut: { share: 0.1 } });
      const other = await split(different(rows), { holdOut: { share: 0.1 } });
      assert.deepEqual([one.heldOut.length, one.main.length], [expected, rows - expected]);
      assert.deepEqual(one.heldOut, other.heldOut);
    }
    // One prompt has most of the rows.
    const heavy = [...different(400), ...Array.from({ length: 600 }, (_, at) => chat('the same', `a${at}`))];
    const { heldOut, main } = await split(heavy, { holdOut: { rows: 100 } });
    assert.deepEqual([heldOut.length, sharedPrompts(main, heldOut)], [100, []]);
    // The same prompt in two formats, and after masking.
    const mixed = different(20).flatMap((row, at) => [
      row,
      { instruction: `question ${at}`, output: 'other' },
    ]);
    const converted = await split(mixed, { toChat: true, holdOut: { rows: 10 } });
    assert.deepEqual([converted.heldOut.length, sharedPrompts(converted.main, converted.heldOut)], [10, []]);
    const masked = await split(
      Array.from({ length: 40 }, (_, at) => chat(`q${at % 20} user${at}@corp.org`, 'a')),
      { mask: { secrets: false, personal: true }, holdOut: { rows: 10 } },
    );
    assert.deepEqual([masked.heldOut.length, sharedPrompts(masked.main, masked.heldOut)], [10, []]);

    // A trial has exactly so many rows, even if it cuts a prompt, and shares no prompt with a hold-out.
    const trial = await split(heavy, { trial: { rows: 130 }, holdOut: { rows: 100 } });
    assert.deepEqual([trial.main.length, trial.heldOut.length, trial.counts.leftOut.split], [130, 100, 770]);
    assert.deepEqual(sharedPrompts(trial.main, trial.heldOut), []);
    const alone = await split(different(1_000), { trial: { rows: 100 } });
    const held = await split(different(1_000), { holdOut: { share: 0.5 } });
    assert.deepEqual([alone.main.length, sharedPrompts(alone.main, held.heldOut)], [100, []]);
    const counted = await split(
      Array.from({ length: 30 }, (_, at) => chat(`q${at} user${at}@corp.org`, 'a')),
      { mask: { secrets: false, personal: true }, trial: { rows: 5 } },
    );
    assert.equal(counted.counts.masked.emailAddresses, 5);
  });

  it('holds out a prompt in all of its spellings, formats and parts', async () => {
    const rows = Array.from({ length: 200 }, (_, at) => {
      const prompt = `Where is the café/bar ${at}?`;
      const loud = `  ${prompt.toUpperCase().replace('É', 'é')}\n`;
      const part = [{ role: 'user', content: [{ type: 'text', text: prompt.replaceAll(' ', '  ') }] }];
      return [
        JSON.stringify(chat(prompt, 'here')),
        JSON.stringify(chat(loud, 'there')).replace('é', '\\u00e9').replace('/', '\\/'),
        JSON.stringify({ messages: [...part, { role: 'assistant', content: 'near' }] }),
        JSON.stringify({ prompt: part, completion: 'far' }),
      ];
    });
    const source = await sourceOf(rows.flat().join('\n'));
    const { main, holdOut } = await prepare(source, { holdOut: { share: 0.1 } });
    const [kept, heldOut] = [await linesOf(main), await linesOf(holdOut ?? '')];
    assert.deepEqual([kept.length, heldOut.length], [720, 80]);
    const numberOf = (row: string) => /BAR +(\d+)/i.exec(row.replace('\\/', '/'))?.[1];
    const known = new Set(kept.map(numberOf));
    assert.deepEqual(
      heldOut.filter((row) => known.has(numberOf(row))),
      [],
    );
  });

  describe('without the rows of a hold-out', () => {
    /** Writes a dataset and its hold-out, and the copy of it. */
    const without = async (content: string, before: string, choices: Partial<PrepareChoices> = {}) => {
      const source = await sourceOf(content);
      const withoutHeldOut = path.join(path.dirname(source.path), 'train.holdout.jsonl');
      await writeFile(withoutHeldOut, before);
      const { main, holdOut, counts } = await prepare(source, { withoutHeldOut, ...choices });
      const left = Object.values(counts.leftOut).reduce((sum, count) => sum + count, 0);
      assert.equal(counts.rows, counts.written + counts.heldOut + left);
      assert.equal(await readFile(withoutHeldOut, 'utf8'), before);
      const held = holdOut === undefined ? [] : await linesOf(holdOut);
      return { kept: await linesOf(main), held, counts };
    };
    const lines = (rows: readonly (object | string)[], end = '\n') =>
      rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}${end}`).join('');

    it('has none of its prompts, in any spelling and format, and all others byte for byte', async () => {
      const others = [
        ' {"text": "q1"}',
        JSON.stringify(chat('q1?', 'other prompt')),
        JSON.stringify({ instruction: 'q', output: 'q1' }),
      ];
      const found = [
        JSON.stringify(chat(' Q1\n', 'other answer')),
        '{"prompt":"\\u0071 1","completion":"b"}',
        JSON.stringify({ instruction: 'q1', output: 'b' }),
        JSON.stringify({ messages: [{ role: 'system', content: 's' }, ...chat('q1', 'a').messages] }),
        JSON.stringify({ text: 'no prompt' }),
      ];
      const rows = [others[0], found[0], others[1], ...found.slice(1), others[2]] as string[];
      const held = `\uFEFF${lines([chat('q1', 'a'), '', { text: 'no prompt' }, chat('q7', 'a')], '\r\n')}`;
      const { kept, counts } = await without(lines(rows), held);
      assert.deepEqual(kept, others);
      assert.equal(counts.leftOut['held-out'], found.length);
    });

    it('counts each row once: errors and untrainable rows first, duplicates after, changes not at all', async () => {
      const converted = { instruction: 'q1', output: 'a' };
      const source = lines([
        ...['', '{"prompt":"q1",}', { messages: [{ role: 'user', content: 'q1' }] }],
        ...[chat('q1', 'a'), chat('q1', 'a'), converted, chat('q1', KEY)],
        ...[chat('q2', 'a'), chat('q2', 'a'), chat(`Q3 ${KEY}`, 'a'), { text: '[INST] q4' }],
      ]);
      const { kept, counts } = await without(source, lines([chat('q1', 'b'), chat(`q3 ${KEY}`, 'b')]), {
        ...{ withoutErrors: true, withoutUntrainable: true, withoutDuplicates: true, toChat: true },
        mask: { secrets: true, personal: false },
      });
      assert.deepEqual(kept, [JSON.stringify(chat('q2', 'a'))]);
      const { blank, error, untrainable, duplicate, format, ...others } = counts.leftOut;
      assert.deepEqual([blank, error, untrainable, duplicate, format], [1, 1, 1, 1, 1]);
      assert.equal(others['held-out'], 5);
      assert.equal(
        Object.values(others).reduce((sum, count) => sum + count),
        5,
      );
      assert.deepEqual([counts.converted, counts.masked.apiKeys], [0, 0]);
    });

    it('compares no rows with errors, on either side', async () => {
      // The first one has a prompt.
      const faulty = ['{"prompt":"q1","completion":"a"},', '{"prompt":"q1","completion":"a",}', 'x', '[1]'];
      const good = [JSON.stringify(chat('q1', 'a'))];
      for (const [source, held] of [
        [faulty, faulty],
        [good, faulty],
        [faulty, good],
      ] as const)
        assert.deepEqual((await without(lines(source), lines(held))).kept, source);
    });

    it('is a plain copy beside an empty hold-out, and none if all rows are held out', async () => {
      const rows = lines([chat('q1', 'a'), { text: 'b' }]);
      for (const held of ['', '\n \n']) assert.equal(lines((await without(rows, held)).kept), rows);
      await assert.rejects(without(rows, rows), (error: PrepareError) => error.code === 'empty');
    });

    it('is split after it, over several segments of both files', async function () {
      const row = (at: number) => chat(`question ${at}`, 'x'.repeat(4_000));
      const all = Array.from({ length: 2_500 }, (_, at) => row(at));
      const held = all.filter((_, at) => at % 2 === 1);
      assert.ok(lines(held).length > SEGMENT_BYTES);
      const result = await without(lines(all), lines(held), {
        holdOut: { share: 0.1 },
        trial: { rows: 100 },
      });
      assert.deepEqual([result.kept.length, result.held.length], [100, 125]);
      assert.deepEqual([result.counts.leftOut['held-out'], result.counts.leftOut.split], [1_250, 1_025]);
      const odd = [...result.kept, ...result.held].filter((one) => /question \d*[13579]"/.test(one));
      assert.deepEqual(odd, []);
    });

    it('isn’t written if the hold-out changes, is gone, or the user cancels', async () => {
      const source = await sourceOf(lines([chat('q1', 'a'), chat('q2', 'a')]));
      const withoutHeldOut = path.join(path.dirname(source.path), 'train.holdout.jsonl');
      const isChanging = (error: unknown) => error instanceof CheckError && error.code === 'changing';
      await assert.rejects(prepare(source, { withoutHeldOut }), isChanging);
      await writeFile(withoutHeldOut, lines([chat('q1', 'a')]));
      const changing = {
        prepare: async (...args: Parameters<ReturnType<typeof checker>['prepare']>) => {
          const counts = await checker().prepare(...args);
          await appendFile(withoutHeldOut, lines([chat('q2', 'a')]));
          return counts;
        },
      };
      const choices = { ...NO_CHANGES, withoutHeldOut };
      await assert.rejects(prepareCopy(changing, source, choices, { maxBytes: MAX_BYTES }), isChanging);
      // Cut off before the thread reads it.
      const input = await open(source.path);
      const heldOut = { ...source, path: withoutHeldOut, sizeBytes: 2 * SEGMENT_BYTES };
      const job = { fd: input.fd, sizeBytes: 10, choices, mainFd: undefined, holdOutFd: undefined };
      await assert.rejects(checker().prepare({ ...job, heldOut, maxBytes: MAX_BYTES }), isChanging);
      await input.close();
      const stop = new AbortController();
      stop.abort();
      await assert.rejects(prepare(source, { withoutHeldOut }, { signal: stop.signal }), CancelledError);
      assert.deepEqual(await filesBeside(source), ['train.holdout.jsonl', 'train.jsonl']);
    });

    it('can be canceled while a large hold-out is read', async () => {
      const { scanner: file } = await checkerFiles();
      const scanner = new Scanner(await WebAssembly.compile(await readFile(file)));
      const source = await sourceOf(lines([chat('q1', 'a')]));
      const held = await sourceOf(lines([1, 2, 3].map((at) => chat(`q${at}`, 'x'.repeat(SEGMENT_BYTES)))));
      const input = await open(source.path);
      const scans = mock.method(scanner, 'scan');
      const job = {
        ...{ fd: input.fd, sizeBytes: source.sizeBytes, maxBytes: MAX_BYTES },
        ...{ choices: NO_CHANGES, mainFd: undefined, holdOutFd: undefined },
        heldOut: held,
      };
      const control = { shouldContinue: () => scans.mock.callCount() < 2, onProgress: () => undefined };
      assert.throws(() => new PreparePass(scanner, scanner, job, control).run(), StoppedError);
      assert.equal(scans.mock.callCount(), 2);
      await input.close();
    });
  });

  it('leaves out rows unusable for training, if that was chosen, and counts them as the check does', async () => {
    const user = { role: 'user', content: 'a' };
    const good = [
      chat('a', 'b'),
      { text: 'c' },
      { instruction: ' ', input: 'd', output: 'e' },
      { input: 'f', output: 'g' },
    ];
    const bad = {
      format: [
        { other: 1 },
        { messages: 'a' },
        { messages: ['a'] },
        { conversations: {} },
        {
          messages: [
            { role: 'User', content: 'a' },
            { role: 'Assistant', content: 'b' },
          ],
        },
        { messages: [{ content: 'a' }, { role: 'assistant', content: 'b' }] },
      ],
      content: [
        { messages: [] },
        { messages: [user, { role: 'assistant', content: ' ' }] },
        { messages: [user, { role: 'assistant' }] },
        { messages: [user, { role: 'assistant', content: 5 }] },
        { prompt: '', completion: 'b' },
        { completion: 'b' },
        { text: null },
      ],
      answer: [
        { messages: [user] },
        { prompt: 'a' },
        { instruction: 'a' },
        { question: 'a' },
        { prompt: 'a', chosen: 'b' },
      ],
      weight: [{ messages: [user, { role: 'assistant', content: 'b', weight: 0 }] }],
    };
    const rows = [...good, ...Object.values(bad).flat()].map((row) => JSON.stringify(row));
    const content = `${rows.join('\n')}\n{"messages":[],}\n`;
    const source = await sourceOf(content);
    const { untrainable } = await check(content);
    assert.deepEqual(untrainable, { format: 6, content: 7, answer: 5, weight: 1 });
    const { main, counts } = await prepare(source, { withoutUntrainable: true, withoutErrors: true });
    assert.deepEqual(await linesOf(main), rows.slice(0, good.length));
    assert.deepEqual([counts.leftOut.untrainable, counts.leftOut.error], [19, 1]);
    const left = (await check(await readFile(main))).untrainable;
    assert.deepEqual(left, { format: 0, content: 0, answer: 0, weight: 0 });
    assert.equal((await prepare(source, {})).counts.written, rows.length + 1);
    await assert.rejects(prepare(await sourceOf('{"a":1}\n'), { withoutUntrainable: true }), {
      code: 'empty',
    });
  });

  it('leaves out rows that are the same after a change, if it leaves out duplicates', async () => {
    const rows = [
      chat('mail a@corp.org', 'x'),
      { instruction: 'p', output: 'q' },
      chat('mail b@corp.org', 'x'),
      chat('p', 'q'),
      { prompt: 'p', completion: 'q' },
      chat('mail [EMAIL]', 'x'),
      chat('last', 'x'),
    ];
    const content = rows.map((row) => JSON.stringify(row)).join('\n');
    const choices = { toChat: true, mask: { secrets: false, personal: true } };
    const expected = [chat('mail [EMAIL]', 'x'), chat('p', 'q'), chat('last', 'x')].map((row) =>
      JSON.stringify(row),
    );
    const source = await sourceOf(content);
    const { main, counts } = await prepare(source, { ...choices, withoutDuplicates: true });
    assert.deepEqual([await linesOf(main), counts.leftOut.duplicate], [expected, 4]);
    assert.deepEqual([counts.masked.emailAddresses, counts.converted], [1, 1]);
    const split = await prepare(source, { ...choices, withoutDuplicates: true, holdOut: { rows: 1 } });
    assert.deepEqual([split.counts.written, split.counts.heldOut], [2, 1]);
    const onlyConverted = await prepare(source, { toChat: true, withoutDuplicates: true });
    assert.equal(onlyConverted.counts.leftOut.duplicate, 2);
    assert.equal((await prepare(source, choices)).counts.written, 7);
    // Rows that aren't JSON aren't compared.
    const broken = await sourceOf('a@corp.org\nb@corp.org\n');
    const { counts: kept } = await prepare(broken, { withoutDuplicates: true, mask: choices.mask });
    assert.deepEqual([kept.written, kept.masked.emailAddresses], [2, 2]);
  });

  it('remembers one hash of each row, changed or not, so that as many are compared', async () => {
    const rows = ['a', 'b', 'a'].map((name) => JSON.stringify(chat(`mail ${name}@corp.org`, name)));
    const text = [...rows, '{"text":"c"}', '{"text":"c"}'].join('\n');
    const { scanner } = await checkerFiles();
    const module = await WebAssembly.compile(await readFile(scanner));
    const source = await sourceOf(text);
    const input = await open(source.path);
    const output = await open(`${source.path}.out`, 'w');
    const compared = mock.method(HashIndex.prototype, 'add');
    try {
      const choices = { ...NO_CHANGES, withoutDuplicates: true, mask: { secrets: false, personal: true } };
      const pass = new PreparePass(
        new Scanner(module),
        new Scanner(module),
        {
          ...{ fd: input.fd, sizeBytes: text.length, choices, maxBytes: MAX_BYTES },
          ...{ mainFd: output.fd, holdOutFd: undefined },
        },
        { shouldContinue: () => true, onProgress: () => undefined },
      );
      const { written, leftOut } = pass.run();
      assert.deepEqual([written, leftOut.duplicate, compared.mock.callCount()], [3, 2, 5]);
    } finally {
      compared.mock.restore();
      await input.close();
      await output.close();
    }
    // A row that can't be converted is counted as such, however often it occurs.
    const twice = await sourceOf('{"text":"c"}\n{"text":"c"}\n{"instruction":"b","output":"c"}\n');
    const { counts } = await prepare(twice, { toChat: true, withoutDuplicates: true });
    assert.deepEqual([counts.notConverted, counts.leftOut.duplicate], [{ text: 2 }, 0]);
  });

  it('doesn’t convert a row with a key twice, at any depth, but keeps one that needs no conversion', async () => {
    const twice = [
      '{"instruction":"a","instruction":"b","output":"c"}',
      '{"conversations":[{"from":"human","value":"a","value":"b"},{"from":"gpt","value":"c"}]}',
      '{"question":"a","answer":"b","meta":{"x":1,"\\u0078":2}}',
      '{"messages":[{"role":"user","content":"a","content":"b"},{"role":"assistant","content":"c"}]}',
    ];
    const once = '{"instruction":"b","output":"c"}';
    const { main, counts } = await prepare(await sourceOf([...twice, once].join('\n')), { toChat: true });
    assert.deepEqual(await linesOf(main), [twice[3], JSON.stringify(chat('b', 'c'))]);
    assert.deepEqual([counts.notConverted, counts.leftOut.format], [{ key: 3 }, 3]);
  });

  it('has the same rows, changed alike, if a part of them is held out', async function () {
    const random = new Random(7);
    const long = 'long '.repeat(1_100_000);
    const row = (at: number): string => {
      const prompt = `question ${random.below(9_000)}`;
      const kind = random.below(8);
      if (at === 4_000) return JSON.stringify(chat(prompt, long));
      if (kind === 0) return `${JSON.stringify(chat(prompt, 'broken'))},`;
      if (kind === 1)
        return JSON.stringify(chat(prompt, `Write to user${at}@corp.org. ${'x'.repeat(1_000)}`));
      if (kind === 2) return JSON.stringify({ prompt, completion: `Use ${KEY}. ${'x'.repeat(900)}` });
      if (kind === 3) return '';
      if (kind === 4) return JSON.stringify(chat('the same', 'the same'));
      return JSON.stringify(chat(prompt, 'x'.repeat(random.below(1_500))));
    };
    const rows = Array.from({ length: 16_000 }, (_, at) => `${row(at)}${at % 5 === 0 ? '\r' : ''}`);
    const source = await sourceOf(`\uFEFF${rows.join('\n')}`);
    assert.ok(source.sizeBytes > 3 * SEGMENT_BYTES);
    const choices = {
      ...{ withoutErrors: true, withoutDuplicates: true, toChat: true },
      mask: { secrets: true, personal: true },
    };
    const whole = await prepare(source, choices);
    const parts = await prepare(source, { ...choices, holdOut: { share: 0.4 } });
    const [main, heldOut] = [await linesOf(parts.main), await linesOf(parts.holdOut ?? '')];
    const isHeldOut = new Set(heldOut);
    // Both in their order.
    const all = await linesOf(whole.main);
    assert.deepEqual(
      [main, heldOut],
      [all.filter((one) => !isHeldOut.has(one)), all.filter((one) => isHeldOut.has(one))],
    );
    const { written, heldOut: held, ...counts } = parts.counts;
    assert.deepEqual([main.length, heldOut.length], [written, held]);
    assert.deepEqual({ ...counts, written: written + held, heldOut: 0 }, whole.counts);
    assert.ok(Object.values(counts.masked).filter((masked) => masked > 100).length === 2);
  });

  it('says that the name of its source is too long to name a copy', async () => {
    const [fitting, tooLong] = await Promise.all(
      [246, 247].map((bytes) => sourceOf('{"text":"a"}\n', `${'n'.repeat(bytes - 6)}.jsonl`)),
    );
    assert.equal(path.basename((await prepare(fitting!, {})).main).length, 255);
    await assert.rejects(
      prepare(tooLong!, {}),
      (error) => error instanceof DiskError && error.code === 'name-too-long',
    );
    assert.equal((await filesBeside(tooLong!)).length, 1);
  });

  it('says why nothing can be held out, or nothing is left', async () => {
    const rows = (prompts: readonly string[]) =>
      prompts.map((one) => `${JSON.stringify(chat(one, 'a'))}\n`).join('');
    for (const [text, choices, code] of [
      [rows(['a', 'a', 'a']), { holdOut: { rows: 1 } }, 'one-prompt'],
      [rows(['a', 'a', 'b', 'b']), { holdOut: { rows: 1 } }, 'large-prompts'],
      [rows(['a']), { holdOut: { rows: 1 } }, 'too-few-rows'],
      [rows(['a', 'b', 'b']), { holdOut: { rows: 2 }, withoutDuplicates: true }, 'too-few-rows'],
      ['{"a":}\n', { withoutErrors: true }, 'empty'],
      ['{"a":}\n', { withoutErrors: true, holdOut: { rows: 1 } }, 'empty'],
      ['\n\n', {}, 'empty'],
      ['{}\n'.repeat(MAX_SPLIT_ROWS + 1), { trial: { rows: 1 } }, 'too-many-rows'],
    ] as const) {
      const source = await sourceOf(text);
      await assert.rejects(prepare(source, choices), { code });
      assert.deepEqual(await filesBeside(source), ['train.jsonl']);
    }
    const source = await sourceOf(rows(['a', 'b']));
    await assert.rejects(prepare(source, {}, { maxBytes: 100 }), { code: 'too-large' });
    assert.deepEqual(await filesBeside(source), ['train.jsonl']);
  });

  itOnPosix(
    'leaves nothing behind if the file changed, the folder can’t be written, or the user cancels',
    async function () {
      const big = `${JSON.stringify(chat('a', 'x'.repeat(1_000)))}\n`.repeat(30_000);
      const cancelled = await sourceOf(big);
      const stop = new AbortController();
      const onProgress = () => stop.abort();
      await assert.rejects(
        prepare(cancelled, { holdOut: { rows: 1 } }, { signal: stop.signal, onProgress }),
        CancelledError,
      );
      assert.deepEqual(await filesBeside(cancelled), ['train.jsonl']);

      const grown = await sourceOf(big);
      let isGrown: Promise<void> | undefined;
      const grow = () => void (isGrown ??= appendFile(grown.path, '{"text":"more"}\n'));
      await assert.rejects(
        prepare(grown, {}, { onProgress: grow }),
        (error) => error instanceof CheckError && error.code === 'changing',
      );
      await isGrown;
      assert.deepEqual(await filesBeside(grown), ['train.jsonl']);

      // One row with as many headers of private keys as fit.
      const crafted = await sourceOf(
        `{"text":"${'-----BEGIN PRIVATE KEY-----'.repeat(100_000)}"}\n${big.slice(0, 10_000)}`,
      );
      const soon = new AbortController();
      const masks = prepare(crafted, { mask: { secrets: true, personal: true } }, { signal: soon.signal });
      setTimeout(() => soon.abort(), 50);
      const startedMs = performance.now();
      await masks.catch(() => undefined);
      assert.ok(performance.now() - startedMs < 60_000);

      const target = path.join(folder(), 'elsewhere.jsonl');
      await writeFile(target, '{"text":"a"}\n');
      const link = path.join(path.dirname(grown.path), 'link.jsonl');
      await symlink(target, link);
      const linked = await inspectDataset(link, MAX_BYTES);
      assert.ok(typeof linked !== 'string');
      const { main } = await prepare(linked, {});
      assert.equal(path.dirname(main), path.dirname(link));

      if (process.getuid?.() === 0) return;
      await chmod(path.dirname(cancelled.path), 0o500);
      await assert.rejects(prepare(cancelled, {}), { code: 'EACCES' });
    },
  );

  itOnLinux('says that the disk is full, and nothing else, when a write fails', async function () {
    if (process.platform !== 'linux') this.skip();
    const source = await sourceOf(`${JSON.stringify(chat('a', 'x'.repeat(100_000)))}\n`.repeat(40));
    const [input, full] = [await open(source.path, 'r'), await open('/dev/full', 'w')];
    const job = {
      fd: input.fd,
      sizeBytes: source.sizeBytes,
      choices: NO_CHANGES,
      mainFd: full.fd,
      holdOutFd: undefined,
    };
    await assert.rejects(
      checker().prepare({ ...job, maxBytes: MAX_BYTES }),
      (error) => error instanceof DiskError && error.code === 'disk-full',
    );
    await Promise.all([input.close(), full.close()]);
  });

  it('leaves out a row that is too long to check, and copies what is around it', async function () {
    const long = Buffer.alloc(70 * 1024 * 1024, 'x');
    const brackets = Buffer.alloc(60 * 1024 * 1024, '[');
    const row = '{"text":"a"}\n';
    const source = await sourceOf(
      Buffer.concat([Buffer.from(row), long, Buffer.from(`\n${row}`), brackets, Buffer.from(`\n${row}`)]),
    );
    const { main, counts } = await prepare(source, { withoutErrors: true });
    assert.equal(await readFile(main, 'utf8'), row.repeat(3));
    assert.deepEqual([counts.rows, counts.leftOut.unchecked, counts.leftOut.error], [5, 1, 1]);
  });

  it('leaves no file with a final name if its process is killed, and the next copy removes what was left', async function () {
    const source = await sourceOf(`${JSON.stringify(chat('a', 'x'.repeat(5_000)))}\n`.repeat(8_000));
    let left = 0;
    for (const ms of [0, 20, 60, 120, 200, 300]) {
      const child = fork(CHILD, [source.path], { silent: true });
      const ended = once(child, 'exit');
      await once(child, 'message');
      child.send('go');
      await delay(ms);
      child.kill('SIGKILL');
      await ended;
      const names = await filesBeside(source);
      left += names.filter((name) => name.endsWith('.part')).length;
      for (const name of names.filter((one) => one.startsWith('train.prepared')))
        assert.equal((await stat(path.join(path.dirname(source.path), name))).size, source.sizeBytes, name);
    }
    assert.ok(left > 0, 'nothing was killed while it was written');
    // A part written within the last hour may belong to another process.
    const hourAgo = Date.now() / 1_000 - 3_601;
    for (const name of await filesBeside(source))
      if (name.endsWith('.part')) await utimes(path.join(path.dirname(source.path), name), hourAgo, hourAgo);
    await prepare(source, {});
    assert.deepEqual(
      (await filesBeside(source)).filter((name) => name.endsWith('.part')),
      [],
    );
  });

  itOnPosix('has the read permissions of its source', async () => {
    const source = await sourceOf('{"text":"a"}\n');
    await chmod(source.path, 0o640);
    const changed = await inspectDataset(source.path, MAX_BYTES);
    assert.ok(typeof changed !== 'string');
    const { main } = await prepare(changed, {});
    assert.equal((await stat(main)).mode & 0o777 & ~0o022, 0o640 & ~0o022);
  });
});

/** The prompts that are in both lists of rows: the text before the last answer, or else the row. */
function sharedPrompts(some: readonly string[], others: readonly string[]): string[] {
  const promptOf = (row: string): string => {
    try {
      const value = JSON.parse(row) as Record<string, unknown>;
      if (Array.isArray(value['messages']))
        return `chat ${(value['messages'][0] as { content: string }).content}`;
      const [name] = ['prompt', 'instruction'].filter((one) => typeof value[one] === 'string');
      return name === undefined ? row : `${name} ${value[name] as string}`;
    } catch {
      return row;
    }
  };
  const known = new Set(some.map(promptOf));
  return others.map(promptOf).filter((prompt) => known.has(prompt));
}
