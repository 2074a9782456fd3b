import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { appendFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import type { ModuleHooks } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { AnswersMessage, AnswersRow, AnswersText } from '../../../../src/ui/answers/protocol.ts';
import { PanelStandIn } from '../../../helpers/panelStandIn.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';

const WORKER = path.join(import.meta.dirname, '../../../../src/core/answers/worker.ts');

type Posted<T extends AnswersMessage['type']> = Extract<AnswersMessage, { type: T }>;

function line(prompt: string, base: string, adapter: string, expected = 'yes', more: object = {}): string {
  return `${JSON.stringify({ messages: [{ role: 'user', content: prompt }], expected, base, adapter, ...more })}\n`;
}

describe('AnswersPage', () => {
  let hooks: ModuleHooks;
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');
  let folder: string;
  let file: string;
  let panel: PanelStandIn;
  let errors: unknown[];
  let panels: { dispose(): void };

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
    for (let tries = 0; tries < 1_000 && isTrue() !== true; tries++) await delay(5);
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
  /** A text without what only the expected one has. */
  const textOf = ({ pieces }: AnswersText) =>
    pieces.flatMap(({ text, mark }) => (mark === 'del' ? [] : [text])).join('');
  const didChange = () => standIn.watchers.at(-1)?.change();

  /** Opens the page as VS Code restores it. */
  async function restore(memory: unknown): Promise<void> {
    const { answersPanels } = await import('../../../../src/ui/answers/answersPage.ts');
    const log = { error: (_: string, error: unknown) => void errors.push(error) };
    const extensionUri = standIn.Uri.file('/extension') as never;
    const made = answersPanels({ extensionUri, worker: WORKER, sample: '/sample', log });
    panels = made;
    await made.deserializeWebviewPanel(panel as never, memory);
    panel.send({ type: 'ready', memory });
  }

  async function open(...lines: string[]): Promise<void> {
    await writeFile(file, lines.join(''));
    await restore({ file });
    await until(() => posted('head').at(-1)?.headline !== undefined);
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

  it('lists the rows of a filter', async () => {
    await open(...FOUR);
    for (const [filter, lines] of [
      ['different', [1, 2, 4]],
      ['adapter', [1]],
      ['base', [2]],
      ['voted', []],
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
        filter === 'voted' ? [] : [filter],
      );
    }
  });

  it('takes only requests that a page may send', async () => {
    await open(...FOUR);
    const { length } = panel.posted;
    const { generation } = last('list');
    for (const request of [
      { type: 'need', generation, from: -1, count: 1 },
      { type: 'need', generation, from: 0, count: '1' },
      { type: 'need', generation: generation + 1, from: 0, count: 1 },
      { type: 'filter', filter: 'constructor' },
      { type: 'filter' },
      { type: 'choose', row: 1, choice: 'left' },
      { type: 'choose', row: 1, choice: 'up' },
      { type: 'showInHoldOut', row: 1 },
      { type: 'showInHoldOut', row: '../1' },
      { type: 'open', file: '/etc/passwd' },
      { type: '__proto__' },
      null,
      'vote',
    ])
      await send(request);
    const answered = panel.posted.slice(length) as AnswersMessage[];
    // A vote on a row that isn't shown changes nothing.
    assert.deepEqual(
      answered.filter(({ type }) => type !== 'voting'),
      [],
    );
    assert.deepEqual([standIn.executed, standIn.shown.sentences], [[], []]);
  });

  it('votes without saying which model an answer is from', async () => {
    const ANSWERS: Readonly<Record<string, string[]>> = {
      a: ['no', 'yes'],
      b: ['no', 'yes'],
      d: ['nay', 'no'],
    };
    await open(...FOUR);
    const heads = posted('head').length;
    await send({ type: 'vote' });
    /** The text that was chosen, by row. */
    const chosen = new Map<number, string>();
    for (let at = 1; at <= 3; at++) {
      const { row } = last('voting');
      assert.equal(row?.title, `${at} of 3`);
      const texts = JSON.stringify([row.left, row.right, row.prompt, row.expected]);
      assert.doesNotMatch(texts, /Base model|Adapter|= expected|"(ins|del)"/);
      assert.deepEqual([textOf(row.left), textOf(row.right)].sort(), ANSWERS[row.prompt.line]);
      const choice = at === 2 ? 'right' : 'left';
      chosen.set(row.row, textOf(row[choice]));
      // Numbers and votes so far would say it as well.
      assert.equal(posted('head').length, heads);
      await send({ type: 'choose', row: row.row, choice });
      assert.equal(last('voting').said, `${at === 2 ? 'Right' : 'Left'}. ${at} of 3.`);
    }
    // The same answers are never voted on.
    assert.deepEqual([...chosen.keys()].sort(), [1, 2, 4]);
    const [end = ''] = last('voting').end?.sentences ?? [];
    await send({ type: 'end' });
    assert.deepEqual([last('voting').row, last('voting').end], [undefined, undefined]);
    const voted = (await rows()).map(({ row, texts }) => {
      const one = texts.find(({ notes }) => notes.includes('Your vote'));
      return { row, name: one?.name, text: one && textOf(one) };
    });
    assert.deepEqual(new Map(voted.map(({ row, text }) => [row, text])), chosen);
    const count = (name: string) => voted.filter((one) => one.name === name).length;
    assert.ok(end.startsWith(`You preferred the adapter in ${count('Adapter')} row`), end);
    assert.ok(end.includes(`the base model in ${count('Base model')}; 0 equal.`), end);
  });

  it('says while voting that an answer was cut off', async () => {
    await open(line('a', 'no', 'nay', 'yes', { base_end: 'length' }));
    await send({ type: 'vote' });
    const { left, right } = last('voting').row!;
    const notes = Object.fromEntries([left, right].map((text) => [textOf(text), text.notes]));
    assert.deepEqual(notes, { no: ['Cut off'], nay: [] });
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

  it('goes back, keeps each vote, and ends early', async () => {
    await open(...FOUR);
    await send({ type: 'vote' });
    const first = last('voting').row!;
    assert.equal(first.canGoBack, false);
    await send({ type: 'back' });
    assert.equal(last('voting').row?.row, first.row);
    await send({ type: 'choose', row: first.row, choice: 'right' });
    // A key that was pressed twice votes once.
    await send({ type: 'choose', row: first.row, choice: 'right' });
    assert.equal(last('voting').row?.title, '2 of 3');
    await send({ type: 'back' });
    assert.deepEqual([last('voting').row?.row, last('voting').row?.choice], [first.row, 'right']);
    await send({ type: 'choose', row: first.row, choice: 'equal' });
    await send({ type: 'end' });
    assert.deepEqual(last('voting').end, {
      sentences: [
        'You preferred the adapter in 0 rows, the base model in 0; 1 equal.',
        'Too few rows to tell.',
      ],
      more: 'Continue',
    });
    await send({ type: 'vote' });
    assert.equal(last('voting').row?.title, '2 of 3');
    await send({ type: 'discardVotes' });
    assert.deepEqual([last('voting').row, head().notices], [undefined, []]);
    await send({ type: 'vote' });
    assert.deepEqual([last('voting').row?.title, last('voting').row?.choice], ['1 of 3', undefined]);
    await send({ type: 'end' });
    assert.deepEqual([last('voting').row, last('voting').end], [undefined, undefined]);
  });

  it('adds 20 rows at a time', async () => {
    await open(...Array.from({ length: 43 }, (_, index) => line(`${index}`, 'no', `nay ${index}`)));
    await send({ type: 'vote' });
    assert.deepEqual([last('voting').row?.title, last('voting').row?.note], ['1 of 20', '20 of 43 rows']);
    for (const [limit, more] of [
      [20, '20 More'],
      [40, '3 More'],
      [43, undefined],
    ] as const) {
      for (let row; (row = last('voting').row);) {
        assert.ok(row.title.endsWith(`of ${limit}`), row.title);
        await send({ type: 'choose', row: row.row, choice: 'equal' });
      }
      assert.equal(last('voting').end?.more, more);
      await send({ type: 'vote' });
    }
    assert.equal(last('voting').row, undefined);
    await send({ type: 'discardVotes' });
    await send({ type: 'vote' });
    assert.equal(last('voting').row?.title, '1 of 20');
  });

  it('drops the votes on a file that changed, and says so', async () => {
    await open(...FOUR);
    await send({ type: 'vote' });
    await send({ type: 'choose', row: last('voting').row?.row, choice: 'left' });
    const discarded = ['train.answers.jsonl changed; shown again. Your votes were discarded.'];
    // It is said until the user has seen it, also if the file changes again.
    for (const rows of [FOUR.slice(1), [...FOUR.slice(1), line('e', 'no', 'nay')]]) {
      await writeFile(file, rows.join(''));
      didChange();
      await until(() => last('list').length === rows.length && head().notices[0]?.includes('changed'));
      assert.deepEqual(head().notices, discarded);
    }
    assert.deepEqual([last('voting').row, last('voting').end], [undefined, undefined]);
    assert.deepEqual(
      (await rows()).map(({ prompt }) => prompt.line),
      ['b', 'c', 'd', 'e'],
    );
    assert.equal(last('list').keepsPosition, true);
    assert.ok(head().filters.every(({ filter }) => filter !== 'voted'));
    await send({ type: 'filter', filter: 'all' });
    assert.deepEqual(head().notices, []);
  });

  it('keeps the votes on a file that was only saved again', async () => {
    await open(...FOUR);
    await send({ type: 'vote' });
    await send({ type: 'choose', row: last('voting').row?.row, choice: 'left' });
    const lists = posted('list').length;
    await delay(10);
    await writeFile(file, FOUR.join(''));
    didChange();
    const shown = posted('voting').length;
    await until(() => posted('list').length > lists);
    assert.equal(last('voting').row?.title, '2 of 3');
    // A row that is drawn again would be folded and scrolled to its beginning.
    assert.equal(posted('voting').length, shown);
    await send({ type: 'end' });
    assert.deepEqual(head().notices.length, 1);
    assert.match(head().notices[0] ?? '', /^You preferred/);
  });

  it('follows a file that is being written, deleted and written again', async () => {
    const whole = line('e', 'no', 'nay');
    await writeFile(path.join(folder, 'train.holdout.jsonl'), line('a', '', '').repeat(5));
    await open(...FOUR, whole.slice(0, 20));
    assert.deepEqual(head().notices, ['train.answers.jsonl is being written: 4 of 5 rows.']);
    await appendFile(file, whole.slice(20));
    didChange();
    await until(() => last('list').length === 5);
    assert.deepEqual(head().notices, ['train.answers.jsonl changed; shown again.']);
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
        'train.answers.jsonl has no answers. Each line needs messages, expected, base and adapter.',
        ['train.answers.jsonl changed; shown again.', '1 row left out: 1 without messages.'],
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
    panel.webview.postMessage = (message) => {
      const { type, length } = message as { type: string; length?: number };
      // No event of the file's watcher follows.
      if (type === 'list' && length === 4) appendFileSync(file, line('e', 'no', 'nay'));
      return postMessage(message);
    };
    await restore({ file });
    await until(() => posted('list').at(-1)?.length === 5 && head().headline !== undefined);
  });

  it('is restored by the path alone, and closed without one', async () => {
    await open(...FOUR);
    assert.deepEqual(last('start').memory, { file });
    for (const memory of [undefined, { file: 'relative.jsonl' }, { file: 7 }, {}]) {
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
    const others = panel.posted.filter((one) => !['rows', 'voting'].includes((one as AnswersMessage).type));
    assert.doesNotMatch(JSON.stringify([others, panel.title, standIn.shown, standIn.executed]), /zebra/);
  });
});
