import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { originOf, type Account, type ServiceAccount } from '../../../../src/core/accounts/account.ts';
import { AccountStore } from '../../../../src/core/accounts/accountStore.ts';
import { until } from '../../../helpers/runs/support.ts';

describe('AccountStore', () => {
  let folder: string;
  let stores: AccountStore[];

  beforeEach(async () => {
    folder = path.join(await mkdtemp(path.join(tmpdir(), 'accounts-')), 'storage');
    stores = [];
  });
  afterEach(async () => {
    for (const store of stores) store.dispose();
    await rm(path.dirname(folder), { recursive: true });
  });

  async function opened(): Promise<AccountStore> {
    const store = new AccountStore(folder);
    stores.push(store);
    await store.open();
    return store;
  }
  const file = () => path.join(folder, 'accounts.json');
  const service = (id: string): ServiceAccount => ({
    kind: 'service',
    id,
    name: `Näme ${id}`,
    baseUrl: 'https://service.test:8443/prefix',
  });

  const idsOf = (store: AccountStore) => store.accounts.map(({ id }) => id);
  const sandbox = (id: string): Account => ({ kind: 'sandbox', id, name: 'Sandbox' });

  it('starts empty in a new folder, and stores the accounts and which one is active', async () => {
    const first = await opened();
    assert.deepEqual([first.accounts, first.active], [[], undefined]);
    await first.save(service('a'));
    await first.save(sandbox('s'));
    await first.activate('a');
    const second = await opened();
    assert.deepEqual([second.accounts, second.active], [[service('a'), sandbox('s')], service('a')]);
  });

  it('replaces the account with the same ID, and the only sandbox', async () => {
    const store = await opened();
    await store.save(service('a'));
    await store.save(sandbox('old'));
    await store.save(sandbox('new'));
    assert.deepEqual([idsOf(store), store.active?.id], [['a', 'new'], 'new']);
    await store.save({ ...service('a'), name: 'other' });
    assert.deepEqual([idsOf(store), store.active?.name], [['new', 'a'], 'other']);
  });

  it('keeps the budget and website of an account that is saved or added again', async () => {
    const budget = { perRunCents: 500, perMonthCents: 0, currency: 'USD' };
    const set = { ...service('a'), budget, website: 'https://service.test/billing' };
    const store = await opened();
    await store.save(service('a'));
    await store.save(sandbox('s'));
    await store.change('a', { website: set.website });
    await store.change('a', { budget });
    await store.change('s', { budget, website: set.website });
    await store.change('nobody', { budget });
    assert.deepEqual([store.active?.id, store.accounts], ['s', [set, { ...sandbox('s'), budget }]]);
    await store.save(service('a'));
    await store.remove('a');
    await store.save({ ...service('a'), name: 'other' });
    await store.save(sandbox('s'));
    assert.deepEqual((await opened()).accounts, [
      { ...set, name: 'other' },
      { ...sandbox('s'), budget },
    ]);
    await store.change('a', { budget: undefined });
    assert.equal('budget' in (store.accounts[0] ?? set), false);
    await store.save(sandbox('new'));
    assert.deepEqual(store.active, sandbox('new'));
  });

  it('has no active account after it was removed, and ignores unknown IDs', async () => {
    const store = await opened();
    await store.save(service('a'));
    await store.save(service('b'));
    await store.remove('b');
    await store.activate('nobody');
    assert.deepEqual([store.active, idsOf(store)], [undefined, ['a']]);
    await store.activate('a');
    await store.activate('nobody');
    await store.remove('unknown');
    assert.equal(store.active?.id, 'a');
  });

  it('loses no concurrent changes of many windows, and sets a corrupt file aside once', async () => {
    const windows = await Promise.all(Array.from({ length: 10 }, opened));
    const ids = ['a', 'b'];
    const change = (work: (store: AccountStore, id: string) => Promise<void>) =>
      Promise.all(windows.flatMap((store, index) => ids.map((id) => work(store, `${id}${index}`))));
    for (const isTorn of [false, true]) {
      if (isTorn) await writeFile(file(), 'torn');
      await change((store, id) => store.save(service(id)));
      assert.equal((await opened()).accounts.length, 20);
      await change((store, id) => store.remove(id));
      assert.deepEqual((await opened()).accounts, []);
    }
    assert.equal((await readdir(folder)).filter((entry) => entry.includes('.unreadable-')).length, 1);
    await writeFile(file(), 'torn');
    for (const store of await Promise.all(Array.from({ length: 8 }, opened)))
      assert.deepEqual([store.accounts, store.former], [[], []]);
  });

  it('shows the changes of other windows', async () => {
    const here = await opened();
    const there = await opened();
    let changes = 0;
    there.onDidChange(() => (changes += 1));
    await here.save(service('a'));
    await until(() => there.active?.id === 'a');
    await there.save(service('b'));
    await until(() => here.active?.id === 'b');
    assert.equal(here.accounts.length, 2);
    await here.remove('b');
    await until(() => there.accounts.length === 1);
    assert.equal(there.active, undefined);
    assert.ok(changes >= 3);
  });

  it('changes the current file, not what this window last read', async () => {
    const store = await opened();
    // From here on, it gets no notifications.
    store.dispose();
    await store.save(service('a'));
    const others = { version: 1, activeId: 'b', accounts: [service('a'), service('b')] };
    await writeFile(file(), JSON.stringify(others));
    await store.save(service('c'));
    assert.deepEqual(idsOf(store), ['a', 'b', 'c']);
  });

  it('reports a change once, whatever the order of an account’s fields', async () => {
    const store = await opened();
    let changes = 0;
    store.onDidChange(() => (changes += 1));
    const { id, name, baseUrl } = service('a');
    await store.save({ baseUrl, name, id, kind: 'service' });
    const before = store.active;
    // Write the file in one step: the store watches, and could read an empty file between two.
    writeFileSync(file(), readFileSync(file()));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await store.activate('a');
    assert.deepEqual([changes, JSON.stringify(store.active)], [1, JSON.stringify(before)]);
  });

  it('sets a foreign file aside unchanged, and continues', async () => {
    await mkdir(folder);
    const isAside = (entry: string) => entry.includes('.unreadable-');
    for (const text of [
      '{"version":1,"acc',
      '',
      '"something else"',
      '{"version":1,"accounts":[{"kind":"service","id":1}]}',
      JSON.stringify({ version: 1, accounts: [{ ...service('a'), baseUrl: 'x' }] }),
    ]) {
      await writeFile(file(), text);
      const store = await opened();
      assert.deepEqual(store.accounts, []);
      const [aside = ''] = (await readdir(folder)).filter(isAside);
      assert.equal(await readFile(path.join(folder, aside), 'utf8'), text);
      await store.save(service('a'));
      assert.equal((await opened()).active?.id, 'a');
      await rm(path.join(folder, aside));
    }
  });

  it('reads what it can of a file of a later version, and never writes it', async () => {
    await mkdir(folder);
    const later = { code: 'accounts-later-version' };
    const accounts = [service('a'), { ...service('b'), baseUrl: 7 }, { kind: 'team', id: 't' }, null];
    for (const [content, ids, active] of [
      [{ version: 2, activeId: 'a', accounts, former: [service('f')] }, ['a'], service('a')],
      [{ version: 3, activeId: 5, accounts: { a: service('a') } }, [], undefined],
    ] as const) {
      const text = JSON.stringify(content);
      await writeFile(file(), text);
      const store = await opened();
      assert.deepEqual([idsOf(store), store.active, store.isUnreadable], [ids, active, false]);
      await assert.rejects(store.save(service('c')), later);
      await assert.rejects(store.change('a', { website: 'https://service.test' }), later);
      await assert.rejects(store.activate('a'), later);
      await assert.rejects(store.remove('a'), later);
      assert.throws(() => store.requireChangeable(), later);
      assert.equal(await readFile(file(), 'utf8'), text);
      // The later version was removed, and its file with it.
      await rm(file());
      await store.save(service('c'));
      store.requireChangeable();
    }
    assert.deepEqual((await readdir(folder)).sort(), ['accounts.json', 'accounts.lock']);
  });

  it('writes fields of an account that it does not know back unchanged', async () => {
    await mkdir(folder);
    const color = { of: 'later' };
    const accounts = [{ ...service('a'), color }, service('b')];
    await writeFile(file(), JSON.stringify({ version: 1, activeId: 'a', accounts }));
    const store = await opened();
    await store.change('a', { website: 'https://service.test' });
    await store.activate('b');
    await store.save(service('a'));
    const written = JSON.parse(await readFile(file(), 'utf8')) as {
      accounts: { id: string; color?: unknown }[];
    };
    assert.deepEqual(written.accounts.find(({ id }) => id === 'a')?.color, color);
  });

  it('writes accounts of a kind that it does not know back unchanged', async () => {
    await mkdir(folder);
    const team = { kind: 'team', id: 't', members: [{ name: 'Näme' }], budget: 'other' };
    const old = { ...team, id: 'old' };
    await writeFile(
      file(),
      JSON.stringify({ version: 1, activeId: 't', accounts: [team, service('a')], former: [old] }),
    );
    const store = await opened();
    assert.deepEqual([store.accounts, store.active, store.former], [[service('a')], undefined, []]);
    for (const change of [
      () => store.save(sandbox('s')),
      () => store.change('a', { website: 'https://service.test' }),
      () => store.activate('a'),
      () => store.remove('a'),
    ]) {
      await change();
      const written = JSON.parse(await readFile(file(), 'utf8')) as Record<string, { id: string }[]>;
      for (const [list, entry] of [
        ['accounts', team],
        ['former', old],
      ] as const)
        assert.deepEqual(
          written[list]?.filter(({ id }) => id === entry.id),
          [entry],
        );
    }
    assert.deepEqual([idsOf(store), store.former.map(({ id }) => id)], [['s'], ['a']]);
  });

  it('rejects an account that it could not read back', async () => {
    const store = await opened();
    await store.save(service('a'));
    await assert.rejects(store.save({ ...service('b'), baseUrl: 'no address' }));
    assert.equal(store.active?.id, 'a');
    await store.save(service('c'));
    assert.equal(store.accounts.length, 2);
  });

  it('reads the currency of a budget so that it can be compared', async () => {
    await (await opened()).save({ ...service('a'), budget: { currency: ' usd' } });
    assert.equal((await opened()).accounts[0]?.budget?.currency, 'USD');
  });

  it('drops only a damaged budget or website, of current and former accounts', async () => {
    const budget = { perRunCents: 500, currency: 'USD' };
    const website = 'https://service.test/billing';
    await mkdir(folder);
    for (const [damage, left] of [
      ...[0.5, -1, '5', null].map((perRunCents) => [
        { budget: { ...budget, perRunCents }, website },
        { website },
      ]),
      ...[{ perRunCents: 500 }, [], 'none', null].map((broken) => [{ budget: broken, website }, { website }]),
      ...['http://service.test', 'javascript:alert(1)', 'https://me:pass@service.test', 7, {}].map(
        (broken) => [{ budget, website: broken }, { budget }],
      ),
    ] as const) {
      const accounts = [{ ...service('a'), ...damage }, sandbox('s')];
      const text = JSON.stringify({
        version: 1,
        activeId: 's',
        accounts,
        former: [{ ...service('f'), ...damage }],
      });
      // At once, as the earlier stores watch it.
      await writeFile(`${folder}.tmp`, text);
      await rename(`${folder}.tmp`, file());
      const store = await opened();
      const known = [[{ ...service('a'), ...left }, sandbox('s')], [{ ...service('f'), ...left }]];
      assert.deepEqual(JSON.parse(JSON.stringify([store.accounts, store.former])), known, text);
      await store.activate('a');
      assert.doesNotMatch(await readFile(file(), 'utf8'), /javascript|me:pass|0\.5/);
    }
    assert.deepEqual(
      (await readdir(folder)).filter((entry) => entry.includes('unreadable')),
      [],
    );
  });

  it('does not treat an unreadable file as empty, and fires once it is readable or gone', async () => {
    await (await opened()).save(service('a'));
    const text = await readFile(file());
    for (const isThere of [true, false]) {
      await rm(file());
      await mkdir(file());
      const store = new AccountStore(folder);
      stores.push(store);
      const unreadable = { code: 'accounts-unreadable', file: file() };
      await assert.rejects(store.open(), unreadable);
      await assert.rejects(store.save(service('b')), unreadable);
      assert.deepEqual([store.isUnreadable, store.accounts], [true, []]);
      const changed = new Promise<void>((resolve) => store.onDidChange(resolve));
      await rm(file(), { recursive: true });
      if (isThere) await writeFile(file(), text);
      await store.open();
      await changed;
      assert.deepEqual([store.isUnreadable, idsOf(store)], [false, isThere ? ['a'] : []]);
      await writeFile(file(), text);
    }
  });

  it('survives the removal of its folder', async () => {
    const store = await opened();
    await rm(folder, { recursive: true });
    await store.save(service('a'));
    assert.equal(store.active?.id, 'a');
  });

  it('returns the only origin that may receive the API key', () => {
    assert.equal(originOf(service('a')), 'https://service.test:8443');
  });
});
