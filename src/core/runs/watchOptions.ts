import type { Clock } from '../base/clock.ts';
import type { AccountFolder } from '../accounts/accountFolder.ts';
import type { Session } from './session.ts';

/** What it takes to watch an account's runs. */
export interface WatchOptions {
  session: Session;
  folder: AccountFolder;
  /** Whether this window has the focus. */
  isFocused: () => boolean;
  /** Whether something of the account may have been charged and is not listed yet. */
  isAwaiting: () => boolean;
  /** Takes in what was submitted since the list was last told: a window may have ended before a list named it. */
  recallSubmitted: () => Promise<void>;
  clock: Clock;
  /** From 0 up to 1; for the jitter. */
  random: () => number;
  /** Told why looking or telling failed, once for each cause in a row. */
  onError: (error: unknown) => void;
}
