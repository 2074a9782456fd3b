import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { DisposableStore } from '../../../../src/core/base/disposable.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { startWalkthrough } = await withVscode(() => import('../../../../src/ui/help/walkthrough.ts'));

describe('the walkthrough', () => {
  /** The stores as they are to be read; `change` lets them say that they changed. */
  function stores() {
    const accounts: { kind: string; id: string }[] = [];
    const receipts: unknown[] = [];
    const records: unknown[] = [];
    const accountsChanged = new standIn.EventEmitter<void>();
    const journalChanged = new standIn.EventEmitter<void>();
    const downloadsChanged = new standIn.EventEmitter<{ accountId: string }>();
    let reads = 0;
    const disposables = new DisposableStore();
    const services = {
      disposables,
      accounts: { accounts, onDidChange: accountsChanged.event },
      journal: {
        receipts: () => Promise.resolve((reads++, receipts)),
        onDidChange: journalChanged.event,
      },
      downloads: { records: () => records, onDidChange: downloadsChanged.event },
      sessions: { active: undefined },
      log: {},
    } as unknown as Parameters<typeof startWalkthrough>[0];
    const change = async () => {
      accountsChanged.fire();
      journalChanged.fire();
      downloadsChanged.fire({ accountId: 'a' });
      await turn();
    };
    return { services, accounts, receipts, records, change, disposables, reads: () => reads };
  }

  beforeEach(() => standIn.forget());
  const ticked = () =>
    standIn.executed.map(([command, key, value]) => {
      assert.deepEqual([command, value], ['setContext', true]);
      return String(key).replace('fineTuning.walkthrough.', '');
    });

  it('ticks what is stored, each step once, and reads no receipts after the first charge', async () => {
    const { services, accounts, receipts, records, change, reads } = stores();
    await startWalkthrough(services);
    await change();
    assert.deepEqual(ticked(), []);
    accounts.push({ kind: 'sandbox', id: 's' });
    await change();
    assert.deepEqual(ticked(), ['sandbox']);
    accounts.push({ kind: 'service', id: 'w' });
    receipts.push({ ...chargedReceipt(), settled: { kind: 'not-charged', at: { localMs: 0 } } });
    await change();
    assert.deepEqual(ticked(), ['sandbox', 'signedIn']);
    receipts.push(chargedReceipt());
    records.push({});
    await change();
    assert.deepEqual(ticked(), ['sandbox', 'signedIn', 'downloaded', 'submitted', 'checked']);
    const before = reads();
    await change();
    assert.deepEqual([ticked().length, reads()], [5, before]);
  });

  it('ticks no more once the extension has ended', async () => {
    const { services, accounts, change, disposables } = stores();
    await startWalkthrough(services);
    disposables.dispose();
    accounts.push({ kind: 'sandbox', id: 's' });
    await change();
    assert.deepEqual(ticked(), []);
  });
});
