import assert from 'node:assert/strict';
import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { ModuleHooks } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Disposable } from '../../../../src/core/base/disposable.ts';
import { Emitter } from '../../../../src/core/base/event.ts';
import { stampOf } from '../../../../src/core/base/fileStamp.ts';
import type { Report } from '../../../../src/core/datasets/report.ts';
import type { PreviewMessage } from '../../../../src/ui/datasets/protocol.ts';
import { PanelStandIn } from '../../../helpers/panelStandIn.ts';
import { shownReading } from '../../../helpers/reading.ts';
import { groupOf, reportOf } from '../../../helpers/report.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';

type Posted<T extends PreviewMessage['type']> = Extract<PreviewMessage, { type: T }>;

describe('A preview of a file that is saved', () => {
  let hooks: ModuleHooks;
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');
  let folder: string;
  let file: string;
  let panel: PanelStandIn;
  let errors: unknown[];
  let open: Disposable[];

  before(async () => {
    hooks = standInForVscode();
    standIn = await import('../../../helpers/vscodeStandIn.ts');
    folder = await mkdtemp(path.join(tmpdir(), 'preview-follow-'));
  });
  after(() => hooks.deregister());
  after(() => rm(folder, { recursive: true }));

  beforeEach(async () => {
    file = path.join(folder, 'rows.jsonl');
    panel = new PanelStandIn();
    errors = [];
    open = [];
    await save(['one', 'two', 'BAD', 'four']);
  });
  afterEach(() => {
    for (const one of open) one.dispose();
    assert.deepEqual(errors, []);
  });

  const save = (rows: readonly string[]) =>
    writeFile(
      file,
      rows
        .map((row) => (row === 'BAD' ? '{"text":nope}\n' : `{"prompt":"a","completion":"${row}"}\n`))
        .join(''),
    );

  /** Checks the file as it is now: its rows, and those that are no JSON. */
  const reports = {
    onDidChange: new Emitter().event,
    reports: new Map<string, Report>(),
    get: (of: string) => ({ report: reports.reports.get(of) }),
    currentReport: async (of: string) => {
      const lines = (await readFile(of, 'utf8')).replace(/\n$/, '').split('\n');
      const bad = lines.flatMap((line, index) => (line.includes('nope') ? [{ row: index + 1 }] : []));
      const problems = bad.length === 0 ? [] : [groupOf('bad-literal', bad)];
      const stamp = stampOf(await stat(of, { bigint: true }));
      const repeats = { comparedRows: lines.length, prompts: 0, withOtherAnswers: 0 };
      reports.reports.set(of, reportOf({ path: of, rows: lines.length, problems, repeats, ...stamp }));
    },
  };
  const readings = {
    currentReport: async (of: string) => {
      const row = (await readFile(of, 'utf8')).replace(/\n$/, '').split('\n').length;
      const stamp = stampOf(await stat(of, { bigint: true }));
      return { ...shownReading({ answer: { row, rows: 10, share: 0.5 } }), ...stamp };
    },
  };

  const posted = <T extends PreviewMessage['type']>(type: T) =>
    panel.posted.filter((one): one is Posted<T> => (one as PreviewMessage).type === type);
  async function until(isTrue: () => unknown): Promise<void> {
    for (let tries = 0; tries < 20_000 && isTrue() !== true; tries++) await delay(5);
    assert.ok(isTrue(), JSON.stringify(panel.posted.slice(-4)));
  }
  const lastCard = () => posted('card').at(-1);
  const rowsInCard = () =>
    lastCard()
      ?.facts.find(({ name }) => name === 'Rows')
      ?.value.replace(/\D/g, '');
  const answerInCard = () => lastCard()?.facts.find(({ name }) => name === 'Most common answer')?.value ?? '';
  const list = () => posted('list').at(-1)!;

  /** Opens a preview that shows its rows, and whose check has ended. */
  async function preview() {
    const { PreviewDocument } = await import('../../../../src/ui/datasets/previewDocument.ts');
    const { PreviewPanel } = await import('../../../../src/ui/datasets/previewPanel.ts');
    const uri = standIn.Uri.file(file) as never;
    const log = { error: (_: string, error: unknown) => void errors.push(error) } as never;
    const runs = { onDidChange: new Emitter().event, of: () => undefined };
    const document = new PreviewDocument(uri, { reports, readings, runs } as never, log);
    open.push(document, new PreviewPanel(document, panel as never, standIn.Uri.file('/x') as never, log));
    panel.send({ type: 'ready', memory: undefined });
    await until(() => posted('list').length > 0);
    document.startDeferredWork();
    // The reading ends too: a test may remove the file next.
    await until(() => rowsInCard() !== undefined && !list().busy && answerInCard() !== '');
    return document;
  }
  const didChange = () => standIn.watchers.at(-1)?.change();

  it('shows the new rows at the same place, without starting over', async () => {
    await preview();
    // Nobody waits too long, however slow this machine is.
    const now = performance.now();
    performance.now = () => now;
    open.push({ dispose: () => Reflect.deleteProperty(performance, 'now') });
    const { generation } = list();
    const before = panel.posted.length;
    await save(['one', 'two', 'three', 'four', 'five']);
    didChange();
    await until(() => posted('follow').length === 1);
    panel.send({ type: 'reload', row: 3 });
    await until(() => list().generation > generation && rowsInCard() === '5');
    assert.deepEqual([list().length, list().keepsPosition], [5, true]);
    const since = panel.posted.slice(before) as PreviewMessage[];
    assert.deepEqual(
      since.filter(({ type }) => type === 'start' || type === 'goTo').map(({ type }) => type),
      [],
    );
    // The card keeps its facts, and no bar asks the user to reload.
    for (const one of since)
      if (one.type === 'card') assert.ok(one.facts.length > 1);
      else if (one.type === 'notice') assert.equal(one.text, undefined);
    panel.send({ type: 'need', generation: list().generation, from: 2, count: 1 });
    await until(() => posted('rows').length > 0);
    assert.equal(posted('rows')[0]?.rows[0]?.text, '{"prompt":"a","completion":"three"}');
  });

  it('shows the text of the most common answer, each time', async () => {
    await preview();
    await until(() => answerInCard() === '“four” in 50% of rows');
    await save(['one', 'five']);
    didChange();
    await until(() => posted('follow').length === 1);
    panel.send({ type: 'reload', row: 1 });
    await until(() => answerInCard() === '“five” in 50% of rows');
    await save([' '.repeat(300_000)]);
    didChange();
    await until(() => posted('follow').length === 2);
    panel.send({ type: 'reload', row: 1 });
    await until(() => answerInCard() === '50% of rows');
  });

  it('keeps a filter whose row is gone, and returns to the next row', async () => {
    await save(['BAD', 'two', 'BAD', 'BAD', 'five']);
    await preview();
    panel.send({ type: 'filter', filter: { text: '', matchCase: false, problems: 'grammar' } });
    await until(() => list().length === 3);
    await save(['BAD', 'two', 'three', 'BAD', 'five']);
    didChange();
    await until(() => posted('follow').length === 1);
    panel.send({ type: 'reload', row: 3 });
    await until(() => list().length === 2);
    await until(() => posted('goTo').length > 0);
    assert.deepEqual([list().filter.problems, list().keepsPosition], ['grammar', false]);
    assert.equal(posted('goTo').at(-1)?.position, 1);
  });

  it('only says that a large file changed, or that one is gone', async () => {
    await appendFile(file, ' '.repeat(53_000_000));
    await preview();
    await save(['one']);
    didChange();
    await until(() => posted('notice').at(-1)?.canReload);
    assert.deepEqual([posted('follow').length, rowsInCard()], [0, '5']);
    panel.send({ type: 'reload', row: 4 });
    await until(() => rowsInCard() === '1');
    assert.deepEqual([list().length, posted('notice').at(-1)?.text], [1, undefined]);
    // A file that is gone while its texts are read is an error.
    await until(() => answerInCard() !== '');
    await rm(file);
    didChange();
    await until(() => posted('notice').at(-1)?.canReload);
    assert.equal(posted('follow').length, 0);
  });

  it('starts over if it was something else, and shows what it is then', async () => {
    await preview();
    await writeFile(file, 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n');
    didChange();
    await until(() => posted('follow').length === 1);
    panel.send({ type: 'reload', row: 2 });
    await until(() => posted('failure').length === 1);
    const starts = posted('start').length;
    await save(['one', 'two']);
    didChange();
    await until(() => posted('follow').length === 2);
    panel.send({ type: 'reload', row: 2 });
    await until(() => posted('start').length > starts && list().length === 2);
    await until(() => posted('goTo').at(-1)?.position === 1);
  });

  it('that changed while its page was hidden follows once it is shown', async () => {
    await preview();
    panel.show(false);
    await save(['one']);
    didChange();
    await delay(300);
    assert.equal(posted('follow').length, 0);
    panel.show(true);
    panel.send({ type: 'ready', memory: undefined });
    await until(() => posted('follow').length === 1);
    const starts = posted('start').length;
    panel.send({ type: 'reload', row: 1 });
    // Hidden again before the new version is known.
    panel.show(false);
    panel.show(true);
    panel.send({ type: 'ready', memory: undefined });
    await until(() => posted('start').length > starts && rowsInCard() === '1');
  });
});
