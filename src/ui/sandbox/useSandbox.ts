import { accountWords, tellSandboxInUse } from '../accounts/messages.ts';
import type { AccountStore } from '../../core/accounts/accountStore.ts';

/** Makes the sandbox the active account. @param sandboxId starts the sandbox if need be */
export function useSandbox(accounts: AccountStore, sandboxId: () => Promise<string>) {
  return async (): Promise<void> => {
    await accounts.save({ kind: 'sandbox', id: await sandboxId(), name: accountWords.sandboxName() });
    tellSandboxInUse();
  };
}
