import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { DisposableStore } from '../../../../src/core/base/disposable.ts';
import { ended } from '../../../../src/core/submission/submission.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { startWalkthrough } = await withVscode(() => import('../../../../src/ui/help/walkthrough.ts'));

describe('Walkthrough', () => {
  const accounts: { kind: string; id: string }[] = [];
  const receipts: unknown[] = [];
  const memento = new Map<string, unknown>();
  let reads: number;
  let disposables: DisposableStore;
  let checked: standIn.EventEmitter<void>;
  /** Fires the change event of every store. */
  let change: () => Promise<void>;

  /** Opens a window with the current stores. */
  async function start(): Promise<void> {
    disposables = new DisposableStore();
    checked = new standIn.EventEmitter<void>();
    const accountsChanged = new standIn.EventEmitter<void>();
    const journalChanged = new standIn.EventEmitter<void>();
    change = async () => {
      accountsChanged.fire();
      journalChanged.fire();
      await turn();
    };
    startWalkthrough({
      disposables,
      checked,
      accounts: { accounts, onDidChange: accountsChanged.event },
      journal: { receipts: () => Promise.resolve((reads++, receipts)), onDidChange: journalChanged.event },
      context: {
        globalState: {
          get: (key: string) => memento.get(key),
          update: (key: string, value: unknown) => Promise.resolve(void memento.set(key, value)),
        },
      },
      log: {},
    } as unknown as Parameters<typeof startWalkthrough>[0]);
    await turn();
  }

  beforeEach(() => {
    for (const list of [accounts, receipts]) list.length = 0;
    memento.clear();
    reads = 0;
    standIn.forget();
  });
  afterEach(() => disposables.dispose());

  /** Returns the keys that turned true since the last call, and requires that each is false again. */
  function ticked(): string[] {
    const calls = standIn.executed.splice(0).map(([command, key, value]) => {
      assert.equal(command, 'setContext');
      return { key: String(key).replace('fineTuning.walkthrough.', ''), value };
    });
    const keys = calls.filter(({ value }) => value === true).map(({ key }) => key);
    const off = calls.filter(({ value }) => value === false).map(({ key }) => key);
    assert.deepEqual(off.sort(), [...keys].sort());
    return keys;
  }

  it('ticks each step once by what is stored, and reads no receipts after the first charge', async () => {
    await start();
    await change();
    assert.deepEqual(ticked(), []);
    accounts.push({ kind: 'sandbox', id: 's' });
    await change();
    assert.deepEqual(ticked(), ['sandbox']);
    accounts.push({ kind: 'service', id: 'w' });
    receipts.push(ended(chargedReceipt(), 'not-charged', { at: { localMs: 0 } }));
    await change();
    assert.deepEqual(ticked(), []);
    receipts.push(chargedReceipt());
    await change();
    assert.deepEqual(ticked(), ['submitted', 'checked']);
    const before = reads;
    await change();
    assert.deepEqual([ticked(), reads], [[], before]);
  });

  it('remembers a check, which no store contains', async () => {
    await start();
    checked.fire();
    await turn();
    assert.deepEqual(ticked(), ['checked']);
    disposables.dispose();
    await start();
    assert.deepEqual(ticked(), ['checked']);
  });
});
