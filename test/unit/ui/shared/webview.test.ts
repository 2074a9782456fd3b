import assert from 'node:assert/strict';
import { setImmediate as settled, setTimeout as sleep } from 'node:timers/promises';
import type * as vscode from 'vscode';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { PanelStandIn } from '../../../helpers/panelStandIn.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { isCount, isOneOf, isOptional, isText, watchFile, WebviewHost, WebviewPanels } = await withVscode(
  () => import('../../../../src/ui/shared/webview.ts'),
);

type Request = { type: 'reload' } | { type: 'go'; row: number; to: 'top' | 'end'; note: string | undefined };

describe('A webview page', () => {
  let panel: PanelStandIn;
  let host: InstanceType<typeof WebviewHost<{ type: 'shown' }, Request>>;
  let received: unknown[];
  let errors: unknown[];
  let answer: () => unknown;

  beforeEach(() => {
    standIn.forget();
    panel = new PanelStandIn();
    [received, errors, answer] = [[], [], () => undefined];
    host = new WebviewHost(panel as unknown as vscode.WebviewPanel, {
      page: 'run',
      extensionUri: standIn.Uri.file('/extension') as unknown as vscode.Uri,
      title: '<b>"x',
      requests: {
        reload: {},
        go: { row: isCount, to: isOneOf(['top', 'end']), note: isOptional(isText) },
      },
      onReady: (memory) => void received.push(['ready', memory]),
      onRequest: (request) => {
        received.push(request);
        return answer();
      },
      onShown: () => void received.push('shown'),
      log: { error: (_, error) => void errors.push(error) },
    });
  });
  afterEach(() => host.dispose());

  it('loads only its script and style', () => {
    const { html, options } = panel.webview;
    const { localResourceRoots = [], ...others } = options as { localResourceRoots?: { fsPath: string }[] };
    assert.deepEqual(
      [others, localResourceRoots.map(({ fsPath }) => fsPath)],
      [{ enableScripts: true }, ['/extension/dist/pages/run']],
    );
    const policy = /default-src &#39;none&#39;; style-src \S+; script-src &#39;nonce-([\da-f]{32})&#39;"/;
    const [, nonce] = policy.exec(html) ?? assert.fail(html);
    assert.ok(html.includes(`<script nonce="${nonce}" src="file:///extension/dist/pages/run/run.js">`), html);
    assert.doesNotMatch(html, /<b>/);
  });

  it('receives messages only while it is ready, and returns its memory when it loads', () => {
    host.post({ type: 'shown' });
    assert.deepEqual(panel.posted, []);
    panel.send({ type: 'ready', memory: { row: 7 } });
    host.post({ type: 'shown' });
    assert.equal(panel.posted.length, 1);
    panel.show(false);
    host.post({ type: 'shown' });
    panel.show(true);
    host.post({ type: 'shown' });
    assert.equal(panel.posted.length, 1);
    panel.send({ type: 'ready' });
    host.post({ type: 'shown' });
    assert.equal(panel.posted.length, 2);
    host.dispose();
    host.post({ type: 'shown' });
    assert.equal(panel.posted.length, 2);
    assert.deepEqual(received, [['ready', { row: 7 }], 'shown', ['ready', undefined]]);
  });

  it('can send only valid requests of its protocol', () => {
    panel.send({ type: 'reload', more: 1 });
    panel.send({ type: 'go', row: 0, to: 'end' });
    for (const message of [
      undefined,
      null,
      'reload',
      [],
      {},
      { type: 'toString' },
      { type: '__proto__' },
      { type: ['reload'] },
      { type: 'go' },
      { type: 'go', row: -1, to: 'end' },
      { type: 'go', row: 1.5, to: 'end' },
      { type: 'go', row: 1, to: 'toString' },
      { type: 'go', row: 1, to: ['end'] },
      { type: 'go', row: 1, to: 'end', note: 'x'.repeat(1_000_001) },
      { type: 'copy', id: 'a', text: 7 },
      { type: 'copy', text: 'x' },
    ])
      panel.send(message);
    assert.deepEqual(received, [{ type: 'reload' }, { type: 'go', row: 0, to: 'end', note: undefined }]);
  });

  it('has the errors of its requests logged, except cancellations', async () => {
    for (const error of [new Error('x'), new CancelledError()]) {
      answer = () => Promise.reject(error);
      panel.send({ type: 'reload' });
    }
    answer = () => {
      throw new Error('y');
    };
    panel.send({ type: 'reload' });
    await settled();
    assert.deepEqual(errors.map(String).sort(), ['Error: x', 'Error: y']);
  });

  it('is notified once of several changes of its file, whatever the name of the file', async () => {
    let changes = 0;
    const watch = watchFile('/data/a[1].jsonl', () => changes++);
    const [watcher] = standIn.watchers;
    assert.deepEqual([watcher?.base.fsPath, watcher?.pattern], ['/data', 'a[[]1].jsonl']);
    watcher?.change();
    watcher?.change();
    await sleep(300);
    assert.equal(changes, 1);
    watcher?.change();
    watch.dispose();
    await sleep(300);
    assert.deepEqual([changes, standIn.watchers.length], [1, 0]);
  });
});

describe('WebviewPanels', () => {
  let panels: InstanceType<typeof WebviewPanels<string, { dispose(): void }>>;
  let created: PanelStandIn[];
  let disposed: string[];

  beforeEach(() => {
    [created, disposed] = [[], []];
    const createWebviewPanel = () => {
      const panel = new PanelStandIn();
      created.push(panel);
      return panel;
    };
    Object.assign(standIn.window, { createWebviewPanel });
    panels = new WebviewPanels({
      viewType: 'x',
      memoryOf: (state) => (typeof state === 'string' ? state : undefined),
      keyOf: (memory) => memory,
      // Pages whose memories differ only in the digit share a panel.
      slotOf: (memory) => memory.replace(/\d/, ''),
      create: (_, memory) => ({ dispose: () => void disposed.push(memory) }),
    });
  });

  const restore = (state: unknown) => {
    const panel = new PanelStandIn();
    void panels.deserializeWebviewPanel(panel as unknown as vscode.WebviewPanel, state);
    return panel;
  };

  it('opens one panel for each page', () => {
    const first = panels.show('a');
    assert.equal(panels.show('a'), first);
    panels.show('b');
    assert.deepEqual(
      created.map(({ reveals }) => reveals),
      [1, 0],
    );
    created[0]?.dispose();
    assert.deepEqual(disposed, ['a']);
    panels.show('a');
    assert.equal(created.length, 3);
    panels.dispose();
    assert.deepEqual(disposed, ['a', 'b', 'a']);
  });

  it('shows pages of the same slot in one panel, one after another', () => {
    const one = panels.show('a1');
    assert.notEqual(panels.show('a2'), one);
    assert.deepEqual([created.length, created[0]?.reveals, disposed], [1, 1, ['a1']]);
    assert.ok(restore('a1').isDisposed, 'the panel is there');
    created[0]?.dispose();
    assert.deepEqual(disposed, ['a1', 'a2']);
    panels.show('a1');
    assert.equal(created.length, 2);
  });

  it('restores a panel from its memory, or closes it if the memory is invalid or already open', () => {
    const panel = restore('a');
    panels.show('a');
    assert.deepEqual([created.length, panel.reveals, panel.isDisposed], [0, 1, false]);
    for (const state of [undefined, {}, 'a']) assert.ok(restore(state).isDisposed);
    panels.dispose();
    assert.deepEqual(disposed, ['a']);
  });
});
