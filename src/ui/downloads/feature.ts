import type { Services } from '../../services.ts';
import { COMMANDS } from '../shared/ids.ts';
import { downloadWhenComplete, offerInterruptedDownloads, remindBeforeExpiry } from './watchers.ts';

/** Downloading adapters: on request, when a run completes, and a reminder before they expire. */
export function activateDownloads(services: Services): void {
  const { disposables, downloads, registerCommands, sessions } = services;
  for (const watch of [downloadWhenComplete, offerInterruptedDownloads, remindBeforeExpiry])
    disposables.add(watch(services));
  disposables.add(
    registerCommands('account', {
      [COMMANDS.downloadAdapter]: async (...args) =>
        (await import('./downloadAdapter.ts')).downloadAdapter(sessions, downloads, ...args),
    }),
  );
  disposables.add(
    registerCommands('nothing', {
      [COMMANDS.cancelDownload]: async (run) =>
        (await import('./downloadAdapter.ts')).cancelDownload(sessions, downloads, run),
    }),
  );
}
