// Every wait of these tests is for a state, and ends at it. Only where VS Code shows no state, a test waits
// until nothing changes for a while (`QuickInput.choosePath`).
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect, isDeepStrictEqual } from 'node:util';
import { errors, type Locator } from 'playwright-core';

/** The limit of every wait: only a fault reaches it, even on a busy machine. */
export const LIMIT_MS = 60_000;
/** After this time, an action is repeated as a user would: a change of the focus loses clicks and keys. */
export const AGAIN_MS = 2_000;
/** The limit of an action that is repeated if it wasn't possible: long enough that a slow action isn't done twice. */
const POSSIBLE_MS = 5_000;
/** After this time, a command that opens a box is started again. Its second box would replace the first, perhaps a filled one. */
const STARTED_MS = 15_000;
const BETWEEN_LOOKS_MS = 50;

/** Waits until something is so. @param what for the message if it never is */
export async function until(
  what: string | (() => string),
  isSo: () => boolean | Promise<boolean>,
  limitMs = LIMIT_MS,
): Promise<void> {
  const giveUpAt = performance.now() + limitMs;
  while (!(await isSo())) {
    assert.ok(performance.now() < giveUpAt, `not yet: ${typeof what === 'string' ? what : what()}`);
    await sleep(BETWEEN_LOOKS_MS);
  }
}

/** Waits until a value is as wanted, and fails with the last one. */
export async function untilEqual(wanted: unknown, read: () => Promise<unknown>): Promise<void> {
  let value: unknown;
  await until(
    () => `${inspect(wanted)}, but ${inspect(value)}`,
    async () => isDeepStrictEqual((value = await read()), wanted),
  );
}

/** Starts what opens a box, and again only if the key was lost. */
export async function startUntil(start: () => Promise<unknown>, opened: Locator): Promise<void> {
  await start();
  if (await happens(opened.waitFor({ timeout: STARTED_MS }))) return;
  await start();
  await opened.waitFor();
}

/** Acts, and again whenever nothing happens for a while, until an element is in a state. */
export async function actUntil(
  act: () => Promise<unknown>,
  on: Locator,
  state: 'visible' | 'hidden' = 'visible',
): Promise<void> {
  const giveUpAt = performance.now() + LIMIT_MS;
  do {
    await act();
    if (await comes(on, state)) return;
  } while (performance.now() < giveUpAt);
  assert.fail(`never ${state}: ${on.toString()}`);
}

/** Whether an element gets into a state soon; if not, the action before is repeated. */
export async function comes(on: Locator, state: 'visible' | 'hidden' = 'visible'): Promise<boolean> {
  return happens(on.waitFor({ state, timeout: AGAIN_MS }));
}

/** Whether an action is possible soon; if not, what leads to it is repeated. @param act gets the limit for Playwright */
export async function succeeds(act: (options: { timeout: number }) => Promise<unknown>): Promise<boolean> {
  return happens(act({ timeout: POSSIBLE_MS }));
}

async function happens(waiting: Promise<unknown>): Promise<boolean> {
  return waiting.then(
    () => true,
    (error: unknown) => {
      if (error instanceof errors.TimeoutError) return false;
      throw error;
    },
  );
}
