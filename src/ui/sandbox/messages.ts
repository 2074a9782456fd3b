import * as vscode from 'vscode';
import { OFFERED_SCENARIOS, SCENARIOS } from '../../sandbox/scenarios.ts';
import { accountWords } from '../shared/accountMessages.ts';
import { formatMoney } from '../shared/format.ts';
import { ask, pick } from '../shared/steps.ts';
import { showError, showInformation, showWarning } from '../shared/notifications.ts';

/** The scenarios of the sandbox that users are offered. */
export function scenarioRows(): { id: string; label: string; detail: string }[] {
  const { l10n } = vscode;
  return [
    { id: 'none', label: l10n.t('No fault'), detail: l10n.t('Everything works as documented.') },
    {
      id: 'answer-lost',
      label: l10n.t('Answer lost after the charge'),
      detail: l10n.t('The connection breaks after the charge. A retry returns the original response.'),
    },
    {
      id: 'connection-lost',
      label: l10n.t('Connection lost before the charge'),
      detail: l10n.t('The connection breaks after the upload, on the first attempt only.'),
    },
    {
      id: 'rate-limited',
      label: l10n.t('Too many requests'),
      detail: l10n.t('The first attempt gets a 429 with Retry-After.'),
    },
    {
      id: 'insufficient-balance',
      label: l10n.t('Balance too low'),
      detail: l10n.t('Every submission gets a 402.'),
    },
    {
      id: 'failed-run',
      label: l10n.t('Failed run'),
      detail: l10n.t('Runs end with the status “failed” and without an adapter.'),
    },
    {
      id: 'cut-download',
      label: l10n.t('Interrupted download'),
      detail: l10n.t('The connection breaks in the middle of a download.'),
    },
    {
      id: 'short-retention',
      label: l10n.t('Adapter expires in two hours'),
      detail: l10n.t('For runs submitted from now on; the expiry reminder appears soon.'),
    },
  ];
}

/** Asks which fault the sandbox should show. */
export async function chooseScenario(current: string): Promise<string | undefined> {
  const { l10n } = vscode;
  // Browser tests pick from all.
  const ids = process.env.FINE_TUNING_SANDBOX_SCENARIOS === 'all' ? SCENARIOS : OFFERED_SCENARIOS;
  const rows = new Map(scenarioRows().map((row) => [row.id, row]));
  const answer = await pick(
    { title: l10n.t('Sandbox Scenario'), step: 1, totalSteps: 1 },
    {
      placeholder: l10n.t('What should the sandbox do?'),
      items: ids.map((id) => ({
        label: rows.get(id)?.label ?? id,
        description: id === current ? l10n.t('current') : '',
        detail: rows.get(id)?.detail ?? '',
        value: id,
      })),
      active: current,
    },
  );
  return answer.kind === 'value' ? answer.value : undefined;
}

export function notifyScenario(id: string): void {
  const label = scenarioRows().find((row) => row.id === id)?.label ?? id;
  void showInformation(vscode.l10n.t('Sandbox scenario: {0}.', label));
}

/** Reports that a command named an unknown scenario. */
export function notifyScenarioRefused(): void {
  void showError(vscode.l10n.t('Unknown sandbox scenario. Known ones: {0}.', OFFERED_SCENARIOS.join(', ')));
}

/** Asks how much to add, in cents. */
export async function askForFunds(currency: string): Promise<number | undefined> {
  const { l10n } = vscode;
  const cents = (text: string) =>
    /^\d{1,7}(\.\d{1,2})?$/.test(text.trim()) ? Math.round(Number(text) * 100) : 0;
  const answer = await ask(
    { title: l10n.t('Add Sandbox Funds'), step: 1, totalSteps: 1 },
    {
      prompt: l10n.t('Amount in {0} (not real money)', currency),
      value: '100',
      validate: (text) => (cents(text) > 0 ? undefined : l10n.t('Enter an amount such as 100 or 12.50.')),
    },
  );
  return answer.kind === 'value' ? cents(answer.value) : undefined;
}

export function notifyFunds(balanceCents: number, currency: string): void {
  void showInformation(
    vscode.l10n.t('The sandbox balance is now {0} (not real money).', formatMoney(balanceCents, currency)),
  );
}

/** Reports that a command named an invalid amount. */
export function notifyFundsRefused(): void {
  void showError(vscode.l10n.t('The amount must be a positive whole number of cents. Nothing was added.'));
}

/** Reports that a command named an invalid clock speed. */
export function notifySpeedRefused(min: number, max: number): void {
  void showError(
    vscode.l10n.t('The clock speed must be a number from {0} to {1}. It was not changed.', min, max),
  );
}

/** Asks how fast the sandbox's runs go. */
export async function chooseClockSpeed(current: number): Promise<number | undefined> {
  const { l10n } = vscode;
  const speeds = [1, 10, 100];
  const answer = await pick(
    { title: l10n.t('Sandbox Clock Speed'), step: 1, totalSteps: 1 },
    {
      placeholder: l10n.t('How fast should runs go?'),
      items: speeds.map((speed) => ({
        label: l10n.t('{0} ×', speed),
        description: speed === current ? l10n.t('current') : '',
        detail: l10n.t('A small run takes about {0} s.', Math.round(360 / speed)),
        value: speed,
      })),
      active: current,
    },
  );
  return answer.kind === 'value' ? answer.value : undefined;
}

/** Whether to delete the sandbox's runs. */
export async function confirmReset(): Promise<boolean> {
  const { l10n } = vscode;
  const reset = l10n.t('Reset');
  const choice = await showWarning(
    l10n.t('Reset the sandbox?'),
    {
      modal: true,
      detail: l10n.t(
        'Deletes its runs, and resets its balance, scenario and clock. Accounts and downloaded files are not affected.',
      ),
    },
    reset,
  );
  return choice === reset;
}

/** Reports that the sandbox is the active account now. */
export function notifySandboxInUse(): void {
  void showInformation(
    vscode.l10n.t('You are in the sandbox. It works like the service, but nothing is trained or charged.'),
  );
}

/** Whether to switch to the sandbox, for a command that works only there. */
export async function offerSandbox(): Promise<boolean> {
  const { l10n } = vscode;
  const use = accountWords.useSandbox();
  const choice = await showInformation(
    l10n.t('This command works only in the sandbox, which is not the active account.'),
    use,
  );
  return choice === use;
}
