import assert from 'node:assert/strict';
import { channel } from 'node:diagnostics_channel';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { RateGate } from '../../../../src/core/api/rateGate.ts';
import { counted, countRareCases } from '../../../../src/core/base/rareCases.ts';
import { renameOver } from '../../../../src/core/base/renameOver.ts';
import { DownloadStore } from '../../../../src/core/downloads/downloadStore.ts';
import { PageSearch } from '../../../../src/core/runs/runPages.ts';
import { RunStore } from '../../../../src/core/runs/runStore.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { row } from '../../../helpers/runs/support.ts';

describe('Rare cases', () => {
  const folder = useFolder();
  const files = () => path.join(folder(), 'rare');
  const met = async () => (await readdir(files()).catch(() => [])).sort();
  const until = async (condition: () => Promise<boolean>) => {
    while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 1));
  };

  it('are counted once for each window, and shown on one line', async () => {
    for (const windows of [1, 2]) {
      const cases = countRareCases(files());
      for (let times = 0; times < 3; times++)
        assert.deepEqual([counted('sleep', true), counted('gateway', false)], [true, false]);
      await until(async () => (await cases.line()).includes(`, ${windows} sleep, 0 deep-run, `));
      cases.dispose();
      assert.match(await cases.line(), /^(\d [a-z-]+(, |$))+$/);
    }
    counted('deep-run', true);
    assert.deepEqual(await met(), ['sleep']);
  });

  it('count nothing that others publish', async () => {
    const cases = countRareCases(files());
    channel('fine-tuning.rare-case').publish('../x');
    counted('deep-run', true);
    await until(async () => (await met()).length > 0);
    cases.dispose();
    assert.deepEqual(await readdir(folder()), ['rare']);
  });

  it('are ignored where no file can be written', async () => {
    await writeFile(files(), 'a file');
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', note);
    const cases = countRareCases(files());
    counted('deep-run', true);
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off('unhandledRejection', note);
    assert.match(await cases.line(), / 0 deep-run, /);
    assert.deepEqual(unhandled, []);
    cases.dispose();
  });

  for (const [name, meet] of [
    [
      'file-in-use',
      () => renameOver('a', 'b', () => Promise.reject(Object.assign(new Error(), { code: 'EBUSY' }))),
    ],
    [
      'future-wait',
      () => {
        let nowMs = 1_000;
        const gate = new RateGate(() => nowMs);
        const wait = { sinceMs: 1_000, untilMs: 9_000, readUntilMs: 0 };
        gate.adopt({ reads: wait, submissions: wait });
        nowMs = 10;
        return gate.untilMs();
      },
    ],
    [
      'deep-run',
      () => {
        const search = new PageSearch([row('new', 9)], [row('old', 1, 'running')], 10);
        search.add({ data: [row('new', 9)], has_more: true, skipped: 0 });
        return search.continues;
      },
    ],
  ] as const)
    it(`count “${name}” where it is met`, async () => {
      const cases = countRareCases(files());
      await Promise.resolve(meet()).catch(() => undefined);
      await until(async () => (await met()).length > 0);
      cases.dispose();
      assert.deepEqual(await met(), [name]);
    });

  it('count only what they name', async () => {
    const cases = countRareCases(files());
    const [out, stored] = [path.join(folder(), 'out'), path.join(folder(), 'downloads')];
    const target = path.join(out, 'a.zip');
    const about = { runId: 'r', artifactType: 'model', filename: undefined };
    const record = {
      ...about,
      path: target,
      sizeBytes: 1,
      sha256: '',
      verified: 'zip',
      completedAtMs: 1,
    } as const;
    const store = new DownloadStore({
      ...{ accountId: 'a', folder: stored, isRunning: () => false, onChange: () => undefined },
    });
    const end = async (id: string) => {
      const unfinished = { id, ...about, target };
      await store.begin(unfinished);
      await store.discard(unfinished);
      await store.complete(unfinished, record);
    };
    const look = (status: string) => {
      const runs = new RunStore(
        () => Promise.reject(new Error()),
        Date.now,
        () => undefined,
      );
      const rows = [row('a', 1, status)];
      runs.acceptSaved({ rows, contiguous: 1, hasMore: false, skipped: 0, labels: [], changedAtMs: [] }, 1);
      return runs.watched.length;
    };
    // The part was deleted by hand, or is in use; the run failed.
    await mkdir(path.join(out, '.used.part'), { recursive: true });
    await end('gone');
    await end('used').catch(() => undefined);
    await store.complete({ id: 'used', ...about, target }, record);
    assert.equal(look('failed'), 0);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(await met(), []);
    await rm(out, { recursive: true });
    const name = (await readdir(stored)).find((one) => one.endsWith('.done.json')) ?? '';
    await rm(path.join(stored, name));
    await mkdir(path.join(stored, name));
    await end('missing');
    assert.equal(look('new'), 0);
    await until(async () => (await met()).length > 2);
    cases.dispose();
    assert.deepEqual(await met(), ['missing-disk', 'old-status', 'unrecorded']);
  });

  it('are each counted at one place of the code', async () => {
    const cases = countRareCases(files());
    const names = (await cases.line()).split(', ').map((text) => text.slice(2));
    cases.dispose();
    const text = globSync('src/**/*.ts')
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n');
    const calls = [...text.matchAll(/\bcounted\('([^']+)'/g)].map(([, name]) => name);
    assert.deepEqual(calls.sort(), names.sort());
  });
});
