import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { messagesOf } from './messages.ts';

const run = (command: string, ...args: unknown[]) =>
  vscode.commands.executeCommand(`fineTuning.${command}`, ...args);

/** Runs a command, and presses no button. */
async function resultOf(work: () => Thenable<unknown>): Promise<unknown> {
  let result: unknown;
  await messagesOf(async () => (result = await work()));
  return result;
}

describe('commands without an active account', () => {
  before(async () => {
    await messagesOf(() => run('useSandbox'));
    await messagesOf(() => run('signOut'), 'Sign Out');
  });

  for (const command of [
    'copyRunId',
    'downloadAdapter',
    'loadMoreRuns',
    'openModelTerms',
    'openModelUsePolicy',
    'refresh',
    'refreshBalance',
    'replaceKey',
    'showRun',
    'signOut',
    'submitAgain',
  ])
    it(`${command} says so, and offers to sign in or use the sandbox`, async () => {
      assert.deepEqual(await messagesOf(() => run(command, 'some-id')), [
        { text: 'No account is active.', buttons: ['Sign In…', 'Use the Sandbox'] },
      ]);
    });

  it('they return that nothing can be done', async () => {
    for (const command of ['showRun', 'submitAgain', 'refreshBalance', 'resolveSubmission'])
      assert.deepEqual(await resultOf(() => run(command, 'some-id')), { outcome: 'unavailable' });
    assert.deepEqual(await resultOf(() => run('showRun', { accountId: 'no-such', id: 'some-id' })), {
      outcome: 'unavailable',
    });
  });

  it('resolveSubmission works, because it handles submissions of every account', async () => {
    assert.deepEqual(await messagesOf(() => run('resolveSubmission', 'some-id')), [
      { text: 'This submission is already resolved.', buttons: [] },
    ]);
  });
});

describe('sandbox commands called with arguments', () => {
  before(async () => {
    await messagesOf(() => run('useSandbox'));
  });

  const texts = async (name: string, argument: unknown) =>
    (await messagesOf(() => run('sandbox', name, argument))).map(({ text }) => text);

  it('reject invalid ones', async () => {
    for (const cents of [0, -5, 0.3, Infinity])
      assert.deepEqual(await texts('addFunds', cents), [
        'Nothing was added: enter a positive whole number of cents.',
      ]);
    assert.match((await texts('scenario', 'no-such')).join(), /Unknown sandbox scenario.*none/);
  });

  it('return how they ended', async () => {
    for (const [outcome, command, ...args] of [
      ['done', 'sandbox', 'scenario', 'none'],
      ['failed', 'sandbox', 'addFunds', 0],
      // Its modal dialog is closed.
      ['cancelled', 'sandbox', 'reset'],
      ['done', 'showLog'],
      ['unavailable', 'cancelDownload'],
      ['unavailable', 'copyRunId'],
      ['failed', 'checkDataset', vscode.Uri.file('/no/such.jsonl')],
    ] as const)
      assert.deepEqual(await resultOf(() => run(command, ...args)), { outcome }, command);
  });

  it('accept valid ones', async () => {
    assert.match((await texts('addFunds', 1)).join(), /is now 1,000\.01 USD/);
    await messagesOf(() => run('sandbox', 'reset'), 'Reset');
  });
});
