import { l10n } from 'vscode';
import { type Scenario, SCENARIOS } from '../../sandbox/scenarios.ts';
import { accountWords } from '../shared/accountMessages.ts';
import { formatMoney, notAnAmount, parseAmount, sandboxNote } from '../shared/format.ts';
import { showInformation, showWarning } from '../shared/notifications.ts';
import { ask, pick } from '../shared/steps.ts';
import { TERMS } from '../shared/termMessages.ts';

/** Texts of notifications. */
export const sandboxMessages = {
  inUse: () => sandboxNote(),
  scenario: (id: Scenario) => l10n.t('Sandbox scenario: {0}.', scenarioNames()[id] ?? id),
  unknownScenario: () =>
    l10n.t('Unknown sandbox scenario. Available: {0}.', Object.keys(scenarioNames()).join(', ')),
  funds: (balanceCents: number, currency: string) =>
    l10n.t('The balance is now {0} of sandbox money.', formatMoney(balanceCents, currency)),
  fundsRefused: () => l10n.t('Nothing was added: enter a positive whole number of cents.'),
  speedRefused: (min: number, max: number) => l10n.t('The clock speed must be from {0} to {1}.', min, max),
};

/** Returns the names of the scenarios that users are offered; the others are only arguments of the command. */
function scenarioNames(): Partial<Record<Scenario, string>> {
  return {
    none: l10n.t('No fault'),
    'answer-lost': l10n.t('Response lost after the charge'),
    'connection-lost': l10n.t('Connection lost before the charge'),
    'rate-limited': l10n.t('Too many requests'),
    'insufficient-balance': l10n.t('Balance too low'),
    'failed-run': l10n.t('Failed run'),
    'cut-download': l10n.t('Interrupted download'),
    'short-retention': l10n.t('Adapter expires in two hours'),
  };
}

/** Asks which fault the sandbox should simulate. */
export async function chooseScenario(current: string): Promise<string | undefined> {
  const names = scenarioNames();
  const items = SCENARIOS.flatMap((value) => {
    const label = names[value];
    return label === undefined ? [] : [{ value, label }];
  });
  return choose(l10n.t('Sandbox Scenario'), items, current);
}

/** Asks for the speed of the sandbox's clock. */
export async function chooseClockSpeed(current: number): Promise<number | undefined> {
  const items = [1, 10, 100].map((speed) => ({
    value: speed,
    label: l10n.t('{0}×', speed),
    detail: l10n.t('A small run takes about {0} s.', Math.round(360 / speed)),
  }));
  return choose(l10n.t('Sandbox Clock Speed'), items, current);
}

async function choose<T extends string | number>(
  title: string,
  rows: readonly { value: T; label: string; detail?: string }[],
  current: T,
): Promise<T | undefined> {
  const items = rows.map((row) => ({
    ...row,
    ...(row.value === current && { description: l10n.t('current') }),
  }));
  const answer = await pick<T>({ title }, { items, active: current });
  return answer.kind === 'value' ? answer.value : undefined;
}

/** Asks for the amount to add; returns cents. */
export async function askForFunds(currency: string): Promise<number | undefined> {
  const answer = await ask(
    { title: TERMS.addSandboxFunds },
    {
      prompt: l10n.t('Sandbox money in {0}', currency),
      value: '100',
      validate: (text) => ((parseAmount(text) ?? 0) > 0 ? undefined : notAnAmount()),
    },
  );
  return answer.kind === 'value' ? parseAmount(answer.value) : undefined;
}

/** Asks whether to reset the sandbox. */
export async function confirmReset(): Promise<boolean> {
  const reset = l10n.t('Reset');
  const detail = l10n.t(
    'Deletes its runs and resets balance, scenario and clock. Receipts and downloads stay.',
  );
  return (await showWarning(l10n.t('Reset the sandbox?'), { modal: true, detail }, reset)) === reset;
}

/** Asks whether to switch to the sandbox, for a command that works only there. */
export async function offerSandbox(): Promise<boolean> {
  const use = accountWords.useSandbox();
  return (await showInformation(l10n.t('This command works only in the sandbox.'), use)) === use;
}
