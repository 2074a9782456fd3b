import assert from 'node:assert/strict';
import type { RunDetail } from '../../../../src/core/api/types.ts';
import { isChargedOnce, readChargedOnce } from '../../../../src/core/submission/receipts.ts';
import { isCharged, type ChargedReceipt } from '../../../../src/core/submission/intent.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { created, HOUR, lost, MARKER, Stage } from '../../../helpers/runs/stage.ts';

describe('readChargedOnce', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.start();
    stage.answers = [lost, created];
  });
  afterEach(() => stage.end());

  /** Submits with a first attempt that has no answer. */
  async function survive(): Promise<ChargedReceipt> {
    assert.equal((await stage.submit()).kind, 'charged');
    const [receipt] = (await stage.bench.journal.receipts()).filter(isCharged);
    assert.equal(receipt?.attempts.length, 2);
    return receipt;
  }
  const addRun = (run: Partial<RunDetail>) =>
    stage.runs.unshift({
      run_id: `other-${stage.runs.length}`,
      status: 'queued',
      model_id: 'm',
      created_at: new Date(stage.clock.serviceMs).toISOString(),
      ...run,
    });
  const isOnce = async (receipt: ChargedReceipt) => {
    const answer = await readChargedOnce(receipt, stage.own.runs);
    // What was read is enough from now on.
    assert.equal(isChargedOnce(receipt, stage.own.runs), answer);
    return answer;
  };

  it('is true if the only run with the marker was listed after the charge', async () => {
    const receipt = await survive();
    addRun({ label: 'Another ft-11aa22bb' });
    addRun({});
    assert.equal(await isOnce(receipt), true);
  });

  it('is false if another run from then has the marker, or none is marked', async () => {
    const receipt = await survive();
    addRun({ label: `again ${MARKER}` });
    assert.equal(await isOnce(receipt), false);
    // The service may have changed what is around the marker.
    stage.runs.shift();
    assert.equal(await isOnce(receipt), true);
    addRun({ run_id: 'changed', label: `again ${MARKER}-2` });
    assert.equal(await isOnce(receipt), false);
    stage.runs.length = 0;
    addRun({ run_id: receipt.settled.run.run_id, label: 'Läb…' });
    assert.equal(await readChargedOnce(receipt, stage.session('other').runs), false);
  });

  it('ignores a run from long after, whose label was copied by hand', async () => {
    const receipt = await survive();
    addRun({ label: MARKER, created_at: new Date(stage.clock.serviceMs + HOUR).toISOString() });
    assert.equal(await isOnce(receipt), true);
  });

  it('needs the service’s time, and every label from then', async () => {
    const receipt = await survive();
    const attempts = receipt.attempts.map((one) => ({ ...one, started: { localMs: 1 } }));
    const untimed = { ...receipt, attempts };
    assert.equal(await isOnce(untimed), false);
    addRun({ run_id: 'unread' });
    stage.onGet = ({ url }, response) => {
      if (url?.endsWith('/unread') !== true) return false;
      sendJson(response, 400, { error: { code: 'x', message: '' } }, stage.date);
      return true;
    };
    await assert.rejects(readChargedOnce(receipt, stage.own.runs));
    assert.equal(isChargedOnce(receipt, stage.own.runs), false);
  });

  it('doesn’t count a list from before the charge', async () => {
    const receipt = await survive();
    assert.equal(await isOnce(receipt), true);
    const { settled } = receipt;
    const later = { ...receipt, settled: { ...settled, at: { localMs: stage.own.runs.readAtMs + 1 } } };
    assert.equal(isChargedOnce(later, stage.own.runs), false);
  });
});
