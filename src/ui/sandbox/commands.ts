import type { Sessions } from '../../core/runs/sessions.ts';
import { MAX_SPEED, MIN_SPEED, SCENARIOS, type SandboxControl } from '../../sandbox/scenarios.ts';
import {
  askForFunds,
  chooseClockSpeed,
  chooseScenario,
  confirmReset,
  notifyFunds,
  notifyFundsRefused,
  notifyScenario,
  notifyScenarioRefused,
  notifySpeedRefused,
} from './messages.ts';

/** Lets the sandbox show a fault: the one of the argument, or one that the user picks. */
export async function setScenario(
  control: SandboxControl,
  sessions: Sessions,
  argument: unknown,
): Promise<void> {
  const id = typeof argument === 'string' ? argument : await chooseScenario(control.getScenario());
  if (id === undefined) return;
  const scenario = SCENARIOS.find((known) => known === id);
  if (scenario === undefined) {
    notifyScenarioRefused();
    return;
  }
  control.setScenario(scenario);
  notifyScenario(scenario);
  await sessions.active?.runs.refresh();
}

/** Deletes the sandbox's runs and resets its balance, scenario and clock. */
export async function reset(control: SandboxControl, sessions: Sessions): Promise<void> {
  if (!(await confirmReset())) return;
  control.reset();
  sessions.active?.runs.clear();
  await Promise.all([sessions.active?.runs.refresh(), sessions.active?.balance.refresh()]);
}

/** Adds to the sandbox's balance: the cents of the argument, or what the user enters. */
export async function addFunds(
  control: SandboxControl,
  sessions: Sessions,
  argument: unknown,
): Promise<void> {
  const balance = sessions.active?.balance;
  const { currency } = balance?.current ?? (await balance?.refresh()) ?? { currency: '' };
  const cents = typeof argument === 'number' ? argument : await askForFunds(currency);
  if (cents === undefined) return;
  const balanceCents = unlessOutOfRange(() => control.addFunds(cents));
  if (balanceCents === undefined) {
    notifyFundsRefused();
    return;
  }
  notifyFunds(balanceCents, currency);
  await balance?.refresh();
}

/** Sets how fast the sandbox's runs go: by the factor of the argument, or one that the user picks. */
export async function setClockSpeed(
  control: SandboxControl,
  sessions: Sessions,
  argument: unknown,
): Promise<void> {
  const speed = typeof argument === 'number' ? argument : await chooseClockSpeed(control.getSpeed());
  if (speed === undefined) return;
  const isSet = unlessOutOfRange(() => {
    control.setSpeed(speed);
    return true;
  });
  if (isSet) await sessions.active?.runs.refresh();
  else notifySpeedRefused(MIN_SPEED, MAX_SPEED);
}

function unlessOutOfRange<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
