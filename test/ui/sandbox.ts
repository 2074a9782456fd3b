import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { AccountStore } from '../../src/core/accounts/accountStore.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { addPastRuns } from '../helpers/sandbox/pastRuns.ts';
import { setSandboxSpeed } from '../helpers/sandbox/speed.ts';
import { KEYS } from './keys.ts';
import type { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

/** Enters the sandbox from the welcome content of the Runs view. */
export async function enterSandbox(workbench: Workbench): Promise<void> {
  await workbench.sideBar.open('Fine-Tuning');
  await workbench.sideBar.view('Runs').welcomeButton('Use the Sandbox').click();
  await workbench.statusItem('balance').getByText('Sandbox 1,000.00 USD').waitFor();
  await workbench.clearNotifications();
}

/** Writes what a user of the sandbox has stored, before the first window opens. */
async function seedSandbox({ globalStorage }: VSCode): Promise<void> {
  const sandbox = await startSandbox({ directory: path.join(globalStorage, 'sandbox') });
  await sandbox.close();
  const accounts = new AccountStore(globalStorage);
  await accounts.open();
  await accounts.save({ kind: 'sandbox', id: sandbox.accountId, name: 'Sandbox' });
  accounts.dispose();
}

/** Opens a window whose account is the stored sandbox, and the Runs view. */
export async function openInSandbox(vscode: VSCode, pastRuns = 0): Promise<Workbench> {
  await seedSandbox(vscode);
  if (pastRuns > 0) addPastRuns(path.join(vscode.globalStorage, 'sandbox'), pastRuns);
  const workbench = await vscode.open();
  await workbench.sideBar.open('Fine-Tuning');
  await workbench.statusItem('balance').getByText('Sandbox 1,000.00 USD').waitFor();
  return workbench;
}

export async function chooseScenario(workbench: Workbench, name: string): Promise<void> {
  const { dialogs, quickInput } = workbench;
  await quickInput.openByKey(KEYS['fineTuning.sandbox'], 'Sandbox');
  await quickInput.pick('Sandbox Scenario…');
  await quickInput.waitForTitle('Sandbox Scenario');
  await quickInput.pick(name);
  await dialogs.toast(`Sandbox scenario: ${name}.`).first().waitFor();
  await workbench.clearNotifications();
}

export function setClockSpeed(vscode: VSCode, speed: number): void {
  setSandboxSpeed(path.join(vscode.globalStorage, 'sandbox'), speed);
}

/** Runs a command of the sandbox's menu. */
export async function chooseInSandbox({ quickInput }: Workbench, row: string): Promise<void> {
  await quickInput.runCommand('Fine-Tuning: Manage Sandbox…');
  await quickInput.waitForTitle('Sandbox');
  await quickInput.pick(row);
}

/** The prices in the sandbox's own database, oldest first, in cents. */
export function sandboxPrices(vscode: VSCode): number[] {
  return runsOf(vscode).map(({ price_cents }) => price_cents);
}

/** The balance and the labels of runs in the sandbox's own database, oldest first. */
export function sandboxLedger(vscode: VSCode): { balanceCents: number; labels: string[] } {
  const [account] = rowsOf<{ balance_cents: number }>(vscode, 'SELECT balance_cents FROM account');
  return {
    balanceCents: account?.balance_cents ?? NaN,
    labels: runsOf(vscode).map(({ label }) => label ?? ''),
  };
}

function runsOf(vscode: VSCode) {
  const query = 'SELECT run_id, label, price_cents FROM runs ORDER BY sequence';
  return rowsOf<{ run_id: string; label: string | null; price_cents: number }>(vscode, query);
}

function rowsOf<Row>(vscode: VSCode, query: string): Row[] {
  const file = path.join(vscode.globalStorage, 'sandbox/sandbox.sqlite');
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  try {
    return database.prepare(query).all() as Row[];
  } finally {
    database.close();
  }
}
