// Uploads datasets.
import { randomUUID } from 'node:crypto';
import { Client } from '../../src/core/api/client.ts';
import { Transport } from '../../src/core/api/transport.ts';
import type { RunSubmission } from '../../src/core/api/types.ts';
import { argument, report } from './child.ts';

export interface UploadJob {
  baseUrl: string;
  /** The script of the thread that hashes. */
  digestWorker: string;
  /** Sent first, to be warm. */
  first?: RunSubmission['dataset'];
  dataset: RunSubmission['dataset'];
}

const { baseUrl, digestWorker, first, dataset } = argument() as UploadJob;
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

await report(() => upload(dataset), first && (() => upload(first)));
transport.dispose();
