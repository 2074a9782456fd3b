import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { sha256Of } from '../api/support.ts';
import { startHttpsServer, type TestServer } from '../httpServer.ts';
import { WindowProcess } from './windowProcess.ts';

/** Secrets that must appear nowhere: API keys, a dataset row, and a signed URL. */
export const CANARIES = {
  apiKey: 'service_canaryKey7Qx2',
  otherApiKey: 'service_canaryKey9Zz4',
  row: 'canary row: the patient asked',
  signedUrl: 'https://storage.test/a.zip?signature=canarySig31',
} as const;

const ROWS = 2600;
const TEXT = `{"prompt":"${CANARIES.row}","completion":"to go home"}\n`.repeat(ROWS);
export const DATASET = { text: TEXT, sha256: sha256Of(TEXT), sizeBytes: Buffer.byteLength(TEXT), rows: ROWS };

/**
 * Owns the parts that all cells share: the window's bundle, idle processes, a server with an untrusted certificate,
 * a folder.
 */
export class Stage {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'crash-test-'));
  readonly #program = path.join(this.folder, 'window.cjs');
  readonly #idle: WindowProcess[] = [];
  distrusted!: TestServer;

  async start(): Promise<this> {
    await build({
      absWorkingDir: path.resolve(import.meta.dirname, '../../..'),
      entryPoints: ['test/helpers/crash/window.ts'],
      outfile: this.#program,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node22.19',
      logLevel: 'error',
    });
    this.distrusted = await startHttpsServer((_request, response) => void response.end());
    return this;
  }

  /** Returns an idle or new process. */
  take(): WindowProcess {
    return this.#idle.pop() ?? new WindowProcess(this.#program, path.join(this.folder, 'cache'));
  }

  /** Returns a process whose window was closed, for reuse. */
  giveBack(window: WindowProcess): void {
    if (!window.isOver) this.#idle.push(window);
  }

  async end(): Promise<void> {
    await Promise.all(this.#idle.map((window) => window.kill()));
    await this.distrusted.close();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
