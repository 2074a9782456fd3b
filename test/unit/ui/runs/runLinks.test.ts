import assert from 'node:assert/strict';
import type { Session } from '../../../../src/core/runs/session.ts';
import type { RunLinkParts } from '../../../../src/ui/runs/runCommands.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { Bench, row } from '../../../helpers/runs/support.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { followRunLink, runLinkPath } = await withVscode(
  () => import('../../../../src/ui/runs/runCommands.ts'),
);

describe('followRunLink', () => {
  let bench: Bench;
  let session: Session;
  let active: Session | undefined;
  let listed: unknown[];
  let requests: string[];
  let status: number;
  let accounts: number;
  let shown: string[][];
  let errors: unknown[];

  beforeEach(async () => {
    standIn.forget();
    bench = await Bench.start();
    listed = [row('known', 0)];
    [requests, shown, errors, status, accounts] = [[], [], [], 200, 1];
    const server = await bench.serve((request, response) => {
      const url = String(request.url);
      requests.push(`${String(request.method)} ${url.split('?')[0] ?? ''}`);
      const code = status === 404 ? 'not_found' : 'invalid_api_key';
      const run = { run_id: 'abc', status: 'running', model_id: 'm' };
      const body = url.includes('/runs/') ? { run } : { data: listed, has_more: false };
      sendJson(response, status, status === 200 ? body : { error: { code, message: '' } });
    });
    session = bench.session({ baseUrl: server.url, apiKey: 'service_test', keyId: 'key-1' });
    active = session;
  });
  afterEach(() => bench.end());

  const follow = (path: string, query = '', fragment = '') => {
    const parts = {
      accounts: { accounts: Array.from({ length: accounts }) },
      sessions: { active },
      show: (accountId: string, runId: string) => void shown.push([accountId, runId]),
      onError: (error: unknown) => void errors.push(error),
    };
    return followRunLink({ path, query, fragment }, parts as unknown as RunLinkParts);
  };

  it('opens the page of a known run without a request, however odd its ID', async () => {
    const odd = ['a b', 'a/b', '..', 'ä', 'a%2Fb', 'a?b#c', '<b>', '“x”', '👩‍💻', '-a', 'a\n', 'a'.repeat(129)];
    const links = odd.map((runId) => {
      const link = runLinkPath(runId);
      assert.match(link, /^\/run\/[\w.!~*'()%-]+$/);
      // As VS Code decodes it.
      return decodeURIComponent(link);
    });
    for (const link of links) await follow(link);
    assert.equal(standIn.shown.sentences.length, odd.length);
    for (const sentence of standIn.shown.sentences) assert.match(sentence, /^Unsupported link\. [ -~’]*$/);
    assert.deepEqual([shown, requests], [[], []]);
    listed = odd.map((runId) => row(runId, 0));
    await session.runs.refresh();
    for (const link of links) await follow(link);
    assert.deepEqual([shown.map(([, runId]) => runId), requests.length], [odd, 1]);
    assert.equal(runLinkPath('a\ud800'), '/run/a%EF%BF%BD');
  });

  it('looks up an unknown run, which only reads', async () => {
    for (const runId of ['abc', 'r_1', 'a'.repeat(128)]) await follow(`/run/${runId}`);
    assert.deepEqual(shown[0], ['account-1', 'abc']);
    assert.deepEqual([requests[0], requests.length], ['GET /api/v1/runs/abc', 3]);
  });

  it('reports that the account has no such run, and offers another account if there is one', async () => {
    status = 404;
    await follow('/run/abc');
    accounts = 2;
    standIn.shown.answer = ([first]) => first;
    await follow('/run/abc');
    assert.deepEqual(shown, []);
    const sentence = 'account-1 doesn’t have run abc.';
    assert.deepEqual(standIn.shown.sentences, [sentence, sentence]);
    assert.deepEqual(standIn.shown.buttons, [[], ['Switch Account…']]);
    await Promise.resolve();
    assert.deepEqual(standIn.executed, [['fineTuning.switchAccount']]);
    assert.deepEqual(errors, []);
  });

  it('rejects any other link without repeating its text', async () => {
    const plain = ['/run/abc/artifacts/download', '/run/../balance', '/signIn/service_secret', '/submit/abc'];
    plain.push('', '/', '/run', '/run/', 'run/abc', '//run/abc', '/Run/abc', '/runs/abc', '/submit');
    const links = [
      ['/run/abc', 'baseUrl=https://evil.test'],
      ['/run/abc', '', 'x'],
      ...plain.map((path) => [path]),
    ];
    for (const [path = '', query, fragment] of links) await follow(path, query, fragment);
    assert.equal(standIn.shown.sentences.length, links.length);
    for (const sentence of standIn.shown.sentences) assert.match(sentence, /^Unsupported link\./);
    assert.deepEqual([shown, requests, standIn.executed], [[], [], []]);
  });

  it('passes on other errors, and shows and sends nothing once the API key is rejected', async () => {
    await session.runs.refresh();
    status = 401;
    for (const runId of ['abc', 'abc', 'known']) await follow(`/run/${runId}`);
    assert.deepEqual([shown, errors.length, requests.length], [[], 3, 2]);
  });
});
