import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFile, readdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { mock } from 'node:test';
import type { Memento } from 'vscode';
import { MAX_DATASET_BYTES } from '../../../../src/core/api/types.ts';
import { NewFiles } from '../../../../src/core/datasets/newFiles.ts';
import type { Log } from '../../../../src/ui/shared/log.ts';
import { useChecker } from '../../../helpers/checker.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { golden } from '../../../helpers/golden.ts';
import { itOnPosix } from '../../../helpers/platform.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as stand from '../../../helpers/vscodeStandIn.ts';

const { convertToJsonl } = await withVscode(() => import('../../../../src/ui/datasets/convertToJsonl.ts'));
/** Errors that were logged. */
const logged: string[] = [];
const log = { error: (_: string, error: Error) => void logged.push(error.message) } as unknown as Log;
const worker = path.join(import.meta.dirname, '../../../../src/core/datasets/convertWorker.ts');
const REPORTS = path.join(import.meta.dirname, '../../../fixtures/datasets/reports');

describe('Convert to JSONL', function () {
  const folder = useFolder();
  const { checker } = useChecker();
  const chosen = new Map<string, unknown>();
  const memory = {
    keys: () => [...chosen.keys()],
    get: (key: string, or?: unknown) => chosen.get(key) ?? or,
    update: (key: string, value: unknown) => Promise.resolve(void chosen.set(key, value)),
  } as Memento;
  const parts = { worker, log, memory, reports: { check: (file: string) => checker().check(file) } };
  const file = (name: string) => path.join(folder(), name);
  const convert = (name: string) => convertToJsonl(parts, stand.Uri.file(file(name)));

  beforeEach(() => {
    stand.forget();
    chosen.clear();
  });
  afterEach(() => Object.assign(stand.window.tabGroups, { activeTabGroup: {}, all: [] }));

  it('says what it created, opens that, and checks it', async () => {
    await writeFile(file('array.jsonl'), '[{"a":1},\n{"a":2}]');
    assert.deepEqual(await convert('array.jsonl'), { outcome: 'done' });
    const made = file('array.lines.jsonl');
    assert.equal(await readFile(made, 'utf8'), '{"a":1}\n{"a":2}\n');
    assert.deepEqual(stand.executed.map(String), [`vscode.open,file://${made}`]);
    assert.deepEqual(stand.shown.sentences, [
      'Created array.lines.jsonl, but none of its rows can be used for training: Unknown format.',
    ]);
  });

  it('shows what VS Code can’t open in an editor in its preview', async () => {
    await writeFile(file('large.json'), `[${`{"a":"${'x'.repeat(1000)}"},`.repeat(53_000)}{}]`);
    await convert('large.json');
    assert.deepEqual(
      stand.executed.map(([command]) => command),
      ['fineTuning.previewDataset'],
    );
  });

  it('takes the file in the active editor, whatever its ending, once it is saved', async () => {
    await writeFile(file('rows.csv'), 'text\na\n');
    const tab = { input: new stand.TabInputText(stand.Uri.file(file('rows.csv'))), isDirty: true };
    Object.assign(stand.window.tabGroups, { activeTabGroup: { activeTab: tab }, all: [{ tabs: [tab] }] });
    assert.deepEqual(await convertToJsonl(parts), { outcome: 'cancelled' });
    assert.deepEqual(stand.shown.sentences, ['rows.csv has unsaved changes.']);
    assert.deepEqual(await readdir(folder()), ['rows.csv']);
    tab.isDirty = false;
    assert.deepEqual(await convertToJsonl(parts), { outcome: 'done' });
    assert.equal(stand.shown.sentences.at(-1), 'Created rows.jsonl: 1 row of plain text, no problems.');
  });

  it('says in a sentence what it did, or why not', async () => {
    const wide = Array.from({ length: 16_385 }, (_, column) => column).join();
    const utf16 = (text: string) => Buffer.from(text, 'utf16le');
    const shown: Record<string, string[]> = {};
    for (const [title, name, content] of [
      ['an array', 'array.json', '[{},{}]'],
      ['a table', 'table.csv', 'prompt,completion\na,b\n'],
      ['a ragged table', 'ragged.csv', `prompt,completion\n${'a,b\n'.repeat(1200)}a\nb\n,,,\n`],
      ['UTF-16', 'wide.jsonl', utf16('\uFEFF{"a":1}\r\n')],
      ['a broken array', 'broken.json', '[{},'],
      ['an empty array', 'empty.json', '[]'],
      ['a header', 'header.csv', 'prompt,completion\n'],
      ['another header', 'other.csv', 'prompt,completion\na\nb\n'],
      ['a quote inside', 'quote.csv', 'prompt,completion\na,b\n5" pipe,c\n'],
      ['an open quote', 'open.csv', 'prompt,completion\na,"b\n'],
      ['an endless row', 'row.csv', `prompt,completion\na,${'b'.repeat(9_000_000)}`],
      ['many columns', 'columns.csv', `${wide}\n${wide}\n`],
      ['broken UTF-16', 'odd.jsonl', Buffer.concat([utf16('{"a":1}\n'), Buffer.from('a')])],
      ['a text', 'letter.txt', 'Hello.\n'],
      ['UTF-32', 'wide.csv', Buffer.from(Uint32Array.from('a,b', (one) => one.charCodeAt(0)).buffer)],
      ['an array of numbers', 'numbers.json', '[1]'],
      ['Python in cells', 'python.csv', `id,messages\n1,"[{'role': 'user', 'content': 'Hi'}]"\n`],
      ['rows of another shape', 'other.jsonl', '{"a":1}\n{"a":2}\n'],
      ['only faulty rows', 'faulty.jsonl', '{"a":1,}\n'],
      [
        'messages of conversations',
        'chats.csv',
        'id,session_id,role,content\n1,a,user,Hi\n2,a,AI,Hello\n3,,user,a\n',
      ],
      ['a name that is cut', `${'x'.repeat(100)}.csv`, 'text\n'],
    ] as const) {
      await writeFile(file(name), content);
      stand.forget();
      const { outcome } = await convert(name);
      const [buttons = []] = stand.shown.buttons;
      shown[title] = [
        ...stand.shown.sentences,
        ...(buttons.length > 0 ? [buttons.join(' | ')] : []),
        outcome,
      ];
    }
    golden('convert-to-jsonl', shown);
    assert.doesNotMatch(logged.join(), /prompt|pipe/);
  });

  describe('asks', () => {
    /** Answers the questions in turn; undefined takes what Enter takes. */
    const answering = (...answers: (string | undefined)[]) => {
      stand.shown.pick = ({ activeItems }) => answers.shift() ?? activeItems[0]?.label;
    };
    const asked = () =>
      stand.shown.inputs.flatMap(({ title, placeholder, items, activeItems }) => [
        `${title}: ${placeholder}`,
        ...items.map(
          (item) =>
            `${activeItems.includes(item) ? '●' : ' '} ${[item.label, item.description, item.detail].filter(Boolean).join(' | ')}`,
        ),
      ]);

    it('which encoding reads right, and takes none by itself', async () => {
      const text = Buffer.from('Frage;Antwort\nGrüße?;Schöne Grüße.\nA;B\nÄ;Ö\nÜ;ß\nä;ö\n', 'latin1');
      await writeFile(file('latin.csv'), text);
      answering('Windows-1252', undefined, undefined);
      assert.deepEqual(await convert('latin.csv'), { outcome: 'done' });
      golden('convert-questions', { [`${text.length} bytes`]: [...asked(), ...stand.shown.sentences] });
      const [row] = (await readFile(file('latin.chat.jsonl'), 'utf8')).split('\n');
      assert.equal(
        row,
        '{"messages":[{"role":"user","content":"Grüße?"},{"role":"assistant","content":"Schöne Grüße."}]}',
      );
      stand.forget();
      answering();
      assert.deepEqual(await convert('latin.csv'), { outcome: 'cancelled' });
      assert.equal(stand.shown.inputs.length, 1);
    });

    it('for columns once, and remembers them for the same header', async () => {
      await writeFile(file('a.csv'), 'Ton;Frage;Antwort\nknapp;Hi;Hello\n');
      await writeFile(file('b.csv'), 'Ton;Frage;Antwort\nlang;Hi;Hello\n');
      await writeFile(file('c.csv'), 'Ton,Frage\nknapp,Hi\n');
      answering(undefined, undefined, 'Ton');
      await convert('a.csv');
      assert.deepEqual(asked(), [
        ...[
          'a.csv: Which column is the prompt?',
          '  Ton',
          '● Frage',
          '  Antwort',
          '  Keep the columns as they are',
        ],
        ...['a.csv: Which is the answer?', '  Ton', '● Antwort'],
        ...['a.csv: Which is the system message?', '  Ton', '● None'],
      ]);
      assert.match(await readFile(file('a.chat.jsonl'), 'utf8'), /"system","content":"knapp"/);
      stand.forget();
      stand.shown.answer = (buttons) => buttons.find((one) => one.startsWith('Other Columns'));
      await convert('b.csv');
      assert.deepEqual(stand.shown.inputs, []);
      assert.match(await readFile(file('b.chat.jsonl'), 'utf8'), /"system","content":"lang"/);
      assert.deepEqual(stand.executed.at(-1)?.map(String), [
        ...['fineTuning.convertToJsonl', `file://${file('b.csv')}`, 'undefined', 'true'],
      ]);
      answering('Keep the columns as they are');
      await convertToJsonl(parts, stand.Uri.file(file('b.csv')), undefined, true);
      assert.equal(stand.shown.inputs.length, 1);
      assert.match(await readFile(file('b.jsonl'), 'utf8'), /"Ton":"lang"/);
      assert.ok(stand.shown.buttons.at(-1)?.includes('Other Columns…'));
      stand.forget();
      assert.deepEqual(await convert('c.csv'), { outcome: 'cancelled' });
      assert.equal(stand.shown.inputs.length, 1);
      assert.doesNotMatch(JSON.stringify([...chosen]), /Frage|knapp/);
    });

    it('which list of an object has the rows', async () => {
      await writeFile(file('parts.json'), '{"train":[{"text":"a"}],"test":[{"text":"b"}]}');
      answering('test');
      await convert('parts.json');
      assert.equal(await readFile(file('parts.jsonl'), 'utf8'), '{"text":"b"}\n');
    });
  });

  it('leads each reported file to rows that can be trained on', async () => {
    const names = (await readdir(REPORTS)).filter((name) => !name.startsWith('d26'));
    for (const name of names) await copyFile(path.join(REPORTS, name), file(name));
    stand.shown.folder = () => file('d16-openai-responses-batch-input.jsonl');
    for (const name of names) await convert(name);
    golden('convert-reports', { files: stand.shown.sentences });
  });

  describe('of a batch', () => {
    const body = (choice: object) => ({ choices: [{ index: 0, finish_reason: 'stop', ...choice }] });
    const said = (content: unknown) => body({ message: { role: 'assistant', content } });
    const answered = (id: string, found: unknown, more: object = {}) =>
      JSON.stringify({ custom_id: id, response: { status_code: 200, body: found }, error: null, ...more });
    const asked = (id: string) =>
      JSON.stringify({ custom_id: id, body: { messages: [{ role: 'user', content: 'Is 7 prime?' }] } });
    const [good, failed] = [answered('a', said('Yes.')), answered('a', null, { response: null })];
    const cut = answered(
      'a',
      body({ message: { role: 'assistant', content: 'Y' }, finish_reason: 'length' }),
    );
    const several = answered('a', { choices: [...said('Yes.').choices, ...said('No.').choices] });

    it('says in a sentence what it did, or why not', async () => {
      const reasons = [
        ...[failed, failed, cut, several, good],
        answered(
          'a',
          body({ message: { role: 'assistant', content: 'Y' }, finish_reason: 'content_filter' }),
        ),
        answered('a', body({ message: { role: 'assistant', content: null, refusal: 'No.' } })),
        ...[answered('a', said('')), answered('b', said('Yes.')), answered('a', { data: [] })],
        ...['{"lc":1}', '{"custom_id":', `{"text":"${'x'.repeat(17_000_000)}"}`],
      ];
      const shown: Record<string, string[]> = {};
      for (const [title, rows, input] of [
        ['a batch', Array<string>(1_200).fill(good), asked('a')],
        ['every reason', reasons, asked('a')],
        ['only several answers', [several], asked('a')],
        ['its errors', [failed, failed], undefined],
        ['its input', [asked('a')], undefined],
        ['another input', [good], asked('b')],
        ['no input', [good], undefined],
        ['an input that is empty', [good], ''],
      ] as const) {
        await writeFile(file('out.jsonl'), rows.join('\n'));
        await writeFile(file('in.jsonl'), input ?? '');
        stand.forget();
        stand.shown.folder = () => (input === undefined ? undefined : file('in.jsonl'));
        const { outcome } = await convert('out.jsonl');
        shown[title] = [
          ...stand.shown.sentences,
          ...stand.shown.buttons.filter(({ length }) => length > 0).map((all) => all.join(' | ')),
          outcome,
        ];
      }
      golden('convert-batches', shown);
      assert.doesNotMatch(logged.join(), /prime|Yes/);
    });

    it('asks for the input, beginning at the file beside it with that name', async () => {
      const asks: unknown[] = [];
      const dialog = mock.method(stand.window, 'showOpenDialog', (options: { defaultUri: unknown }) => {
        asks.push(String(options.defaultUri));
        return Promise.resolve(undefined);
      });
      try {
        for (const name of ['batch_7_output.jsonl', 'Output.jsonl', 'answers.jsonl']) {
          await writeFile(file(name), good);
          assert.deepEqual(await convert(name), { outcome: 'cancelled' });
        }
        await writeFile(file('batch_7_input.jsonl'), asked('a'));
        await convert('batch_7_output.jsonl');
      } finally {
        dialog.mock.restore();
      }
      const beside = `file://${file('batch_7_input.jsonl')}`;
      assert.deepEqual(asks, [...Array<string>(3).fill(`file://${folder()}`), beside]);
      assert.deepEqual(stand.shown.sentences, []);
    });

    it('leads on to a prepared copy, or to the preview', async () => {
      await writeFile(
        file('log.jsonl'),
        JSON.stringify({ messages: [{ role: 'user', content: 'a' }], ...said('b') }),
      );
      for (const [button, command] of [
        ['Prepare Copy…', 'fineTuning.prepareDataset'],
        ['Preview', 'fineTuning.previewDataset'],
      ] as const) {
        stand.forget();
        stand.shown.answer = (buttons) => buttons.find((one) => one === button);
        assert.deepEqual(await convert('log.jsonl'), { outcome: 'done' });
        assert.ok(
          stand.executed.some(([run, uri]) => run === command && /log\.chat(-2)?\.jsonl$/.test(String(uri))),
        );
      }
    });
  });

  it('says that a folder can’t be written to', async () => {
    await writeFile(file('rows.csv'), 'text\na\n');
    const denied = Object.assign(new Error('EACCES'), { code: 'EACCES', errno: -13, syscall: 'open' });
    const add = mock.method(NewFiles.prototype, 'add', () => Promise.reject(denied));
    try {
      await convert('rows.csv');
    } finally {
      add.mock.restore();
    }
    assert.deepEqual(stand.shown.sentences, [
      `Nothing was written: no permission to write to the folder ${path.basename(folder())}.`,
    ]);
  });

  itOnPosix(
    'refuses what is no regular file, empty or above the limit, without opening or writing anything',
    async function () {
      await symlink('/dev/zero', file('zero.jsonl'));
      execFileSync('mkfifo', [file('pipe.jsonl')]);
      await writeFile(file('empty.jsonl'), '');
      await writeFile(file('huge.jsonl'), '[');
      await truncate(file('huge.jsonl'), MAX_DATASET_BYTES + 1); // sparse
      const names = await readdir(folder());
      for (const name of names) {
        stand.forget();
        await convert(name);
        assert.match(stand.shown.sentences.join(), /regular file|is empty|larger than/, name);
      }
      assert.deepEqual(await readdir(folder()), names);
    },
  );
});
