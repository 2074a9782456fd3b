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
const DAY_BUT_ONE = { passMs: 24 * HOUR_MS - 1 };
const LATE = 'reset after body, processed late';
const ROWS = '{"prompt":"a","completion":"b"}\n'.repeat(5000);

// Where it became milder, the crash matrix would prove less and stay green.
describe('The hostile service', () => {
  let folder: string;
  let clock: SimulatedClock;
  let service: HostileService | undefined;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'hostile-test-'));
    clock = new SimulatedClock(path.join(folder, 'time'));
  });
  afterEach(async () => {
    await service?.close();
    service = undefined;
    clock.dispose();
    rmSync(folder, { recursive: true });
  });

  /** Sends a submission, always with the same Idempotency-Key; its status. */
  async function submit(): Promise<number> {
    const { head, tail, contentType } = encodeMultipart({
      idempotencyKey: 'one',
      boundary: 'b',
      dataset: { path: '', filename: 'train.jsonl', sizeBytes: ROWS.length, sha256: '' },
      model_id: 'm',
      model_terms_accepted: true,
      data_policy_accepted: true,
      priority_processing: false,
    });
    const { status } = await fetch(`${service?.url}/api/v1/runs`, {
      method: 'POST',
      headers: { authorization: 'Bearer k', 'content-type': contentType, 'idempotency-key': 'one' },
      body: Buffer.concat([head, Buffer.from(ROWS), tail]),
    });
    return status;
  }

  // Statuses of submissions, and the milliseconds that pass between them.
  for (const [does, mode, faults, steps, charges] of [
    ['replays a success, and only that', 'replays 2xx', ['500'], [500, 201, 200], 1],
    ['replays everything', 'replays all', ['500'], [500, 500], 0],
    ['refuses what it is pricing', '409 in flight', [LATE], ['reset', 409, { passMs: 15 * MINUTE_MS }], 1],
    ['lets wait for what it is pricing', 'replays 2xx', [LATE], ['reset', 200], 1],
    ['forgets after 24 hours', 'forgets', [], [201, DAY_BUT_ONE, 200, { passMs: 1 }, 201], 2],
  ] as [string, Mode, FaultName[], (number | string | { passMs: number })[], number][])
    it(does, async () => {
      const next = faults.values();
      service = new HostileService({ mode, clock, faultOf: () => FAULTS[next.next().value ?? 'ok'] });
      await service.start();
      for (const step of steps)
        if (typeof step === 'object') clock.pass(step.passMs);
        else if (step === 'reset') await assert.rejects(submit());
        else assert.equal(await submit(), step);
      assert.equal(service.ledger.charges.length, charges);
    });

  it('has a time that other processes read, with wrong and sleeping clocks', async () => {
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
