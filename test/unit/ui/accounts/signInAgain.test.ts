import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { serviceOf } from '../../../../src/core/accounts/account.ts';
import { AccountStore } from '../../../../src/core/accounts/accountStore.ts';
import type { ApiKeys } from '../../../../src/core/accounts/apiKeys.ts';
import type { Client } from '../../../../src/core/api/client.ts';
import { useFolderSyncs } from '../../../helpers/folderSyncs.ts';
import { created, Stage } from '../../../helpers/runs/stage.ts';
import { silent } from '../../../helpers/runs/support.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const standIn = await withVscode(() => import('../../../helpers/vscodeStandIn.ts'));
const { signIn } = await withVscode(() => import('../../../../src/ui/accounts/signIn.ts'));
const { notifyUnreadable } = await withVscode(() => import('../../../../src/ui/shared/notifyUnreadable.ts'));
const { signOut } = await withVscode(() => import('../../../../src/ui/accounts/signOut.ts'));

describe('Sign In to a service that was used before', () => {
  let stage: Stage;
  let accounts: AccountStore;
  let keys = 0;
  const failFolderSyncs = useFolderSyncs();

  beforeEach(async () => {
    standIn.forget();
    stage = await Stage.start();
    accounts = new AccountStore(stage.bench.folder);
    await accounts.open();
  });
  afterEach(async () => {
    accounts.dispose();
    await stage.end();
  });

  const apiKeys = {
    store: () => Promise.resolve(),
    delete: () => Promise.resolve(),
  } as unknown as ApiKeys;

  /** Signs in with these entries and choices; returns the offered rows. */
  async function enter(...answers: string[]): Promise<string[]> {
    standIn.forget();
    standIn.shown.pick = () => answers.shift();
    const client = () => ({ getBalance: () => Promise.resolve({}) }) as unknown as Client;
    const { journal } = stage.bench;
    const submissions = async () => [...journal.submissions, ...(await journal.receipts())];
    await signIn(accounts, apiKeys, client, submissions);
    assert.deepEqual(answers, []);
    return standIn.shown.inputs.flatMap(({ items }) => items.map(({ label }) => label));
  }

  async function leave(): Promise<void> {
    standIn.shown.answer = ([button]) => button;
    await signOut(
      accounts,
      apiKeys,
      () => ({ hasSubmissions: true, hasDownloads: false }),
      () => Promise.resolve(),
    );
    assert.equal(accounts.active, undefined);
  }

  /** Submits the same bytes with the active account; each submission uses a different API key. */
  async function submit(besides: string[] = []) {
    const session = stage.session(accounts.active?.id, `key-${++keys}`);
    const draft = await stage.bench.draft();
    const told = await stage.bench.journal.knownOf({ origin: serviceOf(session.account), ...draft });
    return stage.submissions.submit(session, draft, silent(), besides.length > 0 ? told : []).result;
  }

  /** Signs in and submits; the charge goes unnoticed, since the response is a web page and the run has no marker. */
  async function chargeUnseen(): Promise<{ accountId: string | undefined; openId: string }> {
    assert.deepEqual(await enter(stage.url, 'Work', 'service_key'), []);
    stage.answers = [
      (one, post, _request, response) => {
        one.charge(post);
        response.writeHead(200).end('<html>Welcome</html>');
      },
      created,
    ];
    assert.equal((await submit()).kind, 'unknown');
    return { accountId: accounts.active?.id, openId: stage.submission.id };
  }

  it('works on a file system that cannot sync folders, and so does a submission', async () => {
    failFolderSyncs('EINVAL');
    await enter(stage.url, 'Work', 'service_key');
    assert.equal(accounts.active?.name, 'Work');
    assert.equal((await submit()).kind, 'charged');
    assert.deepEqual(await stage.receipts(), ['charged']);
  });

  it('continues with the earlier account, whose open submission prevents a duplicate', async () => {
    const { accountId, openId } = await chargeUnseen();
    await leave();
    assert.deepEqual(await enter(stage.url, 'Continue as “Work”', 'service_key'), [
      '$(account) Continue as “Work”',
      '$(add) Add as a New Account',
    ]);
    assert.deepEqual([accounts.active?.id, accounts.active?.name], [accountId, 'Work']);
    assert.deepEqual(await submit(), { kind: 'open', id: openId });
    assert.equal(stage.posts.length, 1);
    // The account is offered only while it is signed out.
    assert.deepEqual(await enter(stage.url, 'Home', 'service_other'), []);
  });

  it('finds open submissions to the service for a new account, which may submit anyway', async () => {
    const { accountId, openId } = await chargeUnseen();
    await leave();
    await enter(stage.url, 'Add as a New', 'Work again', 'service_key');
    assert.notEqual(accounts.active?.id, accountId);
    assert.deepEqual(await submit(), { kind: 'open', id: openId });
    assert.equal(stage.posts.length, 1);
    assert.equal((await submit([openId])).kind, 'charged');
    assert.equal(stage.posts.length, 2);
    assert.deepEqual([stage.submission.id, stage.submission.accountId], [openId, accountId]);
  });

  it('does not let an account submit despite its own open submission', async () => {
    const { openId } = await chargeUnseen();
    assert.deepEqual(await submit([openId]), { kind: 'open', id: openId });
    assert.equal(stage.posts.length, 1);
  });

  it('finds the earlier account by its submissions if the list of accounts was lost', async () => {
    const { accountId } = await chargeUnseen();
    accounts.dispose();
    await writeFile(path.join(stage.bench.folder, 'accounts.json'), 'torn');
    standIn.forget();
    accounts = new AccountStore(stage.bench.folder, (file) => notifyUnreadable('accounts', [file]));
    await accounts.open();
    // Names the file, and offers its folder.
    assert.match(
      standIn.shown.sentences[0] ?? '',
      /^You may have been charged .* moved to accounts\.json\.\S+;/,
    );
    assert.match(standIn.shown.buttons[0]?.[0] ?? '', /Finder|Explorer|Folder/);
    const rows = await enter(stage.url, 'Continue with', 'Work', 'service_key');
    assert.deepEqual(rows, ['$(account) Continue with an Earlier Account', '$(add) Add as a New Account']);
    assert.deepEqual([accounts.active?.id, accounts.active?.name], [accountId, 'Work']);
  });

  it('offers no accounts of another service', async () => {
    await chargeUnseen();
    await leave();
    assert.deepEqual(await enter('https://other.test', 'Other', 'service_key'), []);
  });

  it('asks for nothing while the accounts are of a later version', async () => {
    await writeFile(path.join(stage.bench.folder, 'accounts.json'), '{"version":2}');
    await accounts.open();
    await assert.rejects(enter(), { code: 'accounts-later-version' });
    assert.deepEqual(standIn.shown.inputs, []);
  });

  it('succeeds even if the submissions cannot be read', async () => {
    const answers = [stage.url, 'Work', 'service_key'];
    standIn.shown.pick = () => answers.shift();
    const client = () => ({ getBalance: () => Promise.resolve({}) }) as unknown as Client;
    await signIn(accounts, apiKeys, client, () => Promise.reject(new Error('unreadable')));
    assert.notEqual(accounts.active, undefined);
  });
});
