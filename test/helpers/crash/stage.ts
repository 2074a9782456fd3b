import { mkdtemp, rm } from 'node:fs/promises';
import type http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { startHttpsServer, type TestServer } from '../httpServer.ts';
import { sha256 } from './uploadProbe.ts';
import { WindowProcess } from './windowProcess.ts';

/** What must be found nowhere: parts of the API key, of the dataset's rows, and of a signed URL. */
export const CANARIES = {
  apiKey: 'service_canaryKey7Qx2',
  otherApiKey: 'service_canaryKey9Zz4',
  row: 'canary row: the patient asked',
  signedUrl: 'https://storage.test/a.zip?signature=canarySig31',
} as const;

/** What a hostile service says back to a sender. */
export function echoTo(authorization: string): string {
  return `${CANARIES.row} ${authorization.replace(/^Bearer /, '')} ${CANARIES.signedUrl}`;
}

const ROWS = 2600;

/** What all cells share: the bundled program, a server with a certificate that nobody trusts, a folder, a dataset. */
export class Stage {
  readonly folder: string;
  /** The program of a window, and what it computes digests with: bundled, so that a process starts in a few milliseconds. */
  readonly window: string;
  readonly digestWorker: string;
  readonly distrusted: TestServer;
  readonly dataset: { text: string; sha256: string; sizeBytes: number; rows: number };

  readonly #idle: WindowProcess[] = [];

  private constructor(folder: string, distrusted: TestServer) {
    this.folder = folder;
    this.window = path.join(folder, 'window.cjs');
    this.digestWorker = path.join(folder, 'digestWorker.cjs');
    this.distrusted = distrusted;
    const text = `{"prompt":"${CANARIES.row}","completion":"to go home"}\n`.repeat(ROWS);
    this.dataset = { text, sha256: sha256(text), sizeBytes: Buffer.byteLength(text), rows: ROWS };
  }

  static async set(): Promise<Stage> {
    const folder = await mkdtemp(path.join(tmpdir(), 'crash-test-'));
    const answer: http.RequestListener = (_request, response) => void response.end();
    try {
      await build({
        absWorkingDir: path.resolve(import.meta.dirname, '../../..'),
        entryPoints: {
          window: 'test/helpers/crash/window.ts',
          digestWorker: 'src/core/api/digestWorker.ts',
        },
        outdir: folder,
        outExtension: { '.js': '.cjs' },
        bundle: true,
        platform: 'node',
        format: 'cjs',
        target: 'node22.19',
        logLevel: 'silent',
      });
      return new Stage(folder, await startHttpsServer(answer));
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** A process that has no cell. */
  take(): WindowProcess {
    return this.#idle.pop() ?? new WindowProcess(this.window);
  }

  /** Takes back a process whose window was closed. */
  giveBack(window: WindowProcess): void {
    if (!window.isOver) this.#idle.push(window);
  }

  async strike(): Promise<void> {
    await Promise.all(this.#idle.map((window) => window.kill()));
    await this.distrusted.close();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
