import type { Services } from '../../services.ts';
import { COMMANDS } from '../shared/ids.ts';
import { AdapterPanels } from './adapterPanels.ts';

/** What an adapter is, and how it is used: its page. */
export function activateAdapters(services: Services): void {
  const { context, disposables, dist, downloads, log, registerCommands, sessions } = services;
  const adapters = async () =>
    (await import('../../core/adapters/adapterRoom.ts')).createAdapterRoom(dist('measureWorker.cjs'));
  const panels = disposables.add(new AdapterPanels(context.extensionUri, adapters, log));
  disposables.add(
    registerCommands('nothing', {
      [COMMANDS.inspectAdapter]: async (...args) =>
        (await import('./inspectAdapter.ts')).inspectAdapter(sessions, downloads, (file) =>
          panels.show(file),
        )(...args),
    }),
  );
}
