import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { STARTING_BALANCE_CENTS } from '../../../src/sandbox/catalog.ts';
import { useBench } from '../../helpers/sandbox/stage.ts';

describe('sandbox control', () => {
  const bench = useBench();
  const control = () => bench().sandbox.control;

  it('adds funds and rejects invalid amounts', async () => {
    assert.equal(control().addFunds(1), STARTING_BALANCE_CENTS + 1);
    for (const cents of [0, -1, 0.5, NaN, Infinity, Number.MAX_SAFE_INTEGER]) {
      assert.equal(control().addFunds(cents), undefined);
    }
    assert.equal((await bench().get('/balance')).body.balance_cents, STARTING_BALANCE_CENTS + 1);
  });

  it('resets runs, Idempotency-Keys, balance and scenario, but not the account', async () => {
    const key = randomUUID();
    const first = await bench().submit({}, key);
    control().setScenario('failed-run');
    control().reset();
    assert.deepEqual((await bench().get('/runs')).body.data, []);
    assert.equal((await bench().get('/balance')).body.balance_cents, STARTING_BALANCE_CENTS);
    assert.equal(control().getScenario(), 'none');
    assert.notEqual((await bench().submit({}, key)).body.run_id, first.body.run_id);
    const { accountId } = bench().sandbox;
    await bench().start();
    assert.equal(bench().sandbox.accountId, accountId);
  });
});
