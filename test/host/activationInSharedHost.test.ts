import assert from 'node:assert/strict';
import Module from 'node:module';
import * as vscode from 'vscode';

/** The bundle of `core/api/exchange.ts`, the only module that loads undici. */
const UNDICI = 'exchange';

// Other extensions share the process: the extension must not change globals, and should load modules only when needed.
describe('the extension in the shared extension host', () => {
  const slots = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')];
  const dispatchers = () => slots.map((slot) => (globalThis as Record<symbol, unknown>)[slot]);
  const loaded = (bundle: string) =>
    Object.keys((Module as unknown as { _cache: object })._cache).some((file) =>
      new RegExp(`/dist/${bundle}(-\\w+)?\\.cjs$`).test(file),
    );

  // Files run in alphabetical order, so those that use the sandbox come after this one.
  it('loads undici and the sandbox when they are used, not at activation', async () => {
    await vscode.extensions.getExtension('fine-tuning-tools.fine-tuning')?.activate();
    // Commands wait until everything has started; this one shows only the log.
    await vscode.commands.executeCommand('fineTuning.showLog');
    assert.deepEqual([loaded('start'), loaded(UNDICI), loaded('sandbox')], [true, false, false]);
    await vscode.commands.executeCommand('fineTuning.useSandbox');
    await vscode.commands.executeCommand('fineTuning.refresh');
    assert.deepEqual([loaded(UNDICI), loaded('sandbox')], [true, true]);
  });

  it('does not change the process-wide fetch dispatcher', async () => {
    // Fills the slots, as another extension's first fetch does.
    await fetch('http://127.0.0.1:9/').catch(() => undefined);
    const before = dispatchers();
    assert.ok(before.some((dispatcher) => dispatcher !== undefined));
    await vscode.commands.executeCommand('fineTuning.useSandbox');
    await vscode.commands.executeCommand('fineTuning.refresh');
    dispatchers().forEach((dispatcher, index) => assert.equal(dispatcher, before[index]));
  });
});

describe('commands called with arbitrary arguments', () => {
  before(async () => {
    await vscode.commands.executeCommand('fineTuning.useSandbox');
  });

  for (const command of ['fineTuning.showRun', 'fineTuning.openModelTerms', 'fineTuning.resolveSubmission'])
    it(`${command} does not fail for unknown IDs and invalid arguments`, async () => {
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
        // Dismiss questions to which an invalid argument may lead.
        const leave = setInterval(
          () => void vscode.commands.executeCommand('workbench.action.closeQuickOpen'),
          100,
        );
        await done;
        clearInterval(leave);
      }
    });

  it('submitDataset refuses a missing file before asking anything', async () => {
    await vscode.commands.executeCommand('fineTuning.submitDataset', vscode.Uri.file('/no/such/file.jsonl'));
  });

  it('sandbox refuses an unknown scenario', async () => {
    await vscode.commands.executeCommand('fineTuning.sandbox', 'scenario', 'no-such-scenario');
  });
});
