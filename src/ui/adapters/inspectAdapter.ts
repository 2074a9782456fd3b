import { existsSync } from 'node:fs';
import path from 'node:path';
import { commands, l10n, window } from 'vscode';
import type { Account } from '../../core/accounts/account.ts';
import type { DownloadRecord, Downloads } from '../../core/downloads/downloads.ts';
import { isAdapter } from '../../core/downloads/localFiles.ts';
import type { Session } from '../../core/runs/session.ts';
import { notifySignedOut } from '../shared/activeAccount.ts';
import { filesOf, runChoices, runIdOf } from '../shared/arguments.ts';
import type { CommandResult } from '../shared/commands.ts';
import { notOnDisk } from '../shared/datasetTexts.ts';
import { COMMANDS } from '../shared/ids.ts';
import { notify, showError, showInformation } from '../shared/notifications.ts';
import { chooseFolder } from '../shared/open.ts';
import { pick, type PickRow } from '../shared/steps.ts';
import { TERMS } from '../shared/terms.ts';
import { pathToInspect } from './adapterPlace.ts';

/**
 * Returns the command that shows adapter pages. It accepts file URIs from the Explorer, an absolute path, or the row
 * or `run_id` of a run whose archive was downloaded. Without an argument, the user chooses. The fragment of a URI
 * names the block of the recipes to show.
 * @param showPage opens the page of a file, at a block unless that is empty
 */
export function inspectAdapter(
  accounts: { accounts: readonly Pick<Account, 'id' | 'name'>[] },
  sessions: { active: Session | undefined },
  downloads: Pick<Downloads, 'open' | 'records'>,
  showPage: (file: string, block: string) => Promise<void>,
) {
  const show = async (file: string, block = '') => showPage(await pathToInspect(file), block);
  return async (argument?: unknown, selection?: unknown): Promise<CommandResult | undefined> => {
    const uris = filesOf(argument, selection);
    for (const uri of uris) {
      if (uri.scheme === 'file') await show(uri.fsPath, uri.fragment);
      else void showError(notOnDisk(path.posix.basename(uri.path)));
    }
    if (uris.length > 0)
      return { outcome: uris.every(({ scheme }) => scheme === 'file') ? 'done' : 'failed' };
    const given = runIdOf(argument);
    if (given !== undefined && path.isAbsolute(given)) {
      await show(given);
      return undefined;
    }
    const session = sessions.active;
    if (given === undefined) {
      const chosen = await chooseAdapter(await downloadedAdapters(accounts.accounts, session, downloads));
      if (chosen === undefined) return { outcome: 'cancelled' };
      await show(chosen);
      return { outcome: 'done' };
    }
    if (session !== undefined) await downloads.open(session.account.id);
    const found = session && fileOf(given, session, downloads.records(session.account.id));
    if (typeof found === 'string') {
      await show(found);
      return { outcome: 'done', id: given };
    }
    if (found === undefined) notifySignedOut();
    else reportNotDownloaded(given, found.missing);
    return { outcome: 'unavailable', id: given };
  };
}

/** Returns the downloaded archive of a run, or why there is none. */
function fileOf(
  runId: string,
  session: Session,
  records: readonly DownloadRecord[],
): string | { missing: 'never' | 'not-yet' | { gone: string } } {
  const ofRun = records.filter((record) => record.runId === runId && record.verified !== 'html');
  // A run can also have artifacts of other types.
  const adapters = ofRun.filter(({ artifactType }) => isAdapter(artifactType));
  const known = adapters.length > 0 ? adapters : ofRun;
  const present = known.filter(({ path: file }) => existsSync(file));
  const existing = present.find(({ verified }) => verified !== 'damaged') ?? present[0];
  if (existing !== undefined) return existing.path;
  const [newest] = known;
  if (newest !== undefined) return { missing: { gone: newest.path } };
  const run = session.runs.rows?.find(({ run_id }) => run_id === runId);
  return { missing: run?.artifacts_available === false ? 'not-yet' : 'never' };
}

/** Returns the downloads of all accounts that still exist, the active account's first. */
async function downloadedAdapters(
  accounts: readonly Pick<Account, 'id' | 'name'>[],
  session: Session | undefined,
  downloads: Pick<Downloads, 'open' | 'records'>,
): Promise<{ file: string; description: string }[]> {
  await Promise.all(accounts.map(({ id }) => downloads.open(id)));
  const names = new Map(session && runChoices(session).map(({ runId, name }) => [runId, name]));
  const isActive = ({ id }: { id: string }) => Number(id === session?.account.id);
  return accounts
    .toSorted((one, other) => isActive(other) - isActive(one))
    .flatMap(({ id, name }) => downloads.records(id).map((record) => ({ ...record, name })))
    .filter((record) => existsSync(record.path))
    .map(({ path: file, runId, name }) => ({ file, description: names.get(runId) ?? `${runId} · ${name}` }));
}

/** Lets the user choose a downloaded adapter, or a file or folder. @returns undefined when canceled */
async function chooseAdapter(
  downloaded: readonly { file: string; description: string }[],
): Promise<string | undefined> {
  const items: PickRow<'file' | 'folder' | { file: string }>[] = [
    ...downloaded.map(({ file, description }) => ({
      icon: 'package',
      label: path.basename(file),
      description,
      detail: path.dirname(file),
      value: { file },
    })),
    {
      icon: 'file-zip',
      label: l10n.t('Choose a File…'),
      description: l10n.t('ZIP, tar, tar.gz or safetensors'),
      value: 'file',
    },
    {
      icon: 'folder',
      label: TERMS.chooseFolder,
      description: l10n.t('an unpacked adapter'),
      value: 'folder',
    },
  ];
  const answer = await pick({ title: l10n.t('Inspect an Adapter') }, { items });
  if (answer.kind !== 'value') return undefined;
  if (typeof answer.value === 'object') return answer.value.file;
  if (answer.value === 'folder') return chooseFolder(l10n.t('Choose an Adapter Folder'), TERMS.inspect);
  const chosen = await window.showOpenDialog({
    title: l10n.t('Choose an Adapter'),
    openLabel: TERMS.inspect,
    filters: {
      [l10n.t('Adapters')]: ['zip', 'safetensors', 'tar', 'tgz', 'gz'],
      [TERMS.allFiles]: ['*'],
    },
  });
  return chosen?.[0]?.fsPath;
}

/** Reports that a run's adapter is not on this disk, and offers the download if there is one. */
function reportNotDownloaded(runId: string, why: 'never' | 'not-yet' | { gone: string }): void {
  if (why === 'not-yet') {
    void showInformation(l10n.t('This run has no adapter yet, or it has expired.'));
    return;
  }
  const text =
    why === 'never'
      ? l10n.t('This run’s adapter hasn’t been downloaded.')
      : l10n.t('This run’s adapter was moved or deleted: {0}', why.gone);
  notify(showInformation, text, {
    [TERMS.downloadAdapter]: () => commands.executeCommand(COMMANDS.downloadAdapter, runId),
  });
}
