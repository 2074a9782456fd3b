import { ExpectedError } from '../base/errors.ts';

/** Another window replaced the API key of an account, and this window has the previous one until it is reloaded. */
export class KeyOutdatedError extends ExpectedError {
  readonly code = 'key-outdated';

  constructor() {
    super('another window replaced the API key');
  }
}

/** Another window stored or deleted API keys, which a write by this window would undo. */
export class KeysChangedError extends ExpectedError {
  readonly code = 'keys-changed';

  constructor() {
    super('another window changed the API keys');
  }
}
