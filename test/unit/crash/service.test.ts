import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { encodeMultipart } from '../../../src/core/api/upload.ts';
import { FAULTS, type FaultName } from '../../helpers/crash/faults.ts';
import { HostileService, type Mode } from '../../helpers/crash/service.ts';
import { ProcessClock, SimulatedClock } from '../../helpers/crash/clock.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ROWS = '{"prompt":"a","completion":"b"}\n'.repeat(5000);

// Where it became milder, the crash matrix would prove less and stay green.
describe('The hostile service', () => {
  let folder: string;
  let clock: SimulatedClock;
  let service: HostileService;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'hostile-test-'));
    clock = new SimulatedClock(path.join(folder, 'time'));
  });
  afterEach(async () => {
    await service.close();
    clock.dispose();
    rmSync(folder, { recursive: true });
  });

  async function serve(mode: Mode, ...faults: FaultName[]): Promise<void> {
    service = await new HostileService({
      mode,
      clock,
      faultOf: () => FAULTS[faults.shift() ?? 'ok'],
    }).start();
  }

  /** Sends a submission, always with the same Idempotency-Key; its status. */
  async function submit(boundary = 'b'): Promise<number> {
    const { head, tail, contentType } = encodeMultipart({
      idempotencyKey: 'one',
      boundary,
      dataset: { path: '', filename: 'train.jsonl', sizeBytes: ROWS.length, sha256: '' },
      model_id: 'm',
      model_terms_accepted: true,
      data_policy_accepted: true,
      priority_processing: false,
    });
    const { status } = await fetch(`${service.url}/api/v1/runs`, {
      method: 'POST',
      headers: { authorization: 'Bearer k', 'content-type': contentType, 'idempotency-key': 'one' },
      body: Buffer.concat([head, Buffer.from(ROWS), tail]),
    });
    return status;
  }
  const charges = () => service.ledger.charges.length;

  it('replays a success, and only that', async () => {
    await serve('replays 2xx', '500');
    assert.deepEqual([await submit(), await submit(), await submit(), charges()], [500, 201, 200, 1]);
  });

  it('replays everything', async () => {
    await serve('replays all', '500');
    assert.deepEqual([await submit(), await submit(), charges()], [500, 500, 0]);
  });

  for (const [mode, status] of [
    ['409 in flight', 409],
    ['replays 2xx', 200],
  ] as const)
    it(`answers ${status} while the first is being priced: ${mode}`, async () => {
      await serve(mode, 'reset after body, processed late');
      await assert.rejects(submit());
      assert.equal(charges(), 0);
      assert.equal(await submit(), status);
      clock.pass(15 * MINUTE_MS);
      assert.equal(charges(), 1);
    });

  it('forgets an Idempotency-Key after 24 hours', async () => {
    await serve('forgets');
    await submit();
    clock.pass(24 * HOUR_MS - 1);
    assert.equal(await submit(), 200);
    clock.pass(1);
    assert.deepEqual([await submit(), charges()], [201, 2]);
  });

  it('takes other bytes for a conflict', async () => {
    await serve('fingerprints');
    assert.deepEqual([await submit(), await submit(), await submit('c')], [201, 200, 409]);
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
