import type { Services } from '../../services.ts';
import { COMMANDS } from '../shared/ids.ts';
import { notificationsSetting } from '../shared/settings.ts';
import { downloadWhenComplete } from './autoDownloads.ts';
import { offerInterruptedDownloads } from './interruptedDownloads.ts';
import { remindBeforeExpiry } from './reminders.ts';

/** Downloading adapters: on request, when a run completes, and a reminder before they expire. */
export function activateDownloads(services: Services): void {
  const { disposables, downloads, ensureActiveAccount, log, registerCommands, sessions, ledger } = services;
  const isQuiet = () => notificationsSetting() === 'badge';
  const claim = (accountId: string, runId: string, what: string) => ledger.claim(accountId, runId, what);
  disposables.add(downloadWhenComplete({ sessions, downloads, claim, log, isQuiet }));
  disposables.add(offerInterruptedDownloads({ sessions, downloads, claim, ensureActiveAccount }));
  disposables.add(remindBeforeExpiry({ sessions, downloads, claim }));
  disposables.add(
    registerCommands('account', {
      [COMMANDS.downloadAdapter]: async (...args) =>
        (await import('./downloadAdapter.ts')).downloadAdapter(sessions, downloads, ...args),
    }),
  );
  disposables.add(
    registerCommands('nothing', {
      [COMMANDS.cancelDownload]: async (run) =>
        (await import('./cancelDownload.ts')).cancelDownload(sessions, downloads, run),
    }),
  );
}
