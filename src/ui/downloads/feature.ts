import type { Services } from '../../services.ts';
import { COMMANDS } from '../shared/ids.ts';
import { downloadWhenComplete, keepDownloadedFiles, remindBeforeExpiry } from './watchers.ts';

/** Downloading adapters: on request, when a run completes, and a reminder before they expire. */
export function activateDownloads(services: Services): void {
  const { disposables, downloads, log, registerCommands, sessions, ledger } = services;
  const claim = (accountId: string, runId: string, what: string) => ledger.claim(accountId, runId, what);
  const watched = { sessions, downloads, claim };
  disposables.add(downloadWhenComplete({ ...watched, log }));
  disposables.add(remindBeforeExpiry({ ...watched, log }));
  disposables.add(keepDownloadedFiles(sessions, downloads));
  disposables.add(
    registerCommands('account', {
      [COMMANDS.downloadAdapter]: async (...args) =>
        (await import('./downloadAdapter.ts')).downloadAdapter(services, ...args),
    }),
  );
  disposables.add(
    registerCommands('nothing', {
      [COMMANDS.cancelDownload]: async (run) =>
        (await import('./downloadAdapter.ts')).cancelDownload(sessions, downloads, run),
    }),
  );
}
