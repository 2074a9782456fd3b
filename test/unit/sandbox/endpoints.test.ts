import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { STARTING_BALANCE_CENTS } from '../../../src/sandbox/catalog.ts';
import { DAY, MINUTE, SECOND, START, useBench, type Answer } from '../../helpers/sandbox/stage.ts';

function assertRefused(answer: Answer, status: number, code: string): void {
  assert.equal(answer.status, status);
  assert.equal(answer.headers.get('content-type'), 'application/json');
  assert.deepEqual(Object.keys(answer.body as object), ['error']);
  assert.deepEqual(Object.keys(answer.body.error as object), ['code', 'message']);
  assert.equal(answer.body.error.code, code);
  assert.ok(answer.body.error.message);
}

describe('sandbox endpoints', () => {
  const bench = useBench();

  describe('authentication', () => {
    const endpoints = [
      ['GET', '/models'],
      ['GET', '/balance'],
      ['GET', '/runs'],
      ['POST', '/runs'],
      ['GET', '/runs/x'],
      ['POST', '/runs/x/artifacts/download'],
      ['GET', '/unknown'],
    ] as const;
    it('is asked for at every path, with an API key that has the prefix of the contract', async () => {
      const { apiKey } = bench().sandbox;
      assert.match(apiKey, /^service_sandbox_[\w-]{32}$/);
      const values = ['', 'Bearer', 'Bearer wrong', apiKey, `Basic ${apiKey}`, `Bearer ${apiKey}x`];
      for (const [method, path] of endpoints)
        for (const authorization of [...values, `Bearer ${apiKey.slice(0, -1)}`, `Bearer x ${apiKey}`])
          assertRefused(
            await bench().call(method, path, { headers: { authorization } }),
            401,
            'invalid_api_key',
          );
    });
  });

  describe('paths and methods', () => {
    it('that are unknown are answered 404', async () => {
      const run = `/runs/${randomUUID()}`;
      const unknown = [
        '/unknown',
        '/runs/',
        '/models/',
        '//models',
        '/runs/x/artifacts',
        '/runs/a/b',
        '/runs/%zz',
      ];
      for (const path of [...unknown, run]) assertRefused(await bench().get(path), 404, 'not_found');
    });

    it('of another method are answered 405, and invite no other origin', async () => {
      for (const [method, path, allow] of [
        ['DELETE', '/runs', 'GET, POST'],
        ['OPTIONS', '/runs', 'GET, POST'],
        ['POST', '/models', 'GET'],
        ['GET', '/runs/x/artifacts/download', 'POST'],
      ] as const) {
        const answer = await bench().call(method, path, { headers: { origin: 'https://page.example' } });
        assertRefused(answer, 405, 'not_found');
        assert.equal(answer.headers.get('allow'), allow);
        assert.ok(![...answer.headers.keys()].some((name) => name.startsWith('access-control')));
      }
    });
  });

  it('GET /models lists one that is unavailable, with reserved addresses only', async () => {
    const models = (await bench().get('/models')).body.data;
    assert.equal(models.filter(({ available }) => available === false).length, 1);
    for (const { terms_url, use_policy_url } of models)
      for (const url of [terms_url, use_policy_url ?? terms_url])
        assert.equal(new URL(url ?? '').origin, 'https://models.example');
  });

  describe('GET /balance', () => {
    it('answers the balance; a submission takes its price from it', async () => {
      const before = await bench().get('/balance');
      assert.deepEqual(before.body, { balance_cents: STARTING_BALANCE_CENTS, currency: 'USD' });
      const { body } = await bench().submit();
      assert.equal(body.balance_after_cents, STARTING_BALANCE_CENTS - body.price_cents);
      assert.equal((await bench().get('/balance')).body.balance_cents, body.balance_after_cents);
    });
  });

  describe('GET /runs', () => {
    const ids = ({ body }: Answer) => (body.data as { run_id: string }[]).map((run) => run.run_id);

    it('pages newest first, and stays stable while runs come in, also runs of the same millisecond', async () => {
      const nothing = { data: [], next_cursor: null, has_more: false };
      assert.deepEqual((await bench().get('/runs')).body, nothing);
      const submitted: string[] = [];
      for (let i = 0; i < 7; i++) {
        submitted.unshift((await bench().submit()).body.run_id);
        if (i % 3 === 0) bench().time += SECOND;
      }
      const seen: string[] = [];
      let page = await bench().get('/runs?limit=3');
      while (page.body.has_more) {
        seen.push(...ids(page));
        await bench().submit();
        page = await bench().get(`/runs?limit=3&cursor=${page.body.next_cursor}`);
      }
      seen.push(...ids(page));
      assert.equal(page.body.next_cursor, null);
      assert.deepEqual(seen, submitted);
    });

    it('gives 20 where no limit is asked for, and 100 at most', async () => {
      bench().sandbox.control.setScenario('many-runs');
      assert.equal((await bench().get('/runs')).body.data.length, 20);
      assert.equal((await bench().get('/runs?limit=100')).body.data.length, 100);
    });

    it('refuses limits and cursors that are none', async () => {
      const limits = ['0', '101', '-1', '1.5', '1e1', '', 'ten', '5&limit=5'];
      for (const query of [
        ...limits.map((limit) => `limit=${limit}`),
        'cursor=',
        'cursor=nonsense',
        'cursor=MQ',
        // Another spelling of a cursor's bytes: padding.
        `cursor=${encodeURIComponent(Buffer.from('1.1').toString('base64'))}%3D`,
      ])
        assertRefused(await bench().get(`/runs?${query}`), 422, 'validation_failed');
    });
  });

  describe('a run on the clock', () => {
    it('goes from queued to the end in list and detail, each with its spelling', async () => {
      const { body } = await bench().submit({ label: 'Größe 😀' });
      const runId = body.run_id;
      const look = async () => ({
        listed: (await bench().get('/runs')).body.data[0] as Record<string, unknown>,
        detail: (await bench().get(`/runs/${runId}`)).body.run as Record<string, unknown>,
      });
      const created_at = new Date(START).toISOString();
      const common = { run_id: runId, model_id: 'qwen3-8b', created_at };

      assert.deepEqual(await look(), {
        listed: { ...common, status: 'queued', artifacts_available: false, artifacts_expires_at: null },
        detail: {
          ...common,
          status: 'queued',
          label: 'Größe 😀',
          plan: 'Sandbox (nothing is trained)',
          price_cents: 101,
          started_at: null,
          completed_at: null,
        },
      });

      bench().time += 6 * SECOND;
      const { listed, detail } = await look();
      const started_at = new Date(START + 6 * SECOND).toISOString();
      assert.equal(listed['status'], 'running');
      assert.partialDeepStrictEqual(detail, { status: 'running', started_at, completed_at: null });

      bench().time += 30 * SECOND;
      const done = await look();
      const completedAt = START + 36 * SECOND;
      assert.deepEqual(done.listed, {
        ...common,
        status: 'complete',
        artifacts_available: true,
        artifacts_expires_at: new Date(completedAt + 7 * DAY).toISOString(),
      });
      const completed_at = new Date(completedAt).toISOString();
      assert.partialDeepStrictEqual(done.detail, { status: 'completed', started_at, completed_at });

      bench().time += 7 * DAY;
      assert.equal((await look()).listed['artifacts_available'], false);
    });

    it('finishes while nothing runs', async () => {
      const { body } = await bench().submit();
      await bench().sandbox.close();
      bench().time += MINUTE;
      await bench().start();
      assert.equal((await bench().get(`/runs/${body.run_id}`)).body.run.status, 'completed');
    });
  });
});
