import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ChildRequest } from '../journalChild.ts';

const SCRIPT = fileURLToPath(new URL('../journalChild.ts', import.meta.url));

/** Another window's process. */
export class OtherWindow {
  readonly #child: ChildProcess = fork(SCRIPT, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  readonly #exit = once(this.#child, 'exit');

  async ask(request: ChildRequest): Promise<unknown> {
    const answered = once(this.#child, 'message') as Promise<[{ value?: unknown; error?: string }]>;
    this.#child.send(request);
    const [{ value, error }] = await Promise.race([
      answered,
      this.#exit.then(() => {
        throw new Error('the process ended');
      }),
    ]);
    if (error !== undefined) throw new Error(error);
    return value;
  }

  /** Stops it from running, as a machine that sleeps does. */
  suspend(): void {
    this.#child.kill('SIGSTOP');
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exit;
  }
}
