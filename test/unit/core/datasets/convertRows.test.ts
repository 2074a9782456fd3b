import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { open, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ConvertCounts } from '../../../../src/core/datasets/convert.ts';
import { convertRows } from '../../../../src/core/datasets/convertRows.ts';
import { MAX_TABLE_ROW_BYTES } from '../../../../src/core/datasets/tableRows.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { Random } from '../../../helpers/random.ts';

describe('convertRows', () => {
  const folder = useFolder();

  async function convert(
    name: string,
    content: string | Uint8Array,
    { maxBytes = Infinity, sizeBytes = Buffer.byteLength(content) } = {},
  ): Promise<{ text: string; counts: ConvertCounts }> {
    const [source, target] = [path.join(folder(), name), path.join(folder(), 'out.jsonl')];
    await writeFile(source, content);
    const [input, output] = [await open(source), await open(target, 'w')];
    try {
      const counts = await convertRows({
        ...{ inputFd: input.fd, outputFd: output.fd, columns: 'all' },
        ...{ sizeBytes, maxBytes, extension: path.extname(name) },
      });
      return { text: readFileSync(target, 'utf8'), counts };
    } finally {
      await input.close();
      await output.close();
    }
  }

  const rowsOf = async (name: string, content: string | Uint8Array) =>
    (await convert(name, content)).text.split('\n').slice(0, -1);

  for (const [name, separator] of [
    ['comma.csv', ','],
    ['semicolon.csv', ';'],
    ['tab.tsv', '\t'],
    ['declared.csv', '|'],
  ] as const)
    it(`keeps every value of random tables: ${name}`, async () => {
      const seed = Math.floor(Math.random() * 2 ** 31);
      const random = new Random(seed);
      const pieces = [
        '"',
        '""',
        ',',
        ';',
        '\t',
        '|',
        '\n',
        '\r\n',
        '\r',
        ' ',
        'é',
        '😀',
        '\0',
        '\u2028',
        '=1+1',
        'a',
      ];
      for (let turn = 0; turn < 40; turn++) {
        const columns = 1 + random.below(5);
        const names = Array.from({ length: columns }, (_, column) => `name ${column}`);
        // A file of a few bytes with a zero isn't taken for text.
        const plain = names.map(() => 'long enough to be text '.repeat(5));
        const rows = [
          plain,
          ...random.several(12, () => names.map(() => random.several(6, () => random.of(pieces)).join(''))),
        ];
        const end = random.of(['\n', '\r\n']);
        const lineOf = (values: readonly string[]) =>
          values
            .map((value) =>
              /["\r\n,;\t|]/.test(value) || random.chance(0.3) ? `"${value.replaceAll('"', '""')}"` : value,
            )
            .join(separator);
        const text = [
          ...(separator === '|' ? ['sep=|'] : []),
          ...[names, ...rows].map(lineOf),
          ...random.several(1, () => ''),
        ].join(end);
        const expected = rows.filter((row) => row.some((value) => value.trim() !== ''));
        const isUtf16 = random.chance(0.3);
        const content = `${random.of(['', '\uFEFF'])}${text}`;
        const found =
          expected.length === 0
            ? []
            : await rowsOf(name, isUtf16 ? Buffer.from(content, 'utf16le') : content);
        assert.deepEqual(
          found,
          expected.map((row) => JSON.stringify(Object.fromEntries(names.map((key, at) => [key, row[at]])))),
          `with the seed ${seed}: ${JSON.stringify(text)}`,
        );
      }
    });

  it('reads values, quotes and line ends that lie across its slices', async () => {
    const value = `${'é"\r\n,'.repeat(9_000)}😀`;
    for (let shift = 0; shift < 4; shift++) {
      const first = 'x'.repeat(65_510 + shift);
      const quoted = value.replaceAll('"', '""');
      const rows = await rowsOf('long.csv', `a,b\r\n${first},"${quoted}"\r\n"${quoted}",${first}\r\n`);
      assert.deepEqual(
        rows.map((row) => JSON.parse(row) as unknown),
        [
          { a: first, b: value },
          { a: value, b: first },
        ],
      );
    }
  });

  it('leaves out rows with a different number of values, which it counts, and rows without text', async () => {
    const { text, counts } = await convert(
      'a.csv',
      'prompt,completion\na,b\n\nc\n,\n" ",\n\t\nd,e,f\ng,h\n,,,\n',
    );
    assert.equal(text, '{"prompt":"a","completion":"b"}\n{"prompt":"g","completion":"h"}\n');
    assert.deepEqual([counts.rows, counts.leftOut, counts.encoding], [2, { ragged: 2 }, undefined]);
  });

  it('keeps what a spreadsheet would change or run as text', async () =>
    assert.deepEqual(await rowsOf('a.csv', 'a,b\n=cmd(),007\n1.0,true\n null ,12345678901234567890\n'), [
      '{"a":"=cmd()","b":"007"}',
      '{"a":"1.0","b":"true"}',
      '{"a":" null ","b":"12345678901234567890"}',
    ]));

  it('takes quotes inside of values as characters if tabs separate these, and otherwise names the row', async () => {
    assert.deepEqual(await rowsOf('a.tsv', 'prompt\tcompletion\n5" pipe\t"one" two\n'), [
      '{"prompt":"5\\" pipe","completion":"\\"one\\" two"}',
    ]);
    for (const [text, code, row] of [
      ['prompt,completion\na,b\n5" pipe,c\n', 'quote', 3],
      ['prompt,completion\n\na,"one" two\n', 'quote', 3],
      ['prompt,completion\na,b\nc,"d\ne,f\n', 'quote-not-closed', 3],
      ['sep=;\nprompt;completion\n"a;b\n', 'quote-not-closed', 2],
      ['"prompt,completion\n', 'quote-not-closed', 1],
    ] as const)
      await assert.rejects(convert('a.csv', text), { code, row }, text);
  });

  it('converts UTF-16 of either byte order, with or without a mark', async () => {
    for (const [name, text, expected] of [
      ['a.jsonl', '{"a":"é😀"}\r\n\r\n{"b":1,\r\n', '{"a":"é😀"}\n{"b":1,\n'],
      ['a.json', '[{"a":1},\r\n {"b":[\r\n2]}]', '{"a":1}\n{"b":[ 2]}\n'],
      ['a.json', '{\n"a":1\n}\n{"b":2}', '{ "a":1 }\n{"b":2}\n'],
      ['a.json', '{"a":1}\r\n{\r\n  "b": 2\r\n}\r\n', '{"a":1}\n{ "b": 2 }\n'],
      ['a.csv', 'prompt,completion\r\né,😀\r\n', '{"prompt":"é","completion":"😀"}\n'],
      ['a.txt', 'prompt\tcompletion\r\na\tb\r\n', '{"prompt":"a","completion":"b"}\n'],
    ] as const)
      for (const mark of ['', '\uFEFF']) {
        const bytes = Buffer.from(mark + text, 'utf16le');
        for (const content of [bytes, Buffer.from(bytes).swap16()]) {
          const converted = await convert(name, content);
          assert.equal(converted.text, expected, name);
          assert.equal(converted.counts.encoding, 'utf-16');
        }
      }
  });

  it('never replaces what is not valid in its encoding', async () => {
    const utf16 = (text: string, ...end: number[]) =>
      Buffer.concat([Buffer.from(text, 'utf16le'), Uint8Array.from(end)]);
    for (const [name, content, code] of [
      ['odd.jsonl', utf16('{"a":1}\n', 0x61), 'not-encoding'],
      ['high.jsonl', utf16('{"a":"\ud83d"}\n'), 'not-encoding'],
      ['low.csv', utf16('a,b\n\ude00,c\n'), 'not-encoding'],
      ['cut.csv', utf16('a,b\nc,', 0x3d, 0xd8), 'not-encoding'],
      ['latin.csv', Buffer.from('a,b\né,c\n', 'latin1'), 'needs-encoding'],
      [
        'late.csv',
        Buffer.concat([Buffer.from(`a,b\n${'é,c\n'.repeat(50_000)}`), Uint8Array.of(0xc3)]),
        'needs-encoding',
      ],
      ['wide.csv', Buffer.from(Uint32Array.from('a,b\n', (one) => one.charCodeAt(0)).buffer), 'utf-32'],
    ] as const)
      await assert.rejects(convert(name, content), { code }, name);
  });

  it('says why nothing can be converted', async () => {
    for (const [name, content, code] of [
      ['a.json', '[]', 'no-rows'],
      ['a.json', '[{}', 'not-json'],
      ['a.csv', 'a,b\n', 'no-rows'],
      ['a.csv', 'a,b\n,\n', 'no-rows'],
      ['a.csv', '\n\n', 'no-rows'],
      ['a.csv', 'a,b\nc\nd\n', 'ragged'],
      ['a.txt', 'Hello.\nBye.\n', 'unknown'],
      ['a.csv', 'PK\x03\x04', 'unknown'],
      ['a.csv', '<!doctype html>', 'unknown'],
    ] as const)
      await assert.rejects(convert(name, content), { code }, `${name}: ${content}`);
    const text = 'a,b\n1,2\n';
    assert.equal((await convert('a.csv', text, { maxBytes: 18 })).text.length, 18);
    await assert.rejects(convert('a.csv', text, { maxBytes: 17 }), { code: 'too-large' });
    await assert.rejects(convert('a.csv', text, { sizeBytes: 100 }), { code: 'changing' });
  });

  describe('with a table that was crafted to harm', function () {
    /** Converts the text, followed by zeros up to the maximum size of a dataset. */
    const harmful = async (start: string, part: string): Promise<unknown> => {
      const source = path.join(folder(), 'a.csv');
      const text = start + part.repeat((MAX_TABLE_ROW_BYTES + 2_000_000) / part.length);
      await writeFile(source, text);
      await truncate(source, 600_000_000); // sparse
      const input = await open(source);
      const output = await open(path.join(folder(), 'out.jsonl'), 'w');
      const job = { inputFd: input.fd, outputFd: output.fd, extension: '.csv', maxBytes: 600_000_000 };
      let readBytes = 0;
      try {
        await convertRows({ ...job, sizeBytes: 600_000_000 }, (bytes) => (readBytes = bytes));
        return 'converted';
      } catch (error) {
        const { code, row } = error as { code: unknown; row: unknown };
        return [code, row, readBytes <= MAX_TABLE_ROW_BYTES + 1_000_000];
      } finally {
        await input.close();
        await output.close();
      }
    };

    it('stops at a quote that isn’t closed, an endless row, quotes, and separators', async () => {
      assert.deepEqual(await harmful('a,b\n1,2\n3,"', 'text\n'), ['row-too-long', 3, true]);
      assert.deepEqual(await harmful('a,b\n1,2\n', 'text'), ['row-too-long', 3, true]);
      assert.deepEqual(await harmful('', '"'), ['row-too-long', 1, true]);
      assert.deepEqual(await harmful('a,b\n', ','), ['row-too-long', 2, true]);
      assert.deepEqual(await harmful('', 'a,'), ['row-too-long', 1, true]);
    });

    it('converts 10,000 columns, and no more than a spreadsheet has', async () => {
      const header = (columns: number) => Array.from({ length: columns }, (_, column) => `c${column}`).join();
      const { counts } = await convert('a.csv', `${header(10_000)}\n${`${header(10_000)}\n`.repeat(20)}`);
      assert.equal(counts.rows, 20);
      await assert.rejects(convert('a.csv', `${header(16_385)}\n${header(16_385)}\n`), {
        code: 'too-many-columns',
      });
    });

    it('does not count blank lines as one long row', async () => {
      const { counts } = await convert('a.csv', `a,b\n${'\n'.repeat(MAX_TABLE_ROW_BYTES + 1_000)}1,2\n`);
      assert.equal(counts.rows, 1);
    });
  });
});
