// A process of its own that downloads artifacts and says what it took; started with a `DownloadJob` as JSON.
import { mkdirSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Client } from '../../src/core/api/client.ts';
import { Transport } from '../../src/core/api/transport.ts';
import { Downloads } from '../../src/core/downloads/downloads.ts';
import { Session } from '../../src/core/runs/session.ts';
import { StateStore } from '../../src/core/storage/state.ts';
import type { Said } from './measure.ts';
import { peakBytes } from './peak.ts';

export interface DownloadJob {
  baseUrl: string;
  /** Where it makes a folder of its own. */
  folder: string;
  /** Fetched first, to be warm. */
  firstBytes?: number;
  bytes: number;
  /** Whether the event loop is watched. */
  watches?: boolean;
}

const job = JSON.parse(process.argv[2] ?? '') as DownloadJob;
const folder = mkdtempSync(path.join(job.folder, 'download-'));
const transport = new Transport({ strictSsl: true, systemCertificates: false, env: {} });
const session = new Session(
  { kind: 'service', id: 'bench', name: 'bench', baseUrl: job.baseUrl },
  () => Promise.resolve({ baseUrl: job.baseUrl, apiKey: 'service_bench', keyId: 'key-1' }),
  (connection) => new Client(connection, () => transport),
);
const state = new StateStore(folder);
const downloads = new Downloads({
  runsFolder: path.join(folder, 'runs'),
  state,
  transport: () => transport,
  sessionOf: () => session,
  // What the archive says of itself is measured where it is read.
  verify: () => Promise.resolve('unknown'),
});

async function download(bytes: number): Promise<void> {
  const target = path.join(folder, 'out', `${bytes}.zip`);
  await downloads.start({ session, runId: String(bytes), artifact: { type: 'model' }, target });
}

async function run(): Promise<Said> {
  const said: Said = {};
  mkdirSync(path.join(folder, 'out'));
  try {
    if (job.firstBytes !== undefined) await download(job.firstBytes);
    const delay = monitorEventLoopDelay({ resolution: 1 });
    if (job.watches) delay.enable();
    const startedMs = performance.now();
    await download(job.bytes);
    said.workMs = performance.now() - startedMs;
    if (job.watches) {
      said.delayP99Ms = delay.percentile(99) / 1e6;
      said.delayMaxMs = delay.max / 1e6;
    }
    said.peakBytes = peakBytes();
    return said;
  } finally {
    await downloads.dispose();
    state.dispose();
    session.dispose();
    transport.dispose();
    await rm(folder, { recursive: true });
  }
}

void run().then((said) => process.stdout.write(JSON.stringify(said)));
