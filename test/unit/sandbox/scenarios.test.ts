import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { HOUR, useBench } from '../../helpers/sandbox/stage.ts';

describe('sandbox scenarios', () => {
  const bench = useBench();
  const control = () => bench().sandbox.control;
  const balance = async () => (await bench().get('/balance')).body.balance_cents;
  const runs = async () => (await bench().get('/runs')).body.data as Record<string, unknown>[];

  it('survive a restart', async () => {
    control().setScenario('failed-run');
    await bench().start();
    assert.equal(control().getScenario(), 'failed-run');
  });

  it('answer-lost: charges, disconnects, and replays the response to a retry', async () => {
    const key = randomUUID();
    const before = await balance();
    control().setScenario('answer-lost');
    await assert.rejects(bench().submit({}, key));
    assert.equal(await balance(), before - 101);
    const repeat = await bench().submit({}, key);
    assert.equal(repeat.status, 201);
    assert.equal(repeat.body.run_id, (await runs())[0]?.['run_id']);
    assert.equal(await balance(), before - 101);
    await assert.rejects(bench().submit());
    assert.equal((await runs()).length, 2);
  });

  it('connection-lost: charges only the retry', async () => {
    const key = randomUUID();
    const before = await balance();
    control().setScenario('connection-lost');
    await assert.rejects(bench().submit({}, key));
    assert.deepEqual([await balance(), (await runs()).length], [before, 0]);
    assert.equal((await bench().submit({}, key)).status, 201);
    assert.equal(await balance(), before - 101);
  });

  it('rate-limited: responds 429 with Retry-After to each request, and accepts its retry', async () => {
    control().setScenario('rate-limited');
    const signedOut = { headers: { authorization: '' } };
    assert.equal((await bench().call('GET', '/balance', signedOut)).status, 401);
    const keys = [randomUUID(), randomUUID()];
    for (const call of [
      () => bench().get('/balance'),
      () => bench().get('/runs?limit=1'),
      () => bench().submit({}, keys[0]),
      () => bench().submit({}, keys[1]),
    ]) {
      const first = await call();
      assert.deepEqual([first.status, first.body.error.code], [429, 'rate_limited']);
      assert.equal(first.headers.get('retry-after'), '2');
      assert.ok((await call()).status < 300);
    }
    control().setScenario('none');
    assert.equal((await runs()).length, 2);
  });

  it('service-down: answers 503 to every request, and charges nothing', async () => {
    const before = await balance();
    control().setScenario('service-down');
    for (const call of [
      () => bench().get('/balance'),
      () => bench().get('/runs'),
      () => bench().submit(),
      () => bench().call('GET', '/models', { headers: { authorization: '' } }),
    ])
      assert.equal((await call()).status, 503);
    control().setScenario('none');
    assert.deepEqual([await balance(), await runs()], [before, []]);
  });

  it('insufficient-balance: refuses a submission with 402 without charging', async () => {
    const before = await balance();
    control().setScenario('insufficient-balance');
    const { status, body } = await bench().submit();
    assert.deepEqual([status, body.error.code], [402, 'insufficient_balance']);
    assert.deepEqual([await balance(), await runs()], [before, []]);
  });

  it('failed-run: ends a run as failed, without completion time or artifacts', async () => {
    control().setScenario('failed-run');
    const runId = (await bench().submit()).body.run_id;
    bench().time += HOUR;
    const [listed] = await runs();
    assert.deepEqual(
      [listed?.['status'], listed?.['artifacts_available'], listed?.['artifacts_expires_at']],
      ['failed', false, null],
    );
    const { run } = (await bench().get(`/runs/${runId}`)).body;
    assert.equal(run.status, 'failed');
    assert.ok(run.started_at);
    assert.equal(run.completed_at, null);
    assert.equal((await bench().call('POST', `/runs/${runId}/artifacts/download`)).status, 404);
  });

  it('cut-download: cuts every other download in half, and sends the rest by range', async () => {
    const url = await bench().signedUrl(await bench().completedRun());
    const whole = Buffer.from(await (await fetch(url)).arrayBuffer());
    control().setScenario('cut-download');
    for (let round = 0; round < 2; round++) {
      const cut = await fetch(url);
      assert.equal(cut.headers.get('content-length'), String(whole.length));
      const got: Uint8Array[] = [];
      await assert.rejects(async () => {
        for await (const chunk of cut.body!) got.push(chunk as Uint8Array);
      });
      const half = Buffer.concat(got);
      assert.equal(half.length, Math.floor(whole.length / 2));
      const rest = await fetch(url, { headers: { range: `bytes=${half.length}-` } });
      assert.ok(whole.equals(Buffer.concat([half, Buffer.from(await rest.arrayBuffer())])));
    }
  });

  it('short-retention: offers artifacts of runs submitted meanwhile for 2 hours and 30 seconds', async () => {
    await bench().submit();
    control().setScenario('short-retention');
    const runId = (await bench().submit()).body.run_id;
    control().setScenario('none');
    bench().time += HOUR;
    const keptMs = async (index: number) => {
      const listed = (await runs())[index];
      const { run } = (await bench().get(`/runs/${String(listed?.['run_id'])}`)).body;
      return Date.parse(String(listed?.['artifacts_expires_at'])) - Date.parse(String(run.completed_at));
    };
    assert.deepEqual([await keptMs(0), await keptMs(1)], [2 * HOUR + 30_000, 7 * 24 * HOUR]);
    bench().time += 2 * HOUR;
    assert.equal((await bench().call('POST', `/runs/${runId}/artifacts/download`)).status, 404);
  });
});
