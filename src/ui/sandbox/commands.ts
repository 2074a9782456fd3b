import type { SandboxControl } from '../../sandbox/control.ts';
import { MAX_SPEED, MIN_SPEED, SCENARIOS } from '../../sandbox/scenarios.ts';
import type { Services } from '../../services.ts';
import { accountWords } from '../shared/accountMessages.ts';
import { showError, showInformation } from '../shared/notifications.ts';
import {
  askForFunds,
  chooseClockSpeed,
  chooseScenario,
  confirmReset,
  offerSandbox,
  sandboxMessages,
} from './messages.ts';

type Parts = Pick<Services, 'accounts' | 'sandbox' | 'sessions'>;

/** Starts the sandbox and makes it the active account. */
export async function useSandbox({ accounts, sandbox }: Parts): Promise<void> {
  const { accountId } = await sandbox.start();
  await accounts.save({ kind: 'sandbox', id: accountId, name: accountWords.sandboxName() });
  void showInformation(sandboxMessages.inUse());
}

/** Returns the sandbox's control if it is the active account or the user agrees to switch to it. */
async function controlOf(parts: Parts): Promise<SandboxControl | undefined> {
  if (parts.sessions.active?.account.kind !== 'sandbox') {
    if (!(await offerSandbox())) return undefined;
    await useSandbox(parts);
  }
  return (await parts.sandbox.start()).control;
}

/** Sets the fault that the sandbox simulates: the argument, or the user's choice. */
export async function setScenario(parts: Parts, argument: unknown): Promise<void> {
  const control = await controlOf(parts);
  if (control === undefined) return;
  const id = typeof argument === 'string' ? argument : await chooseScenario(control.getScenario());
  if (id === undefined) return;
  const scenario = SCENARIOS.find((known) => known === id);
  if (scenario === undefined) {
    void showError(sandboxMessages.unknownScenario());
    return;
  }
  control.setScenario(scenario);
  void showInformation(sandboxMessages.scenario(scenario));
  await parts.sessions.active?.runs.refresh();
}

/** Deletes the sandbox's runs, and resets its balance, scenario, and clock. */
export async function reset(parts: Parts): Promise<void> {
  const control = await controlOf(parts);
  if (control === undefined || !(await confirmReset())) return;
  control.reset();
  const { active } = parts.sessions;
  active?.runs.clear();
  await Promise.all([active?.runs.refresh(), active?.balance.refresh()]);
}

/** Adds to the sandbox's balance: the cents in the argument, or the amount that the user enters. */
export async function addFunds(parts: Parts, argument: unknown): Promise<void> {
  const control = await controlOf(parts);
  if (control === undefined) return;
  const balance = parts.sessions.active?.balance;
  const { currency } = balance?.current ?? (await balance?.refresh()) ?? { currency: '' };
  const cents = typeof argument === 'number' ? argument : await askForFunds(currency);
  if (cents === undefined) return;
  const balanceCents = unlessOutOfRange(() => control.addFunds(cents));
  if (balanceCents === undefined) {
    void showError(sandboxMessages.fundsRefused());
    return;
  }
  void showInformation(sandboxMessages.funds(balanceCents, currency));
  await balance?.refresh();
}

/** Sets the speed of the sandbox's clock: the factor in the argument, or the user's choice. */
export async function setClockSpeed(parts: Parts, argument: unknown): Promise<void> {
  const control = await controlOf(parts);
  if (control === undefined) return;
  const speed = typeof argument === 'number' ? argument : await chooseClockSpeed(control.getSpeed());
  if (speed === undefined) return;
  const isSet = unlessOutOfRange(() => {
    control.setSpeed(speed);
    return true;
  });
  if (isSet) await parts.sessions.active?.runs.refresh();
  else void showError(sandboxMessages.speedRefused(MIN_SPEED, MAX_SPEED));
}

function unlessOutOfRange<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
