import type { Services } from '../../services.ts';
import { COMMANDS } from '../shared/ids.ts';
import { downloadWhenComplete, updateDownloadedFilesContext, remindBeforeExpiry } from './watchers.ts';

/** Activates adapter downloads, on request or when a run completes, and reminders before adapters expire. */
export function activateDownloads(services: Services): void {
  const { disposables, downloads, commands, sessions } = services;
  disposables.add(downloadWhenComplete(services));
  disposables.add(remindBeforeExpiry(services));
  disposables.add(updateDownloadedFilesContext(services));
  commands.add('account', {
    [COMMANDS.downloadAdapter]: async (...args) =>
      (await import('./downloadAdapter.ts')).downloadAdapter(services, ...args),
  });
  commands.add('nothing', {
    [COMMANDS.cancelDownload]: async (run) =>
      (await import('./cancelDownload.ts')).cancelDownload(sessions, downloads, run),
  });
}
