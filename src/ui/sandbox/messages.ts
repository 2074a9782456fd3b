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
  scenario(id: Scenario): string {
    const name = offeredScenarios()[id]?.label ?? id;
    return id === 'none'
      ? l10n.t('Sandbox scenario: {0}.', name)
      : l10n.t('Sandbox scenario: {0}. It stays on until you choose another.', name);
  },
  unknownScenario: () =>
    l10n.t('Unknown sandbox scenario. Available: {0}.', Object.keys(offeredScenarios()).join(', ')),
  funds: (balanceCents: number, currency: string) =>
    l10n.t('The balance is now {0} of sandbox money.', formatMoney(balanceCents, currency)),
  fundsRefused: () => l10n.t('Nothing was added: enter a positive whole number of cents.'),
  speedRefused: (min: number, max: number) => l10n.t('The clock speed must be from {0} to {1}.', min, max),
};

/** Returns name and effect of the scenarios that users are offered; the others are only arguments of the command. */
function offeredScenarios(): Partial<Record<Scenario, { label: string; detail: string }>> {
  return {
    none: {
      label: l10n.t('No fault'),
      detail: l10n.t('Runs are charged, trained and downloaded as usual.'),
    },
    'answer-lost': {
      label: l10n.t('Response lost after the charge'),
      detail: l10n.t('A submission gets no response. Seconds later its run is found: charged once.'),
    },
    'connection-lost': {
      label: l10n.t('Connection lost before the charge'),
      detail: l10n.t('The first attempt gets no response, the second one does: charged once.'),
    },
    'rate-limited': {
      label: l10n.t('Too many requests'),
      detail: l10n.t('The service refuses each request once and asks to wait 2 s: slower, but charged once.'),
    },
    'insufficient-balance': {
      label: l10n.t('Balance too low'),
      detail: l10n.t('Submissions are refused and not charged. Continue them without this fault.'),
    },
    'failed-run': {
      label: l10n.t('Failed run'),
      detail: l10n.t('New runs are charged and fail. They have no adapter.'),
    },
    'cut-download': {
      label: l10n.t('Interrupted download'),
      detail: l10n.t('A download breaks off halfway, then resumes automatically.'),
    },
    'short-retention': {
      label: l10n.t('Adapter expires in two hours'),
      detail: l10n.t('When a new run completes, a reminder offers to download its adapter.'),
    },
  };
}

/** Asks which fault the sandbox should simulate. */
export async function chooseScenario(current: string): Promise<string | undefined> {
  const offered = offeredScenarios();
  const items = SCENARIOS.flatMap((value) => {
    const texts = offered[value];
    return texts === undefined ? [] : [{ value, ...texts }];
  });
  return choose(
    {
      title: l10n.t('Sandbox Scenario'),
      placeholder: l10n.t('A scenario stays on until you choose another.'),
    },
    items,
    current,
  );
}

/** Asks for the speed of the sandbox's clock. */
export async function chooseClockSpeed(current: number): Promise<number | undefined> {
  const items = [1, 10, 100].map((speed) => ({
    value: speed,
    label: l10n.t('{0}×', speed),
    detail: l10n.t('A small run takes about {0} s.', Math.round(360 / speed)),
  }));
  return choose({ title: l10n.t('Sandbox Clock Speed') }, items, current);
}

async function choose<T extends string | number>(
  { title, placeholder = '' }: { title: string; placeholder?: string },
  rows: readonly { value: T; label: string; detail?: string }[],
  current: T,
): Promise<T | undefined> {
  const items = rows.map((row) => ({
    ...row,
    ...(row.value === current && { description: l10n.t('current') }),
  }));
  const answer = await pick<T>({ title }, { placeholder, items, active: current });
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
