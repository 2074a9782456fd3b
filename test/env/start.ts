// `npm start`: opens VS Code with the extension, the sandbox as account, and a workspace with the sample dataset and a README,
// which VS Code shows. The state is stored in .start/ for the next start.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { AccountStore } from '../../src/core/accounts/accountStore.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { cleanEnvironment, run } from './processes.ts';
import { fail, root, say, SetUpError, vsix } from './project.ts';
import { installExtension, serveForUser, type RunningServer } from './serve.ts';
import { quietSettings, writeSettings } from './settings.ts';
import { vscodeServer, type VSCodeServer } from './vscode-server.ts';

const folder = path.join(root, '.start');
const workspace = path.join(folder, 'workspace');
/** Shows the workspace's README. */
const startSettings = { ...quietSettings, 'workbench.startupEditor': 'readme' };
const storageInUserData = 'User/globalStorage/fine-tuning-tools.fine-tuning';

async function main(): Promise<void> {
  for (const file of ['test/env/workspace/README.md', 'media/walkthrough/sample-dataset.jsonl'])
    await cp(path.join(root, file), path.join(workspace, path.basename(file)), { force: false });
  if (hasDesktop()) await openDesktop();
  else await openServer();
}

/** Adds the sandbox's account, as "Use the Sandbox" does, unless there are accounts from an earlier start. */
async function connectSandbox(globalStorage: string): Promise<void> {
  const accounts = new AccountStore(globalStorage);
  await accounts.open();
  if (accounts.accounts.length === 0) {
    const sandbox = await startSandbox({ directory: path.join(globalStorage, 'sandbox') });
    await sandbox.close();
    await accounts.save({ kind: 'sandbox', id: sandbox.accountId, name: 'Sandbox' });
  }
  accounts.dispose();
}

/** Writes the settings only at the first start, so that the user can change them. */
async function prepare(userData: string): Promise<void> {
  const user = path.join(userData, 'User');
  if (!existsSync(path.join(user, 'settings.json'))) await writeSettings(user, startSettings);
  await connectSandbox(path.join(userData, storageInUserData));
}

/** Whether `code` starts a desktop VS Code, which is not so in a remote window's terminal. */
function hasDesktop(): boolean {
  return process.env.VSCODE_IPC_HOOK_CLI === undefined && spawnSync('code', ['--version']).status === 0;
}

async function openDesktop(): Promise<void> {
  say('building the extension');
  await run(process.execPath, ['esbuild.js'], { cwd: root, output: 'show' });
  const userData = path.join(folder, 'desktop');
  await prepare(userData);
  const args = [
    `--extensionDevelopmentPath=${root}`,
    `--user-data-dir=${userData}`,
    '--new-window',
    workspace,
  ];
  if (process.getuid?.() === 0) args.push('--no-sandbox');
  await run('code', args, { env: cleanEnvironment(), output: 'show' });
  process.stdout.write('\nVS Code is open.\n');
}

async function openServer(): Promise<void> {
  const installed = await vscodeServer('vscode');
  say('packing the extension');
  await run('npm', ['run', 'package', '--loglevel=error'], { cwd: root, output: 'hide' });
  const userData = path.join(folder, 'server');
  const extensions = path.join(folder, 'extensions');
  await prepare(userData);
  await installExtension(installed, vsix, userData, extensions);
  const server = await serve(installed, userData, extensions);
  const address = `${server.origin}/?folder=${encodeURIComponent(workspace)}`;
  process.stdout.write(`\nVS Code is at ${address}\nCtrl+C stops it.\n`);
  showInBrowser(address);
  await server.ended;
  throw new SetUpError('The VS Code server has ended.');
}

/** Uses the port of the last start if it is free, because VS Code in a browser stores its state by origin. */
async function serve(installed: VSCodeServer, userData: string, extensions: string): Promise<RunningServer> {
  const portFile = path.join(folder, 'port');
  const wanted = process.env.PORT ?? (await readFile(portFile, 'utf8').catch(() => '0'));
  const on = (port: number): Promise<RunningServer> =>
    serveForUser(installed, { userData, extensions, port });
  const server = await on(Number(wanted)).catch((error: unknown) => {
    if (process.env.PORT !== undefined) throw error;
    return on(0);
  });
  await writeFile(portFile, new URL(server.origin).port);
  return server;
}

function showInBrowser(address: string): void {
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const hasDisplay = [process.env.DISPLAY, process.env.WAYLAND_DISPLAY].some(
    (name) => name !== undefined && name !== '',
  );
  if (process.platform === 'linux' && !hasDisplay) return;
  // Without an opener, the printed address is enough.
  spawn(opener, [address], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}

main().catch(fail);
