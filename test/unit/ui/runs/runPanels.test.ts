import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import type * as vscode from 'vscode';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { RunPanels } from '../../../../src/ui/runs/runPanels.ts';
import type { RunPageParts } from '../../../../src/ui/runs/runPageView.ts';
import { PanelStandIn } from '../../../helpers/panelStandIn.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';

describe('RunPanels', () => {
  let hooks: ModuleHooks;
  let createPanels: new (...parts: ConstructorParameters<typeof RunPanels>) => RunPanels;
  let made: PanelStandIn[];
  let panels: RunPanels;
  let accountsChanged: Emitter<void>;

  before(async () => {
    hooks = standInForVscode();
    const { window, Uri } = await import('../../../helpers/vscodeStandIn.ts');
    Object.assign(window, {
      createWebviewPanel: () => {
        const panel = new PanelStandIn();
        made.push(panel);
        return panel;
      },
    });
    Object.assign(Uri, { joinPath: (...parts: unknown[]) => parts.map(String).join('/') });
    const standIn = await import('../../../helpers/vscodeStandIn.ts');
    assert.ok('ViewColumn' in standIn);
    ({ RunPanels: createPanels } = await import('../../../../src/ui/runs/runPanels.ts'));
  });
  after(() => hooks.deregister());

  beforeEach(() => {
    made = [];
    accountsChanged = new Emitter();
    const silent = new Emitter<never>();
    const parts = {
      accounts: { accounts: [], onDidChange: accountsChanged.event },
      sessions: { active: undefined, onDidChangeActive: silent.event },
      receipts: () => Promise.resolve([]),
      onDidChangeReceipts: silent.event,
      downloads: { active: [], records: () => [], onDidChange: silent.event },
      linkTo: () => '',
    };
    panels = new createPanels('/extension' as unknown as vscode.Uri, parts as unknown as RunPageParts);
  });
  afterEach(() => panels.dispose());

  const restore = (state: unknown) => {
    const panel = new PanelStandIn();
    void panels.deserializeWebviewPanel(panel as unknown as vscode.WebviewPanel, state);
    return panel;
  };

  it('show one page for each run of an account', () => {
    panels.show('a', 'r');
    panels.show('a', 'r');
    assert.deepEqual(
      made.map(({ reveals }) => reveals),
      [1],
    );
    panels.show('a', 's');
    panels.show('b', 'r');
    assert.equal(made.length, 3);
    made[0]?.dispose();
    panels.show('a', 'r');
    assert.equal(made.length, 4);
  });

  it('bring back a page by its ids', () => {
    const panel = restore({ accountId: 'a', runId: '01890a5d-ac96' });
    assert.equal(panel.title, 'Run: 01890a5d');
    panels.show('a', '01890a5d-ac96');
    assert.deepEqual([made.length, panel.reveals], [0, 1]);
  });

  it('close what remembers nothing of ours, and a second page of the same run', () => {
    for (const state of [undefined, null, {}, { accountId: 'a' }, { accountId: 'a', runId: 7 }, 'x'])
      assert.ok(restore(state).isDisposed, JSON.stringify(state));
    assert.ok(!restore({ accountId: 'a', runId: 'r' }).isDisposed);
    assert.ok(restore({ accountId: 'a', runId: 'r' }).isDisposed);
    panels.show('a', 'r');
    assert.equal(made.length, 0);
  });

  it('let a page load nothing but its own script and style', () => {
    panels.show('a', '<b>"x');
    const { html, options } = made[0]?.webview ?? {};
    assert.deepEqual(options, { enableScripts: true, localResourceRoots: ['/extension/dist/run'] });
    assert.match(String(html), /default-src 'none'; style-src \S+; script-src 'nonce-[\da-f]{32}'"/);
    assert.doesNotMatch(String(html), /<b>/);
  });
});
