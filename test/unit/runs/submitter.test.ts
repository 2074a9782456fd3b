import assert from 'node:assert/strict';
import { appendFile, readFile, utimes, writeFile } from 'node:fs/promises';
import type http from 'node:http';
import { CancelledError } from '../../../src/base/errors.ts';
import { inspectDataset } from '../../../src/dataset/inspect.ts';
import type { Outcome } from '../../../src/runs/outcome.ts';
import { Submitter, type SubmissionState } from '../../../src/runs/submitter.ts';
import { bodyOf, sendJson, type TestServer } from '../../helpers/httpServer.ts';
import { Bench, silent, until } from './support.ts';

const CREATED = {
  run_id: 'run-1',
  status: 'queued',
  price_cents: 100,
  currency: 'EUR',
  balance_after_cents: 900,
  plan_name: 'p',
};
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('Submitter', () => {
  let bench: Bench;
  let submitter: Submitter;
  let posts: { headers: http.IncomingHttpHeaders; body: Buffer }[];

  beforeEach(async () => {
    bench = await Bench.start();
    submitter = new Submitter();
    posts = [];
  });
  afterEach(async () => {
    submitter.dispose();
    await bench.end();
  });

  /** A service that reads whole submissions, notes them and then does as told; its other answers are empty. */
  function service(onPost: http.RequestListener): Promise<TestServer> {
    return bench.serve((request, response) => {
      if (request.method === 'GET') {
        const isRuns = request.url?.includes('/runs') === true;
        sendJson(
          response,
          200,
          isRuns ? { data: [], has_more: false } : { balance_cents: 7, currency: 'EUR' },
        );
        return;
      }
      bodyOf(request).then(
        (body) => {
          posts.push({ headers: request.headers, body });
          onPost(request, response);
        },
        () => undefined,
      );
    });
  }
  const connected = ({ url }: TestServer, id?: string) =>
    bench.session({ baseUrl: url, apiKey: `key-${id}`, keyId: 'key-1' }, id);
  const errorOf = (outcome: Outcome) => (outcome.kind === 'charged' ? undefined : outcome.error);

  describe('with the sandbox', () => {
    it('is charged once; runs and balance know it', async () => {
      const sandbox = await bench.sandbox();
      const session = bench.session(sandbox);
      const states: SubmissionState[] = [];
      submitter.onDidChange(({ state }) => states.at(-1) !== state && states.push(state));
      const outcome = await submitter.submit(session, await bench.draft(), silent());
      assert.ok(outcome.kind === 'charged');
      const { run_id, balance_after_cents, price_cents } = outcome.run;
      assert.equal(balance_after_cents, 100_000 - (price_cents ?? 0));
      assert.equal(session.balance.current?.balance_cents, balance_after_cents);
      assert.equal(session.runs.get(run_id)?.model_id, 'qwen3-8b');
      assert.equal(session.runs.label(run_id), 'Läbel');
      assert.deepEqual([states, submitter.pending], [['queued', 'uploading', 'validating'], []]);
      await session.runs.refresh();
      assert.equal(session.runs.rows?.length, 1);
      assert.equal((await session.runs.loadDetail(run_id)).label, 'Läbel');
    });

    for (const [scenario, code] of [
      ['insufficient-balance', 'insufficient_balance'],
      ['model-withdrawn', 'model_not_available'],
      ['rate-limited', 'rate_limited'],
    ] as const) {
      it(`is not charged when it answers ${code}`, async () => {
        const sandbox = await bench.sandbox();
        const session = bench.session(sandbox);
        sandbox.control.setScenario(scenario);
        const outcome = await submitter.submit(session, await bench.draft(), silent());
        assert.equal(outcome.kind, 'not-charged');
        assert.deepEqual(errorOf(outcome) instanceof Error && 'code' in (errorOf(outcome) as object), true);
        assert.equal((errorOf(outcome) as { code: string }).code, code);
        sandbox.control.setScenario('none');
        await Promise.all([session.runs.refresh(), session.balance.refresh()]);
        assert.deepEqual([session.runs.rows?.length, session.balance.current?.balance_cents], [0, 100_000]);
        assert.deepEqual(submitter.pending, []);
      });
    }

    it('is not charged with a wrong API key or a model that does not exist', async () => {
      const sandbox = await bench.sandbox();
      const wrong = bench.session({ baseUrl: sandbox.baseUrl, apiKey: 'service_wrong', keyId: 'key-1' });
      const refused = await submitter.submit(wrong, await bench.draft(), silent());
      assert.deepEqual([refused.kind, wrong.state], ['not-charged', 'key-rejected']);
      const draft = { ...(await bench.draft()), model_id: 'no-such-model' };
      const unknown = await submitter.submit(bench.session(sandbox), draft, silent());
      assert.deepEqual(
        [unknown.kind, (errorOf(unknown) as { code: string }).code],
        ['not-charged', 'model_not_available'],
      );
    });

    it('may have been charged when the answer is lost: it was, and what is read afterwards shows it', async () => {
      const sandbox = await bench.sandbox();
      const session = bench.session(sandbox);
      sandbox.control.setScenario('answer-lost');
      const outcome = await submitter.submit(session, await bench.draft(), silent());
      assert.equal(outcome.kind, 'unknown');
      assert.deepEqual(
        submitter.pending.map(({ state }) => state),
        ['unknown'],
      );
      await until(() => session.runs.rows?.length === 1 && session.balance.current !== undefined);
      assert.ok((session.balance.current?.balance_cents ?? 1e9) < 100_000);
    });
  });

  describe('with an answer that is none', () => {
    for (const [name, onPost] of [
      ['a connection that ends after the last byte', (request) => request.socket.destroy()],
      ['HTML with 200', (_request, response) => void response.writeHead(200).end('<html>Welcome</html>')],
      ['201 without a run_id', (_request, response) => sendJson(response, 201, { status: 'queued' })],
      ['torn JSON', (_request, response) => void response.writeHead(201).end('{"run_id":"r')],
      [
        'a torn answer',
        (request, response) =>
          void response.writeHead(201, { 'content-length': 99 }).write('{"', () => request.socket.destroy()),
      ],
      ['500', (_request, response) => sendJson(response, 500, { error: { code: 'internal', message: '' } })],
      [
        '409',
        (_request, response) =>
          sendJson(response, 409, { error: { code: 'idempotency_conflict', message: '' } }),
      ],
      ['404', (_request, response) => sendJson(response, 404, { error: { code: 'not_found', message: '' } })],
      ['413 without a body of the contract', (_request, response) => void response.writeHead(413).end()],
      [
        '402 of a captive portal',
        (_request, response) => void response.writeHead(402).end('<html>pay</html>'),
      ],
      [
        'a redirect',
        (_request, response) => void response.writeHead(307, { location: '/api/v1/runs' }).end(),
      ],
    ] as [string, http.RequestListener][]) {
      it(`${name}: unknown, sent once, and listed until it is dismissed`, async () => {
        const session = connected(await service(onPost));
        const outcome = await submitter.submit(session, await bench.draft(), silent());
        assert.equal(outcome.kind, 'unknown');
        assert.equal(posts.length, 1);
        const [pending] = submitter.pending;
        assert.equal(pending?.state, 'unknown');
        assert.equal(submitter.isBusy(session.account.id), true);
        await until(() => session.balance.current?.balance_cents === 7 && session.runs.rows !== undefined);
        assert.equal(posts.length, 1);
        let told = 0;
        submitter.onDidChange(() => (told += 1));
        submitter.dismiss('another');
        submitter.dismiss(pending.id);
        submitter.dismiss(pending.id);
        assert.deepEqual([submitter.pending, submitter.isBusy(session.account.id), told], [[], false, 1]);
      });
    }
  });

  it('is charged by any 2xx with a run_id, however little else it tells', async () => {
    const session = connected(
      await service((_request, response) => sendJson(response, 200, { run_id: 'r', price_cents: 'x' })),
    );
    const outcome = await submitter.submit(session, await bench.draft(), silent());
    assert.equal(outcome.kind, 'charged');
    assert.equal(session.runs.get('r')?.status, 'queued');
    await until(() => session.balance.current?.balance_cents === 7);
  });

  it('sends the Idempotency-Key that it is given, or a UUID, another one each time', async () => {
    const session = connected(await service((_request, response) => sendJson(response, 201, CREATED)));
    const draft = await bench.draft();
    await submitter.submit(session, draft, silent(), '8d5b2f9c-1111-4222-8333-444455556666');
    await submitter.submit(session, draft, silent());
    await submitter.submit(session, draft, silent());
    const [given, one, two] = posts.map(({ headers }) => String(headers['idempotency-key']));
    assert.equal(given, '8d5b2f9c-1111-4222-8333-444455556666');
    assert.match(one ?? '', UUID);
    assert.match(two ?? '', UUID);
    assert.notEqual(one, two);
  });

  describe('cancelled', () => {
    it('before the last byte it is not charged and the service never has the request', async () => {
      const stop = new AbortController();
      const server = await service((_request, response) => sendJson(response, 201, CREATED));
      const session = connected(server);
      submitter.onDidChange(({ state, sentBytes }) => {
        if (state === 'uploading' && sentBytes > 1_000_000) stop.abort();
      });
      const outcome = await submitter.submit(session, await bench.draft(500_000), stop.signal);
      assert.equal(outcome.kind, 'not-charged');
      assert.ok(errorOf(outcome) instanceof CancelledError);
      assert.deepEqual([posts.length, submitter.pending.length], [0, 0]);
    });

    it('at the last byte it may have been charged', async () => {
      const stop = new AbortController();
      const session = connected(await service((_request, response) => sendJson(response, 201, CREATED)));
      submitter.onDidChange(({ state }) => {
        if (state === 'validating') stop.abort();
      });
      const outcome = await submitter.submit(session, await bench.draft(), stop.signal);
      assert.ok(outcome.kind === 'unknown' && outcome.error instanceof CancelledError);
      assert.equal(submitter.pending.length, 1);
    });

    it('while it is priced it may have been charged', async () => {
      const stop = new AbortController();
      const session = connected(await service(() => stop.abort()));
      const outcome = await submitter.submit(session, await bench.draft(), stop.signal);
      assert.ok(outcome.kind === 'unknown' && outcome.error instanceof CancelledError);
      assert.deepEqual([posts.length, submitter.pending.length], [1, 1]);
    });

    it('after the answer nothing changes', async () => {
      const stop = new AbortController();
      const session = connected(await service((_request, response) => sendJson(response, 201, CREATED)));
      assert.equal((await submitter.submit(session, await bench.draft(), stop.signal)).kind, 'charged');
      stop.abort();
      assert.equal(submitter.pending.length, 0);
    });

    it('by its id, like by its signal: uncharged before the last byte, and too late after', async () => {
      const held: http.ServerResponse[] = [];
      const session = connected(await service((_request, response) => void held.push(response)));
      const cancels: boolean[] = [];
      submitter.onDidChange(({ id, state, sentBytes }) => {
        if (state === 'uploading' && sentBytes > 1_000_000 && submitter.pending.some((one) => one.id === id))
          cancels.push(submitter.cancel(id));
      });
      const draft = await bench.draft(500_000);
      const cancelled = await submitter.submit(session, draft, silent(), 'first');
      assert.ok(cancelled.kind === 'not-charged' && cancelled.error instanceof CancelledError);
      assert.deepEqual([posts.length, submitter.pending.length, cancels[0]], [0, 0, true]);

      const small = await bench.draft();
      const second = submitter.submit(session, small, silent(), 'second');
      const third = submitter.submit(session, small, silent(), 'third');
      await until(() => held.length === 1);
      assert.equal(submitter.cancel('second'), false);
      assert.equal(submitter.cancel('third'), true);
      assert.equal(submitter.cancel('nobody'), false);
      assert.equal((await third).kind, 'not-charged');
      sendJson(held[0] as http.ServerResponse, 201, CREATED);
      assert.equal((await second).kind, 'charged');
      assert.equal(submitter.cancel('second'), false);
      assert.equal(posts.length, 1);
    });

    it('from the start it is never sent', async () => {
      const session = connected(await service((_request, response) => sendJson(response, 201, CREATED)));
      const outcome = await submitter.submit(session, await bench.draft(), AbortSignal.abort());
      assert.ok(outcome.kind === 'not-charged' && outcome.error instanceof CancelledError);
      assert.equal(posts.length, 0);
    });

    it('while it waits for its turn it ends at once and is never sent; the next one is', async () => {
      const held: http.ServerResponse[] = [];
      const session = connected(await service((_request, response) => void held.push(response)));
      const draft = await bench.draft();
      const stop = new AbortController();
      const first = submitter.submit(session, draft, silent(), 'first');
      const second = submitter.submit(session, draft, stop.signal, 'second');
      const third = submitter.submit(session, draft, silent(), 'third');
      await until(() => held.length === 1);
      assert.deepEqual(
        submitter.pending.map(({ id, state }) => `${id} ${state}`),
        ['first validating', 'second queued', 'third queued'],
      );
      for (const { id } of submitter.pending) submitter.dismiss(id);
      assert.equal(submitter.pending.length, 3);
      stop.abort();
      assert.equal((await second).kind, 'not-charged');
      sendJson(held[0] as http.ServerResponse, 201, CREATED);
      assert.equal((await first).kind, 'charged');
      await until(() => held.length === 2);
      sendJson(held[1] as http.ServerResponse, 201, { ...CREATED, run_id: 'run-3' });
      assert.equal((await third).kind, 'charged');
      assert.deepEqual(
        posts.map(({ headers }) => headers['idempotency-key']),
        ['first', 'third'],
      );
    });

    it('by the end of the window: what is sent stops, what waits is never sent', async () => {
      const session = connected(await service(() => undefined));
      const draft = await bench.draft();
      const [first, second] = [
        submitter.submit(session, draft, silent()),
        submitter.submit(session, draft, silent()),
      ];
      await until(() => posts.length === 1);
      submitter.dispose();
      assert.deepEqual(
        [(await first).kind, (await second).kind, posts.length],
        ['unknown', 'not-charged', 1],
      );
    });
  });

  it('uploads one at a time, and each for its own account', async () => {
    let [running, most] = [0, 0];
    const answer: http.RequestListener = (_request, response) => {
      most = Math.max(most, (running += 1));
      setTimeout(() => {
        running -= 1;
        sendJson(response, 201, CREATED);
      }, 10);
    };
    const one = connected(await service(answer), 'one');
    const two = connected(await service(answer), 'two');
    const draft = await bench.draft();
    const outcomes = [one, two, one, two].map((session) => submitter.submit(session, draft, silent()));
    assert.deepEqual(
      [submitter.isBusy('one'), submitter.isBusy('two'), submitter.isBusy('three')],
      [true, true, false],
    );
    for (const outcome of outcomes) assert.equal((await outcome).kind, 'charged');
    assert.equal(most, 1);
    assert.deepEqual(
      posts.map(({ headers }) => headers.authorization),
      ['one', 'two', 'one', 'two'].map((id) => `Bearer key-${id}`),
    );
  });

  it('goes on with the next one after a failure', async () => {
    const server = await service((_request, response) => sendJson(response, 201, CREATED));
    const missing = { ...(await bench.draft()), dataset: { path: '/nowhere', filename: 'x', sizeBytes: 1 } };
    const lost = submitter.submit(connected(server), missing, silent());
    const next = submitter.submit(connected(server), await bench.draft(), silent());
    assert.deepEqual([(await lost).kind, (await next).kind], ['not-charged', 'charged']);
  });

  it('is not charged when the file changes during the upload', async () => {
    const session = connected(await service((_request, response) => sendJson(response, 201, CREATED)));
    const draft = await bench.draft(200_000);
    let changed: Promise<void> | undefined;
    submitter.onDidChange(({ state, sentBytes }) => {
      if (state === 'uploading' && sentBytes > 0) changed ??= appendFile(draft.dataset.path, 'x');
    });
    const outcome = await submitter.submit(session, draft, silent());
    await changed;
    assert.deepEqual(
      [outcome.kind, (errorOf(outcome) as { code: string }).code],
      ['not-charged', 'dataset-changed'],
    );
    assert.deepEqual([posts.length, submitter.pending.length], [0, 0]);
  });

  it('is not charged when the file was written since it was looked at, in the same size: nothing is sent', async () => {
    const held: http.ServerResponse[] = [];
    const session = connected(await service((_request, response) => void held.push(response)));
    const draft = await bench.draft();
    const { dataset } = draft;
    const found = await inspectDataset(dataset.path, 1e9);
    assert.ok(typeof found === 'object');
    const dated = { ...draft, dataset: { ...dataset, mtimeMs: found.mtimeMs } };
    const first = submitter.submit(session, dated, silent());
    const second = submitter.submit(session, dated, silent());
    await until(() => held.length === 1);
    const text = await readFile(dataset.path, 'utf8');
    await writeFile(dataset.path, text.replaceAll('a', 'b'));
    await utimes(dataset.path, new Date(), new Date(found.mtimeMs + 1_000));
    sendJson(held[0] as http.ServerResponse, 201, CREATED);
    assert.equal((await first).kind, 'charged');
    const outcome = await second;
    assert.deepEqual(
      [outcome.kind, (errorOf(outcome) as { code: string }).code, posts.length],
      ['not-charged', 'dataset-changed', 1],
    );
  });

  it('reads the balance again after it was too low', async () => {
    const session = connected(
      await service((_request, response) =>
        sendJson(response, 402, { error: { code: 'insufficient_balance', message: '' } }),
      ),
    );
    session.balance.set({ balance_cents: 5000, currency: 'EUR' });
    const outcome = await submitter.submit(session, await bench.draft(), silent());
    assert.equal(outcome.kind, 'not-charged');
    await until(() => session.balance.current?.balance_cents === 7);
  });

  it('is not charged where there is no API key or no way to the service', async () => {
    const keyless = await submitter.submit(
      bench.session(() => Promise.resolve(undefined)),
      await bench.draft(),
      silent(),
    );
    assert.deepEqual(
      [keyless.kind, (errorOf(keyless) as { code: string }).code],
      ['not-charged', 'key-missing'],
    );
    const nowhere = bench.session({ baseUrl: 'http://127.0.0.1:9', apiKey: 'k', keyId: 'key-1' });
    assert.equal((await submitter.submit(nowhere, await bench.draft(), silent())).kind, 'not-charged');
  });

  it('tells its progress in bytes of the whole request, up to the last', async () => {
    const session = connected(await service((_request, response) => sendJson(response, 201, CREATED)));
    const told: number[] = [];
    let total = 0;
    submitter.onDidChange(({ sentBytes, totalBytes }) => {
      told.push(sentBytes);
      total = totalBytes;
    });
    await submitter.submit(session, await bench.draft(200_000), silent());
    assert.deepEqual(
      told.toSorted((a, b) => a - b),
      told,
    );
    assert.equal(told.at(-1), total);
    assert.equal(total, posts[0]?.body.byteLength);
  });
});
