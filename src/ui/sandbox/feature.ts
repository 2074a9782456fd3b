import type { Services } from '../../services.ts';
import { COMMANDS } from '../shared/ids.ts';
import { LazySandbox } from './lazySandbox.ts';
import { faultsBehind, shownFault } from './offeredScenarios.ts';

/** The sandbox account, and the commands that control it. */
export function activateSandbox(services: Services): void {
  const { commands, context, disposables, log, sandboxConnection, sandboxFault } = services;
  const sandbox = disposables.add(new LazySandbox(context.globalStorageUri.fsPath, log));
  sandboxConnection.provide(async () => {
    const { baseUrl, apiKey } = await sandbox.start();
    // The sandbox is one account, although each start creates another API key.
    return { baseUrl, apiKey, keyId: 'sandbox' };
  });
  sandboxFault.provide(({ kind }, cause) => {
    const { fault } = sandbox;
    if (kind !== 'sandbox' || fault === undefined) return undefined;
    const meant = cause !== undefined && 'error' in cause ? faultsBehind(cause.error) : (cause ?? [fault]);
    return meant.includes(fault) ? shownFault(fault) : undefined;
  });
  const parts = { ...services, sandbox };
  const load = () => import('./commands.ts');
  commands.add('accounts', {
    [COMMANDS.useSandbox]: async () => (await load()).useSandbox(parts),
  });
  commands.add('nothing', {
    [COMMANDS.sandbox]: async (...args) => (await load()).controlSandbox(parts, ...args),
  });
}
