import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Scenario } from '../../../src/sandbox/scenarios.ts';
import { Bench, HOUR, SECOND, type Address, type Answer } from '../../helpers/sandbox/stage.ts';
import { startPrism, violations, type Prism } from './prism.ts';

/**
 * An independent reading of the contract stands between a client and the sandbox. Requests that are right must show
 * no violation at all; requests that are wrong on purpose, none in the answer.
 */
describe('the sandbox before a validating proxy', function () {
  this.timeout(60_000);
  const bench = new Bench();
  let prism: Prism;
  let through: Address;
  const seen = new Set<string>();

  before(async () => {
    await bench.start();
    prism = await startPrism(bench.sandbox.baseUrl);
    through = { baseUrl: prism.baseUrl, apiKey: bench.sandbox.apiKey };
  });
  after(async () => {
    await prism.close();
    await bench.close();
  });

  async function call(status: number, method: string, path: string, init: RequestInit = {}): Promise<Answer> {
    return conforms(status, `${method} ${path}`, await bench.call(method, path, init, through));
  }

  async function submit(status: number, ...[change, key]: Parameters<Bench['submit']>): Promise<Answer> {
    return conforms(status, 'POST /runs', await bench.submit(change, key, through));
  }

  function conforms(status: number, name: string, answer: Answer): Answer {
    assert.equal(answer.status, status, name);
    // Nothing but `content-type: application/json` would be validated.
    assert.equal(answer.headers.get('content-type'), 'application/json');
    assert.equal(answer.headers.get('sl-violations'), null, name);
    seen.add(`${name.replace(/[\da-f]{8}-[\da-f-]{27}/, '{run_id}').replace(/\?.*/, '')} ${status}`);
    return answer;
  }

  /** For requests that are themselves against the contract. */
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

  it('conforms in the life of a run', async () => {
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

  it('conforms through all pages', async () => {
    await submit(201);
    let { body } = await call(200, 'GET', '/runs?limit=1');
    while (body.next_cursor) ({ body } = await call(200, 'GET', `/runs?limit=1&cursor=${body.next_cursor}`));
    await under('many-runs', () => call(200, 'GET', '/runs?limit=100'));
  });

  it('conforms in its refusals', async () => {
    const key = randomUUID();
    await submit(201, {}, key);
    await submit(409, { label: 'Other' }, key);
    await submit(422, { model_id: 'unknown' });
    await submit(422, { dataset: new Blob(['[]']) });
    await call(422, 'GET', '/runs?cursor=nonsense');
    await call(404, 'GET', `/runs/${randomUUID()}`);
    await call(404, 'POST', `/runs/${randomUUID()}/artifacts/download`);
    const headers = { authorization: 'Bearer service_wrong' };
    for (const path of ['/models', '/balance', '/runs']) await call(401, 'GET', path, { headers });
  });

  it('conforms under its scenarios', async () => {
    await under('insufficient-balance', () => submit(402));
    await under('model-withdrawn', () => submit(422));
    await under('rate-limited', () => call(429, 'GET', '/balance'));
    await under('rate-limited', () => submit(429));
    const key = randomUUID();
    await submit(201, {}, key);
    await under('conflict-on-replay', () => submit(409, {}, key));
    await under('error-on-replay', () => submit(500, {}, key));
    for (const scenario of ['unknown-statuses', 'failed-run'] as const) {
      let runId = '';
      await under(scenario, async () => (runId = (await submit(201)).body.run_id));
      for (const after of [4, 4, 13, 16]) {
        bench.time += after * SECOND;
        await call(200, 'GET', '/runs');
        await call(200, 'GET', `/runs/${runId}`);
      }
    }
  });

  it('answers rightly to requests that are wrong', async () => {
    answersRightly(422, await bench.submit({ model_terms_accepted: 'false' }, undefined, through));
    answersRightly(422, await bench.submit({ label: 'x'.repeat(256) }, undefined, through));
    answersRightly(422, await bench.submit({ dataset: null }, undefined, through));
    answersRightly(422, await bench.submit({ priority_processing: 'yes' }, undefined, through));
    answersRightly(422, await bench.submit({}, 'no-uuid', through));
    answersRightly(422, await bench.call('GET', '/runs?limit=101', {}, through));
  });

  it('was asked at every endpoint, for an answer of success and of failure', () => {
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
