import { l10n } from 'vscode';
import { parseAmount } from '../../core/money/amount.ts';
import type { SandboxControl } from '../../sandbox/control.ts';
import { SCENARIOS } from '../../sandbox/scenarios.ts';
import type { Services } from '../../services.ts';
import type { CommandResult } from '../shared/commands.ts';
import { formatMoney, notAnAmount, sandboxNote } from '../shared/format.ts';
import { askModal, showError, showInformation, showWarning } from '../shared/notifications.ts';
import { ask, pick } from '../shared/steps.ts';
import { TERMS } from '../shared/terms.ts';
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

/**
 * Runs one of the sandbox's commands, or shows them.
 * @param name `scenario`, `addFunds` or `reset`
 * @param argument that of the command
 */
export async function controlSandbox(
  parts: Parts,
  name?: unknown,
  argument?: unknown,
): Promise<CommandResult | undefined> {
  const items = [
    { icon: 'debug-alt', label: l10n.t('Sandbox Scenario…'), name: 'scenario', value: setScenario },
    { icon: 'add', label: l10n.t('Add Sandbox Funds…'), name: 'addFunds', value: addFunds },
    { icon: 'discard', label: l10n.t('Reset Sandbox…'), name: 'reset', value: reset },
  ];
  const named = items.find((item) => item.name === name);
  if (named !== undefined) return named.value(parts, argument);
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
async function setScenario(parts: Parts, argument?: unknown): Promise<CommandResult | undefined> {
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
  const items = SCENARIOS.map((value) => ({
    value,
    ...offered[value],
    ...(value === current && { description: l10n.t('current') }),
  }));
  const placeholder = l10n.t('A scenario stays on until you choose another.');
  const answer = await pick<string>(
    { title: l10n.t('Sandbox Scenario') },
    { placeholder, items, active: current },
  );
  return answer.kind === 'value' ? answer.value : undefined;
}

/** Deletes the sandbox's runs, and resets its balance and scenario. */
async function reset(parts: Parts): Promise<CommandResult | undefined> {
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
    'This deletes its runs and resets its balance and scenario. Receipts and downloads are kept.',
  );
  return (await showWarning(l10n.t('Reset the sandbox?'), { modal: true, detail }, reset)) === reset;
}

/** Adds to the sandbox's balance: the cents in the argument, or the amount that the user enters. */
async function addFunds(parts: Parts, argument?: unknown): Promise<CommandResult | undefined> {
  const control = await controlOf(parts);
  if (control === undefined) return { outcome: 'cancelled' };
  const balance = parts.sessions.active?.balance;
  const { currency } = balance?.current ?? (await balance?.refresh()) ?? { currency: '' };
  const cents = typeof argument === 'number' ? argument : await askForFunds(currency);
  if (cents === undefined) return { outcome: 'cancelled' };
  const balanceCents = control.addFunds(cents);
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
