// A process of its own that uploads datasets and says what it took; started with an `UploadJob` as JSON.
import { randomUUID } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Client } from '../../src/core/api/client.ts';
import { Transport } from '../../src/core/api/transport.ts';
import type { RunSubmission } from '../../src/core/api/types.ts';
import type { Said } from './measure.ts';
import { peakBytes } from './peak.ts';

export interface UploadJob {
  baseUrl: string;
  /** The script of the thread that hashes, used where a dataset has a `sha256`. */
  digestWorker: string;
  /** Sent first, to be warm. */
  first?: RunSubmission['dataset'];
  dataset: RunSubmission['dataset'];
  /** Whether the event loop is watched. */
  watches?: boolean;
}

const { baseUrl, digestWorker, first, dataset, watches } = JSON.parse(process.argv[2] ?? '') as UploadJob;
const transport = new Transport({ strictSsl: true, systemCertificates: false, env: {} });
const client = new Client({ baseUrl, apiKey: 'service_bench', keyId: 'key-1' }, () => transport, {
  digestWorker,
});

async function upload(sent: RunSubmission['dataset']): Promise<void> {
  await client.createRun({
    idempotencyKey: randomUUID(),
    boundary: randomUUID(),
    dataset: sent,
    model_id: 'm',
    model_terms_accepted: true,
    data_policy_accepted: true,
    priority_processing: false,
  });
}

async function run(): Promise<Said> {
  const said: Said = {};
  if (first !== undefined) {
    await upload(first);
    // The clock of a process starts with it.
    said.firstMs = performance.now();
  }
  const delay = monitorEventLoopDelay({ resolution: 1 });
  if (watches) delay.enable();
  const startedMs = performance.now();
  await upload(dataset);
  said.workMs = performance.now() - startedMs;
  if (watches) {
    said.delayP99Ms = delay.percentile(99) / 1e6;
    said.delayMaxMs = delay.max / 1e6;
  }
  said.peakBytes = peakBytes();
  transport.dispose();
  return said;
}

void run().then((said) => process.stdout.write(JSON.stringify(said)));
