// A process of its own that downloads artifacts and says what it took; started with a `DownloadJob` as JSON.
import { mkdirSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { Client } from '../../src/core/api/client.ts';
import { Transport } from '../../src/core/api/transport.ts';
import { Downloads } from '../../src/core/downloads/downloads.ts';
import { Session } from '../../src/core/runs/session.ts';
import { StateStore } from '../../src/core/storage/state.ts';
import { argument, report } from './child.ts';

export interface DownloadJob {
  baseUrl: string;
  /** Where it makes a folder of its own. */
  folder: string;
  /** Fetched first, to be warm. */
  firstBytes?: number;
  bytes: number;
}

const job = argument() as DownloadJob;
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

mkdirSync(path.join(folder, 'out'));
try {
  const { firstBytes } = job;
  await report(() => download(job.bytes), firstBytes === undefined ? undefined : () => download(firstBytes));
} finally {
  await downloads.dispose();
  state.dispose();
  session.dispose();
  transport.dispose();
  await rm(folder, { recursive: true });
}
