import type { Services } from '../../services.ts';
import { COMMANDS } from '../shared/ids.ts';
import { notificationsSetting } from '../shared/settings.ts';
import { AutoDownloads } from './autoDownloads.ts';
import { InterruptedDownloads } from './interruptedDownloads.ts';
import { ReminderWatch } from './reminderWatch.ts';

/** Bringing adapters home: on request, when a run completes, and a reminder before they expire. */
export function activateDownloads(services: Services): void {
  const { disposables, downloads, log, registerCommands, sessions, told } = services;
  const beActive = services.ensureActiveAccount;
  const isQuiet = () => notificationsSetting() === 'badge';
  disposables.add(new AutoDownloads({ sessions, downloads, told, log, beActive, isQuiet }));
  disposables.add(new InterruptedDownloads({ sessions, downloads, told, beActive }));
  disposables.add(new ReminderWatch({ sessions, downloads, told, beActive }));
  disposables.add(
    registerCommands('account', {
      [COMMANDS.downloadAdapter]: async (run) =>
        (await import('./downloadAdapter.ts')).downloadAdapter(sessions, downloads)(run),
    }),
  );
  disposables.add(
    registerCommands('nothing', {
      [COMMANDS.cancelDownload]: async (run) =>
        (await import('./cancelDownload.ts')).cancelDownload(sessions, downloads)(run),
    }),
  );
}
