import { lstat, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { commands, l10n, Uri, workspace } from 'vscode';
import type { CommandResult } from '../shared/commands.ts';
import { notify, showError, showInformation } from '../shared/notifications.ts';
import { pick } from '../shared/steps.ts';
import { Refusal } from './answer.ts';
import { insideWorkspace } from './places.ts';

/** Where other agents look for skills, in a folder of the workspace. */
const PLACES = ['.agents/skills', '.claude/skills'] as const;
const SKILL = 'fine-tuning/SKILL.md';

/** Copies the skill for agents into the workspace. Never writes over a file, nor outside the workspace. */
export async function copySkill(extensionPath: string): Promise<CommandResult> {
  const folders = (workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
  if (folders.length === 0 || !workspace.isTrusted) {
    void showInformation(l10n.t('First open a folder that you trust. The skill will be copied there.'));
    return { outcome: 'unavailable' };
  }
  const answer = await pick(
    { title: l10n.t('Copy the Skill for Other Agents') },
    {
      placeholder: l10n.t('Existing files aren’t replaced.'),
      items: folders.flatMap(({ name, uri }) =>
        PLACES.map((place) => ({
          icon: 'folder',
          label: place,
          ...(folders.length > 1 && { description: name }),
          value: path.join(uri.fsPath, place, SKILL),
        })),
      ),
    },
  );
  if (answer.kind !== 'value') return { outcome: 'cancelled' };
  return write(await readFile(path.join(extensionPath, 'media/skills', SKILL)), answer.value);
}

async function write(skill: Uint8Array, target: string): Promise<CommandResult> {
  const open = { [l10n.t('Open')]: () => commands.executeCommand('vscode.open', Uri.file(target)) };
  const shown = workspace.asRelativePath(target);
  try {
    await insideWorkspace(await firstExisting(target));
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, skill, { flag: 'wx' });
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && syscall === 'open') {
      notify(showInformation, l10n.t('{0} already exists and wasn’t replaced.', shown), open);
      return { outcome: 'unavailable' };
    }
    void showError(
      error instanceof Refusal
        ? l10n.t('Nothing was written: {0} is outside the workspace.', shown)
        : l10n.t('Nothing was written: {0} couldn’t be created.', shown),
    );
    return { outcome: 'failed' };
  }
  notify(showInformation, l10n.t('Created {0}.', shown), open);
  return { outcome: 'done' };
}

/** Returns the path or its nearest existing ancestor. A dangling link counts as existing. */
async function firstExisting(target: string): Promise<string> {
  const isThere = await lstat(target).then(
    () => true,
    () => false,
  );
  // A missing drive has no parent folder.
  return isThere || path.dirname(target) === target ? target : firstExisting(path.dirname(target));
}
