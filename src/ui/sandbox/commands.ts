import { l10n } from 'vscode';
import { parseAmount } from '../../core/money/amount.ts';
import type { SandboxControl } from '../../sandbox/control.ts';
import { MAX_SPEED, MIN_SPEED, SCENARIOS } from '../../sandbox/scenarios.ts';
import type { Services } from '../../services.ts';
import type { CommandResult } from '../shared/commands.ts';
import { TERMS } from '../shared/terms.ts';
import { formatMoney, notAnAmount, sandboxNote } from '../shared/format.ts';
import { askModal, showError, showInformation, showWarning } from '../shared/notifications.ts';
import { ask, pick } from '../shared/steps.ts';
import type { LazySandbox } from './lazySandbox.ts';
import { offeredScenarios } from './offeredScenarios.ts';

type Parts = Pick<Services, 'accounts' | 'sessions'> & { sandbox: Pick<LazySandbox, 'start'> };

/** Starts the sandbox and makes it the active account. */
export async function useSandbox({ accounts, sandbox }: Parts): Promise<void> {
  const { accountId } = await sandbox.start();
  await accounts.save({ kind: 'sandbox', id: accountId, name: l10n.t('Sandbox') });
  void showInformation(sandboxNote());
}

type SandboxCommand = (parts: Parts, argument?: unknown) => Promise<CommandResult | undefined>;

/** Shows the sandbox's commands. */
export async function openMenu(parts: Parts): Promise<CommandResult | undefined> {
  const items = [
    { icon: 'debug-alt', label: l10n.t('Sandbox Scenario…'), value: setScenario },
    { icon: 'dashboard', label: l10n.t('Sandbox Clock Speed…'), value: setClockSpeed },
    { icon: 'add', label: l10n.t('Add Sandbox Funds…'), value: addFunds },
    { icon: 'discard', label: l10n.t('Reset Sandbox…'), value: reset },
  ];
  const answer = await pick<SandboxCommand>({ title: l10n.t('Sandbox') }, { items });
  return answer.kind === 'value' ? answer.value(parts) : { outcome: 'cancelled' };
}

/** Returns the sandbox's control if it is the active account or the user agrees to switch to it. */
async function controlOf(parts: Parts): Promise<SandboxControl | undefined> {
  if (parts.sessions.active?.account.kind !== 'sandbox') {
    if (!(await offerSandbox())) return undefined;
    await useSandbox(parts);
  }
  return (await parts.sandbox.start()).control;
}

/** Asks whether to switch to the sandbox, for a command that works only there. Modal: other extensions can run it. */
async function offerSandbox(): Promise<boolean> {
  const detail = l10n.t('This command works only in the sandbox.');
  const buttons = { [TERMS.useSandbox]: true };
  return (await askModal(showInformation, l10n.t('Switch to the sandbox?'), detail, buttons)) === true;
}

/** Sets the fault that the sandbox simulates: the argument, or the user's choice. */
export async function setScenario(parts: Parts, argument?: unknown): Promise<CommandResult | undefined> {
  const control = await controlOf(parts);
  if (control === undefined) return { outcome: 'cancelled' };
  const id = typeof argument === 'string' ? argument : await chooseScenario(control.getScenario());
  if (id === undefined) return { outcome: 'cancelled' };
  const scenario = SCENARIOS.find((known) => known === id);
  if (scenario === undefined) {
    void showError(l10n.t('Unknown sandbox scenario. Available: {0}.', SCENARIOS.join(', ')));
    return { outcome: 'failed' };
  }
  control.setScenario(scenario);
  const name = offeredScenarios()[scenario].label;
  void showInformation(
    scenario === 'none'
      ? l10n.t('Sandbox scenario: {0}.', name)
      : l10n.t('Sandbox scenario: {0}. It stays on until you choose another.', name),
  );
  const { active } = parts.sessions;
  // The balance's tooltip names the fault.
  await Promise.all([active?.runs.refresh(), active?.balance.refresh()]);
}

async function chooseScenario(current: string): Promise<string | undefined> {
  const offered = offeredScenarios();
  const items = SCENARIOS.map((value) => ({ value, ...offered[value] }));
  return choose(
    {
      title: l10n.t('Sandbox Scenario'),
      placeholder: l10n.t('A scenario stays on until you choose another.'),
    },
    items,
    current,
  );
}

/** Deletes the sandbox's runs, and resets its balance, scenario, and clock. */
export async function reset(parts: Parts): Promise<CommandResult | undefined> {
  const control = await controlOf(parts);
  if (control === undefined || !(await confirmReset())) return { outcome: 'cancelled' };
  control.reset();
  const { active } = parts.sessions;
  active?.runs.clear();
  await Promise.all([active?.runs.refresh(), active?.balance.refresh()]);
}

async function confirmReset(): Promise<boolean> {
  const reset = l10n.t('Reset');
  const detail = l10n.t(
    'Deletes its runs and resets balance, scenario and clock. Receipts and downloads stay.',
  );
  return (await showWarning(l10n.t('Reset the sandbox?'), { modal: true, detail }, reset)) === reset;
}

/** Adds to the sandbox's balance: the cents in the argument, or the amount that the user enters. */
export async function addFunds(parts: Parts, argument?: unknown): Promise<CommandResult | undefined> {
  const control = await controlOf(parts);
  if (control === undefined) return { outcome: 'cancelled' };
  const balance = parts.sessions.active?.balance;
  const { currency } = balance?.current ?? (await balance?.refresh()) ?? { currency: '' };
  const cents = typeof argument === 'number' ? argument : await askForFunds(currency);
  if (cents === undefined) return { outcome: 'cancelled' };
  const balanceCents = unlessOutOfRange(() => control.addFunds(cents));
  if (balanceCents === undefined) {
    void showError(l10n.t('Nothing was added: enter a positive whole number of cents.'));
    return { outcome: 'failed' };
  }
  const text = formatMoney(balanceCents, currency);
  void showInformation(l10n.t('The balance is now {0} of sandbox money.', text));
  await balance?.refresh();
}

/** Asks for the amount to add; returns cents. */
async function askForFunds(currency: string): Promise<number | undefined> {
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

/** Sets the speed of the sandbox's clock: the factor in the argument, or the user's choice. */
export async function setClockSpeed(parts: Parts, argument?: unknown): Promise<CommandResult | undefined> {
  const control = await controlOf(parts);
  if (control === undefined) return { outcome: 'cancelled' };
  const speed = typeof argument === 'number' ? argument : await chooseClockSpeed(control.getSpeed());
  if (speed === undefined) return { outcome: 'cancelled' };
  const isSet = unlessOutOfRange(() => {
    control.setSpeed(speed);
    return true;
  });
  if (!isSet) {
    void showError(l10n.t('The clock speed must be from {0} to {1}.', MIN_SPEED, MAX_SPEED));
    return { outcome: 'failed' };
  }
  await parts.sessions.active?.runs.refresh();
}

async function chooseClockSpeed(current: number): Promise<number | undefined> {
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

function unlessOutOfRange<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
