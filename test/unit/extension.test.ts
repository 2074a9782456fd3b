import assert from 'node:assert/strict';
import type { ExtensionContext } from 'vscode';
import { COMMANDS } from '../../src/ui/shared/ids.ts';
import { withVscode } from '../helpers/standInForVscode.ts';
import * as standIn from '../helpers/vscodeStandIn.ts';

const { activate } = await withVscode(() => import('../../src/extension.ts'));

describe('activate', () => {
  it('registers every command at once, and reports a failed start once, offering a reload', async () => {
    standIn.forget();
    standIn.shown.answer = ([button]) => button;
    const subscriptions: { dispose(): void }[] = [];
    // Without a storage folder, nothing can start.
    activate({ subscriptions } as unknown as ExtensionContext);
    assert.deepEqual([...standIn.registered.keys()].sort(), Object.values(COMMANDS).sort());
    const refresh = standIn.registered.get(COMMANDS.refresh);
    await assert.rejects(async () => refresh?.());
    await assert.rejects(async () => refresh?.());
    await new Promise(setImmediate);
    assert.deepEqual(standIn.shown.sentences, ['Fine-Tuning couldn’t start.']);
    assert.deepEqual(standIn.executed, [['workbench.action.reloadWindow']]);
    for (const one of subscriptions) one.dispose();
    assert.equal(standIn.registered.size, 0);
  });
});
