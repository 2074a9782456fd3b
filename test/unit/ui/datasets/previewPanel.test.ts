import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import type { ModuleHooks } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type * as vscode from 'vscode';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { Emitter } from '../../../../src/core/base/event.ts';
import { stampOf } from '../../../../src/core/base/fileStamp.ts';
import type { Report } from '../../../../src/core/datasets/report.ts';
import { RowFile } from '../../../../src/core/datasets/rowFile.ts';
import type { PastRuns } from '../../../../src/ui/datasets/datasetRuns.ts';
import type { PreviewChange, PreviewDocument } from '../../../../src/ui/datasets/previewDocument.ts';
import type { PreviewPanel } from '../../../../src/ui/datasets/previewPanel.ts';
import type { PreviewMessage } from '../../../../src/ui/datasets/protocol.ts';
import { PanelStandIn } from '../../../helpers/panelStandIn.ts';
import { finding, shownReading } from '../../../helpers/reading.ts';
import { groupOf, reportOf } from '../../../helpers/report.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';

const ANSWER = '{"messages":[{"role":"user","content":"2+3?"}],"expected":"5","base":"6","adapter":"5"}\n';

describe('PreviewPanel', () => {
  let hooks: ModuleHooks;
  let folder: string;
  let file: RowFile;
  let panel: PanelStandIn;
  let shown: PreviewPanel;
  let errors: unknown[];
  let changed: Emitter<PreviewChange>;
  let past: Partial<PastRuns> | undefined;
  let read: PreviewDocument['read'];

  before(async () => {
    hooks = standInForVscode();
    folder = await mkdtemp(path.join(tmpdir(), 'preview-panel-'));
  });
  after(() => hooks.deregister());
  after(() => rm(folder, { recursive: true }));

  beforeEach(async () => {
    const standIn = await import('../../../helpers/vscodeStandIn.ts');
    const { PreviewPanel } = await import('../../../../src/ui/datasets/previewPanel.ts');
    const name = path.join(folder, 'rows.jsonl');
    await writeFile(name, '{"text":"one"}\n{"text":"two"}\n{"text":nope}\n');
    file = await RowFile.open(name);
    await file.count(new AbortController().signal, () => undefined);
    changed = new Emitter();
    past = { trained: undefined, since: undefined, price: { kind: 'none' } };
    read = { reading: undefined, readProgress: undefined, texts: {} };
    const document = {
      uri: standIn.Uri.file(name),
      name: 'rows.jsonl',
      file,
      kind: 'rows',
      problem: undefined,
      get read() {
        return read;
      },
      check: { report: reportOf({ rows: 3, problems: [groupOf('bad-literal', [{ row: 3 }])] }) },
      get past() {
        return past;
      },
      onDidChange: changed.event,
      compareWithDisk: () => Promise.resolve(),
      startDeferredWork: () => undefined,
    };
    panel = new PanelStandIn();
    errors = [];
    shown = new PreviewPanel(
      document as unknown as PreviewDocument,
      panel as unknown as vscode.WebviewPanel,
      standIn.Uri.file('/extension') as unknown as vscode.Uri,
      { error: (_: string, error: unknown) => void errors.push(error) } as never,
    );
  });
  afterEach(() => {
    shown.dispose();
    file.dispose();
    assert.deepEqual(errors, []);
  });

  const posted = <T extends PreviewMessage['type']>(type: T) =>
    panel.posted.filter((one) => (one as PreviewMessage).type === type) as Extract<
      PreviewMessage,
      { type: T }
    >[];
  /** Sends a request and waits for its effects. */
  async function send(message: unknown): Promise<void> {
    panel.send(message);
    for (let turns = 0; turns < 20; turns++) await turn();
  }

  it('posts list, card and requested rows, and goes to a row once the page is ready', async () => {
    shown.show({ row: 2 });
    assert.deepEqual([panel.posted, panel.title], [[], 'Preview: rows.jsonl']);
    await send({ type: 'ready', memory: undefined });
    const { generation, length } = posted('list').at(-1)!;
    assert.deepEqual([length, posted('card').length, posted('goTo').at(-1)?.position], [3, 1, 1]);
    await send({ type: 'need', generation, from: 1, count: 1_000 });
    while (posted('rows').length === 0) await turn();
    assert.deepEqual(
      posted('rows')[0]?.rows.map(({ row, problems }) => [row, problems.length]),
      [
        [2, 0],
        [3, 1],
      ],
    );
    // Rows of another list are not posted, and would be before those that are requested later.
    await send({ type: 'need', generation: generation + 1, from: 0, count: 1 });
    for (let rows = 2; rows <= 3; rows++) {
      await send({ type: 'need', generation, from: 0, count: 1 });
      while (posted('rows').length < rows) await turn();
    }
    assert.deepEqual(
      posted('rows').map((one) => [one.generation, one.from]),
      [1, 0, 0].map((from) => [generation, from]),
    );
  });

  it('filters rows, and clears a filter that hides the requested row', async () => {
    await send({
      type: 'ready',
      memory: { filter: { text: '', matchCase: false, problems: 'grammar' }, row: 1 },
    });
    assert.deepEqual(posted('list').at(-1)?.filter.problems, undefined);
    await send({ type: 'filter', filter: { text: '', matchCase: false, problems: 'bad-literal' } });
    assert.equal(posted('list').at(-1)?.length, 1);
    await send({ type: 'goTo', row: 1 });
    assert.deepEqual([posted('list').at(-1)?.length, posted('goTo').at(-1)?.position], [3, 0]);
  });

  it('waits for the rows of a finding until the texts were read, and can end that', async () => {
    let stopped = 0;
    read = { ...read, readProgress: 0.5, stop: () => void stopped++ };
    await send({ type: 'ready', memory: undefined });
    await send({ type: 'filter', filter: { text: '', matchCase: false, problems: 'replacement' } });
    const rows = () => [posted('list').at(-1)?.length, posted('list').at(-1)?.busy];
    assert.deepEqual(rows(), [0, true]);
    assert.equal(posted('card').at(-1)?.progress?.stop, 'Cancel');
    await send({ type: 'stop' });
    assert.equal(stopped, 1);
    const reading = shownReading({ findings: [{ ...finding('replacement', 1), rows: [2] }] });
    read = { reading, readProgress: undefined, texts: {} };
    changed.fire('checked');
    while (posted('list').at(-1)?.length !== 1) await turn();
    assert.deepEqual(rows(), [1, false]);
  });

  describe('a restored filter by the rows since the last run', () => {
    const filter = { text: '', matchCase: false, problems: 'since-last-run' };
    const difference = { added: 2, removed: 0, changed: 0, equal: 1, notCompared: 0 };
    const since = (...rows: number[]) => ({
      difference: { ...difference, rows: { total: rows.length, rows } },
      run: { label: 'v1', day: 'May 3, 2026' },
    });
    const list = () => posted('list').at(-1)!;
    /** Posts a card with other past runs. */
    async function learn(now: typeof past): Promise<void> {
      past = now;
      const cards = posted('card').length;
      changed.fire('checked');
      while (posted('card').length === cards) await delay(5);
    }

    it('waits for them, and follows them', async () => {
      await send({ type: 'ready', memory: { filter, row: 1 } });
      assert.deepEqual([list().busy, list().length, list().status], [true, 0, 'Waiting for the check…']);
      await learn({ ...past, since: since(1, 3) });
      assert.deepEqual([list().busy, list().length, list().filter], [false, 2, filter]);
      const { generation } = list();
      await learn({ ...past, since: since(2) });
      assert.deepEqual([list().length, list().generation], [1, generation + 1]);
      await learn(past);
      assert.equal(list().generation, generation + 1);
    });

    for (const [name, now] of [
      ['no run can be compared', { price: { kind: 'none' }, since: null }],
      ['no account is active', undefined],
    ] as const)
      it(`shows all rows if ${name}`, async () => {
        await send({ type: 'ready', memory: { filter, row: 1 } });
        await learn(now);
        assert.deepEqual([list().busy, list().length, list().filter.problems], [false, 3, undefined]);
      });

    it('leaves a filter by problems alone if no run can be compared', async () => {
      await send({ type: 'ready', memory: { filter: { ...filter, problems: 'bad-literal' }, row: 3 } });
      await learn({ price: { kind: 'none' }, since: null });
      assert.equal(list().filter.problems, 'bad-literal');
    });
  });

  for (const [name, kind, content] of [
    ['archive.jsonl', 'gzip', gzipSync('{"text":"one"}\n')],
    ['pointer.jsonl', 'git-lfs', 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n'],
    ['array.jsonl', 'json-array', '[\n{"text":"one"}\n]\n'],
    ['table.jsonl', 'csv', 'prompt,completion\na,b\n'],
    ['wide.jsonl', 'utf-16', Buffer.from('{"text":"one"}\n', 'utf16le')],
    ['compared.jsonl', 'answers', ANSWER],
    ['batch_output.jsonl', 'requests', '{"custom_id":"a","response":null,"error":null}\n'],
  ] as const)
    it(`shows what a file is that isn’t JSONL, with its one fix, and no row: ${kind}`, async () => {
      const { Uri, executed } = await import('../../../helpers/vscodeStandIn.ts');
      const { PreviewDocument } = await import('../../../../src/ui/datasets/previewDocument.ts');
      const { PreviewPanel } = await import('../../../../src/ui/datasets/previewPanel.ts');
      const { useOf } = await import('../../../../src/ui/shared/datasetTexts.ts');
      executed.length = 0;
      const use = useOf(kind);
      const file = path.join(folder, name);
      await writeFile(file, content);
      // Only a report shows the kind of the others.
      const isKnownAtOnce = ['gzip', 'git-lfs', 'utf-16', 'answers', 'requests'].includes(kind);
      const reports = {
        checked: 0,
        onDidChange: new Emitter().event,
        get: () => undefined as { report: Report } | undefined,
        currentReport: async () => {
          const report = reportOf({ path: file, kind, ...stampOf(await stat(file, { bigint: true })) });
          reports.checked += 1;
          reports.get = () => ({ report });
        },
      };
      const readings = { currentReport: () => Promise.reject(new CancelledError()) };
      const log = { error: (_: string, error: unknown) => void errors.push(error) } as never;
      const runs = { onDidChange: new Emitter().event, of: () => undefined };
      const document = new PreviewDocument(
        Uri.file(file) as never,
        { reports, readings, runs } as never,
        log,
      );
      panel = new PanelStandIn();
      const other = new PreviewPanel(document, panel as never, Uri.file('/extension') as never, log);
      try {
        await send({ type: 'ready', memory: undefined });
        while (posted('start').length === 0) await turn();
        if (!isKnownAtOnce) document.startDeferredWork();
        while (posted('failure').length === 0) await delay(5);
        const { text, action } = posted('failure')[0]!;
        assert.match(
          text,
          /^The file is (compressed|a Git LFS pointer|a JSON array, not|CSV, not|UTF-16, not|a list of answers, not|API requests or responses, not)/,
        );
        assert.equal(action, use?.title);
        assert.equal(posted('notice').at(-1)?.text, undefined);
        assert.deepEqual([posted('list').length > 0, reports.checked > 0], [!isKnownAtOnce, !isKnownAtOnce]);
        const generation = posted('list').at(-1)?.generation ?? 1;
        await send({ type: 'need', generation, from: 0, count: 9 });
        await send({ type: 'act' });
        assert.deepEqual(posted('rows'), []);
        const expected = use && [use.command, `file://${file}`];
        assert.deepEqual(
          executed.map((call) => call.map(String)),
          use === undefined ? [] : [expected],
        );
        assert.equal(posted('failure').length, 1);
      } finally {
        other.dispose();
        document.dispose();
      }
    });
});
