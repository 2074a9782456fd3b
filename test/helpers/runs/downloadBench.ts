import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from '../../../src/core/api/client.ts';
import { Transport } from '../../../src/core/api/transport.ts';
import { CancelledError } from '../../../src/core/base/errors.ts';
import {
  Downloads,
  type DownloadRecord,
  type DownloadsOptions,
} from '../../../src/core/downloads/downloads.ts';
import { DownloadStore } from '../../../src/core/downloads/downloadStore.ts';
import { Session } from '../../../src/core/runs/session.ts';
import { descriptors, sha256Of } from '../api/support.ts';
import { BlobServer } from '../blobServer.ts';
import { until } from './support.ts';
import { TestClock } from './testClock.ts';

export const RUN = 'run-1';
export const ACCOUNT = 'account-1';
const KIB = 1024;

/** Owns the resources of one download test until its end: a server, windows, a folder. */
export class DownloadBench {
  readonly folder: string;
  readonly server: BlobServer;
  readonly clock = new TestClock();
  readonly out: string;
  /** A file in `out`. */
  readonly target: string;
  readonly transport = new Transport(
    { strictSsl: true, systemCertificates: false, env: {} },
    { timeouts: { stallMs: 1_500 } },
  );
  readonly #open: { dispose(): unknown }[] = [];

  private constructor(folder: string, server: BlobServer) {
    this.folder = folder;
    this.server = server;
    this.out = path.join(folder, 'out');
    this.target = path.join(this.out, 'adapter.zip');
  }

  static async start(sizeBytes = 400 * KIB): Promise<DownloadBench> {
    const folder = await mkdtemp(path.join(tmpdir(), 'downloads-test-'));
    const bench = new DownloadBench(folder, await BlobServer.start(randomBytes(sizeBytes)));
    await mkdir(bench.out);
    bench.server.received = () => 0;
    return bench;
  }

  async end(): Promise<void> {
    for (const one of this.#open.toReversed()) await one.dispose();
    await this.server.close();
    this.transport.dispose();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  get runsFolder(): string {
    return path.join(this.folder, 'runs');
  }

  session(accountId = ACCOUNT): Session {
    const session = new Session(
      { kind: 'service', id: accountId, name: accountId, baseUrl: this.server.url },
      () => Promise.resolve({ baseUrl: this.server.url, apiKey: 'service_CaNaRy', keyId: 'key-1' }),
      (connection) =>
        new Client(connection, () => this.transport, {
          clock: { nowMs: () => this.clock.nowMs(), sleep: () => Promise.resolve() },
        }),
    );
    this.#open.push(session);
    return session;
  }

  /** Opens the downloads of another VS Code window. */
  window(options: Partial<DownloadsOptions> = {}): Downloads {
    const sessions = new Map<string, Session>();
    const downloads = new Downloads({
      runsFolder: this.runsFolder,
      transport: () => this.transport,
      sessionOf: (accountId) => {
        const session = sessions.get(accountId) ?? this.session(accountId);
        sessions.set(accountId, session);
        return session;
      },
      verify: () => Promise.resolve('unknown'),
      clock: this.clock,
      random: () => 1,
      ...options,
    });
    this.#open.push(downloads);
    const before = this.server.received;
    this.server.received = () => {
      const own = downloads.active.filter(({ state }) => state === 'downloading');
      return own.length === 0 ? before() : Math.max(...own.map(({ receivedBytes }) => receivedBytes));
    };
    return downloads;
  }

  request(target = this.target, artifact = { type: 'model', filename: 'adapter.zip' }) {
    return { session: this.session(), runId: RUN, artifact, target };
  }

  /** The names of files in `out`. */
  left(): Promise<string[]> {
    return readdir(this.out).catch(() => []);
  }

  /** The folder of the account's downloads. */
  get stored(): string {
    return path.join(this.runsFolder, ACCOUNT, 'downloads');
  }

  /** The content of the stored files with an ending. */
  async rows(ending = '.json'): Promise<Record<string, unknown>[]> {
    const names = (await readdir(this.stored)).filter((name) => name.endsWith(ending));
    const texts = names.map((name) => readFile(path.join(this.stored, name), 'utf8'));
    return (await Promise.all(texts)).map((text) => JSON.parse(text) as Record<string, unknown>);
  }

  /** The number of downloads that are stored as unfinished, also if they were discarded. */
  async begun(): Promise<number> {
    return (await this.rows('.begun.json')).length;
  }

  store(): DownloadStore {
    const store = new DownloadStore({
      accountId: ACCOUNT,
      folder: this.stored,
      isRunning: () => false,
      onChange: () => undefined,
    });
    this.#open.push(store);
    return store;
  }

  /** Files in `out` that this process has open. */
  openFiles(): string[] {
    return descriptors().filter((target) => target.startsWith(this.out));
  }

  /** Downloads to the target and asserts the bytes, and that nothing else is left, stored, or open. */
  async assertDownloads(window: Downloads): Promise<DownloadRecord> {
    const record = await window.start(this.request());
    assert.equal(record.sha256, sha256Of(this.server.bytes));
    await this.assertComplete(window);
    return record;
  }

  async assertComplete(window: Downloads): Promise<void> {
    assert.deepEqual(await readFile(this.target), this.server.bytes);
    assert.deepEqual(await this.left(), ['adapter.zip']);
    await this.#assertEnded(window);
  }

  async assertNothingLeft(window: Downloads): Promise<void> {
    assert.deepEqual(await this.left(), []);
    assert.deepEqual(window.records(ACCOUNT), []);
    await this.#assertEnded(window);
  }

  /** Asserts that a download fails and is not stored, regardless of files in the folder. */
  async assertRefused(window: Downloads, code: string, target = this.target): Promise<void> {
    await assert.rejects(window.start(this.request(target)), { code });
    await this.#assertEnded(window);
  }

  async #assertEnded(window: Downloads): Promise<void> {
    assert.equal(await this.begun(), 0);
    // Unfinished downloads may be read at the moment because another window has written.
    await until(() => this.openFiles().length === 0);
    assert.deepEqual(window.active, []);
  }

  /** Asserts that a download fails, has no final name, and is offered to be resumed. */
  async assertInterrupted(window: Downloads, code: string): Promise<void> {
    await assert.rejects(window.start(this.request()), { code });
    const left = await this.left();
    assert.ok(left.length > 0 && !left.includes('adapter.zip'));
    const offered = window.active.map((one) => [one.state, one.code]);
    assert.deepEqual([offered, this.openFiles()], [[['interrupted', code]], []]);
  }

  /** Starts a download that stalls after some bytes; it must be canceled later. */
  async stall(window: Downloads, bytes: number): Promise<{ id: string; cancelled: Promise<void> }> {
    this.server.faults.push({ stallAfterBytes: bytes });
    const cancelled = assert.rejects(window.start(this.request()), CancelledError);
    await until(() => window.active[0]?.receivedBytes === bytes);
    return { id: window.active[0]!.id, cancelled };
  }

  /** The start offset of each successful request. */
  starts(): number[] {
    return this.server.requests.filter(({ status }) => status < 300).map(({ startByte }) => startByte);
  }
}
