import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import type { ModuleHooks } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createAdapterRoom } from '../../../../src/core/adapters/adapterRoom.ts';
import type { AdapterMessage } from '../../../../src/ui/adapters/protocol.ts';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { AdapterDocument, AdapterRoom } from '../../../../src/ui/adapters/adapterDocument.ts';
import type { AdapterPanel } from '../../../../src/ui/adapters/adapterPanel.ts';
import { buildArchive } from '../../../../src/sandbox/adapterArchive.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';

type Log = ConstructorParameters<typeof AdapterDocument>[2];
type Panel = ConstructorParameters<typeof AdapterPanel>[1];
type Of<T> = Extract<AdapterMessage, { type: T }>;

const WORKER = new URL('../../../../src/core/adapters/measure/measureWorker.ts', import.meta.url).pathname;

describe('the adapter’s page and what it is told', () => {
  let hooks: ModuleHooks;
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');
  let createDocument: typeof AdapterDocument;
  let createPanel: typeof AdapterPanel;
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
    ({ AdapterPanel: createPanel } = await import('../../../../src/ui/adapters/adapterPanel.ts'));
  });
  after(() => hooks.deregister());

  beforeEach(async () => {
    standIn.forget();
    folder = await mkdtemp(path.join(tmpdir(), 'adapter-panel-'));
    file = path.join(folder, 'adapter.zip');
    await writeFile(file, await buildArchive('run-1', 'qwen3-8b'));
    room = createAdapterRoom(WORKER);
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
    document = new createDocument(which, () => Promise.resolve(room), log);
    panel = new createPanel(document, shown as unknown as Panel);
    asked.fire({ type: 'ready' });
  }

  /** The newest message of a kind, once there is one that fits. */
  async function told<T extends AdapterMessage['type']>(
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

  it('is told words, what the file is, its picture and its recipes, once it is ready', async () => {
    open();
    const { verdict, facts } = await told('overview');
    assert.equal(verdict.kind, 'clean');
    assert.ok(facts.some(({ copy }) => copy === file));
    assert.deepEqual(
      messages.map(({ type }) => type),
      ['start', 'loading', 'notice', 'overview', 'picture', 'recipes', 'notice'],
    );
    assert.equal((await told('picture')).measure, 'Measure');
    const recipes = await told('recipes');
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
    // The sandbox calls its base so, which is what a person reads above, too.
    assert.ok(recipes.tools.every(({ traps }) => traps.some((trap) => trap.includes('“Qwen3 8B”'))));
  });

  it('measures once, with progress, and then knows that nothing is changed', async () => {
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
    await told('overview');
    asked.fire({ type: 'measure' });
    asked.fire({ type: 'measure' });
    const { verdict } = await told('overview', (one) => one.verdict.kind === 'warning');
    assert.match(verdict.title, /changes nothing/);
    assert.equal(passes, 1);
    const picture = await told('picture');
    assert.equal(picture.measure, undefined);
    assert.deepEqual(
      picture.rows[0]?.cells.map(({ shade }) => shade),
      ['zero', 'zero'],
    );
    const work = messages.filter((one) => one.type === 'work');
    assert.ok(work[0]?.progress !== undefined && work.at(-1)?.result?.isQuiet === true);
    assert.equal(work.filter(({ result }) => result !== undefined).length, 1);
  });

  it('is cancelled: nothing is measured, and it can begin anew', async () => {
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
    await told('overview');
    asked.fire({ type: 'measure' });
    assert.equal((await told('work', ({ progress }) => progress?.fraction === 0.5)).kind, 'measure');
    asked.fire({ type: 'cancel' });
    const { result } = await told('work', (one) => one.result !== undefined);
    assert.deepEqual(result, { isError: false, isQuiet: false, text: 'Measuring was cancelled.' });
    assert.deepEqual([logged, document.measurements], [[], undefined]);
    asked.fire({ type: 'measure' });
    await told('overview', (one) => one.verdict.kind === 'warning');
  });

  it('unpacks beside the archive, and the recipes name that folder', async () => {
    open();
    await told('recipes');
    asked.fire({ type: 'unpack', elsewhere: false });
    const recipes = await told('recipes', ({ packed }) => packed === undefined);
    assert.equal(recipes.folder?.copy, path.join(folder, 'adapter'));
    assert.deepEqual((await readdir(path.join(folder, 'adapter'))).sort(), [
      'README.md',
      'adapter_config.json',
      'adapter_model.safetensors',
    ]);
    assert.match((await told('work')).result?.text ?? '', /^Unpacked into /);
    // Another page of another window knows it.
    panel.dispose();
    document.dispose();
    open();
    assert.equal((await told('recipes')).packed, undefined);
  });

  it('unpacks elsewhere, where the person says, or not at all', async () => {
    const other = path.join(folder, 'other');
    await mkdir(other);
    open();
    await told('recipes');
    standIn.told.folder = () => undefined;
    asked.fire({ type: 'unpack', elsewhere: true });
    standIn.told.folder = () => other;
    asked.fire({ type: 'unpack', elsewhere: true });
    const recipes = await told('recipes', ({ packed }) => packed === undefined);
    assert.equal(recipes.folder?.copy, path.join(other, 'adapter'));
    assert.deepEqual((await readdir(folder)).sort(), ['adapter.zip', 'other']);
  });

  it('says why it could not unpack, by the code of the room’s error', async () => {
    room = {
      ...room,
      extractAdapter: () => Promise.reject(Object.assign(new Error('no'), { code: 'disk-full' })),
    };
    open();
    await told('recipes');
    asked.fire({ type: 'unpack', elsewhere: false });
    const { result } = await told('work', (one) => one.result !== undefined);
    assert.ok(result?.isError);
    assert.match(result.text, /^The disk is full/);
    assert.deepEqual(logged, ['adapter-unpack']);
  });

  it('tells that the file changed or is gone, and reads it anew when asked', async () => {
    open();
    await told('overview');
    assert.deepEqual(
      standIn.watchers.map(({ base, pattern }) => [base.fsPath, pattern]),
      [[folder, 'adapter.zip']],
    );
    await utimes(file, 1, 1);
    standIn.watchers[0]?.change();
    assert.match((await told('notice', ({ text }) => text !== undefined)).text ?? '', /has changed on disk/);
    await rm(file);
    standIn.watchers[0]?.change();
    assert.match(
      (await told('notice', ({ text }) => /not there/.test(text ?? ''))).text ?? '',
      /still shown/,
    );
    assert.equal((await told('picture')).measure, undefined);
    asked.fire({ type: 'reload' });
    assert.match((await told('failure')).text, /is not there any more/);
    // It comes back by itself.
    await writeFile(file, 'no archive');
    standIn.watchers[0]?.change();
    const { verdict } = await told('overview', (one) => one.verdict.kind === 'error');
    assert.equal(verdict.title, 'Neither an archive nor safetensors');
    assert.equal(messages.filter(({ type }) => type === 'recipes').length, 1);
  });

  it('tells a page that comes after the first everything again, and a hidden one nothing', async () => {
    open();
    await told('recipes');
    view.visible = false;
    viewed.fire(undefined);
    messages.length = 0;
    await document.reload();
    assert.deepEqual(messages, []);
    view.visible = true;
    viewed.fire(undefined);
    asked.fire({ type: 'ready' });
    await told('recipes');
  });

  it('copies, and says so when it is done', async () => {
    open();
    await told('recipes');
    asked.fire({ type: 'copy', id: 'vllm 0', text: 'vllm serve' });
    await told('copied', ({ id }) => id === 'vllm 0');
    assert.deepEqual(standIn.executed, [['copy', 'vllm serve']]);
  });

  it('says that something went wrong inside, and logs it', async () => {
    room = { ...room, inspectAdapter: () => Promise.reject(new TypeError('x')) };
    open();
    assert.match((await told('failure')).text, /The log tells more\.$/);
    assert.deepEqual(logged, ['adapter-not-inspected']);
  });

  it('names a folder as it is, and watches the files in it', async () => {
    const unpacked = path.join(folder, 'unpacked');
    await room.extractAdapter(file, unpacked);
    open(unpacked);
    const recipes = await told('recipes');
    assert.deepEqual([recipes.packed, recipes.folder?.copy], [undefined, unpacked]);
    assert.deepEqual(
      standIn.watchers.map(({ base, pattern }) => [base.fsPath, pattern]),
      [
        [folder, 'unpacked'],
        [unpacked, '*'],
      ],
    );
    await writeFile(path.join(unpacked, 'adapter_config.json'), '{}');
    standIn.watchers[1]?.change();
    await told('notice', ({ text }) => /changed/.test(text ?? ''));
  });
});
