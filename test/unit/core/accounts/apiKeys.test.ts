import assert from 'node:assert/strict';
import fs from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AccountStore } from '../../../../src/core/accounts/accountStore.ts';
import { ApiKeys } from '../../../../src/core/accounts/apiKeys.ts';
import { Emitter } from '../../../../src/core/base/event.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { until } from '../../../helpers/runs/support.ts';

describe('ApiKeys', () => {
  const folderOf = useFolder();
  const stores: AccountStore[] = [];
  const pages: ApiKeys[] = [];
  const focus = new Emitter<{ focused: boolean }>();
  let stored: Map<string, string>;
  let keys: ApiKeys;
  const owner = { accountId: 'a', origin: 'https://service.test' };

  async function openAccounts(): Promise<AccountStore> {
    const accounts = new AccountStore(folderOf());
    stores.push(accounts);
    await accounts.open();
    return accounts;
  }

  beforeEach(async () => {
    stored = new Map();
    const secrets = {
      get: (key: string) => Promise.resolve(stored.get(key)),
      store: (key: string, value: string) => Promise.resolve(void stored.set(key, value)),
      delete: (key: string) => Promise.resolve(void stored.delete(key)),
      onDidChange: () => ({ dispose: () => undefined }),
    };
    keys = new ApiKeys(secrets, await openAccounts(), () => Promise.resolve(undefined), undefined);
  });
  afterEach(() => {
    for (const one of [...pages.splice(0), ...stores.splice(0)]) one.dispose();
  });

  it('are stored before their account is created, and removed if that fails', async () => {
    let during: string | undefined;
    await keys.storeWith(owner, 'service_x', async () => {
      during = (await keys.read(owner))?.apiKey;
    });
    assert.deepEqual([during, (await keys.read(owner))?.apiKey], ['service_x', 'service_x']);
    const full = new Error('disk full');
    await assert.rejects(
      keys.storeWith({ ...owner, accountId: 'b' }, 'service_y', () => Promise.reject(full)),
      full,
    );
    assert.equal(stored.size, 1);
  });

  it('assigns a new random ID whenever the API key changes', async () => {
    await keys.replace(owner, 'service_one');
    const first = await keys.read(owner);
    assert.match(first?.keyId ?? '', /^[0-9a-f-]{36}$/);
    await keys.replace(owner, 'service_two');
    const second = await keys.read(owner);
    assert.equal(second?.apiKey, 'service_two');
    assert.notEqual(second.keyId, first?.keyId);
    await keys.replace(owner, 'service_one');
    assert.notEqual((await keys.read(owner))?.keyId, first?.keyId);
  });

  it('retains the ID if the same API key is entered again for the same origin', async () => {
    await keys.replace(owner, 'service_one');
    const first = await keys.read(owner);
    await keys.replace(owner, 'service_one');
    assert.deepEqual(await keys.read(owner), first);
    const other = { ...owner, origin: 'https://other.test' };
    await keys.replace(other, 'service_one');
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

  describe('of a page of a browser, which reads the secrets once and writes all of them', () => {
    /** What the browser stores for all pages. */
    let browser: Readonly<Record<string, string>>;

    beforeEach(() => {
      browser = {};
    });

    async function open() {
      let ofPage = browser;
      const change = (next: Readonly<Record<string, string>>) => {
        browser = ofPage = next;
        return Promise.resolve();
      };
      const secrets = {
        get: (key: string) => Promise.resolve(ofPage[key]),
        store: (key: string, value: string) => change({ ...ofPage, [key]: value }),
        delete: (key: string) =>
          change(Object.fromEntries(Object.entries(ofPage).filter(([k]) => k !== key))),
        onDidChange: () => ({ dispose: () => undefined }),
      };
      const accounts = await openAccounts().catch(() => stores.at(-1)!);
      const pageKeys = new ApiKeys(secrets, accounts, () => Promise.resolve(undefined), focus.event);
      pages.push(pageKeys);
      const changed: string[] = [];
      pageKeys.onDidChange((id) => changed.push(id));
      const add = (id: string, apiKey: string) =>
        pageKeys.storeWith({ ...owner, accountId: id }, apiKey, (keyId) =>
          accounts.save({ kind: 'service', id, name: id, baseUrl: owner.origin, keyId }),
        );
      const apiKeyOf = async (id: string) => (await pageKeys.read({ ...owner, accountId: id }))?.apiKey;
      return { keys: pageKeys, accounts, add, apiKeyOf, changed };
    }

    it('are not used after another page replaced them, and not written after it changed any', async () => {
      const first = await open();
      await first.add('a', 'service_one');
      const second = await open();
      assert.equal(await second.apiKeyOf('a'), 'service_one');
      await first.keys.replace(owner, 'service_two');
      assert.deepEqual([await first.apiKeyOf('a'), first.changed], ['service_two', []]);
      await second.accounts.open();
      assert.deepEqual([second.changed, second.keys.isOutdated('a')], [['a'], true]);
      assert.equal(await second.apiKeyOf('a'), undefined);
      const writes = [
        () => second.keys.replace(owner, 'service_late'),
        () => second.add('b', 'service_b'),
        () => second.keys.delete('b'),
      ];
      for (const [index, write] of writes.entries())
        await assert.rejects(write(), { code: index === 0 ? 'key-outdated' : 'keys-changed' });
      const reloaded = await open();
      assert.equal(await reloaded.apiKeyOf('a'), 'service_two');
      await reloaded.keys.replace(owner, 'service_three');
      assert.equal(await (await open()).apiKeyOf('a'), 'service_three');
    });

    it('are not used once the page gets the focus, if the system has no file watcher for it', async () => {
      const first = await open();
      await first.add('a', 'service_one');
      const { watch } = fs;
      fs.watch = () => {
        throw new Error('ENOSPC');
      };
      syncBuiltinESMExports();
      const second = await open();
      fs.watch = watch;
      syncBuiltinESMExports();
      await first.keys.replace(owner, 'service_two');
      await delay(200);
      assert.equal(second.keys.isOutdated('a'), false);
      focus.fire({ focused: true });
      await until(() => second.keys.isOutdated('a'));
      assert.deepEqual([await second.apiKeyOf('a'), second.changed], [undefined, ['a']]);
    });

    it('are not written after another page added or removed an account', async () => {
      const first = await open();
      const second = await open();
      await first.add('a', 'service_a');
      await assert.rejects(second.add('b', 'service_b'), { code: 'keys-changed' });
      assert.deepEqual([second.keys.isOutdated('a'), second.changed], [false, []]);
      const third = await open();
      await first.accounts.remove('a');
      await first.keys.delete('a');
      await assert.rejects(third.add('b', 'service_b'), { code: 'keys-changed' });
      assert.deepEqual([browser, third.changed], [{}, []]);
      await first.add('b', 'service_b');
      assert.equal(await (await open()).apiKeyOf('b'), 'service_b');
    });

    it('are written if the accounts could not be read at first', async () => {
      await (await open()).add('a', 'service_a');
      const file = path.join(folderOf(), 'accounts.json');
      await rename(file, `${file}.aside`);
      await mkdir(file);
      const second = await open();
      assert.equal(second.accounts.isUnreadable, true);
      await rm(file, { recursive: true });
      await rename(`${file}.aside`, file);
      await second.accounts.open();
      await second.keys.replace(owner, 'service_two');
      assert.equal(await second.apiKeyOf('a'), 'service_two');
    });
  });
});
