import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { AccountStore } from '../../../../src/core/accounts/accountStore.ts';
import { ApiKeys, type KeyOwner } from '../../../../src/core/accounts/apiKeys.ts';
import type { Client } from '../../../../src/core/api/client.ts';
import { keyIdOf } from '../../../../src/core/api/keyCheck.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import { submissionsTo } from '../../../../src/core/submission/submission.ts';
import { codeOf, created, error, MINUTE, Stage, tooPoor } from '../../../helpers/runs/stage.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const standIn = await withVscode(() => import('../../../helpers/vscodeStandIn.ts'));
const { signIn } = await withVscode(() => import('../../../../src/ui/accounts/signIn.ts'));
const { replaceKey } = await withVscode(() => import('../../../../src/ui/accounts/enterApiKey.ts'));
const { signOut } = await withVscode(() => import('../../../../src/ui/accounts/signOut.ts'));

describe('The same API key entered again', () => {
  let stage: Stage;
  let accounts: AccountStore;
  let secrets: Map<string, string>;
  let apiKeys: ApiKeys;
  let isReadable: boolean;

  beforeEach(async () => {
    standIn.forget();
    stage = await Stage.start();
    accounts = new AccountStore(stage.bench.folder);
    await accounts.open();
    secrets = new Map();
    isReadable = true;
    const storage = {
      get: (key: string) => Promise.resolve(secrets.get(key)),
      store: (key: string, value: string) => Promise.resolve(void secrets.set(key, value)),
      delete: (key: string) => Promise.resolve(void secrets.delete(key)),
      onDidChange: () => ({ dispose: () => undefined }),
    };
    const { journal } = stage.bench;
    const read = () => (isReadable ? Promise.resolve(journal.submissions) : Promise.reject(new Error('EIO')));
    const keyIdOfSent = async (owner: KeyOwner, apiKey: string) =>
      keyIdOf(submissionsTo(await read(), owner), apiKey);
    apiKeys = new ApiKeys(storage, keyIdOfSent);
  });
  afterEach(async () => {
    accounts.dispose();
    await stage.end();
  });

  const createClient = () => ({ getBalance: () => Promise.resolve({}) }) as unknown as Client;

  /** Enters a key by a command, and returns a session with what is stored. */
  async function enter(apiKey: string, command: 'signIn' | 'replaceKey' = 'signIn'): Promise<Session> {
    const name = accounts.former.length === 0 ? 'Work' : 'Continue as “Work”';
    const answers = command === 'signIn' ? [stage.url, name, apiKey] : [apiKey];
    standIn.shown.pick = () => answers.shift();
    await { signIn, replaceKey }[command](accounts, apiKeys, createClient, () =>
      Promise.resolve(stage.bench.journal.submissions),
    );
    assert.deepEqual(answers, []);
    const accountId = accounts.active?.id ?? '';
    const key = await apiKeys.read({ accountId, origin: stage.url });
    assert.ok(key?.apiKey === apiKey);
    return stage.bench.session({ baseUrl: stage.url, ...key }, accountId, () => stage.clock.nowMs());
  }

  async function leave(): Promise<void> {
    standIn.shown.answer = ([button]) => button;
    const unfinished = { hasSubmissions: true, hasDownloads: false } as const;
    await signOut(
      accounts,
      apiKeys,
      () => unfinished,
      () => Promise.resolve(),
    );
    assert.deepEqual([accounts.active, secrets.size], [undefined, 0]);
  }

  const fileOf = async (id: string) => {
    const names = (await readdir(stage.bench.journalFolder)).filter((name) => name.startsWith(id));
    const texts = names.map((name) => readFile(path.join(stage.bench.journalFolder, name), 'utf8'));
    return (await Promise.all(texts)).join();
  };

  /** Submits with a key, and loses the answer, though nothing was charged. */
  async function submitInVain(apiKey: string): Promise<string> {
    const session = await enter(apiKey);
    stage.answers = [error(404, 'not_found')];
    assert.equal((await stage.submit(undefined, session)).kind, 'unknown');
    stage.answers = [created];
    return stage.submission.id;
  }

  /** Returns the reason or the verdict of two checks that count. */
  async function checkTwice(session: Session, id: string): Promise<string | undefined> {
    stage.clock.pass(16 * MINUTE);
    await stage.submissions.check(session, id);
    stage.clock.pass(2 * MINUTE + 1000);
    const result = await stage.submissions.check(session, id);
    return result?.verdict === 'cannot-tell' ? result.reason : result?.verdict;
  }

  it('after signing out lets checks settle and a resend charge; another key does neither', async () => {
    const id = await submitInVain('service_one');
    await leave();
    const other = await enter('service_other');
    assert.equal(await checkTwice(other, id), 'key-replaced');
    assert.equal(codeOf(await stage.resume(id, other)), 'key-replaced');
    await leave();
    const same = await enter('service_one');
    assert.equal(await checkTwice(same, id), 'not-charged');
    assert.equal((await stage.resume(id, same)).kind, 'charged');
    assert.deepEqual([stage.posts.length, stage.runs.length], [2, 1]);
  });

  it('is stored before its account, and removed if that can’t be stored', async () => {
    let before = 0;
    accounts.save = () => {
      before = secrets.size;
      return Promise.reject(new Error('disk full'));
    };
    await assert.rejects(enter('service_one'), /disk full/);
    assert.deepEqual([before, secrets.size], [1, 0]);
  });

  it('after the keychain lost it lets a resend charge', async () => {
    const id = await submitInVain('service_one');
    secrets.clear();
    const same = await enter('service_one', 'replaceKey');
    assert.equal((await stage.resume(id, same)).kind, 'charged');
  });

  it('is a new one for submissions that can’t be read, until it is entered when they can', async () => {
    const id = await submitInVain('service_one');
    await leave();
    isReadable = false;
    assert.equal(codeOf(await stage.resume(id, await enter('service_one'))), 'key-replaced');
    isReadable = true;
    const same = await enter('service_one', 'replaceKey');
    assert.equal((await stage.resume(id, same)).kind, 'charged');
  });

  it('is recognized by a salted hash, which is gone once the submission is refused or settled', async () => {
    const ends = [
      (id: string) => stage.submissions.discard(id, 'may-be-charged'),
      (id: string, session: Session) => stage.resume(id, session),
    ];
    const hashes = new Set<string>();
    for (const end of ends) {
      const id = await submitInVain('service_one');
      const { keyCheck } = stage.submission;
      assert.match(`${keyCheck?.salt} ${keyCheck?.hash}`, /^[0-9a-f]{32} [0-9a-f]{64}$/);
      hashes.add(keyCheck?.hash ?? '');
      assert.doesNotMatch(await fileOf(id), /service_one/);
      await leave();
      const session = await enter('service_one');
      await end(id, session);
      assert.doesNotMatch(await fileOf(id), /keyCheck/);
      await leave();
    }
    assert.equal(hashes.size, 2);
    stage.answers = [tooPoor];
    await stage.submit(await stage.bench.draft(20, 'refused'), await enter('service_one'));
    assert.deepEqual([stage.submission.reason, stage.submission.keyCheck], ['refused', undefined]);
    assert.doesNotMatch(await fileOf(stage.submission.id), /keyCheck/);
  });
});
