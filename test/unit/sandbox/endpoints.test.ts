import assert from 'node:assert/strict';
import { DAY, MINUTE, SECOND, START, useBench, type Answer } from '../../helpers/sandbox/stage.ts';

describe('sandbox endpoints', () => {
  const bench = useBench();

  it('require the API key at every path, even an unknown one', async () => {
    const { apiKey } = bench().sandbox;
    assert.match(apiKey, /^service_sandbox_[\w-]{32}$/);
    for (const [method, path] of [
      ['GET', '/models'],
      ['GET', '/balance'],
      ['GET', '/runs'],
      ['POST', '/runs'],
      ['GET', '/runs/x'],
      ['POST', '/runs/x/artifacts/download'],
      ['GET', '/unknown'],
    ] as const)
      for (const authorization of ['', apiKey, `Bearer ${apiKey}x`, `Bearer ${apiKey.slice(0, -1)}`]) {
        const { status, body } = await bench().call(method, path, { headers: { authorization } });
        assert.deepEqual([status, body.error.code], [401, 'invalid_api_key'], path);
      }
  });

  it('allow no cross-origin requests', async () => {
    const headers = { origin: 'https://page.example' };
    const answer = await bench().call('OPTIONS', '/runs', { headers });
    assert.equal(answer.status, 404);
    assert.ok(![...answer.headers.keys()].some((name) => name.startsWith('access-control')));
  });

  describe('GET /runs', () => {
    const ids = ({ body }: Answer) => (body.data as { run_id: string }[]).map((run) => run.run_id);

    it('pages newest first, stable while runs are added, even in the same millisecond', async () => {
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
  });

  describe('a run', () => {
    it('progresses from queued to completed, with the list’s and the detail’s own spelling', async () => {
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

    it('finishes while no sandbox is running', async () => {
      const { body } = await bench().submit();
      await bench().sandbox.close();
      bench().time += MINUTE;
      await bench().start();
      assert.equal((await bench().get(`/runs/${body.run_id}`)).body.run.status, 'completed');
    });
  });
});
