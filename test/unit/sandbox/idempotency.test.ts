import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { DAY, ROW, useBench, type FormChange } from '../../helpers/sandbox/stage.ts';

describe('sandbox idempotency', () => {
  const bench = useBench();
  const key = randomUUID();
  const balance = async () => (await bench().get('/balance')).body.balance_cents;

  it('replays the response without a charge, even in capitals, after a restart, and after changes', async () => {
    const first = await bench().submit({}, key);
    await bench().submit();
    const left = await balance();
    await bench().start();
    bench().time += DAY - 1;
    bench().leaveBalance(0);
    for (const again of [key, key.toUpperCase()]) {
      const repeat = await bench().submit({}, again);
      assert.deepEqual([repeat.status, repeat.body], [201, first.body]);
    }
    assert.ok(left > 0);
    assert.equal(await balance(), 0);
    assert.equal((await bench().get('/runs')).body.data.length, 2);
  });

  const others: [string, FormChange][] = [
    ['dataset', { dataset: new Blob([`${ROW} `]) }],
    ['model', { model_id: 'gemma-2-2b-it' }],
    ['label', { label: 'Second try' }],
    ['absent label', { label: null }],
    ['priority', { priority_processing: 'true' }],
  ];
  it('responds 409 to other parameters, but treats an omitted priority as `false`', async () => {
    const first = await bench().submit({}, key);
    const left = await balance();
    for (const [name, change] of others) {
      const { status, body } = await bench().submit(change, key);
      assert.deepEqual([status, body.error.code], [409, 'idempotency_conflict'], name);
      assert.equal(await balance(), left);
    }
    assert.deepEqual((await bench().submit({ priority_processing: 'false' }, key)).body, first.body);
  });

  it('creates a new run with a used Idempotency-Key after 24 hours, even with other parameters', async () => {
    const first = await bench().submit({}, key);
    bench().time += DAY;
    const second = await bench().submit({ label: 'Other' }, key);
    assert.equal(second.status, 201);
    assert.notEqual(second.body.run_id, first.body.run_id);
    assert.deepEqual((await bench().submit({ label: 'Other' }, key)).body, second.body);
  });

  it('does not use up the Idempotency-Key of a refused submission', async () => {
    assert.equal((await bench().submit({ model_id: 'unknown' }, key)).status, 422);
    bench().leaveBalance(100);
    const { status, body } = await bench().submit({}, key);
    assert.deepEqual([status, body.error.code], [402, 'insufficient_balance']);
    assert.equal(await balance(), 100);
    bench().sandbox.control.addFunds(1);
    assert.equal((await bench().submit({ label: 'Changed' }, key)).status, 201);
    assert.equal(await balance(), 0);
  });
});
