import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { STARTING_BALANCE_CENTS } from '../../../src/sandbox/catalog.ts';
import { DEFAULT_SPEED } from '../../../src/sandbox/scenarios.ts';
import { useBench } from '../../helpers/sandbox/stage.ts';

describe('sandbox control', () => {
  const bench = useBench();
  const control = () => bench().sandbox.control;

  it('adds funds and rejects invalid amounts', async () => {
    assert.equal(control().addFunds(1), STARTING_BALANCE_CENTS + 1);
    for (const cents of [0, -1, 0.5, NaN, Infinity, Number.MAX_SAFE_INTEGER]) {
      assert.throws(() => control().addFunds(cents), RangeError);
    }
    assert.equal((await bench().get('/balance')).body.balance_cents, STARTING_BALANCE_CENTS + 1);
  });

  it('resets runs, Idempotency-Keys, balance, scenario, and speed, but not the account', async () => {
    const key = randomUUID();
    const first = await bench().submit({}, key);
    control().setSpeed(3);
    control().setScenario('failed-run');
    control().reset();
    assert.deepEqual((await bench().get('/runs')).body.data, []);
    assert.equal((await bench().get('/balance')).body.balance_cents, STARTING_BALANCE_CENTS);
    assert.deepEqual([control().getScenario(), control().getSpeed()], ['none', DEFAULT_SPEED]);
    assert.notEqual((await bench().submit({}, key)).body.run_id, first.body.run_id);
    const { accountId } = bench().sandbox;
    await bench().start();
    assert.equal(bench().sandbox.accountId, accountId);
  });
});
