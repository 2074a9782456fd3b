import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { Client } from '../../../src/core/api/client.ts';
import { ServiceError } from '../../../src/core/api/errors.ts';
import { Transport } from '../../../src/core/api/transport.ts';
import type { Scenario } from '../../../src/sandbox/scenarios.ts';
import { sha256Of } from '../../helpers/api/support.ts';
import { startHttpServer, type TestServer } from '../../helpers/httpServer.ts';
import { addPastRuns } from '../../helpers/sandbox/pastRuns.ts';
import { Bench, HOUR, SECOND, type Address, type Answer } from '../../helpers/sandbox/stage.ts';
import { startPrism, violations, type Prism } from './prism.ts';

/** Prism, an independent implementation of the contract, proxies the sandbox. */
describe('behind a validating proxy', function () {
  const bench = new Bench();
  let prism: Prism;

  before(async () => {
    await bench.start();
    prism = await startPrism(bench.sandbox.baseUrl);
  });
  after(async () => {
    await prism.close();
    await bench.close();
  });

  describe('the client’s requests and their responses', () => {
    const transport = new Transport({ strictSsl: true, systemCertificates: false, env: {} });
    const seen: { call: string; status: number; violations: string | undefined }[] = [];
    let recorder: TestServer;
    let client: Client;

    before(async () => {
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
      );
    });
    after(async () => {
      transport.dispose();
      await recorder.close();
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

    it('have no violation at any endpoint', async () => {
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

    it('have a violation if a parameter is invalid', async () => {
      const before = seen.length;
      await assert.rejects(client.listRuns({ limit: 0 }));
      assert.match(seen[before]?.violations ?? '', /limit/);
    });
  });

  /** Valid requests must show no violation, intentionally invalid ones none in the response. */
  describe('the sandbox', () => {
    let through: Address;
    const seen = new Set<string>();

    before(() => void (through = { baseUrl: prism.baseUrl, apiKey: bench.sandbox.apiKey }));

    async function call(
      status: number,
      method: string,
      path: string,
      init: RequestInit = {},
    ): Promise<Answer> {
      return conforms(status, `${method} ${path}`, await bench.call(method, path, init, through));
    }

    async function submit(status: number, ...[change, key]: Parameters<Bench['submit']>): Promise<Answer> {
      return conforms(status, 'POST /runs', await bench.submit(change, key, through));
    }

    function conforms(status: number, name: string, answer: Answer): Answer {
      assert.equal(answer.status, status, name);
      // Prism only validates `content-type: application/json`.
      assert.equal(answer.headers.get('content-type'), 'application/json');
      assert.equal(answer.headers.get('sl-violations'), null, name);
      seen.add(`${name.replace(/[\da-f]{8}-[\da-f-]{27}/, '{run_id}').replace(/\?.*/, '')} ${status}`);
      return answer;
    }

    /** For requests that violate the contract. */
    function answersRightly(status: number, answer: Answer): void {
      assert.equal(answer.status, status);
      const found = violations(answer.headers);
      assert.ok(found.length > 0, 'the request was meant to be wrong');
      assert.deepEqual(
        found.filter(({ location }) => location[0] === 'response'),
        [],
      );
    }

    async function under(scenario: Scenario, work: () => Promise<unknown>): Promise<void> {
      bench.sandbox.control.setScenario(scenario);
      await work();
      bench.sandbox.control.setScenario('none');
    }

    it('conforms throughout the life of a run', async () => {
      await call(200, 'GET', '/models');
      await call(200, 'GET', '/balance');
      await call(200, 'GET', '/runs');
      const key = randomUUID();
      const { body } = await submit(201, {}, key);
      await submit(201, {}, key);
      await submit(201, { label: null, priority_processing: 'true' });
      for (const after of [0, 6 * SECOND, HOUR]) {
        bench.time += after;
        await call(200, 'GET', '/runs');
        const { run } = (await call(200, 'GET', `/runs/${body.run_id}`)).body;
        const artifacts = run.status === 'completed' ? 200 : 404;
        await call(artifacts, 'POST', `/runs/${body.run_id}/artifacts/download`);
      }
    });

    it('conforms on all pages of runs', async () => {
      await submit(201);
      let { body } = await call(200, 'GET', '/runs?limit=1');
      while (body.next_cursor)
        ({ body } = await call(200, 'GET', `/runs?limit=1&cursor=${body.next_cursor}`));
      addPastRuns(bench.directory, 100, bench.time);
      await call(200, 'GET', '/runs?limit=100');
    });

    it('conforms in error responses', async () => {
      const key = randomUUID();
      await submit(201, {}, key);
      await submit(409, { label: 'Other' }, key);
      for (const model_id of ['unknown', 'gemma-2-9b-it']) await submit(422, { model_id });
      await submit(422, { dataset: new Blob(['[]']) });
      await call(422, 'GET', '/runs?cursor=nonsense');
      await call(404, 'GET', `/runs/${randomUUID()}`);
      await call(404, 'POST', `/runs/${randomUUID()}/artifacts/download`);
      const headers = { authorization: 'Bearer service_wrong' };
      for (const path of ['/models', '/balance', '/runs']) await call(401, 'GET', path, { headers });
    });

    it('conforms in its scenarios', async () => {
      await under('insufficient-balance', () => submit(402));
      await under('rate-limited', () => call(429, 'GET', '/balance'));
      await under('rate-limited', () => submit(429));
      let runId = '';
      await under('failed-run', async () => (runId = (await submit(201)).body.run_id));
      for (const after of [8, 29]) {
        bench.time += after * SECOND;
        await call(200, 'GET', '/runs');
        await call(200, 'GET', `/runs/${runId}`);
      }
    });

    it('conforms in responses to invalid requests', async () => {
      answersRightly(422, await bench.submit({ model_terms_accepted: 'false' }, undefined, through));
      answersRightly(422, await bench.submit({ label: 'x'.repeat(256) }, undefined, through));
      answersRightly(422, await bench.submit({ dataset: null }, undefined, through));
      answersRightly(422, await bench.submit({ priority_processing: 'yes' }, undefined, through));
      answersRightly(422, await bench.submit({}, 'no-uuid', through));
      answersRightly(422, await bench.call('GET', '/runs?limit=101', {}, through));
    });

    it('was tested with a success and a failure at every endpoint', () => {
      for (const endpoint of [
        'GET /models',
        'GET /balance',
        'GET /runs',
        'POST /runs',
        'GET /runs/{run_id}',
        'POST /runs/{run_id}/artifacts/download',
      ]) {
        const statuses = [...seen].filter((name) => name.startsWith(`${endpoint} `));
        assert.ok(
          statuses.some((name) => / 20\d$/.test(name)),
          `${endpoint} succeeded`,
        );
        assert.ok(
          statuses.some((name) => / 4\d\d$/.test(name)),
          `${endpoint} failed`,
        );
      }
    });
  });
});
