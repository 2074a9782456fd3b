import path from 'node:path';
import type { Connection } from './api/client.ts';
import type { Disposable } from './base/disposable.ts';
import type { Log } from './host/log.ts';
import type { SandboxControls } from './host/sandboxAccess.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import { SCENARIOS } from './sandbox/scenarios.ts';

/** Owns the sandbox of this window: loaded and started at first use, stopped with the extension. */
export class LazySandbox implements Disposable {
  readonly #directory: string;
  readonly #log: Log;
  #sandbox: Promise<Sandbox> | undefined;

  /** @param storage the extension's storage; windows share the sandbox's database in it */
  constructor(storage: string, log: Log) {
    this.#directory = path.join(storage, 'sandbox');
    this.#log = log;
  }

  /** Its account's id, and this start's address and API key. @throws where its folder or port cannot be used */
  async start(): Promise<Connection & { accountId: string }> {
    const { accountId, baseUrl, apiKey } = await this.#started();
    return { accountId, baseUrl, apiKey };
  }

  async controls(): Promise<SandboxControls> {
    const { control } = await this.#started();
    return {
      scenarios: SCENARIOS,
      getScenario: () => control.getScenario(),
      setScenario: (wanted) => {
        const scenario = SCENARIOS.find((known) => known === wanted);
        if (scenario !== undefined) control.setScenario(scenario);
        return scenario !== undefined;
      },
      reset: () => control.reset(),
      addFunds: (cents) => control.addFunds(cents),
      getSpeed: () => control.getSpeed(),
      setSpeed: (factor) => control.setSpeed(factor),
    };
  }

  async dispose(): Promise<void> {
    const sandbox = this.#sandbox;
    this.#sandbox = undefined;
    await (await sandbox?.catch(() => undefined))?.close();
  }

  #started(): Promise<Sandbox> {
    this.#sandbox ??= this.#load().catch((error: unknown) => {
      // The next use tries again.
      this.#sandbox = undefined;
      throw error;
    });
    return this.#sandbox;
  }

  async #load(): Promise<Sandbox> {
    const { startSandbox } = await import('./sandbox/sandbox.ts');
    return startSandbox({ directory: this.#directory, log: (line) => this.#log.info(`sandbox: ${line}`) });
  }
}
