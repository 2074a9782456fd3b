import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { encodeMultipart } from '../../../src/core/api/upload.ts';
import { FAULTS, type FaultName } from '../../helpers/crash/faults.ts';
import { HostileService, type Mode } from '../../helpers/crash/service.ts';
import { ProcessClock, SimulatedClock } from '../../helpers/crash/clock.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ROWS = '{"prompt":"a","completion":"b"}\n'.repeat(5000);

interface Answer {
  status: number;
  body: { run_id?: string; error?: { code: string } };
  headers: http.IncomingHttpHeaders;
}

describe('The hostile service', () => {
  let folder: string;
  let clock: SimulatedClock;
  let service: HostileService;
  let faults: FaultName[];

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'hostile-test-'));
    clock = new SimulatedClock(path.join(folder, 'time'));
    faults = [];
  });
  afterEach(async () => {
    await service.close();
    clock.dispose();
    rmSync(folder, { recursive: true });
  });

  async function serve(mode: Mode): Promise<void> {
    const faultOf = () => FAULTS[faults.shift() ?? 'ok'];
    service = await new HostileService({ mode, clock, faultOf }).start();
  }

  /** Sends a submission, or a part of its body. */
  function submit(key: string, { boundary = 'b', part = 1 } = {}): Promise<Answer> {
    const { head, tail, contentType } = encodeMultipart({
      idempotencyKey: key,
      boundary,
      dataset: { path: '', filename: 'train.jsonl', sizeBytes: ROWS.length, sha256: '' },
      model_id: 'm',
      label: 'mine',
      model_terms_accepted: true,
      data_policy_accepted: true,
      priority_processing: false,
    });
    const body = Buffer.concat([head, Buffer.from(ROWS), tail]);
    return new Promise((resolve, reject) => {
      const request = http.request(`${service.url}/api/v1/runs`, {
        method: 'POST',
        agent: false,
        headers: {
          authorization: 'Bearer k',
          'content-type': contentType,
          'content-length': body.byteLength,
          'idempotency-key': key,
        },
      });
      request.on('error', reject).on('response', (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('error', reject).on('end', () => {
          const value = text.startsWith('{') ? (JSON.parse(text) as Answer['body']) : {};
          resolve({ status: response.statusCode ?? 0, body: value, headers: response.headers });
        });
      });
      request.write(body.subarray(0, body.byteLength * part));
      if (part === 1) request.end();
      else setTimeout(() => request.destroy(new Error('gone')), 50);
    });
  }

  const status = async (answer: Promise<Answer>) => (await answer).status;
  const charges = () => service.ledger.charges.length;

  it('charges nothing for a part of a body', async () => {
    await serve('replays 2xx');
    await assert.rejects(submit('one', { part: 0.5 }));
    const [post] = service.ledger.posts;
    assert.deepEqual([post?.digest, charges()], ['incomplete', 0]);
  });

  describe('an Idempotency-Key used again', () => {
    it('replays a success, and only that', async () => {
      await serve('replays 2xx');
      faults = ['500'];
      assert.equal(await status(submit('one')), 500);
      assert.equal(await status(submit('one')), 201);
      assert.equal(await status(submit('one')), 200);
      assert.equal(charges(), 1);
    });

    it('replays everything', async () => {
      await serve('replays all');
      faults = ['500'];
      assert.equal(await status(submit('one')), 500);
      assert.equal(await status(submit('one')), 500);
      assert.equal(charges(), 0);
    });

    it('is a conflict while the first is being priced, or waits for it', async () => {
      for (const [mode, expected] of [
        ['409 in flight', 409],
        ['replays 2xx', 200],
      ] as const) {
        await serve(mode);
        faults = ['reset after body, processed late'];
        await assert.rejects(submit('one'));
        assert.equal(charges(), 0);
        assert.equal(await status(submit('one')), expected);
        clock.pass(15 * MINUTE_MS);
        assert.equal(charges(), 1);
        if (mode === '409 in flight') await service.close();
      }
    });

    it('is forgotten after 24 hours', async () => {
      await serve('forgets');
      await submit('one');
      clock.pass(24 * HOUR_MS - 1);
      assert.equal(await status(submit('one')), 200);
      clock.pass(1);
      assert.equal(await status(submit('one')), 201);
      assert.equal(charges(), 2);
    });

    it('is a conflict with other bytes', async () => {
      await serve('fingerprints');
      await submit('one');
      assert.equal(await status(submit('one')), 200);
      assert.equal((await submit('one', { boundary: 'c' })).body.error?.code, 'idempotency_conflict');
    });
  });

  it('has a time that other processes read, with wrong and sleeping clocks', async () => {
    await serve('replays 2xx');
    const shared = new ProcessClock(clock.file, (ms) => {
      clock.pass(ms);
      return Promise.resolve();
    });
    const [wallMs, monotonicMs] = [shared.nowMs(), shared.monotonicMs()];
    await shared.sleep(1000);
    clock.setWall(HOUR_MS);
    clock.sleepMachine(5000);
    assert.equal(shared.nowMs() - wallMs, HOUR_MS + 6000);
    assert.equal(shared.monotonicMs() - monotonicMs, 1000);
    shared.dispose();
  });
});
