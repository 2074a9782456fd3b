import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import type { ModuleHooks } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createAdapterRoom } from '../../../../src/core/adapters/adapterRoom.ts';
import type { AdapterMessage, AdapterRequest } from '../../../../src/ui/adapters/protocol.ts';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { AdapterDocument, AdapterRoom } from '../../../../src/ui/adapters/adapterDocument.ts';
import type { AdapterPanel } from '../../../../src/ui/adapters/adapterPanel.ts';
import { buildArchive } from '../../../../src/sandbox/adapterArchive.ts';
import { MEASURE_WORKER } from '../../../helpers/adapters/support.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';

type Log = ConstructorParameters<typeof AdapterDocument>[2];
type Panel = ConstructorParameters<typeof AdapterPanel>[1];
type Of<T> = Extract<AdapterMessage, { type: T }>;

describe('the page of an adapter', () => {
  let hooks: ModuleHooks;
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');
  let createDocument: typeof AdapterDocument;
  let page: typeof import('../../../../src/ui/adapters/adapterPanel.ts');
  let folder: string;
  let file: string;
  let room: AdapterRoom;
  let logged: string[];
  let document: AdapterDocument;
  let panel: AdapterPanel;
  let messages: AdapterMessage[];
  let asked: Emitter<unknown>;
  let viewed: Emitter<undefined>;
  let view: { visible: boolean };

  before(async () => {
    hooks = standInForVscode();
    standIn = await import('../../../helpers/vscodeStandIn.ts');
    ({ AdapterDocument: createDocument } = await import('../../../../src/ui/adapters/adapterDocument.ts'));
    page = await import('../../../../src/ui/adapters/adapterPanel.ts');
  });
  after(() => hooks.deregister());

  beforeEach(async () => {
    standIn.forget();
    folder = await mkdtemp(path.join(tmpdir(), 'adapter-panel-'));
    file = path.join(folder, 'adapter.zip');
    await writeFile(file, await buildArchive('run-1', 'qwen3-8b'));
    room = createAdapterRoom(MEASURE_WORKER);
    logged = [];
  });
  afterEach(async () => {
    panel.dispose();
    document.dispose();
    assert.deepEqual(standIn.watchers, []);
    await rm(folder, { recursive: true, force: true });
  });

  function open(which = file): void {
    const log = { error: (event: string) => void logged.push(event) } as unknown as Log;
    messages = [];
    asked = new Emitter();
    viewed = new Emitter();
    const postMessage = (message: AdapterMessage) => Promise.resolve(messages.push(message) > 0);
    const webview = { onDidReceiveMessage: asked.event, postMessage };
    const shown = { visible: true, webview, onDidChangeViewState: viewed.event };
    view = shown;
    document = new createDocument(which, room, log);
    panel = new page.AdapterPanel(document, shown as unknown as Panel);
    asked.fire({ type: 'ready' });
  }

  /** The newest message of a kind, once there is one that fits. */
  async function sent<T extends AdapterMessage['type']>(
    type: T,
    fits: (message: Of<T>) => boolean = () => true,
  ): Promise<Of<T>> {
    for (let attempt = 0; attempt < 400; attempt++) {
      const found = messages.findLast((one): one is Of<T> => one.type === type);
      if (found !== undefined && fits(found)) return found;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return assert.fail(`no such ${type}: ${JSON.stringify(messages.filter((one) => one.type === type))}`);
  }

  it('gets words, what the file is, its picture and its recipes, once it is ready', async () => {
    open();
    const { verdict, sections } = await sent('overview');
    assert.equal(verdict.kind, 'clean');
    assert.ok(sections.some(({ facts }) => facts?.some(({ value, hasCopy }) => hasCopy && value === file)));
    assert.deepEqual(
      messages.map(({ type }) => type),
      ['start', 'status', 'notice', 'overview', 'picture', 'recipes', 'notice'],
    );
    assert.equal((await sent('picture')).measure, 'Measure');
    const recipes = await sent('recipes');
    assert.deepEqual(
      recipes.tools.map(({ tool }) => tool),
      ['peft', 'vllm', 'llamacpp', 'ollama'],
    );
    assert.ok(
      recipes.tools.every(({ blocks }) =>
        blocks.some(({ text }) => text.includes(path.join(folder, 'adapter'))),
      ),
    );
    assert.ok(recipes.packed !== undefined && recipes.folder === undefined);
    // The sandbox's name of its base.
    assert.ok(recipes.tools.every(({ notes }) => notes.some(({ text }) => text.includes('“Qwen3 8B”'))));
  });

  it('measures once, with progress, and then says that nothing was learned', async () => {
    let passes = 0;
    const { measureAdapter } = room;
    room = {
      ...room,
      measureAdapter: (which, options) => {
        passes += 1;
        return measureAdapter(which, options);
      },
    };
    open();
    await sent('overview');
    asked.fire({ type: 'measure' });
    asked.fire({ type: 'measure' });
    const { verdict } = await sent('overview', (one) => one.verdict.kind === 'warning');
    assert.match(verdict.title, /learned nothing/);
    assert.equal(passes, 1);
    const picture = await sent('picture');
    assert.equal(picture.measure, undefined);
    assert.deepEqual(
      picture.rows[0]?.cells.map(({ shade }) => shade),
      ['zero', 'zero'],
    );
    const work = messages.filter((one) => one.type === 'work');
    assert.ok(work[0]?.progress !== undefined && work.at(-1)?.result?.isQuiet === true);
    assert.equal(work.filter(({ result }) => result !== undefined).length, 1);
  });

  it('can be measured again after measuring was cancelled', async () => {
    let starts = 0;
    const { measureAdapter } = room;
    room = {
      ...room,
      measureAdapter: (which, options) =>
        ++starts > 1
          ? measureAdapter(which, options)
          : new Promise((_, reject) => {
              options?.onProgress?.({ doneBytes: 5, totalBytes: 10 });
              options?.signal?.addEventListener('abort', () => reject(new Error('gone')));
            }),
    };
    open();
    await sent('overview');
    asked.fire({ type: 'measure' });
    assert.equal((await sent('work', ({ progress }) => progress?.fraction === 0.5)).kind, 'measure');
    asked.fire({ type: 'cancel' });
    const { result } = await sent('work', (one) => one.result !== undefined);
    assert.deepEqual(result, { isError: false, isQuiet: false, text: 'Measuring was canceled.' });
    assert.deepEqual([logged, document.state.measurements], [[], undefined]);
    asked.fire({ type: 'measure' });
    await sent('overview', (one) => one.verdict.kind === 'warning');
  });

  it('unpacks beside the archive, and the recipes name that folder', async () => {
    open();
    await sent('recipes');
    asked.fire({ type: 'unpack', elsewhere: false });
    const recipes = await sent('recipes', ({ packed }) => packed === undefined);
    assert.equal(recipes.folder?.value, path.join(folder, 'adapter'));
    assert.deepEqual((await readdir(path.join(folder, 'adapter'))).sort(), [
      'README.md',
      'adapter_config.json',
      'adapter_model.safetensors',
    ]);
    assert.match((await sent('work')).result?.text ?? '', /^Unpacked to /);
    // The page of another window finds it.
    panel.dispose();
    document.dispose();
    open();
    assert.equal((await sent('recipes')).packed, undefined);
  });

  it('unpacks to a folder that the user chooses, or not at all', async () => {
    const other = path.join(folder, 'other');
    await mkdir(other);
    open();
    await sent('recipes');
    standIn.told.folder = () => undefined;
    asked.fire({ type: 'unpack', elsewhere: true });
    standIn.told.folder = () => other;
    asked.fire({ type: 'unpack', elsewhere: true });
    const recipes = await sent('recipes', ({ packed }) => packed === undefined);
    assert.equal(recipes.folder?.value, path.join(other, 'adapter'));
    assert.deepEqual((await readdir(folder)).sort(), ['adapter.zip', 'other']);
  });

  it('says why it could not unpack', async () => {
    room = {
      ...room,
      extractAdapter: () => Promise.reject(Object.assign(new Error('no'), { code: 'disk-full' })),
    };
    open();
    await sent('recipes');
    asked.fire({ type: 'unpack', elsewhere: false });
    const { result } = await sent('work', (one) => one.result !== undefined);
    assert.ok(result?.isError);
    assert.match(result.text, /^The disk is full/);
    assert.deepEqual(logged, ['adapter-unpack']);
  });

  it('says that the file changed or is gone, and reads it again on request', async () => {
    open();
    await sent('overview');
    assert.deepEqual(
      standIn.watchers.map(({ base, pattern }) => [base.fsPath, pattern]),
      [[folder, 'adapter.zip']],
    );
    await utimes(file, 1, 1);
    standIn.watchers[0]?.change();
    assert.match((await sent('notice', ({ text }) => text !== undefined)).text ?? '', /has changed on disk/);
    await rm(file);
    standIn.watchers[0]?.change();
    assert.match(
      (await sent('notice', ({ text }) => /no longer exists/.test(text ?? ''))).text ?? '',
      /no longer exists/,
    );
    assert.equal((await sent('picture')).measure, undefined);
    asked.fire({ type: 'reload' });
    await sent('status', ({ retry, text }) => retry !== undefined && /no longer exists/.test(text));
    // It comes back by itself.
    await writeFile(file, 'no archive');
    standIn.watchers[0]?.change();
    const { verdict } = await sent('overview', (one) => one.verdict.kind === 'error');
    assert.equal(verdict.title, 'Neither an archive nor safetensors');
    assert.equal(messages.filter(({ type }) => type === 'recipes').length, 1);
  });

  it('watches a name with brackets literally', () => {
    open(path.join(folder, 'a[1].zip'));
    assert.equal(standIn.watchers[0]?.pattern, 'a[[]1].zip');
  });

  it('sends everything again to the next page, and nothing to a hidden one', async () => {
    open();
    await sent('recipes');
    view.visible = false;
    viewed.fire(undefined);
    messages.length = 0;
    await document.reload();
    assert.deepEqual(messages, []);
    view.visible = true;
    viewed.fire(undefined);
    asked.fire({ type: 'ready' });
    await sent('recipes');
  });

  it('confirms a copied text', async () => {
    open();
    await sent('recipes');
    asked.fire({ type: 'copy', id: 'vllm 0', text: 'vllm serve' });
    await sent('copied', ({ id }) => id === 'vllm 0');
    assert.deepEqual(standIn.executed, [['copy', 'vllm serve']]);
  });

  it('says that an internal error occurred, and logs it', async () => {
    room = { ...room, inspectAdapter: () => Promise.reject(new TypeError('x')) };
    open();
    await sent('status', ({ retry }) => retry !== undefined);
    assert.deepEqual(logged, ['adapter-not-inspected']);
  });

  it('uses a folder where it is, and watches its files', async () => {
    const unpacked = path.join(folder, 'unpacked');
    await room.extractAdapter(file, unpacked);
    open(unpacked);
    const recipes = await sent('recipes');
    assert.deepEqual([recipes.packed, recipes.folder?.value], [undefined, unpacked]);
    assert.deepEqual(
      standIn.watchers.map(({ base, pattern }) => [base.fsPath, pattern]),
      [
        [folder, 'unpacked'],
        [unpacked, '*'],
      ],
    );
    await writeFile(path.join(unpacked, 'adapter_config.json'), '{}');
    standIn.watchers[1]?.change();
    await sent('notice', ({ text }) => /changed/.test(text ?? ''));
  });

  it('takes only requests of the protocol, without anything else', () => {
    const requests: AdapterRequest[] = [
      { type: 'ready' },
      { type: 'reload' },
      { type: 'measure' },
      { type: 'cancel' },
      { type: 'unpack', elsewhere: false },
      { type: 'copy', id: 'vllm 0', text: 'x'.repeat(100_000) },
    ];
    for (const request of requests)
      assert.deepEqual(
        page.adapterRequestOf({ ...request, other: 1, folder: '/etc' }),
        request,
        request.type,
      );
    for (const message of [
      undefined,
      null,
      'measure',
      {},
      { type: 'other' },
      { type: 'unpack' },
      { type: 'unpack', elsewhere: '/home' },
      { type: 'copy', id: 'a' },
      { type: 'copy', id: 1, text: 'a' },
      { type: 'copy', id: 'a', text: 'x'.repeat(100_001) },
    ])
      assert.equal(page.adapterRequestOf(message), undefined);
    assert.equal(page.rememberedFile({ file: '/a.zip', tool: 'vllm' }), '/a.zip');
    for (const state of [undefined, null, 'x', {}, { file: 1 }, { file: '' }])
      assert.equal(page.rememberedFile(state), undefined);
    open();
  });
});
