import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { appendFile, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import type { ModuleHooks } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { FoundRows, TrainedData } from '../../../../src/core/datasets/fingerprints.ts';
import { CheckError } from '../../../../src/core/datasets/report.ts';
import type { ChargedReceipt } from '../../../../src/core/submission/submission.ts';
import type { AnswersMessage, AnswersRow } from '../../../../src/ui/answers/protocol.ts';
import { PanelStandIn } from '../../../helpers/panelStandIn.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';

type Posted<T extends AnswersMessage['type']> = Extract<AnswersMessage, { type: T }>;

function line(prompt: string, base: string, adapter: string, expected = 'yes', more: object = {}): string {
  return `${JSON.stringify({ messages: [{ role: 'user', content: prompt }], expected, base, adapter, ...more })}\n`;
}

/** Says that the prompts with a word are in the data. */
function foundOf(rows: Uint8Array, word = 'trained'): FoundRows {
  const lines = Buffer.from(rows).toString().split('\n').slice(0, -1);
  return { isFound: lines.map((one) => one.includes(word)), sameAnswer: 0 };
}

describe('AnswersPage', () => {
  let hooks: ModuleHooks;
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');
  let folder: string;
  let file: string;
  let panel: PanelStandIn;
  let errors: unknown[];
  let panels: { dispose(): void };
  /** What finds prompts in data, and the charges. */
  let find: (rows: Uint8Array, data: TrainedData, signal?: AbortSignal) => Promise<FoundRows>;
  let receipts: ChargedReceipt[];
  let sample: string;

  before(async () => {
    hooks = standInForVscode();
    standIn = await import('../../../helpers/vscodeStandIn.ts');
  });
  after(() => hooks.deregister());

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'answers-page-'));
    file = path.join(folder, 'train.answers.jsonl');
    panel = new PanelStandIn();
    errors = [];
    receipts = [];
    sample = '/sample';
    find = (rows) => Promise.resolve(foundOf(rows));
    standIn.forget();
  });
  afterEach(async () => {
    Reflect.deleteProperty(performance, 'now');
    panels.dispose();
    assert.deepEqual(errors, []);
    await rm(folder, { recursive: true });
  });

  const posted = <T extends AnswersMessage['type']>(type: T) =>
    panel.posted.filter((one): one is Posted<T> => (one as AnswersMessage).type === type);
  const last = <T extends AnswersMessage['type']>(type: T) => posted(type).at(-1)!;
  const head = () => last('head');
  async function until(isTrue: () => unknown): Promise<void> {
    for (let tries = 0; tries < 20_000 && isTrue() !== true; tries++) await delay(5);
    assert.ok(isTrue(), JSON.stringify(panel.posted.slice(-4)));
  }
  /** Sends a request of the page, and waits for its effects. */
  async function send(message: unknown): Promise<void> {
    panel.send(message);
    await delay(0);
  }
  /** Requests rows as the page does: again, until all are there. */
  async function rows(): Promise<AnswersRow[]> {
    const { generation, length } = last('list');
    const all: AnswersRow[] = [];
    while (all.length < length) {
      await send({ type: 'need', generation, from: all.length, count: length - all.length });
      assert.deepEqual([last('rows').from, last('rows').rows.length > 0], [all.length, true]);
      all.push(...last('rows').rows);
    }
    return all;
  }
  const didChange = () => standIn.watchers.at(-1)?.change();

  function parts() {
    const log = { error: (_: string, error: unknown) => void errors.push(error) };
    const submitted = {
      openJournal: () => Promise.resolve(),
      journal: { receipts: () => Promise.resolve(receipts) },
      fingerprints: {
        has: () => Promise.resolve(false),
        find: (...asked: Parameters<typeof find>) => find(...asked),
      },
    };
    return { sample, submitted, log };
  }

  /** Opens the page as VS Code restores it. */
  async function restore(memory: unknown): Promise<void> {
    const { answersPanels } = await import('../../../../src/ui/answers/answersPage.ts');
    const made = answersPanels({ extensionUri: standIn.Uri.file('/extension') as never, ...parts() });
    panels = made;
    await made.deserializeWebviewPanel(panel as never, memory);
    panel.send({ type: 'ready', memory });
  }

  /** Saves the file in one step: the page may just look at the disk once more. */
  async function replaceFile(text: string): Promise<void> {
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
  }

  async function open(...lines: string[]): Promise<void> {
    await writeFile(file, lines.join(''));
    await restore({ file });
    await until(() => posted('head').at(-1)?.summary !== undefined);
  }

  const FOUR = [
    line('a', 'no', 'yes'),
    line('b', 'yes', 'no'),
    line('c', 'maybe', 'maybe'),
    line('d', 'no', 'nay'),
  ];

  it('shows the rows with their texts, differences and notes', async () => {
    await open(...FOUR, line('e', '<think>hm\n</think>no', 'y', 'yes', { adapter_end: 'length' }));
    assert.equal(head().title, 'train.answers.jsonl · 5 rows');
    const shown = await rows();
    assert.deepEqual(
      shown.map(({ row, title, prompt }) => [row, title, prompt.line]),
      ['a', 'b', 'c', 'd', 'e'].map((prompt, index) => [index + 1, `Row ${index + 1}`, prompt]),
    );
    const [expected, base, adapter] = shown[0]!.texts;
    assert.deepEqual([expected?.name, base?.name, adapter?.name], ['Expected', 'Base model', 'Adapter']);
    assert.deepEqual(base?.pieces, [
      { text: 'yes', mark: 'del' },
      { text: 'no', mark: 'ins' },
    ]);
    assert.deepEqual([base.notes, adapter?.notes], [[], ['= expected']]);
    const [, thought, cut] = shown[4]!.texts;
    assert.deepEqual(thought?.thinking, { title: 'Thinking, 2 characters', text: 'hm' });
    assert.ok(!JSON.stringify(thought.pieces).includes('think'));
    assert.deepEqual(cut?.notes, ['Cut off']);
  });

  it('tells a run’s page in short what the rows show that weren’t trained on', async () => {
    const { verdictFor } = await import('../../../../src/ui/answers/answersView.ts');
    panels = { dispose: () => undefined };
    await writeFile(path.join(folder, 'train.prepared.jsonl'), '{}\n');
    const of = (run: string) => ({ run });
    const six = ['a', 'b', 'c', 'd', 'e', 'f'];
    const better = (more?: object) => six.map((prompt) => line(prompt, 'no', 'yes', 'yes', more));
    const ahead =
      'train.answers.jsonl: Adapter was exactly right in 6 rows, base model in 0, both in 0. ' +
      'If the two were equally good, a difference this large would come up in 3.1% of comparisons.';
    const cases: [lines: string[], verdict: RegExp | string | undefined][] = [
      [better(), undefined],
      [[...better(of('r')), line('trained', 'yes', 'no', 'yes', of('r'))], ahead],
      [better(of('r')), ahead],
      [better(of('another')), undefined],
      [[...better(of('r')), line('g', 'a', 'b', 'yes', of('another'))], undefined],
      [[...better(of('r')), '{"mess'], undefined],
      [['{}\n'], undefined],
      [
        [line('trained', 'yes', 'no', 'yes', of('r'))],
        /^train\.answers\.jsonl: This prompt is also in .*can’t show whether training helped/,
      ],
      [
        six.map((prompt) => line(prompt, 'no', 'no', 'yes', of('r'))),
        /Both models gave the same answer in 6 of 6 rows\./,
      ],
    ];
    for (const [lines, verdict] of cases) {
      await writeFile(file, lines.join(''));
      const said = await verdictFor('r', file, parts(), new AbortController().signal);
      if (verdict instanceof RegExp) assert.match(said ?? '', verdict);
      else assert.equal(said, verdict);
    }
    await writeFile(file, better(of('r')).join(''));
    assert.equal(await verdictFor('r', file, parts(), AbortSignal.abort()), undefined);
    await rm(file);
    assert.equal(await verdictFor('r', file, parts(), new AbortController().signal), undefined);
    assert.deepEqual(standIn.watchers, []);
  });

  it('lists the rows of a filter', async () => {
    await open(...FOUR);
    for (const [filter, lines] of [
      ['different', [1, 2, 4]],
      ['adapter', [1]],
      ['base', [2]],
      ['all', [1, 2, 3, 4]],
    ] as const) {
      await send({ type: 'filter', filter });
      assert.equal(last('list').length, lines.length, filter);
      assert.deepEqual(
        (await rows()).map(({ row }) => row),
        lines,
        filter,
      );
      const pressed = head().filters.filter(({ isPressed }) => isPressed);
      assert.deepEqual(
        pressed.map((one) => one.filter),
        [filter],
      );
    }
  });

  describe('with two files', () => {
    let other: string;
    const beside = () => path.join(folder, 'new.answers.jsonl');
    /** A row as `line` makes it, with another adapter's answer. */
    const OTHERS = [
      line('d', 'no', 'yes'),
      line('a', 'no', ' yes\n'),
      line('b', 'yes', 'yes'),
      line('e', 'no', 'yes'),
    ];
    async function openBoth(one: readonly string[], two: readonly string[]): Promise<void> {
      other = beside();
      await writeFile(file, one.join(''));
      await writeFile(other, two.join(''));
      await restore({ file, other });
      await until(() => head().failure !== undefined || posted('head').at(-1)?.summary !== undefined);
    }

    it('compares their adapters in the rows that both have, those that became worse first', async () => {
      await openBoth([...FOUR, line('f', 'no', 'yes')], [...OTHERS, line('f', 'no', 'nay')]);
      assert.equal(panel.title, 'Answers: train ↔ new');
      assert.equal(head().title, 'train ↔ new · 4 rows in common');
      assert.deepEqual(head().notices, ['1 row is only in train, 1 only in new.']);
      const shown = await rows();
      assert.deepEqual(
        shown.map(({ row, texts }) => [row, ...texts.map(({ name, notes }) => [name, ...notes].join())]),
        [
          [5, 'Expected', 'train,= expected', 'new'],
          [1, 'Expected', 'train,= expected', 'new,= expected'],
          [2, 'Expected', 'train', 'new,= expected'],
          [4, 'Expected', 'train', 'new,= expected'],
        ],
      );
      assert.equal(head().headline?.sentences[0], 'new was exactly right in 3 rows, train in 2, both in 1.');
      assert.deepEqual(last('start').memory, { file, other });
      await send({ type: 'filter', filter: 'base' });
      assert.deepEqual(
        (await rows()).map(({ row }) => row),
        [5],
      );
    });

    it('calls them by the labels of their runs, and leaves out rows that either trained', async () => {
      for (const [name, label] of [
        ['r1', 'v1'],
        ['r2', 'v2'],
      ] as const) {
        const dataset = { path: path.join(folder, `${name}.jsonl`) };
        await writeFile(dataset.path, '{}\n');
        receipts.push(chargedReceipt({ label, dataset, run: { run_id: name } }));
      }
      const named = (lines: readonly string[], run: string) =>
        lines.map((one) => one.replace('{', `{"run":"${run}",`));
      const prompts = ['a1', 'b1', 'c1', 'c2'];
      const of = (adapter: string) => prompts.map((prompt) => line(`:${prompt}`, 'no', adapter));
      find = (chat, data) =>
        Promise.resolve(foundOf(chat, JSON.stringify(data).includes('r1.jsonl') ? ':a' : ':b'));
      await openBoth(named(of('yes'), 'r1'), named(of('nay'), 'r2'));
      assert.equal(head().title, 'v1 ↔ v2 · 4 rows in common');
      assert.match(
        head().leak?.text ?? '',
        /^2 of these 4 prompts were in the training data \(run “v1” or run “v2”\)\. The results below cover only the other 2 rows\./,
      );
    });

    it('follows both, and says what is missing', async () => {
      await openBoth(FOUR, []);
      assert.equal(head().failure, 'new.answers.jsonl is empty.');
      for (const [lines, failure] of [
        [['{"text":"x"}\n'], /^new\.answers\.jsonl has no answers\./],
        [[line('z', 'a', 'b')], /^No rows in common\. Both files must use the same hold-out\.$/],
      ] as const) {
        await writeFile(other, lines.join(''));
        didChange();
        await until(() => failure.test(head().failure ?? ''));
      }
      await writeFile(other, OTHERS.join(''));
      didChange();
      await until(() => last('list').length === 3);
      await rm(file);
      standIn.watchers.at(-2)?.change();
      await until(() => head().failure === 'train.answers.jsonl no longer exists.');
      await rm(other);
      await writeFile(file, FOUR.join(''));
      didChange();
      await until(() => head().failure === 'new.answers.jsonl no longer exists.');
      await writeFile(other, OTHERS.join(''));
      didChange();
      await until(() => head().failure === undefined && last('list').length === 3);
    });
  });

  it('asks for another file of answers', async () => {
    await open(...FOUR);
    await send({ type: 'compareWithOther' });
    const [[command, uri] = []] = standIn.executed;
    assert.deepEqual([command, String(uri)], ['fineTuning.compareTwoAnswers', `file://${file}`]);
  });

  it('accepts only requests that a page may send', async () => {
    await open(...FOUR);
    const { length } = panel.posted;
    const { generation } = last('list');
    for (const request of [
      { type: 'need', generation, from: -1, count: 1 },
      { type: 'need', generation, from: 0, count: '1' },
      { type: 'need', generation: generation + 1, from: 0, count: 1 },
      { type: 'filter', filter: 'constructor' },
      { type: 'filter' },
      { type: 'filter', filter: '__proto__' },
      { type: 'showInHoldOut', row: 1 },
      { type: 'showInHoldOut', row: '../1' },
      { type: 'open', file: '/etc/passwd' },
      { type: '__proto__' },
      null,
      'need',
    ])
      await send(request);
    assert.deepEqual(panel.posted.slice(length), []);
    assert.deepEqual([standIn.executed, standIn.shown.sentences], [[], []]);
  });

  it('doesn’t say that a file has no answers while its first row is written', async () => {
    await writeFile(file, line('a', 'no', 'nay').slice(0, 20));
    await restore({ file });
    await until(() => head().title.includes('0 rows'));
    assert.deepEqual(
      [head().failure, head().headline, head().notices],
      [undefined, undefined, ['train.answers.jsonl is being written: 0 rows so far.']],
    );
  });

  it('says that a file changed until the user does something, and not if it was only saved again', async () => {
    await open(...FOUR);
    const lists = posted('list').length;
    await replaceFile(FOUR.join(''));
    didChange();
    await until(() => posted('list').length > lists);
    assert.deepEqual([head().notices, last('list').keepsPosition], [[], true]);
    for (const rows of [FOUR.slice(1), [...FOUR.slice(1), line('e', 'no', 'nay')]]) {
      await replaceFile(rows.join(''));
      didChange();
      await until(() => last('list').length === rows.length && head().notices.length > 0);
      assert.deepEqual(head().notices, ['train.answers.jsonl changed and was reloaded.']);
    }
    assert.deepEqual(
      (await rows()).map(({ prompt }) => prompt.line),
      ['b', 'c', 'd', 'e'],
    );
    assert.equal(last('list').keepsPosition, true);
    await send({ type: 'filter', filter: 'all' });
    assert.deepEqual(head().notices, []);
  });

  it('follows a file that is being written, deleted and written again', async () => {
    const whole = line('e', 'no', 'nay');
    await writeFile(path.join(folder, 'train.holdout.jsonl'), line('a', '', '').repeat(5));
    await open(...FOUR, whole.slice(0, 20));
    assert.deepEqual(head().notices, ['train.answers.jsonl is being written: 4 of 5 rows.']);
    await appendFile(file, whole.slice(20));
    didChange();
    await until(() => last('list').length === 5);
    assert.deepEqual(head().notices, ['train.answers.jsonl changed and was reloaded.']);
    await rm(file);
    didChange();
    await until(() => head().failure !== undefined);
    assert.deepEqual([head().failure, last('list').length], ['train.answers.jsonl no longer exists.', 0]);
    await writeFile(file, '{"text":"a"}\n');
    didChange();
    await until(() => head().title.includes('0 rows'));
    assert.deepEqual(
      [head().failure, head().notices, head().summary],
      [
        'train.answers.jsonl has no answers. Each line needs the fields “messages”, “expected”, “base” and “adapter”.',
        ['train.answers.jsonl changed and was reloaded.', '1 row left out: 1 without messages.'],
        undefined,
      ],
    );
  });

  it('shows a row in the hold-out, only where that is beside it', async () => {
    const asked = (prompt: string) => ({
      messages: [
        { role: 'user', content: prompt },
        { role: 'assistant', content: 'yes' },
      ],
    });
    await open(...FOUR);
    assert.equal((await rows())[0]?.hasHoldOut, false);
    const holdOut = path.join(folder, 'train.holdout.jsonl');
    await writeFile(
      holdOut,
      ['{"text":"x"}', JSON.stringify(asked('b')), JSON.stringify(asked('a'))].join('\n'),
    );
    await appendFile(file, line('nowhere', 'no', 'nay'));
    didChange();
    await until(() => last('list').length === 5);
    assert.equal((await rows())[0]?.hasHoldOut, true);
    panel.send({ type: 'showInHoldOut', row: 1 });
    await until(() => standIn.executed.length === 1);
    const [command, uri, , target] = standIn.executed[0]!;
    assert.deepEqual(
      [command, String(uri), target],
      ['fineTuning.previewDataset', `file://${holdOut}`, { row: 3 }],
    );
    panel.send({ type: 'showInHoldOut', row: 5 });
    await until(() => standIn.shown.sentences.length === 1);
    assert.deepEqual(standIn.shown.sentences, ['train.holdout.jsonl doesn’t have this prompt.']);
  });

  it('posts a few rows at a time, and only the beginning of a long text', async () => {
    const now = performance.now();
    performance.now = () => now;
    const long = 'a'.repeat(300_000);
    await open(...Array.from({ length: 8 }, (_, index) => line(`${index}`, long, 'short')));
    await send({ type: 'need', generation: last('list').generation, from: 0, count: 8 });
    const shown = last('rows').rows;
    assert.ok(shown.length >= 1 && shown.length <= 2, String(shown.length));
    const base = shown[0]?.texts[1];
    assert.equal(base?.pieces.map(({ text }) => text).join('').length, 100_000);
    assert.equal(base.rest, '200,000 more characters not shown');
  });

  it('shows what changed while it was read', async () => {
    await writeFile(file, FOUR.join(''));
    const { postMessage } = panel.webview;
    let hasChanged = false;
    panel.webview.postMessage = (message) => {
      const { type, length } = message as { type: string; length?: number };
      // No event of the file's watcher follows.
      if (type === 'list' && length === 4 && !hasChanged) appendFileSync(file, line('e', 'no', 'nay'));
      hasChanged ||= length === 4;
      return postMessage(message);
    };
    await restore({ file });
    await until(() => posted('list').at(-1)?.length === 5 && head().headline !== undefined);
  });

  describe('comparing its prompts with a dataset', () => {
    const MIXED = [...FOUR, line('trained a', 'no', 'yes'), line('trained b', 'nay', 'no')];
    const prepared = () => path.join(folder, 'train.prepared.jsonl');
    const leak = () => head().leak?.text;
    const listed = async () => (await rows()).map(({ row, note }) => [row, note]);

    it('leaves rows of the dataset beside it out of numbers and summary', async () => {
      const { promise, resolve } = Promise.withResolvers<FoundRows>();
      const asked: [string, TrainedData][] = [];
      find = (chat, data) => {
        asked.push([Buffer.from(chat).toString(), data]);
        return promise;
      };
      await writeFile(prepared(), '{}\n');
      await writeFile(file, MIXED.join(''));
      await restore({ file });
      await until(() => asked.length === 1);
      const [[chat, data]] = asked as [[string, TrainedData]];
      assert.equal(chat.split('\n').length, 7);
      assert.equal('file' in data && data.file.path, prepared());
      const { headline, tables, summary } = head();
      assert.deepEqual(headline?.sentences, ['Comparing with the training data…']);
      assert.deepEqual([tables, summary, leak()], [[], undefined, undefined]);
      // The rows are there at once.
      assert.equal((await rows()).length, 6);
      resolve(foundOf(Buffer.from(chat)));
      await until(() => head().summary !== undefined);
      const sentence =
        '2 of these 6 prompts are also in train.prepared.jsonl. The results below cover only the other 4 rows. The system message isn’t compared.';
      assert.equal(leak(), sentence);
      assert.match(head().summary ?? '', new RegExp(`^${sentence}\n\n.*exact sign test, 4 rows\n$`, 's'));
      assert.equal(
        head().headline?.sentences[0],
        'Adapter was exactly right in 1 row, base model in 1, both in 0.',
      );
      assert.deepEqual((await listed()).slice(3), [
        ...[
          [4, undefined],
          [5, 'In dataset'],
          [6, 'In dataset'],
        ],
      ]);
      await send({ type: 'filter', filter: 'trained' });
      assert.deepEqual(
        (await listed()).map(([row]) => row),
        [5, 6],
      );
      assert.equal(head().filters.find(({ isPressed }) => isPressed)?.words, 'In dataset');
      await send({ type: 'filter', filter: 'adapter' });
      assert.deepEqual(
        (await listed()).map(([row]) => row),
        [1],
      );
      await send({ type: 'filter', filter: 'different' });
      assert.deepEqual(
        (await listed()).map(([row]) => row).filter((row) => Number(row) > 4),
        [],
      );
    });

    it('uses the data of the run that its rows name', async () => {
      await writeFile(path.join(folder, 'x.jsonl'), '{}\n');
      receipts = [
        chargedReceipt({
          label: 'Bot ft-abcd1234',
          run: { run_id: 'run-1' },
          dataset: { path: path.join(folder, 'x.jsonl') },
        }),
      ];
      await open(
        line('trained', 'a', 'b', 'yes', { run: 'run-1' }),
        line('b', 'a', 'b', 'yes', { run: 'run-1' }),
      );
      assert.deepEqual(head().notices, ['Adapter from run “Bot”.']);
      assert.equal(
        leak(),
        '1 of these 2 prompts was in the training data (run “Bot”). The results below cover only the other row. The system message isn’t compared. x.jsonl has changed since the run; its current version was compared.',
      );
      assert.deepEqual(await listed(), [
        [1, 'Trained'],
        [2, undefined],
      ]);
    });

    it('says so if all of them are in it', async () => {
      await writeFile(prepared(), '{}\n');
      const { promise, resolve } = Promise.withResolvers<undefined>();
      find = async (chat) => (await promise, foundOf(chat, ''));
      await writeFile(file, FOUR.join(''));
      await restore({ file });
      await until(() => posted('list').at(-1)?.length === 4);
      await send({ type: 'filter', filter: 'adapter' });
      resolve(undefined);
      await until(() => leak() !== undefined);
      // The filter is gone.
      assert.deepEqual([last('list').length, head().filters[0]?.isPressed], [4, true]);
      const { headline, tables, filters } = head();
      assert.equal(
        leak(),
        'All 4 prompts are also in train.prepared.jsonl. If that was the training data, they can’t show whether training helped.',
      );
      assert.deepEqual([headline, tables, filters.length], [undefined, [], 2]);
      assert.equal(head().summary, `${leak()}\n`);
    });

    it('uses the dataset that the user chooses', async () => {
      await open(...MIXED);
      assert.equal(
        leak(),
        'Not compared with training data because no run or dataset is known for this file.',
      );
      const chosen = path.join(folder, 'other.jsonl');
      await writeFile(chosen, '{}\n');
      standIn.shown.folder = () => undefined;
      await send({ type: 'chooseDataset' });
      await delay(20);
      assert.match(leak() ?? '', /^Not compared/);
      standIn.shown.folder = () => chosen;
      const { promise, resolve } = Promise.withResolvers<FoundRows>();
      find = () => promise;
      await send({ type: 'chooseDataset' });
      await until(() => head().summary === undefined);
      find = (chat) => Promise.resolve(foundOf(chat));
      resolve(foundOf(Buffer.from(MIXED.join(''))));
      await until(() => leak()?.startsWith('2 of these 6 prompts are also in other.jsonl.'));
      assert.match(head().summary ?? '', /exact sign test, 4 rows/);
      // The rows count again if another dataset doesn't have them.
      const others = path.join(folder, 'others.jsonl');
      await writeFile(others, '{}\n');
      standIn.shown.folder = () => others;
      find = (rowsOfFile) => Promise.resolve({ ...foundOf(rowsOfFile), isFound: [] });
      await send({ type: 'chooseDataset' });
      await until(() => leak()?.startsWith('None of these 6 prompts is in others.jsonl.'));
      assert.match(head().summary ?? '', /exact sign test, 6 rows/);
      standIn.shown.folder = () => chosen;
      find = (rowsOfFile) => Promise.resolve(foundOf(rowsOfFile));
      await send({ type: 'chooseDataset' });
      await until(() => leak()?.startsWith('2 of these 6 prompts are also in other.jsonl.'));
      await send({ type: 'filter', filter: 'trained' });
      assert.equal(last('list').length, 2);
      // It stays chosen. Until it is compared again, no row is known to be in it.
      await appendFile(file, line('trained c', 'no', 'yes'));
      didChange();
      await until(() => leak()?.startsWith('3 of these 7 prompts are also in other.jsonl.'));
      assert.deepEqual([last('list').length, head().filters[0]?.isPressed], [7, true]);
    });

    it('says that it failed, and counts all rows', async () => {
      await writeFile(prepared(), '{}\n');
      find = () => Promise.reject(new CheckError('changing'));
      await open(...MIXED);
      assert.equal(leak(), 'Couldn’t compare with train.prepared.jsonl. See the log for details.');
      assert.equal((await rows()).length, 6);
      assert.match(head().summary ?? '', /exact sign test, 6 rows/);
      standIn.shown.folder = () => path.join(folder, 'gone.jsonl');
      await send({ type: 'chooseDataset' });
      await until(() => leak()?.includes('gone.jsonl'));
      assert.equal(leak(), 'Couldn’t compare with gone.jsonl. See the log for details.');
      assert.equal(errors.splice(0).length, 2);
    });

    it('happens once for each version, and stops when that is changed or closed', async () => {
      await writeFile(prepared(), '{}\n');
      const signals: AbortSignal[] = [];
      const { resolve, promise } = Promise.withResolvers<FoundRows>();
      find = (_, __, signal) => {
        signals.push(signal!);
        if (signals.length > 1) return new Promise(() => undefined);
        return promise;
      };
      await writeFile(file, MIXED.join(''));
      await restore({ file });
      await until(() => signals.length === 1);
      // The same rows are compared on.
      const lists = posted('list').length;
      await replaceFile(MIXED.join(''));
      didChange();
      await until(() => posted('list').length > lists);
      assert.deepEqual([signals.length, signals[0]?.aborted], [1, false]);
      // A program writes row by row: a version is compared only when none has come for a second.
      let lastMs = 0;
      for (const row of ['e', 'f', 'g']) {
        lastMs = performance.now();
        const { length } = posted('list');
        await appendFile(file, line(row, 'no', 'nay'));
        didChange();
        await until(() => posted('list').length > length);
      }
      await until(() => signals.length > 1 && signals.at(-1)?.aborted === false);
      assert.ok(signals.slice(0, -1).every(({ aborted }) => aborted));
      assert.ok(performance.now() - lastMs > 900);
      // A result that comes too late is about other rows.
      resolve({ isFound: Array(6).fill(true) as boolean[], sameAnswer: 0 });
      await delay(20);
      assert.deepEqual(
        [leak(), head().headline?.sentences],
        [undefined, ['Comparing with the training data…']],
      );
      panels.dispose();
      assert.equal(signals.at(-1)?.aborted, true);
    });

    it('leaves out the sample, and a file without rows', async () => {
      let asked = 0;
      find = (chat) => ((asked += 1), Promise.resolve(foundOf(chat)));
      await writeFile(prepared(), '{}\n');
      sample = file;
      await open(...MIXED);
      assert.deepEqual([leak(), head().headline?.sentences.length], [undefined, 3]);
      panels.dispose();
      sample = '/sample';
      await writeFile(file, '{"text":"a"}\n');
      await restore({ file });
      await until(() => head().failure !== undefined);
      await delay(20);
      assert.deepEqual([leak(), asked], [undefined, 0]);
    });
  });

  it('is restored by the path alone, and closed without one', async () => {
    await open(...FOUR);
    assert.deepEqual(last('start').memory, { file, other: undefined });
    const relative = { file: 'relative.jsonl' };
    for (const memory of [
      undefined,
      relative,
      { file: 7 },
      {},
      { file, other: 'b.jsonl' },
      { file, other: 7 },
    ]) {
      panels.dispose();
      panel = new PanelStandIn();
      await restore(memory);
      assert.equal(panel.isDisposed, true);
    }
    assert.deepEqual(await readdir(folder), ['train.answers.jsonl']);
  });

  it('has no text of a row in its title, state, head or notifications', async () => {
    const secret = 'zebra-crossing';
    await open(
      ...FOUR.map((one) => one.replaceAll('yes', secret).replaceAll('no"', `${secret} 2"`)),
      secret,
      '\n',
    );
    const others = panel.posted.filter((one) => (one as AnswersMessage).type !== 'rows');
    assert.doesNotMatch(JSON.stringify([others, panel.title, standIn.shown, standIn.executed]), /zebra/);
  });
});
