import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { STARTING_BALANCE_CENTS } from '../../../src/sandbox/catalog.ts';
import { form, ROW, useBench, type Answer, type FormChange } from '../../helpers/sandbox/stage.ts';

describe('sandbox submission', () => {
  const bench = useBench();

  async function assertNothingCharged(answer: Answer, code: string, name: string): Promise<void> {
    assert.deepEqual([answer.status, answer.body.error.code], [422, code], name);
    assert.equal((await bench().get('/balance')).body.balance_cents, STARTING_BALANCE_CENTS, name);
    assert.deepEqual((await bench().get('/runs')).body.data, [], name);
  }

  it('returns 201 with every field of the run creation result', async () => {
    const { status, body } = await bench().submit();
    assert.equal(status, 201);
    assert.match(body.run_id, /^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/);
    assert.deepEqual(body, {
      run_id: body.run_id,
      status: 'queued',
      price_cents: 101,
      currency: 'USD',
      balance_after_cents: STARTING_BALANCE_CENTS - 101,
      plan_name: 'Sandbox (nothing is trained)',
    });
  });

  it('accepts parts in any order, and no label or one of 255 UTF-16 units', async () => {
    for (const label of [null, `${'😀'.repeat(127)}x`]) {
      const body = new FormData();
      body.set('dataset', new Blob([ROW]), 'rows.jsonl');
      for (const [name, value] of form({ dataset: null, label })) body.set(name, value);
      const answer = await bench().call('POST', '/runs', { body });
      assert.equal(answer.status, 201);
      assert.equal((await bench().get(`/runs/${answer.body.run_id}`)).body.run.label, label);
    }
  });

  const refused: [name: string, change: FormChange, code: string][] = [
    ['terms that are not accepted', { model_terms_accepted: 'false' }, 'consent_required'],
    ['terms that are not mentioned', { model_terms_accepted: null }, 'consent_required'],
    ['terms accepted in other words', { model_terms_accepted: 'TRUE' }, 'consent_required'],
    ['a data policy that is not accepted', { data_policy_accepted: 'false' }, 'consent_required'],
    ['a data policy that is not mentioned', { data_policy_accepted: null }, 'consent_required'],
    ['a model that does not exist', { model_id: 'gpt-0' }, 'model_not_available'],
    ['a model that is unavailable', { model_id: 'gemma-2-9b-it' }, 'model_not_available'],
    ['no model', { model_id: null }, 'validation_failed'],
    ['an empty model', { model_id: '' }, 'validation_failed'],
    ['a label of 256 characters', { label: 'x'.repeat(256) }, 'validation_failed'],
    ['a priority that is neither true nor false', { priority_processing: '1' }, 'validation_failed'],
    ['an empty priority', { priority_processing: '' }, 'validation_failed'],
    ['no dataset', { dataset: null }, 'validation_failed'],
    ['an empty dataset', { dataset: new Blob([]) }, 'validation_failed'],
    ['a dataset sent as a field', { dataset: ROW }, 'validation_failed'],
    ['a dataset whose first row is no JSON object', { dataset: new Blob(['[]\n']) }, 'validation_failed'],
    ['a field sent as a file', { label: new Blob(['x']) }, 'validation_failed'],
    ['a field that the contract does not name', { epochs: '3' }, 'validation_failed'],
    ['a field of an object prototype', { constructor: 'x' }, 'validation_failed'],
  ];
  it('charges nothing if it refuses a field', async () => {
    for (const [name, change, code] of refused)
      await assertNothingCharged(await bench().submit(change), code, name);
    for (const name of ['label', 'dataset']) {
      const body = form();
      if (name === 'label') body.append(name, 'again');
      else body.append(name, new Blob([ROW]), 'again.jsonl');
      const answer = await bench().call('POST', '/runs', { body });
      await assertNothingCharged(answer, 'validation_failed', `two parts called ${name}`);
    }
    for (const key of ['', 'not-a-uuid', `x${randomUUID()}`, `${randomUUID()}, ${randomUUID()}`]) {
      const headers = { 'idempotency-key': key };
      const answer = await bench().call('POST', '/runs', { body: form(), headers });
      await assertNothingCharged(answer, 'validation_failed', key);
    }
  });

  const bodies: [name: string, type: string, body: string][] = [
    ['JSON', 'application/json', '{}'],
    ['a form that is urlencoded', 'application/x-www-form-urlencoded', 'model_id=qwen3-8b'],
    ['no boundary', 'multipart/form-data', '--x--'],
    ['an empty boundary', 'multipart/form-data; boundary=', '--x--'],
    ['an empty body', 'multipart/form-data; boundary=x', ''],
    ['no parts', 'multipart/form-data; boundary=x', '--x--\r\n'],
    ['another boundary than announced', 'multipart/form-data; boundary=x', '--y\r\n\r\n--y--\r\n'],
  ];
  it('charges nothing for an incomplete form', async () => {
    for (const [name, type, body] of bodies) {
      const answer = await bench().call('POST', '/runs', { body, headers: { 'content-type': type } });
      await assertNothingCharged(answer, 'validation_failed', name);
    }
  });
});
