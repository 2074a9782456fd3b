type Command = (...args: unknown[]) => Promise<void> | void;

/**
 * Guards commands that need an active account: they are hidden while signed out, but whoever calls one is told.
 * @param tell says that no account is active, and what can be done
 */
export function whenSignedIn(isSignedIn: () => boolean, tell: () => void): (command: Command) => Command {
  return (command) =>
    (...args) =>
      isSignedIn() ? command(...args) : tell();
}
