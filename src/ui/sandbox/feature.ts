import type { Services } from '../../services.ts';
import { COMMANDS } from '../shared/ids.ts';

/** The sandbox account, and the commands that control it. */
export function activateSandbox(services: Services): void {
  const { commands } = services;
  const load = () => import('./commands.ts');
  commands.add('accounts', {
    [COMMANDS.useSandbox]: async () => (await load()).useSandbox(services),
  });
  commands.add('nothing', {
    [COMMANDS.sandboxScenario]: async (scenario) => (await load()).setScenario(services, scenario),
    [COMMANDS.sandboxReset]: async () => (await load()).reset(services),
    [COMMANDS.sandboxAddFunds]: async (cents) => (await load()).addFunds(services, cents),
    [COMMANDS.sandboxClockSpeed]: async (speed) => (await load()).setClockSpeed(services, speed),
  });
}
