import type { Services } from '../../services.ts';
import { COMMANDS } from '../shared/ids.ts';

/** What helps when something went wrong. */
export function activateHelp({ disposables, log, registerCommands }: Services): void {
  disposables.add(registerCommands('nothing', { [COMMANDS.showLog]: () => log.show() }));
}
