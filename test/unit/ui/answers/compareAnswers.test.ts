import assert from 'node:assert/strict';
import { link, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import type { ModuleHooks } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { writtenAnswer } from '../../../helpers/answers.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';

describe('Compare with Other Answers', () => {
  let hooks: ModuleHooks;
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');
  let folder: string;
  const opened: string[][] = [];
  const at = (name: string) => path.join(folder, name);
  const uri = (name: string) => standIn.Uri.file(at(name));

  before(async () => {
    hooks = standInForVscode();
    standIn = await import('../../../helpers/vscodeStandIn.ts');
    folder = await mkdtemp(path.join(tmpdir(), 'compare-'));
    for (const [seconds, name] of ['old.jsonl', 'new.jsonl', 'newest.jsonl'].entries()) {
      await writeFile(at(name), `${writtenAnswer()}\n`);
      await utimes(at(name), 1_000, 1_000 + seconds);
    }
    await link(at('old.jsonl'), at('linked.jsonl'));
    await symlink(at('old.jsonl'), at('symlink.jsonl'));
    await writeFile(at('dataset.jsonl'), '{"text":"a"}\n');
  });
  after(async () => {
    hooks.deregister();
    await rm(folder, { recursive: true });
  });
  beforeEach(() => standIn.forget());

  async function run(...args: unknown[]) {
    const { compact } = await import('../../../../src/ui/shared/format.ts');
    const { compareTwoAnswers } = await import('../../../../src/ui/answers/compareAnswers.ts');
    opened.length = 0;
    const { outcome } = await compareTwoAnswers(
      (...files) => Promise.resolve(void opened.push(compact(...files))),
      ...args,
    );
    return [outcome, ...opened.flat().map((file) => path.basename(file)), ...standIn.shown.sentences];
  }
  const SAME = ['failed', 'This is the same file. Choose a different one.'];

  it('opens two files in their order, but two selected ones by age', async () => {
    const [old, one] = [uri('old.jsonl'), uri('new.jsonl')];
    assert.deepEqual(await run(old, one), ['done', 'old.jsonl', 'new.jsonl']);
    assert.deepEqual(await run(one, old), ['done', 'new.jsonl', 'old.jsonl']);
    for (const selection of [
      [old, one],
      [one, old],
    ])
      assert.deepEqual(await run(one, selection), ['done', 'old.jsonl', 'new.jsonl']);
  });

  it('asks for missing files, and offers only other files of answers', async () => {
    standIn.shown.found = ['old.jsonl', 'dataset.jsonl', 'newest.jsonl', 'new.jsonl'].map(at);
    standIn.shown.pick = () => 'newest';
    assert.deepEqual(await run(uri('old.jsonl'), [uri('old.jsonl')]), ['done', 'old.jsonl', 'newest.jsonl']);
    const [input] = standIn.shown.inputs;
    assert.deepEqual(
      input?.items.map(({ label }) => label.replace(/^\S+ /, '')),
      ['new.jsonl', 'newest.jsonl', 'Choose Another File…'],
    );
    standIn.shown.inputs.length = 0;
    standIn.shown.pick = ({ items }) => items[standIn.shown.inputs.length - 1]?.label;
    assert.deepEqual(await run(), ['done', 'new.jsonl', 'old.jsonl']);
    assert.deepEqual(
      standIn.shown.inputs.map(({ title }) => title),
      ['Choose Answers to Compare', 'Choose Answers to Compare with new.jsonl'],
    );
  });

  it('ends if nothing is chosen', async () => {
    standIn.shown.found = [at('new.jsonl'), at('old.jsonl')];
    assert.deepEqual(await run(), ['cancelled']);
    assert.deepEqual(await run(uri('old.jsonl')), ['cancelled']);
  });

  it('refuses the same file twice, and a file that isn’t on the disk', async () => {
    for (const other of ['old.jsonl', 'linked.jsonl', 'symlink.jsonl']) {
      standIn.forget();
      assert.deepEqual(await run(uri('old.jsonl'), uri(other)), SAME, other);
    }
    standIn.forget();
    assert.deepEqual(await run(uri('gone.jsonl'), uri('gone.jsonl')), SAME);
    standIn.forget();
    const [outcome, sentence] = await run(uri('old.jsonl'), new standIn.Uri('/x.jsonl', 'vscode-remote'));
    assert.deepEqual([outcome, sentence?.includes('x.jsonl')], ['failed', true]);
    // The page reports missing files.
    standIn.forget();
    assert.deepEqual(await run(uri('old.jsonl'), uri('gone.jsonl')), ['done', 'old.jsonl', 'gone.jsonl']);
  });
});
