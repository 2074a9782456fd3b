import assert from 'node:assert/strict';
import Module from 'node:module';
import * as vscode from 'vscode';

/** The bundle of `core/api/exchange.ts`, which alone loads undici. */
const UNDICI = 'exchange';

// What the extension must leave alone in a process that it shares with every other extension, and when it loads what.
describe('the extension as a guest in the shared extension host', () => {
  const slots = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')];
  const dispatchers = () => slots.map((slot) => (globalThis as Record<symbol, unknown>)[slot]);
  const loaded = (bundle: string) =>
    Object.keys((Module as unknown as { _cache: object })._cache).some((file) =>
      new RegExp(`/dist/${bundle}(-\\w+)?\\.cjs$`).test(file),
    );

  // Files run in the order of their names: those that use the sandbox come after this one.
  it('loads neither undici nor the sandbox at activation, and both when they are used', async () => {
    await vscode.extensions.getExtension('fine-tuning-tools.fine-tuning')?.activate();
    // Commands wait until everything has started; this one does nothing where no filter is set.
    await vscode.commands.executeCommand('fineTuning.clearRunsFilter');
    assert.deepEqual([loaded('start'), loaded(UNDICI), loaded('sandbox')], [true, false, false]);
    await vscode.commands.executeCommand('fineTuning.useSandbox');
    await vscode.commands.executeCommand('fineTuning.refresh');
    assert.deepEqual([loaded(UNDICI), loaded('sandbox')], [true, true]);
  });

  it('leaves the process-wide fetch dispatcher as it is', async () => {
    // Fills the slots, as any other extension's first fetch does.
    await fetch('http://127.0.0.1:9/').catch(() => undefined);
    const before = dispatchers();
    assert.ok(before.some((dispatcher) => dispatcher !== undefined));
    await vscode.commands.executeCommand('fineTuning.useSandbox');
    await vscode.commands.executeCommand('fineTuning.refresh');
    dispatchers().forEach((dispatcher, index) => assert.equal(dispatcher, before[index]));
  });
});

describe('commands called by anybody with anything', () => {
  before(async () => {
    await vscode.commands.executeCommand('fineTuning.useSandbox');
  });

  for (const command of ['fineTuning.showRun', 'fineTuning.openModelTerms', 'fineTuning.resolveSubmission'])
    it(`${command} survives an unknown id and nonsense`, async () => {
      for (const argument of [
        'no-such-run',
        '../../balance',
        { runId: 7 },
        { kind: 'run', runId: 'x' },
        { id: {} },
        null,
        5,
      ]) {
        const done = vscode.commands.executeCommand(command, argument);
        // Nonsense may lead to a question: it is left.
        const leave = setInterval(
          () => void vscode.commands.executeCommand('workbench.action.closeQuickOpen'),
          100,
        );
        await done;
        clearInterval(leave);
      }
    });

  it('a file that does not exist is refused before anything is asked', async () => {
    await vscode.commands.executeCommand('fineTuning.submitDataset', vscode.Uri.file('/no/such/file.jsonl'));
  });

  it('the sandbox refuses a scenario that it does not know', async () => {
    await vscode.commands.executeCommand('fineTuning.sandbox.scenario', 'no-such-scenario');
  });
});
