import path from 'node:path';
import type { Disposable } from '../../core/base/disposable.ts';
import { CancelledError, ExpectedError } from '../../core/base/errors.ts';
import type { SandboxControl } from '../../sandbox/control.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { Scenario } from '../../sandbox/scenarios.ts';
import type { Log } from '../shared/log.ts';

/** The sandbox could not be started; the log has the reason. */
export class SandboxNotStartedError extends ExpectedError {
  readonly code = 'sandbox-not-started';

  constructor() {
    super('sandbox-not-started');
  }
}

/** Owns the sandbox of this window: loads and starts it at the first use, stops it with the extension. */
export class LazySandbox implements Disposable {
  readonly #directory: string;
  readonly #log: Pick<Log, 'info' | 'error'>;
  #sandbox: Promise<Sandbox> | undefined;
  #control: SandboxControl | undefined;
  #disposed = false;

  /** @param storage the extension's storage folder, where windows share the sandbox's database */
  constructor(storage: string, log: Pick<Log, 'info' | 'error'>) {
    this.#directory = path.join(storage, 'sandbox');
    this.#log = log;
  }

  /** Resolves when the sandbox is running. @throws SandboxNotStartedError, CancelledError */
  start(): Promise<Sandbox> {
    if (this.#disposed) return Promise.reject(new CancelledError());
    this.#sandbox ??= this.#start().catch((error: unknown) => {
      // The next use retries.
      this.#sandbox = undefined;
      if (this.#disposed) throw new CancelledError();
      this.#log.error('sandbox-not-started', error);
      throw new SandboxNotStartedError();
    });
    return this.#sandbox;
  }

  /** The fault that is on; undefined if none is known. */
  get fault(): Exclude<Scenario, 'none'> | undefined {
    try {
      const scenario = this.#control?.getScenario();
      return scenario === 'none' ? undefined : scenario;
    } catch {
      // Its database is closed, or another window writes to it.
      return undefined;
    }
  }

  /** Never rejects: during deactivation, nobody could handle the error. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    await this.#sandbox?.then((sandbox) => sandbox.close()).catch(() => undefined);
  }

  async #start(): Promise<Sandbox> {
    const { startSandbox } = await import('../../sandbox/sandbox.ts');
    const log = (line: string) => this.#log.info(`sandbox: ${line}`);
    const sandbox = await startSandbox({ directory: this.#directory, log });
    this.#control = sandbox.control;
    return sandbox;
  }
}
