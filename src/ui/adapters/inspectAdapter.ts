import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Downloads } from '../../core/downloads/downloads.ts';
import type { DownloadRecord } from '../../core/downloads/types.ts';
import type { Session } from '../../core/runs/session.ts';
import { notifySignedOut } from '../shared/accountMessages.ts';
import { filesOf, runChoices, runIdOf } from '../shared/arguments.ts';
import { pathToInspect } from './adapterPlace.ts';
import { chooseAdapter, reportAdapterNotOnDisk, reportNotDownloaded } from './messages.ts';

/**
 * Returns the command that shows adapter pages. Call it with file URIs from the explorer, a row or a `run_id`
 * (for its downloaded archive), an absolute path, or nothing to let the user choose.
 * @param showPage opens the page of a file
 */
export function inspectAdapter(
  sessions: { active: Session | undefined },
  downloads: Pick<Downloads, 'open' | 'records'>,
  showPage: (file: string) => Promise<void>,
) {
  const show = async (file: string) => showPage(await pathToInspect(file));
  return async (argument?: unknown, selection?: unknown): Promise<void> => {
    const uris = filesOf(argument, selection);
    for (const uri of uris) {
      if (uri.scheme === 'file') await show(uri.fsPath);
      else reportAdapterNotOnDisk(path.posix.basename(uri.path));
    }
    if (uris.length > 0) return;
    const given = runIdOf(argument);
    if (given !== undefined && path.isAbsolute(given)) {
      await show(given);
      return;
    }
    const session = sessions.active;
    if (session !== undefined) await downloads.open(session.account.id);
    const records = session === undefined ? [] : downloads.records(session.account.id);
    if (given === undefined) {
      const existing = records.filter((record) => existsSync(record.path));
      const names = new Map(session && runChoices(session).map(({ runId, name }) => [runId, name]));
      const chosen = await chooseAdapter(
        existing.map(({ path: file, runId }) => ({ file, description: names.get(runId) ?? runId })),
      );
      if (chosen !== undefined) await show(chosen);
    } else if (session === undefined) notifySignedOut();
    else {
      const found = fileOf(given, session, records);
      if (typeof found === 'string') await show(found);
      else reportNotDownloaded(given, found.missing);
    }
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
  const adapters = ofRun.filter(({ artifactType }) => artifactType === 'model');
  const known = adapters.length > 0 ? adapters : ofRun;
  const present = known.filter(({ path: file }) => existsSync(file));
  const existing = present.find(({ verified }) => verified !== 'damaged') ?? present[0];
  if (existing !== undefined) return existing.path;
  const [newest] = known;
  if (newest !== undefined) return { missing: { gone: newest.path } };
  const run = session.runs.rows?.find(({ run_id }) => run_id === runId);
  return { missing: run?.artifacts_available === false ? 'not-yet' : 'never' };
}
