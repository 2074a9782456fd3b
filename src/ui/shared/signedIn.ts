type Command = (...args: unknown[]) => Promise<void> | void;

/** Lets commands read the accounts again that could not be read. @throws AccountsUnreadableError where they still cannot be */
export function whenAccountsRead(accounts: {
  readonly isUnreadable: boolean;
  open(): Promise<void>;
}): (command: Command) => Command {
  return (command) =>
    async (...args) => {
      if (accounts.isUnreadable) await accounts.open();
      await command(...args);
    };
}

/**
 * Guards commands that need an active account: they are hidden while signed out, but whoever calls one is told.
 * @param tell says that no account is active, and what can be done
 */
export function whenSignedIn(isSignedIn: () => boolean, tell: () => void): (command: Command) => Command {
  return (command) =>
    (...args) =>
      isSignedIn() ? command(...args) : tell();
}
