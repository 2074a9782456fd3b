import type { Services } from '../../services.ts';
import { COMMANDS } from '../shared/ids.ts';
import { inBackground } from '../shared/log.ts';

/** After this delay, a window has finished starting. */
const REST_MS = 2_000;

/** The walkthrough, diagnostics, and support commands. */
export function activateHelp(services: Services): void {
  const { context, disposables, log, commands } = services;
  const walkthrough = () => import('./walkthrough.ts');
  commands.add('nothing', {
    [COMMANDS.openWalkthrough]: async () => (await walkthrough()).openWalkthrough(context),
    [COMMANDS.openSampleDataset]: async () => (await walkthrough()).openSampleDataset(context),
    [COMMANDS.diagnoseConnection]: async () =>
      (await import('./diagnoseConnection.ts')).diagnoseConnection(services),
    [COMMANDS.copySupportInfo]: async () => (await import('./supportInfo.ts')).copySupportInfo(services),
    [COMMANDS.reportIssue]: async () => (await import('./supportInfo.ts')).reportIssue(services),
    [COMMANDS.showLog]: () => log.show(),
  });
  const timer = setTimeout(
    () =>
      inBackground(
        log,
        walkthrough().then((loaded) => loaded.startWalkthrough(services)),
      ),
    REST_MS,
  );
  disposables.add({ dispose: () => clearTimeout(timer) });
}
