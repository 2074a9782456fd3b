import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ModuleHooks } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type * as vscode from 'vscode';
import { Emitter } from '../../../../src/core/base/event.ts';
import { RowFile } from '../../../../src/core/datasets/rowFile.ts';
import type { PreviewDocument } from '../../../../src/ui/datasets/previewDocument.ts';
import type { PreviewPanel } from '../../../../src/ui/datasets/previewPanel.ts';
import type { PreviewMessage } from '../../../../src/ui/datasets/protocol.ts';
import { PanelStandIn } from '../../../helpers/panelStandIn.ts';
import { groupOf, reportOf } from '../../../helpers/report.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';

describe('PreviewPanel', () => {
  let hooks: ModuleHooks;
  let folder: string;
  let file: RowFile;
  let panel: PanelStandIn;
  let shown: PreviewPanel;
  let errors: unknown[];

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
    const document = {
      uri: standIn.Uri.file(name),
      name: 'rows.jsonl',
      file,
      problem: undefined,
      check: { report: reportOf({ rows: 3, problems: [groupOf('bad-literal', [{ row: 3 }])] }) },
      onDidChange: new Emitter<'counted'>().event,
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
    assert.deepEqual(panel.posted, []);
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
    await send({ type: 'need', generation: generation + 1, from: 0, count: 1 });
    assert.equal(posted('rows').length, 1);
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
});
