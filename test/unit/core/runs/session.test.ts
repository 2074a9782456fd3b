import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type { Connection } from '../../../../src/core/api/client.ts';
import { NetworkError, ServiceError } from '../../../../src/core/api/errors.ts';
import { NO_WAIT } from '../../../../src/core/api/rateGate.ts';
import { KeyRejectedError, type SessionState } from '../../../../src/core/runs/session.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { Bench, row, until } from '../../../helpers/runs/support.ts';

const BALANCE = { balance_cents: 100, currency: 'EUR' };
const REFUSED = { error: { code: 'invalid_api_key', message: 'no' } };

describe('Session', () => {
  let bench: Bench;
  let keys: (string | undefined)[];
  let answer: (key: string | undefined) => [status: number, body: unknown];
  let url: string;

  beforeEach(async () => {
    bench = await Bench.start();
    keys = [];
    answer = () => [200, BALANCE];
    const server = await bench.serve((request, response) => {
      const key = request.headers.authorization?.replace('Bearer ', '');
      keys.push(key);
      sendJson(response, ...answer(key));
    });
    url = server.url;
  });
  afterEach(() => bench.end());

  function watched(apiKey = 'k1') {
    let key = apiKey;
    let opened = 0;
    const session = bench.session(() => {
      opened += 1;
      return Promise.resolve(key === '' ? undefined : { baseUrl: url, apiKey: key, keyId: 'key-1' });
    });
    const states: SessionState[] = [];
    session.onDidChangeState((state) => states.push(state));
    return { session, states, setKey: (next: string) => (key = next), opened: () => opened };
  }

  it('is connecting until the service answers, then ready, with one client for all calls', async () => {
    const { session, states, opened } = watched();
    assert.equal(session.state, 'connecting');
    await Promise.all([session.balance.refresh(), session.call((client) => client.getBalance())]);
    await session.balance.refresh();
    assert.deepEqual([states, opened(), session.balance.current], [['ready'], 1, BALANCE]);
    assert.equal(session.keyId, 'key-1');
    session.reconnect();
    assert.equal(session.keyId, undefined);
  });

  for (const [name, body] of [
    ['of the contract', REFUSED],
    ['of another form', '<html>'],
  ] as const)
    it(`changes state once after a 401 ${name}, also for calls in progress, and sends nothing more`, async () => {
      answer = () => [401, body];
      const { session, states } = watched();
      await Promise.allSettled([session.runs.refresh(), session.models.refresh(), session.balance.refresh()]);
      const { length } = keys;
      const storm = await Promise.allSettled(
        Array.from({ length: 20 }, () => session.call((client) => client.getBalance())),
      );
      assert.ok(storm.every((end) => end.status === 'rejected' && end.reason instanceof KeyRejectedError));
      assert.deepEqual([keys.length, states], [length, ['key-rejected']]);
    });

  it('tries again with another key after reconnect', async () => {
    answer = (key) => (key === 'k2' ? [200, BALANCE] : [401, REFUSED]);
    const { session, states, setKey } = watched();
    await assert.rejects(session.balance.refresh());
    setKey('k2');
    session.reconnect();
    await session.balance.refresh();
    assert.deepEqual(states, ['key-rejected', 'connecting', 'ready']);
    assert.deepEqual(keys, ['k1', 'k2']);
  });

  it('ignores how calls of the old connection end after reconnect', async () => {
    const ends = [new ServiceError('invalid_api_key', 401), new NetworkError('reset'), undefined];
    for (const end of ends) {
      const { session, setKey } = watched();
      const late = Promise.withResolvers<undefined>();
      let begun = false;
      const old = session.call(() => {
        begun = true;
        return late.promise;
      });
      await until(() => begun);
      setKey('k2');
      session.reconnect();
      if (end === undefined) late.resolve(undefined);
      else late.reject(end);
      await Promise.allSettled([old]);
      assert.equal(session.state, 'connecting');
      await session.balance.refresh();
    }
    assert.deepEqual(keys, ['k2', 'k2', 'k2']);
  });

  it('stays rejected when an earlier call succeeds or fails in the network', async () => {
    const { session } = watched();
    const [well, badly] = [Promise.withResolvers<number>(), Promise.withResolvers<never>()];
    const calls = [session.call(() => well.promise), session.call(() => badly.promise)];
    answer = () => [401, REFUSED];
    await assert.rejects(session.balance.refresh());
    well.resolve(1);
    badly.reject(new NetworkError('reset'));
    await Promise.allSettled(calls);
    assert.equal(session.state, 'key-rejected');
  });

  it('is locked while no API key works, and finds a missing key automatically', async () => {
    const { session, states, setKey } = watched('');
    const known = () => [session.state, session.isLocked];
    assert.deepEqual(known(), ['connecting', false]);
    await assert.rejects(session.balance.refresh(), { code: 'key-missing' });
    await assert.rejects(session.runs.refresh(), { code: 'key-missing' });
    assert.deepEqual([known(), keys], [['key-missing', true], []]);
    setKey('k1');
    await session.balance.refresh();
    answer = () => [401, REFUSED];
    await assert.rejects(session.balance.refresh());
    assert.deepEqual(known(), ['key-rejected', true]);
    session.reconnect();
    session.reconnect();
    assert.equal(session.isLocked, false);
    assert.deepEqual(states, ['key-missing', 'ready', 'key-rejected', 'connecting', 'connecting']);
  });

  it('is offline with a start time while nothing answers, and ready again after that', async () => {
    let port = 'http://127.0.0.1:9';
    const session = bench.session(() => Promise.resolve({ baseUrl: port, apiKey: 'k', keyId: 'key-1' }));
    const states: SessionState[] = [];
    session.onDidChangeState((state) => states.push(state));
    const before = Date.now();
    await assert.rejects(session.balance.refresh(), NetworkError);
    const since = session.offlineSince ?? 0;
    assert.ok(since >= before && since <= Date.now());
    await assert.rejects(session.balance.refresh(), NetworkError);
    assert.equal(session.offlineSince, since);
    port = url;
    session.reconnect();
    await session.balance.refresh();
    assert.deepEqual([states, session.offlineSince], [['offline', 'connecting', 'ready'], undefined]);
  });

  it('is offline if a portal or gateway answers, and ready after an odd response of the service', async () => {
    for (const [status, headers, text, state] of [
      [200, {}, '<html>sign in</html>', 'offline'],
      [302, { location: '/portal' }, '', 'offline'],
      [502, {}, '<html>bad gateway</html>', 'offline'],
      [200, {}, '{"run":{"run_id":7}}', 'ready'],
      [200, {}, '{"run":', 'ready'],
      [200, {}, '', 'ready'],
      [500, {}, 'oops', 'ready'],
      [404, {}, '{"error":{"code":"not_found","message":""}}', 'ready'],
    ] as const) {
      const server = await bench.serve((_, response) => void response.writeHead(status, headers).end(text));
      const session = bench.session({ baseUrl: server.url, apiKey: 'k', keyId: 'key-1' });
      const states: SessionState[] = [];
      session.onDidChangeState((next) => states.push(next));
      await assert.rejects(session.runs.loadDetail('r'));
      assert.deepEqual(states, [state], `${status} ${text}`);
    }
  });

  it('repeats reads with the new API key, and drops responses to the old one', async () => {
    const held = new Map<string, () => void>();
    const server = await bench.serve((request, response) => {
      const key = request.headers.authorization?.replace('Bearer ', '') ?? '';
      const what = String(request.url).split('?')[0]?.split('/').at(-1) ?? '';
      const of = key === 'k1' ? 'old' : 'new';
      const bodies: Record<string, unknown> = {
        balance: { balance_cents: key === 'k1' ? 1 : 2, currency: 'EUR' },
        models: { data: [{ model_id: of, name: of, provider: 'p', available: true }] },
        runs: { data: [row(of, 1)], has_more: false },
        r: { run: { run_id: 'r', status: of, model_id: 'm' } },
      };
      const answer = () => sendJson(response, 200, bodies[what]);
      if (key === 'k1') held.set(what, answer);
      else answer();
    });
    let apiKey = 'k1';
    const session = bench.session(() => Promise.resolve({ baseUrl: server.url, apiKey, keyId: 'key-1' }));
    const reads = () => [
      session.balance.refresh(),
      session.models.refresh(),
      session.runs.refresh(),
      session.runs.loadDetail('r'),
    ];
    const old = reads();
    await until(() => held.size === 4);
    apiKey = 'k2';
    session.reconnect();
    await Promise.all(reads());
    for (const answer of held.values()) answer();
    assert.deepEqual(await old[0], { balance_cents: 2, currency: 'EUR' });
    await Promise.all(old);
    assert.equal(session.balance.current?.balance_cents, 2);
    assert.equal(session.models.models?.[0]?.model_id, 'new');
    assert.equal(session.runs.get('old'), undefined);
    assert.equal(session.runs.detail('r')?.status, 'new');
    assert.equal(session.state, 'ready');
  });

  it('sends nothing with a key that was replaced while it was being read', async () => {
    const slow = Promise.withResolvers<Connection>();
    let connects = 0;
    const session = bench.session(() =>
      (connects += 1) === 1 ? slow.promise : Promise.resolve({ baseUrl: url, apiKey: 'k2', keyId: 'key-1' }),
    );
    const read = session.call((client) => client.getBalance());
    session.reconnect();
    slow.resolve({ baseUrl: url, apiKey: 'k1', keyId: 'key-1' });
    await read;
    assert.deepEqual(keys, ['k2']);
  });

  it('is offline if it cannot get a connection, and tries again at the next call', async () => {
    let broken = true;
    const session = bench.session(() =>
      broken
        ? Promise.reject(new Error('the sandbox did not start'))
        : Promise.resolve({ baseUrl: url, apiKey: 'k', keyId: 'key-1' }),
    );
    const ends = await Promise.allSettled([session.balance.refresh(), session.runs.refresh()]);
    assert.ok(ends.every((end) => end.status === 'rejected'));
    assert.equal(session.state, 'offline');
    broken = false;
    await session.balance.refresh();
    assert.equal(session.state, 'ready');
  });

  describe('state of another window', () => {
    it('sets whether and since when the service is unreachable, unless that window has closed', async () => {
      const { session, states } = watched();
      session.acceptShared({ offlineSinceMs: 4 }, false);
      assert.equal(session.state, 'connecting');
      session.acceptShared({}, true);
      session.acceptShared({ offlineSinceMs: 5 }, true);
      session.acceptShared({ offlineSinceMs: 6 }, true);
      assert.deepEqual([states, session.offlineSince], [['ready', 'offline'], 5]);
      await session.balance.refresh();
      assert.deepEqual([session.state, session.offlineSince], ['ready', undefined]);
    });

    it('does not replace a rejected or missing API key', async () => {
      answer = () => [401, REFUSED];
      const { session } = watched();
      await assert.rejects(session.balance.refresh());
      session.acceptShared({}, true);
      assert.equal(session.state, 'key-rejected');
      const { session: without } = watched('');
      await assert.rejects(without.balance.refresh());
      without.acceptShared({}, true);
      assert.equal(without.state, 'key-missing');
    });

    it('blocks calls until a time, also on a new connection, unless the clock was set back', async () => {
      const { session } = watched();
      const waitUntil = (untilMs: number, readUntilMs = untilMs) => ({
        waits: { reads: { sinceMs: Date.now(), untilMs, readUntilMs }, submissions: NO_WAIT },
      });
      session.acceptShared(waitUntil(Date.now() + 8 * 24 * 3_600_000), false);
      assert.equal(session.notBeforeMs, undefined);
      const notBeforeMs = Date.now() + 3_600_000;
      session.acceptShared(waitUntil(notBeforeMs, Date.now() + 300_000), false);
      assert.equal(session.notBeforeMs, notBeforeMs);
      for (let turn = 0; turn < 2; turn++) {
        await assert.rejects(session.balance.refresh(), { code: 'rate_limited' });
        assert.deepEqual([session.notBeforeMs, keys], [notBeforeMs, []]);
        session.reconnect();
      }
    });

    it('ends the wait of submissions once a read is answered, even if another window shares the wait again', async () => {
      const { session } = watched();
      const sinceMs = Date.now() - 1_000;
      const untilMs = sinceMs + 3_600_000;
      const asked = { sinceMs, untilMs, readUntilMs: sinceMs + 300_000 };
      const shared = { waits: { reads: NO_WAIT, submissions: asked } };
      session.acceptShared(shared, true);
      answer = () => [500, {}];
      await assert.rejects(session.endLongWait());
      assert.deepEqual([session.longWaitUntilMs, session.waits], [untilMs, shared.waits]);
      answer = () => [200, BALANCE];
      await session.endLongWait();
      session.acceptShared(shared, true);
      assert.deepEqual([session.longWaitUntilMs, session.notBeforeMs], [undefined, undefined]);
      assert.deepEqual(session.balance.current, BALANCE);
      // The other window gets the end, too.
      const other = watched().session;
      other.acceptShared(shared, true);
      assert.equal(other.longWaitUntilMs, untilMs);
      other.acceptShared({ waits: session.waits }, true);
      assert.deepEqual([other.longWaitUntilMs, other.notBeforeMs], [undefined, undefined]);
      // A shorter wait that the service asks for later counts.
      const { sinceMs: endedAtMs = NaN } = session.waits?.submissions ?? {};
      while (Date.now() <= endedAtMs) await turn();
      const later = { sinceMs: Date.now(), untilMs: untilMs - 60_000, readUntilMs: 0 };
      session.acceptShared({ waits: { reads: NO_WAIT, submissions: later } }, true);
      assert.equal(session.longWaitUntilMs, untilMs - 60_000);
    });

    it('has no long wait if the service asked a read to wait, or a submission for ten minutes', () => {
      const { session } = watched();
      const ofMinutes = (minutes: number) => Date.now() + minutes * 60_000;
      const sinceMs = Date.now();
      const ofRead = { sinceMs, untilMs: ofMinutes(900), readUntilMs: ofMinutes(10) };
      session.acceptShared({ waits: { reads: ofRead, submissions: NO_WAIT } }, true);
      assert.deepEqual(
        [session.submissionsNotBeforeMs, session.longWaitUntilMs],
        [ofRead.readUntilMs, undefined],
      );
      const ofSubmission = { sinceMs, untilMs: ofMinutes(10), readUntilMs: ofMinutes(10) };
      session.acceptShared({ waits: { reads: NO_WAIT, submissions: ofSubmission } }, true);
      assert.equal(session.longWaitUntilMs, undefined);
    });
  });
});

describe('Latest', () => {
  it('prefers the value of a submission to a read that started before it', async () => {
    const bench = await Bench.start();
    const held: (() => void)[] = [];
    let cents = 900;
    const server = await bench.serve((_request, response) => {
      const body = { balance_cents: cents, currency: 'EUR' };
      held.push(() => sendJson(response, 200, body));
    });
    const { balance } = bench.session({ baseUrl: server.url, apiKey: 'k', keyId: 'key-1' });
    const balances: (number | undefined)[] = [];
    balance.onDidChange(() => balances.push(balance.current?.balance_cents));
    const reading = balance.refresh();
    await until(() => held.length === 1);
    cents = 500;
    balance.set({ balance_cents: 500, currency: 'EUR' });
    held[0]?.();
    await until(() => held.length === 2);
    held[1]?.();
    assert.equal((await reading).balance_cents, 500);
    assert.deepEqual(balances, [500, 500]);
    await bench.end();
  });
});
