import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { DownloadRecord } from '../../../../src/core/downloads/downloads.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import { sessionOf } from '../../../helpers/services.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { inspectAdapter } = await withVscode(() => import('../../../../src/ui/adapters/inspectAdapter.ts'));

describe('inspectAdapter', () => {
  let folder: string;
  let file: string;
  let records: DownloadRecord[];
  /** Downloads of other accounts. */
  let recordsOf: Record<string, DownloadRecord[]>;
  let opened: string[];
  let shown: string[];
  let session: Session | undefined;
  let accounts: { id: string; name: string }[];

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'adapter-command-'));
    file = path.join(folder, 'adapter.zip');
    await writeFile(file, '');
  });
  after(() => rm(folder, { recursive: true, force: true }));

  beforeEach(() => {
    standIn.forget();
    records = [];
    recordsOf = {};
    opened = [];
    shown = [];
    accounts = [{ id: 'account', name: 'Work' }];
    session = sessionOf({
      account: { id: 'account' },
      runs: {
        rows: [
          { run_id: 'run-1', model_id: 'm', artifacts_available: true },
          { run_id: 'run-2', model_id: 'm', artifacts_available: false },
        ],
        phase: () => 'finished',
        label: (runId: string) => (runId === 'run-1' ? 'Tütor ft-7k3m9qpx' : undefined),
      },
      models: { nameOf: () => 'Modell' },
    });
  });

  const record = (runId: string, at: string, artifactType = 'model'): DownloadRecord => ({
    runId,
    artifactType,
    path: at,
    sizeBytes: 0,
    sha256: '0'.repeat(64),
    verified: 'zip',
    completedAtMs: 0,
  });
  const inspect = (...args: unknown[]) =>
    inspectAdapter(
      { accounts },
      { active: session },
      {
        open: (id) => Promise.resolve(void opened.push(id)),
        // Records are known only after they were read.
        records: (id) => (opened.includes(id) ? (recordsOf[id] ?? records) : []),
      },
      (one, block) => Promise.resolve(void shown.push(block === '' ? one : `${one} at ${block}`)),
    )(...args);

  it('opens all files selected in the explorer', async () => {
    const [one, two] = [standIn.Uri.file('/a.zip'), standIn.Uri.file('/b.zip')];
    await inspect(one, [one]);
    await inspect(one, [one, two]);
    assert.deepEqual(shown, ['/a.zip', '/a.zip', '/b.zip']);
    assert.deepEqual(opened, []);
  });

  it('opens a file at the block that its fragment names', async () => {
    await inspect(standIn.Uri.file('/a.zip').with({ fragment: 'compare' }));
    assert.deepEqual(shown, ['/a.zip at compare']);
  });

  it('opens a path even when signed out, and reports a file that is not on disk', async () => {
    session = undefined;
    await inspect('/c.zip');
    assert.deepEqual(shown, ['/c.zip']);
    await inspect(Object.assign(standIn.Uri.file('/d.zip'), { scheme: 'vscode-vfs' }));
    assert.match(standIn.shown.sentences.join(), /^d\.zip /);
    await inspect('run-1');
    assert.equal(standIn.shown.sentences.length, 2);
    assert.deepEqual(shown, ['/c.zip']);
  });

  it('opens the downloaded adapter of a run by row or ID, preferred to other artifacts', async () => {
    records = [record('run-1', folder, 'logs'), record('run-1', '/gone.zip'), record('run-1', file)];
    await inspect({ kind: 'run', runId: 'run-1' });
    await inspect('run-1');
    assert.deepEqual(shown, [file, file]);
  });

  it('ignores a web page that was downloaded instead of the adapter', async () => {
    records = [{ ...record('run-1', folder), verified: 'html' }];
    await inspect('run-1');
    assert.deepEqual([standIn.shown.sentences.length, shown], [1, []]);
    records.push(record('run-1', file));
    await inspect('run-1');
    assert.deepEqual(shown, [file]);
  });

  it('offers to download an adapter that was not downloaded, or whose file is gone', async () => {
    standIn.shown.answer = ([button]) => button;
    await inspect('run-1');
    records = [record('run-1', '/gone.zip')];
    await inspect('run-1');
    assert.match(standIn.shown.sentences[1] ?? '', /\/gone\.zip/);
    await Promise.resolve();
    assert.deepEqual(standIn.executed, [
      ['fineTuning.downloadAdapter', 'run-1'],
      ['fineTuning.downloadAdapter', 'run-1'],
    ]);
    await inspect('run-2');
    assert.equal(standIn.shown.sentences.length, 3);
    assert.deepEqual([standIn.shown.buttons[2], shown], [[], []]);
  });

  it('offers first what was downloaded with any account of this machine, the active one’s first', async () => {
    accounts = [{ id: 'other', name: 'Home' }, ...accounts];
    records = [record('run-1', file)];
    const descriptions = async () => {
      standIn.forget();
      await inspect();
      return standIn.shown.inputs[0]?.items.map(({ description }) => description).slice(0, -2);
    };
    recordsOf = { other: [record('run-9', folder)] };
    assert.deepEqual(await descriptions(), ['Tütor', 'run-9 · Home']);
    session = undefined;
    assert.deepEqual(await descriptions(), ['run-9 · Home', 'run-1 · Work']);
  });

  it('lets the user choose a download by its run, or a file or folder on disk', async () => {
    records = [record('run-1', file), record('run-2', '/gone.zip')];
    standIn.shown.pick = () => 'adapter.zip';
    await inspect();
    assert.deepEqual(shown, [file]);
    const items = standIn.shown.inputs[0]?.items ?? [];
    assert.deepEqual(items.map(({ description }) => description).slice(0, -2), ['Tütor']);
    standIn.shown.pick = () => 'Folder';
    standIn.shown.folder = () => folder;
    await inspect();
    standIn.shown.folder = () => undefined;
    await inspect();
    standIn.shown.pick = () => undefined;
    await inspect();
    assert.deepEqual(shown, [file, folder]);
  });
});
