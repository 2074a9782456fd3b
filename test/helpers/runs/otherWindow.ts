import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ChildMethods } from '../leaseChild.ts';
import { Rpc } from '../rpc.ts';

const SCRIPT = fileURLToPath(new URL('../leaseChild.ts', import.meta.url));

/** Owns the process of another window. */
export class OtherWindow {
  readonly #child: ChildProcess = fork(SCRIPT, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  readonly #exit = once(this.#child, 'exit').then(() => this.#rpc.end(new Error('the process ended')));
  readonly #rpc = new Rpc(
    (message) => this.#child.send(message),
    () => ({}),
  );

  constructor() {
    this.#child.on('message', (message) => void this.#rpc.hear(message));
  }

  ask<Name extends keyof ChildMethods>(
    name: Name,
    ...args: Parameters<ChildMethods[Name]>
  ): Promise<unknown> {
    return this.#rpc.call(name, ...args);
  }

  /** Suspends the process, as a sleeping machine does. */
  suspend(): void {
    this.#child.kill('SIGSTOP');
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exit;
  }
}
