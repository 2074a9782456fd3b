import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as vscode from 'vscode';
import { extractAdapter } from '../../../../src/core/adapters/archive.ts';
import type { SystemMessage } from '../../../../src/core/adapters/recipes.ts';
import { runInWorker, type Tasks, type WorkerOptions } from '../../../../src/core/adapters/report.ts';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { buildArchive } from '../../../../src/sandbox/adapterArchive.ts';
import type { AdapterPageParts } from '../../../../src/ui/adapters/adapterPage.ts';
import type { AdapterRun } from '../../../../src/ui/adapters/adapterRun.ts';
import type { AdapterMessage } from '../../../../src/ui/adapters/protocol.ts';
import { sampleAdapter } from '../../../helpers/adapters/sampleAdapter.ts';
import { WORKER, zipOf } from '../../../helpers/adapters/support.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { PanelStandIn } from '../../../helpers/panelStandIn.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const page = await withVscode(() => import('../../../../src/ui/adapters/adapterPage.ts'));
const words = await withVscode(() => import('../../../../src/ui/adapters/adapterPageView.ts'));

const RUN: AdapterRun = {
  id: 'run-1',
  origin: 'maths · train.jsonl · May 1, 2026 · Qwen 3 8B',
  holdOut: undefined,
  system: () => Promise.resolve(undefined),
};

type Of<T> = Extract<AdapterMessage, { type: T }>;

describe('AdapterPage', () => {
  const folder = useFolder();
  let file: string;
  let logged: string[];
  let panels: ReturnType<typeof page.adapterPanels>;
  let panel: PanelStandIn;
  let run: AdapterRun | Error | undefined;

  beforeEach(async () => {
    standIn.forget();
    file = path.join(folder(), 'adapter.zip');
    await writeFile(file, await buildArchive('run-1', 'qwen3-8b'));
    logged = [];
    run = undefined;
  });
  afterEach(() => {
    panels.dispose();
    assert.deepEqual(standIn.watchers, []);
  });

  /** Opens a page as if VS Code restored it. */
  async function open(which: unknown = file, core: AdapterPageParts['core'] = {}): Promise<void> {
    panels = page.adapterPanels({
      extensionUri: standIn.Uri.file('/extension') as unknown as vscode.Uri,
      worker: WORKER,
      runOf: () => (run instanceof Error ? Promise.reject(run) : Promise.resolve(run)),
      log: { error: (event) => void logged.push(event) },
      core,
    });
    panel = new PanelStandIn();
    await panels.deserializeWebviewPanel(panel as unknown as vscode.WebviewPanel, { file: which });
    panel.send({ type: 'ready' });
  }

  /** Waits until the newest message of a type fits. */
  async function posted<T extends AdapterMessage['type']>(
    type: T,
    fits: (message: Of<T>) => unknown = () => true,
  ): Promise<Of<T>> {
    for (let attempt = 0; attempt < 1_000; attempt++) {
      const messages = panel.posted as AdapterMessage[];
      const found = messages.findLast((one): one is Of<T> => one.type === type);
      if (found !== undefined && fits(found)) return found;
      await sleep(5);
    }
    return assert.fail(`no such ${type}: ${JSON.stringify(panel.posted.at(-1))}`);
  }
  /** Replaces one task if `work` returns something. */
  const doing = (task: keyof Tasks, work: (options: WorkerOptions) => Promise<never> | undefined) => ({
    runInWorker: <T extends keyof Tasks>(one: T, which: string, options: WorkerOptions): Promise<Tasks[T]> =>
      (one === task ? work(options) : undefined) ?? runInWorker(one, which, options),
  });
  const drawn = () => posted('page', ({ verdict }) => verdict !== undefined);

  it('opens another checkpoint of the folder, and nothing else', async () => {
    const top = path.join(folder(), 'run');
    for (const name of ['checkpoint-5', 'checkpoint-10', 'checkpoint-9']) {
      await mkdir(path.join(top, name), { recursive: true });
      for (const [file, bytes] of Object.entries(sampleAdapter()))
        await writeFile(path.join(top, name, file), bytes);
    }
    await open(top);
    const { verdict, sections = [] } = await drawn();
    assert.match(verdict?.sentences[0] ?? '', /checkpoint-10, the newest complete checkpoint of 3/);
    const [fact] = sections.at(-1)?.facts ?? [];
    assert.deepEqual(fact?.opens, ['checkpoint-9', 'checkpoint-5']);
    for (const checkpoint of ['../x', 'checkpoint-10', 'checkpoint-5'])
      panel.send({ type: 'open', checkpoint });
    const opened = standIn.executed.filter(([command]) => command === 'fineTuning.inspectAdapter');
    assert.deepEqual(
      opened.map(([, uri]) => (uri as vscode.Uri).fsPath),
      [path.join(top, 'checkpoint-5')],
    );
  });

  it('offers what mends an archive that tools reject, and no recipe', async () => {
    const wrapped = sampleAdapter({
      tensors: (all) => all.map((one) => ({ ...one, name: `module.${one.name}` })),
    });
    await writeFile(file, zipOf(wrapped));
    await open();
    const { recipes, publishing } = await posted('page', (one) => one.recipes);
    assert.equal(recipes?.packed?.unpack, 'Unpack');
    assert.deepEqual(
      recipes.tools.flatMap(({ tool, blocks }) => [tool, ...blocks.map((one) => one.purpose)]),
      ['mend', 'install', 'rename'],
    );
    assert.equal(publishing, undefined);
  });

  it('measures once with progress, then shows that nothing was learned', async () => {
    let passes = 0;
    await open(
      file,
      doing('measure', () => {
        passes++;
        return undefined;
      }),
    );
    await drawn();
    panel.send({ type: 'measure' });
    panel.send({ type: 'measure' });
    const { values, verdict } = await posted(
      'page',
      (one) => one.values?.measure === undefined && one.verdict,
    );
    assert.equal(verdict?.title, 'Sandbox: nothing was trained');
    assert.equal(passes, 1);
    assert.match(values?.notes.map(({ text }) => text).join() ?? '', /Nothing was learned/);
    assert.ok((await posted('work', ({ result }) => result)).result?.isQuiet);
    const work = (panel.posted as AdapterMessage[]).filter((one) => one.type === 'work');
    assert.ok(work[0]?.progress !== undefined);
    assert.equal(work.filter(({ result }) => result !== undefined).length, 1);
  });

  it('unpacks to a folder that the user chooses, and not at all if canceled', async () => {
    const other = path.join(folder(), 'other');
    await mkdir(other);
    await open();
    await drawn();
    standIn.shown.folder = () => undefined;
    panel.send({ type: 'unpack', elsewhere: true });
    standIn.shown.folder = () => other;
    panel.send({ type: 'unpack', elsewhere: true });
    const { recipes } = await posted('page', (one) => one.recipes?.folder);
    assert.equal(recipes?.folder?.value, path.join(other, 'adapter'));
    assert.deepEqual((await readdir(folder())).sort(), ['adapter.zip', 'other']);
  });

  it('shows why unpacking failed', async () => {
    await open(file, {
      extractAdapter: () => Promise.reject(Object.assign(new Error('no'), { code: 'disk-full' })),
    });
    await drawn();
    panel.send({ type: 'unpack', elsewhere: false });
    const { result } = await posted('work', (one) => one.result);
    assert.deepEqual(
      result,
      words.workResult('adapter.zip', 'unpack', { outcome: 'failed', code: 'disk-full' }),
    );
    assert.deepEqual(logged, ['adapter-unpack']);
  });

  it('uses an unpacked folder in place and watches its files', async () => {
    const unpacked = path.join(folder(), 'unpacked');
    await extractAdapter(file, unpacked);
    await open(unpacked);
    const { recipes } = await drawn();
    // Its path is among the facts.
    assert.deepEqual([recipes?.packed, recipes?.folder], [undefined, undefined]);
    assert.ok(recipes?.tools[0]?.blocks.some(({ text }) => text.includes(unpacked)));
    await writeFile(path.join(unpacked, 'adapter_config.json'), '{}');
    standIn.watchers[1]?.change();
    await posted('page', ({ notice }) => notice);
  });

  it('stops every inspection when it is closed, also of folders beside the file', async () => {
    await mkdir(path.join(folder(), 'adapter'));
    const inspected: { name: string; signal: AbortSignal | undefined }[] = [];
    await open(file, {
      runInWorker: (task, which, options) => {
        inspected.push({ name: path.basename(which), signal: options.signal });
        return runInWorker(task, which, options);
      },
    });
    await drawn();
    panel.send({ type: 'unpack', elsewhere: false });
    await posted('work', ({ result }) => result);
    standIn.watchers[0]?.change();
    while (inspected.length < 4) await sleep(5);
    panels.dispose();
    // The file, then the folder that has its name: when the page is drawn, before unpacking, and after a change.
    assert.deepEqual(
      inspected.map(({ name }) => name),
      ['adapter.zip', 'adapter', 'adapter', 'adapter'],
    );
    assert.ok(inspected.every(({ signal }) => signal?.aborted === true));
    await sleep(50);
    assert.deepEqual(logged, []);
  });

  it('fills in the hold-out of its run, and needs no run that is known', async () => {
    const comparing = async () => {
      const { recipes } = await drawn();
      return recipes?.tools[0]?.blocks.find(({ purpose }) => purpose === 'compare');
    };
    run = new Error();
    await open();
    assert.match((await comparing())?.text ?? '', /^rows = "HOLDOUT.jsonl"$/m);
    assert.deepEqual(logged, ['adapter-run']);
    panels.dispose();
    run = { ...RUN, holdOut: '/data/train.holdout.jsonl' };
    await open();
    const { text, hint } = (await comparing())!;
    assert.match(text, /^rows = "\/data\/train.holdout.jsonl"$/m);
    assert.ok(text.includes('**answers, "run": "run-1"}'), text);
    assert.doesNotMatch(hint ?? '', /HOLDOUT/);
  });

  it('fills in the system message of its dataset once it is read, and stops reading when it is closed', async () => {
    const reading = Promise.withResolvers<SystemMessage>();
    let stop: AbortSignal | undefined;
    run = { ...RUN, system: (signal) => ((stop = signal), reading.promise) };
    await open();
    const { recipes } = await drawn();
    assert.doesNotMatch(JSON.stringify(recipes), /system message/);
    reading.resolve({ text: 'Be brief.' });
    await posted('page', (now) => JSON.stringify(now.recipes).includes('Be brief.'));
    panels.dispose();
    run.system = (signal) => {
      stop = signal;
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new CancelledError())));
    };
    await open();
    await drawn();
    panels.dispose();
    assert.equal(stop?.aborted, true);
    await sleep(5);
    assert.deepEqual(logged, []);
  });

  it('shows a block of its recipes once, as soon as it has them', async () => {
    const reveals = () => (panel.posted as AdapterMessage[]).filter(({ type }) => type === 'reveal');
    await open();
    const page = panels.show({ file });
    page.reveal('compare');
    const { purpose } = await posted('reveal');
    assert.equal(purpose, 'compare');
    // After the page that has the recipes.
    assert.ok((panel.posted as AdapterMessage[]).findIndex((one) => one.type === 'page' && one.recipes) >= 0);
    assert.equal((panel.posted.at(-1) as AdapterMessage).type, 'reveal');
    panel.send({ type: 'ready' });
    page.reveal('');
    assert.equal(reveals().length, 1);
    page.reveal('compare');
    assert.equal(reveals().length, 2);
  });

  it('is restored only with an absolute path', async () => {
    for (const which of [null, 1, '', 'adapter.zip']) {
      await open(which);
      assert.ok(panel.isDisposed, String(which));
    }
    await open(path.join(folder(), 'x', '..', 'adapter.zip'));
    assert.ok(!panel.isDisposed && panel.title.includes('adapter.zip'));
  });
});
