import assert from 'node:assert/strict';
import { ApiKeys } from '../../../../src/core/accounts/apiKeys.ts';

describe('ApiKeys', () => {
  let stored: Map<string, string>;
  let keys: ApiKeys;
  const owner = { accountId: 'a', origin: 'https://service.test' };

  beforeEach(() => {
    stored = new Map();
    const secrets = {
      get: (key: string) => Promise.resolve(stored.get(key)),
      store: (key: string, value: string) => Promise.resolve(void stored.set(key, value)),
      delete: (key: string) => Promise.resolve(void stored.delete(key)),
      onDidChange: () => ({ dispose: () => undefined }),
    };
    keys = new ApiKeys(secrets, () => Promise.resolve(undefined));
  });

  it('assigns a new random ID whenever the API key changes', async () => {
    await keys.store(owner, 'service_one');
    const first = await keys.read(owner);
    assert.match(first?.keyId ?? '', /^[0-9a-f-]{36}$/);
    await keys.store(owner, 'service_two');
    const second = await keys.read(owner);
    assert.equal(second?.apiKey, 'service_two');
    assert.notEqual(second.keyId, first?.keyId);
    await keys.store(owner, 'service_one');
    assert.notEqual((await keys.read(owner))?.keyId, first?.keyId);
  });

  it('retains the ID if the same API key is entered again for the same origin', async () => {
    await keys.store(owner, 'service_one');
    const first = await keys.read(owner);
    await keys.store(owner, 'service_one');
    assert.deepEqual(await keys.read(owner), first);
    const other = { ...owner, origin: 'https://other.test' };
    await keys.store(other, 'service_one');
    assert.notEqual((await keys.read(other))?.keyId, first?.keyId);
    assert.equal(await keys.read(owner), undefined);
  });

  it('returns no API key if the stored record is incomplete', async () => {
    const { origin } = owner;
    const broken = [{ origin, apiKey: 1, keyId: 'k' }, { origin, apiKey: 'service_x' }, [1], {}, null];
    for (const text of ['', ...broken.map((one) => JSON.stringify(one))]) {
      stored.set('fineTuning.apiKey.a', text);
      assert.equal(await keys.read(owner), undefined, text);
    }
  });
});
