import path from 'node:path';
import type { Connection } from '../../core/api/client.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import { CancelledError, ExpectedError } from '../../core/base/errors.ts';
import type { SandboxControl } from '../../sandbox/control.ts';
import type { Sandbox, SandboxOptions } from '../../sandbox/sandbox.ts';
import type { Log } from '../shared/log.ts';

type Load = () => Promise<{ startSandbox: (options: SandboxOptions) => Promise<Sandbox> }>;

/** The sandbox could not be started; the log has the reason. */
export class SandboxNotStartedError extends ExpectedError {
  readonly code = 'sandbox-not-started';

  constructor() {
    super('sandbox-not-started');
  }
}

/** Owns the sandbox of this window: loaded and started at first use, stopped with the extension. */
export class LazySandbox implements Disposable {
  readonly #directory: string;
  readonly #log: Pick<Log, 'info' | 'error'>;
  readonly #load: Load;
  #sandbox: Promise<Sandbox> | undefined;
  #disposed = false;

  /**
   * @param storage the extension's storage; windows share the sandbox's database in it
   * @param load loads the sandbox's code
   */
  constructor(
    storage: string,
    log: Pick<Log, 'info' | 'error'>,
    load: Load = () => import('../../sandbox/sandbox.ts'),
  ) {
    this.#directory = path.join(storage, 'sandbox');
    this.#log = log;
    this.#load = load;
  }

  /** Its account's id, and this start's address and API key. @throws SandboxNotStartedError, CancelledError */
  async start(): Promise<Connection & { accountId: string }> {
    const { accountId, baseUrl, apiKey } = await this.#started();
    // It is one account, whichever API key each start makes.
    return { accountId, baseUrl, apiKey, keyId: 'sandbox' };
  }

  /** @throws SandboxNotStartedError, CancelledError */
  async control(): Promise<SandboxControl> {
    return (await this.#started()).control;
  }

  /** Never rejects: at the end of the extension nobody could do anything about it. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    try {
      await (await this.#sandbox)?.close();
    } catch {
      // It did not start, was closed right after its start, or cannot be closed.
    }
  }

  #started(): Promise<Sandbox> {
    if (this.#disposed) return Promise.reject(new CancelledError());
    this.#sandbox ??= this.#start().catch((error: unknown) => {
      // The next use tries again.
      this.#sandbox = undefined;
      throw error;
    });
    return this.#sandbox;
  }

  async #start(): Promise<Sandbox> {
    let sandbox: Sandbox;
    try {
      const { startSandbox } = await this.#load();
      sandbox = await startSandbox({
        directory: this.#directory,
        log: (line) => this.#log.info(`sandbox: ${line}`),
      });
    } catch (error) {
      if (this.#disposed) throw new CancelledError();
      this.#log.error('sandbox-not-started', error);
      throw new SandboxNotStartedError();
    }
    if (!this.#disposed) return sandbox;
    await sandbox.close();
    throw new CancelledError();
  }
}
