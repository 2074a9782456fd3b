import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { Client } from '../../../src/core/api/client.ts';
import { ServiceError } from '../../../src/core/api/errors.ts';
import { Transport } from '../../../src/core/api/transport.ts';
import { sha256Of } from '../../helpers/api/support.ts';
import { DIGEST_WORKER } from '../../helpers/digestWorker.ts';
import { startHttpServer, type TestServer } from '../../helpers/httpServer.ts';
import { Bench, HOUR } from '../../helpers/sandbox/stage.ts';
import { startPrism, type Prism } from './prism.ts';

/** The client's own requests, and the sandbox's answers to them, read by an independent reading of the contract. */
describe('the client and the sandbox, with a validating proxy between them', function () {
  this.timeout(60_000);
  const bench = new Bench();
  const transport = new Transport({ strictSsl: true, systemCertificates: false, env: {} });
  const seen: { call: string; status: number; violations: string | undefined }[] = [];
  let prism: Prism;
  let recorder: TestServer;
  let client: Client;

  before(async () => {
    await bench.start();
    prism = await startPrism(bench.sandbox.baseUrl);
    recorder = await startHttpServer((request, response) => {
      const { method = '', url = '', headers } = request;
      const forward = http.request(new URL(url, prism.baseUrl), { method, headers }, (answer) => {
        seen.push({
          call: `${method} ${url.replace(/[\da-f]{8}-[\da-f-]{27}/, '{run_id}').replace(/\?.*/, '')}`,
          status: answer.statusCode ?? 0,
          violations: answer.headers['sl-violations'] as string | undefined,
        });
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      });
      request.pipe(forward);
    });
    client = new Client(
      { baseUrl: recorder.url, apiKey: bench.sandbox.apiKey, keyId: 'key-1' },
      () => transport,
      { digestWorker: DIGEST_WORKER },
    );
  });

  after(async () => {
    transport.dispose();
    await recorder.close();
    await prism.close();
    await bench.close();
  });

  async function submit(model_id: string): Promise<string> {
    const file = path.join(bench.directory, 'rows.jsonl');
    const rows = Buffer.from('{"question":"1 + 1?","answer":"2"}\n');
    await writeFile(file, rows);
    const { run_id } = await client.createRun({
      idempotencyKey: randomUUID(),
      boundary: randomUUID(),
      dataset: { path: file, filename: 'rows "1".jsonl', sizeBytes: rows.length, sha256: sha256Of(rows) },
      model_id,
      label: 'sums, größer',
      model_terms_accepted: true,
      data_policy_accepted: true,
      priority_processing: true,
    });
    return run_id;
  }

  it('show no violation over all endpoints', async () => {
    const { data: models } = await client.listModels();
    await client.getBalance();
    const run_id = await submit(models.find(({ available }) => available)?.model_id ?? '');
    await submit(models.find(({ available }) => available)?.model_id ?? '');
    await client.getRun(run_id);
    await assert.rejects(client.createArtifactDownloads(run_id), ServiceError);
    bench.time += HOUR;
    assert.equal((await client.getRun(run_id)).status, 'completed');
    assert.equal((await client.createArtifactDownloads(run_id)).length, 1);
    const { data: newest, next_cursor: cursor = '' } = await client.listRuns({ limit: 1 });
    const last = await client.listRuns({ limit: 1, cursor });
    assert.deepEqual([newest.length, last.data.length, last.has_more], [1, 1, false]);
    await assert.rejects(submit('no-such-model'), { code: 'model_not_available' });
    await assert.rejects(client.getRun(randomUUID()), { code: 'not_found' });

    assert.deepEqual(
      seen.filter(({ violations }) => violations !== undefined),
      [],
    );
    assert.deepEqual(
      new Set(seen.filter(({ status }) => status < 300).map(({ call }) => call)),
      new Set([
        'GET /api/v1/models',
        'GET /api/v1/balance',
        'POST /api/v1/runs',
        'GET /api/v1/runs/{run_id}',
        'POST /api/v1/runs/{run_id}/artifacts/download',
        'GET /api/v1/runs',
      ]),
    );
  });

  it('would show a violation if there was one', async () => {
    const before = seen.length;
    await assert.rejects(client.listRuns({ limit: 0 }));
    assert.match(seen[before]?.violations ?? '', /limit/);
  });
});
