import { ExpectedError } from '../../core/base/errors.ts';

/** The sandbox could not be started; the log has the reason. */
export class SandboxNotStartedError extends ExpectedError {
  readonly code = 'sandbox-not-started';

  constructor() {
    super('the sandbox could not be started');
  }
}
