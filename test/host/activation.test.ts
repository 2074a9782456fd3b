import assert from 'node:assert/strict';
import * as vscode from 'vscode';

const extensionId = 'fine-tuning-tools.fine-tuning';

interface Manifest {
  contributes?: { commands?: { command: string }[] };
}

describe('the extension in a real extension host', () => {
  it('is installed and activates', async () => {
    const extension = vscode.extensions.getExtension(extensionId);
    assert.ok(extension, `${extensionId} is not there`);
    await extension.activate();
    assert.equal(extension.isActive, true);
  });

  it('registers every command that its manifest contributes', async () => {
    const manifest = vscode.extensions.getExtension(extensionId)?.packageJSON as Manifest;
    const contributed = (manifest.contributes?.commands ?? []).map(({ command }) => command);
    const registered = new Set(await vscode.commands.getCommands(true));
    assert.notEqual(contributed.length, 0);
    assert.deepEqual(
      contributed.filter((command) => !registered.has(command)),
      [],
    );
  });
});
