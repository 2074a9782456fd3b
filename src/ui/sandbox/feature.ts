import type { Services } from '../../services.ts';
import { COMMANDS } from '../shared/ids.ts';
import { sandboxControls } from './sandboxAccess.ts';
import { useSandbox } from './useSandbox.ts';

/** The embedded service that anyone can try: its account, and what steers it. */
export function activateSandbox(services: Services): void {
  const { accounts, disposables, registerCommands, sandbox, sessions } = services;
  const enter = useSandbox(accounts, async () => (await sandbox.start()).accountId);
  const controls = sandboxControls(
    () => sessions.active?.account.kind === 'sandbox',
    enter,
    () => sandbox.controls(),
  );
  disposables.add(registerCommands('accounts', { [COMMANDS.useSandbox]: enter }));
  disposables.add(
    registerCommands('nothing', {
      [COMMANDS.sandboxScenario]: async (scenario) =>
        (await import('./sandboxScenario.ts')).sandboxScenario(controls, sessions)(scenario),
      [COMMANDS.sandboxReset]: async () =>
        (await import('./sandboxReset.ts')).sandboxReset(controls, sessions)(),
      [COMMANDS.sandboxAddFunds]: async (amount) =>
        (await import('./sandboxAddFunds.ts')).sandboxAddFunds(controls, sessions)(amount),
      [COMMANDS.sandboxClockSpeed]: async (factor) =>
        (await import('./sandboxClockSpeed.ts')).sandboxClockSpeed(controls, sessions)(factor),
    }),
  );
}
