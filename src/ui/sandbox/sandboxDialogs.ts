import * as vscode from 'vscode';
import { formatMoney } from '../shared/format.ts';
import { ask, pick } from '../shared/steps.ts';
import { showError, showInformation, showWarning } from '../shared/notifications.ts';

/** The sandbox's faults that users are offered, in words; the ids are the sandbox's. */
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
export async function chooseScenario(known: readonly string[], current: string): Promise<string | undefined> {
  const { l10n } = vscode;
  const rows = new Map(scenarioRows().map((row) => [row.id, row]));
  const answer = await pick(
    { title: l10n.t('Sandbox Scenario'), step: 1, totalSteps: 1 },
    {
      placeholder: l10n.t('What should the sandbox do?'),
      items: known.map((id) => ({
        label: rows.get(id)?.label ?? id,
        description: id === current ? l10n.t('now') : '',
        detail: rows.get(id)?.detail ?? '',
        value: id,
      })),
      active: current,
    },
  );
  return answer.kind === 'value' ? answer.value : undefined;
}

export function tellScenario(id: string): void {
  const label = scenarioRows().find((row) => row.id === id)?.label ?? id;
  void showInformation(vscode.l10n.t('Sandbox scenario: {0}.', label));
}

/** A command named a scenario that there is not. */
export function tellScenarioRefused(known: readonly string[]): void {
  void showError(vscode.l10n.t('The sandbox does not know this scenario. It knows: {0}.', known.join(', ')));
}

/** Asks how much play money to add, in cents. */
export async function askForFunds(currency: string): Promise<number | undefined> {
  const { l10n } = vscode;
  const cents = (text: string) =>
    /^\d{1,7}(\.\d{1,2})?$/.test(text.trim()) ? Math.round(Number(text) * 100) : 0;
  const answer = await ask(
    { title: l10n.t('Add Funds to the Sandbox'), step: 1, totalSteps: 1 },
    {
      prompt: l10n.t('Amount of play money in {0}', currency),
      value: '100',
      validate: (text) => (cents(text) > 0 ? undefined : l10n.t('Enter an amount such as 100 or 12.50.')),
    },
  );
  return answer.kind === 'value' ? cents(answer.value) : undefined;
}

export function tellFunds(balanceCents: number, currency: string): void {
  void showInformation(
    vscode.l10n.t(
      'The balance of the sandbox is now {0}. It is play money.',
      formatMoney(balanceCents, currency),
    ),
  );
}

/** A command named an amount that the sandbox does not take. */
export function tellFundsRefused(): void {
  void showError(
    vscode.l10n.t('The sandbox takes play money as a whole number of cents above zero. Nothing was added.'),
  );
}

/** A command named a clock speed that the sandbox does not take. */
export function tellSpeedRefused({ min, max }: { min: number; max: number }): void {
  void showError(
    vscode.l10n.t(
      'The clock speed of the sandbox is a number from {0} to {1}. It was left as it is.',
      min,
      max,
    ),
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
        description: speed === current ? l10n.t('now') : '',
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
        'Its runs are deleted, its balance, scenario and clock go back to how they began. Accounts and downloads stay.',
      ),
    },
    reset,
  );
  return choice === reset;
}

/** Says that a command works on the sandbox only, and offers it. */
export async function offerSandbox(): Promise<boolean> {
  const { l10n } = vscode;
  const use = l10n.t('Use the Sandbox');
  const choice = await showInformation(
    l10n.t('This works in the sandbox, which is not the active account.'),
    use,
  );
  return choice === use;
}
