import type { Services } from '../../services.ts';
import { accountWords } from '../shared/accountMessages.ts';
import { COMMANDS } from '../shared/ids.ts';
import { offerSandbox, notifySandboxInUse } from './messages.ts';

/** The embedded service that anyone can try: its account, and what controls it. */
export function activateSandbox(services: Services): void {
  const { accounts, disposables, registerCommands, sandbox, sessions } = services;
  const useSandbox = async () => {
    const { accountId } = await sandbox.start();
    await accounts.save({ kind: 'sandbox', id: accountId, name: accountWords.sandboxName() });
    notifySandboxInUse();
  };
  type Commands = typeof import('./commands.ts');
  /** Runs a command on the sandbox, if it is the active account or the user agrees to switch to it. */
  const onSandbox = (name: keyof Commands) => async (argument: unknown) => {
    if (sessions.active?.account.kind !== 'sandbox') {
      if (!(await offerSandbox())) return;
      await useSandbox();
    }
    const commands = await import('./commands.ts');
    await commands[name](await sandbox.control(), sessions, argument);
  };
  disposables.add(registerCommands('accounts', { [COMMANDS.useSandbox]: useSandbox }));
  disposables.add(
    registerCommands('nothing', {
      [COMMANDS.sandboxScenario]: onSandbox('setScenario'),
      [COMMANDS.sandboxReset]: onSandbox('reset'),
      [COMMANDS.sandboxAddFunds]: onSandbox('addFunds'),
      [COMMANDS.sandboxClockSpeed]: onSandbox('setClockSpeed'),
    }),
  );
}
