import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { NotificationLedger } from '../../../../src/core/runs/notificationLedger.ts';
import { StateStore } from '../../../../src/core/storage/state.ts';
import { useFolder } from '../../../helpers/folder.ts';

const DAY = 24 * 60 * 60_000;
const NOW = Date.UTC(2031, 4, 3);

describe('NotificationLedger', () => {
  const folder = useFolder();
  const open: { dispose(): void }[] = [];

  afterEach(() => {
    for (const one of open.splice(0)) one.dispose();
  });

  function window(nowMs = NOW) {
    const state = new StateStore(folder());
    const ledger = new NotificationLedger(state, () => nowMs);
    open.push(ledger, state);
    return { state, ledger };
  }
  const count = (claims: readonly boolean[]) => claims.filter(Boolean).length;

  it('lets exactly one window show each notification of each run of each account', async () => {
    const windows = [window(), window(), window()];
    for (const [account, run, what] of [
      ['a', 'r', 'finished'],
      ['a', 'r', 'status'],
      ['a', 's', 'finished'],
      ['b', 'r', 'finished'],
    ] as const) {
      const claims = windows.flatMap(({ ledger }) => [
        ledger.claim(account, run, what),
        ledger.claim(account, run, what),
      ]);
      assert.equal(count(await Promise.all(claims)), 1);
    }
    assert.equal(await window().ledger.claim('a', 'r', 'finished'), false, 'a window that starts later');
  });

  it('stores no service text', async () => {
    const { state, ledger } = window();
    await ledger.claim('a', 'x'.repeat(100_000), '../../up');
    const [stored] = await state.read((tables) =>
      tables.all<{ key: string }>('SELECT key FROM notification'),
    );
    assert.match(String(stored?.key), /^[0-9a-f]{40}$/);
  });

  it('shows a notification once in each window without a usable store', async () => {
    await rm(folder(), { recursive: true });
    await writeFile(folder(), '');
    const windows = [window(), window()];
    for (const { ledger } of windows) {
      assert.equal(await ledger.claim('a', 'r', 'finished'), true);
      assert.equal(await ledger.claim('a', 'r', 'finished'), false);
    }
  });

  it('deletes entries older than 90 days', async () => {
    await window().ledger.claim('a', 'old', 'finished');
    await window(NOW + 2 * DAY).ledger.claim('a', 'young', 'finished');
    await window(NOW + 91 * DAY).ledger.claim('a', 'new', 'finished');
    const later = window(NOW + 91 * DAY).ledger;
    assert.equal(await later.claim('a', 'old', 'finished'), true);
    assert.equal(await later.claim('a', 'young', 'finished'), false);
  });

  it('counts finished runs that the user has not seen, across all windows', async () => {
    const [one, two] = [window(), window()];
    const changes: string[] = [];
    two.ledger.onDidChangeUnseen((accountId) => changes.push(accountId));
    open.push(one.ledger.follow('a'), two.ledger.follow('a'));
    await Promise.all([one.state.open(), two.state.open()]);
    for (const runId of ['r', 's', 's']) await one.ledger.claim('a', runId, 'finished', true);
    await two.ledger.claim('a', 's', 'finished', true);
    await two.ledger.claim('a', 's', 'failed', true);
    await one.ledger.claim('a', 'shown', 'finished');
    await two.state.check();
    const heard = async (unseen: number) => {
      while (two.ledger.unseen('a') !== unseen) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    await heard(2);
    assert.deepEqual([one.ledger.unseen('a'), window().ledger.unseen('a')], [2, 0]);
    await one.ledger.see('a');
    await two.state.check();
    await heard(0);
    assert.deepEqual([one.ledger.unseen('a'), new Set(changes)], [0, new Set(['a'])]);
  });
});
