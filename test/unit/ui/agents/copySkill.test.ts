import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { useFolder } from '../../../helpers/folder.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { copySkill } = await withVscode(() => import('../../../../src/ui/agents/copySkill.ts'));
const ROOT = new URL('../../../../', import.meta.url).pathname;

describe('Copy Skill for Other Agents', () => {
  const folder = useFolder();
  let root: string;

  beforeEach(async () => {
    standIn.forget();
    root = path.join(folder(), 'workspace');
    await mkdir(root);
    standIn.workspace.workspaceFolders = [{ name: 'w', uri: standIn.Uri.file(root) }];
    standIn.shown.pick = () => '.claude/skills';
  });
  afterEach(() => {
    standIn.workspace.workspaceFolders = undefined;
    standIn.workspace.isTrusted = true;
  });

  it('writes the skill, and never over a file', async () => {
    const target = path.join(root, '.claude/skills/fine-tuning/SKILL.md');
    assert.deepEqual(await copySkill(ROOT), { outcome: 'done' });
    assert.equal(
      readFileSync(target, 'utf8'),
      readFileSync(path.join(ROOT, 'media/skills/fine-tuning/SKILL.md'), 'utf8'),
    );
    await writeFile(target, 'mine');
    assert.deepEqual(await copySkill(ROOT), { outcome: 'unavailable' });
    assert.equal(readFileSync(target, 'utf8'), 'mine');
    assert.deepEqual(standIn.shown.sentences, [
      'Created SKILL.md.',
      'SKILL.md already exists and wasn’t replaced.',
    ]);
  });

  it('writes nothing through links that lead out, into untrusted folders, or without one', async () => {
    const outside = path.join(folder(), 'outside');
    await mkdir(outside);
    for (const link of ['.claude', '.claude/skills', '.claude/skills/fine-tuning/SKILL.md']) {
      await rm(path.join(root, '.claude'), { recursive: true, force: true });
      await mkdir(path.join(root, path.dirname(link)), { recursive: true });
      // The last one leads to a file that doesn't exist.
      await symlink(link.endsWith('.md') ? path.join(outside, 'x.md') : outside, path.join(root, link));
      assert.deepEqual(await copySkill(ROOT), { outcome: 'failed' }, link);
    }
    assert.deepEqual(await readdir(outside), []);
    assert.ok(!existsSync(path.join(outside, 'x.md')));
    standIn.workspace.isTrusted = false;
    assert.deepEqual(await copySkill(ROOT), { outcome: 'unavailable' });
    standIn.workspace.workspaceFolders = undefined;
    assert.deepEqual(await copySkill(ROOT), { outcome: 'unavailable' });
  });
});
