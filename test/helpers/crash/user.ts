import { setTimeout as delay } from 'node:timers/promises';
import type { Discarded } from '../../../src/core/submission/pendingSubmission.ts';
import { isRefused, runsOf } from '../../../src/core/submission/submission.ts';
import type { Simulation } from './simulation.ts';
import type { Kept, Shown, ShownResult } from './window.ts';
import { Died, type WindowProcess } from './windowProcess.ts';

const MINUTE_MS = 60_000;
/** Number of actions after which the user gives up. */
const MAX_ACTIONS = 120;
/** Number of actions after which only planned faults occur. */
const HEALED_AFTER = 6;
/** Real time until a window notices another one's leases. */
const OTHER_WINDOW_MS = 250;

/** Simulates the user, who submits and handles open submissions by the cell's policy, also after restarts. */
export class User {
  readonly #simulation: Simulation;
  #window: WindowProcess | undefined;
  #opened = 0;
  #timer: NodeJS.Timeout | undefined;
  #isCharged = false;
  /** How often a resend failed because the dataset had changed. */
  #disappointments = 0;
  #isBetweenOver = false;
  #triedOpen = false;
  /** Number of checks and resends of each submission. */
  readonly #checks = new Map<string, number>();
  /** The window that last checked an upload that was stopped. */
  #checkedIn: WindowProcess | undefined;
  readonly #resends = new Map<string, number>();

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  /** Acts until a charge or a limit of actions. @returns whether the user knows of a charge */
  async act(): Promise<boolean> {
    for (let done = 0; done < MAX_ACTIONS && this.#disappointments < 3 && !this.#isCharged; done++) {
      this.#simulation.healed = done >= HEALED_AFTER;
      try {
        await this.#step(await this.#presentWindow());
      } catch (error) {
        if (!(error instanceof Died)) throw error;
        if (this.#window !== undefined) this.#simulation.died(this.#window);
        this.#window = undefined;
        await this.#betweenWindows();
      }
    }
    this.end();
    await this.#viewRuns();
    return this.#isCharged;
  }

  /** Opens the Runs view once more, where runs of settled submissions may have appeared. */
  async #viewRuns(): Promise<void> {
    const simulation = this.#simulation;
    simulation.healed = true;
    simulation.clock.pass(20 * MINUTE_MS);
    for (;;)
      try {
        const window = this.#window ?? (await simulation.open());
        this.#window = window;
        await window.call('refresh');
        await this.#seesReceipt(window);
        return;
      } catch (error) {
        // Killed while it linked a run, or just before.
        if (!(error instanceof Died)) throw error;
        this.#window = undefined;
      }
  }

  /** Cancels the planned kill, because the process is reused by other cells. */
  end(): void {
    clearTimeout(this.#timer);
  }

  async #presentWindow(): Promise<WindowProcess> {
    if (this.#window !== undefined) return this.#window;
    const { crashes, killAfterMs, second } = this.#simulation.cell;
    if (second !== undefined && this.#opened === 0) {
      this.#opened = 2;
      this.#window = await useTwoWindows(this.#simulation);
      return this.#window;
    }
    const window = await this.#simulation.open(crashes[this.#opened++]);
    this.#window = window;
    if (killAfterMs !== undefined && this.#opened === 1)
      this.#timer = setTimeout(() => void window.kill(), killAfterMs);
    return window;
  }

  async #betweenWindows(): Promise<void> {
    const { cell, clock, folder } = this.#simulation;
    if (this.#isBetweenOver) return;
    this.#isBetweenOver = true;
    clock.sleepMachine(cell.sleepMs ?? 0);
    clock.setWall(cell.setWallMs ?? 0);
    if (cell.rollsBack !== undefined) {
      await folder.rollBack(cell.rollsBack === true ? undefined : cell.rollsBack);
      this.#simulation.claims.setBackMs = clock.nowMs;
    }
    if (cell.damages === true) await folder.damage();
    if (cell.deletes !== undefined) await folder.deleteOne(cell.deletes);
    if (cell.otherAccount === true) await this.#simulation.visitOtherAccount();
    if (cell.replacesKey === true) await this.#simulation.replaceKey();
    if (cell.datasetBecomes !== undefined) await folder.changeDataset(cell.datasetBecomes);
  }

  async #step(window: WindowProcess): Promise<void> {
    const item = (await this.#view(window)).find(({ submission }) => !isRefused(submission));
    if (item !== undefined) await this.#decide(window, item);
    // After a refusal, submit again with new consents and a new Idempotency-Key.
    else if (!(await this.#seesReceipt(window))) await this.#submit(window);
  }

  /** Returns the tree's rows once none belongs to another window, or after half a second. */
  async #view(window: WindowProcess): Promise<Shown[]> {
    if (this.#simulation.windows.filter(({ isOver }) => !isOver).length > 1) await delay(OTHER_WINDOW_MS);
    return shownOf(window);
  }

  async #seesReceipt(window: WindowProcess): Promise<boolean> {
    for (const { id, charge } of await window.call('receipts'))
      if (charge !== undefined) {
        // Without a marker, a user may recognize the wrong run.
        const known = charge.foundBy === 'recognised' ? undefined : id;
        for (const run of runsOf(charge)) this.#simulation.claims.charged({ id: known, run });
        this.#isCharged = true;
      }
    return this.#isCharged;
  }

  async #submit(window: WindowProcess): Promise<ShownResult> {
    const result = await this.#simulation.submit(window);
    await this.#read(window, result);
    return result;
  }

  async #decide(window: WindowProcess, item: Shown): Promise<void> {
    const { user } = this.#simulation.cell;
    const { id, state } = item;
    // Give up after two resends, because the service may replay its failure, and after eight checks without a verdict.
    const isHopeless = (this.#resends.get(id) ?? 0) >= 2;
    const isBeyond = (this.#checks.get(id) ?? 0) >= 8;
    if (state === 'elsewhere') {
      // Another window owns the submission, or did until it was killed.
      await this.#resend(window, id);
    } else if (user === 'impatient' && !this.#triedOpen) {
      this.#triedOpen = true;
      const { kind, error } = await this.#submit(window);
      const isFull = error?.text.includes('no space') === true;
      if (kind !== 'open' && !isFull)
        this.#simulation.violate(`I3: the same again while one is open: ${kind}`);
    } else if (state === 'unchecked' && this.#checkedIn !== window) {
      // The dialog begins with a check.
      this.#checkedIn = window;
      await this.#check(window, id);
    } else if (item.submission.stage !== 'sent') {
      const gives = item.submission.stage === 'cleared' ? 'checks, then starts over' : 'discards';
      if (user === gives || isHopeless) await this.#discard(window, item);
      else await this.#resend(window, id);
    } else if (user === 'discards' || isBeyond) await this.#discard(window, item);
    else if ((user === 'continues' || user === 'impatient') && !isHopeless) await this.#resend(window, id);
    else await this.#check(window, id);
  }

  async #resend(window: WindowProcess, id: string): Promise<void> {
    this.#resends.set(id, (this.#resends.get(id) ?? 0) + 1);
    await this.#read(window, await window.call('resume', id));
  }

  async #check(window: WindowProcess, id: string): Promise<void> {
    const { cell, clock, service } = this.#simulation;
    if (cell.addsFunds === true && this.#checks.size === 0) service.balanceCents += 50_000;
    // Give the service time before each check.
    clock.pass(this.#checks.has(id) ? 4 * MINUTE_MS : (cell.checkAfterMs ?? 4 * MINUTE_MS));
    const result = await window.call('check', id);
    await this.#read(window, result);
    const [candidate, ...others] = result.candidates ?? [];
    if (cell.withoutMarker === true && candidate !== undefined && others.length === 0) {
      const { kind } = await window.call('adopt', id, candidate.run_id);
      this.#simulation.note(`  recognizes it: ${kind}`);
    }
    this.#checks.set(id, (this.#checks.get(id) ?? 0) + 1);
  }

  async #discard(window: WindowProcess, item: Shown): Promise<void> {
    if ((await discard(this.#simulation, window, item)) === 'charged') this.#isCharged = true;
  }

  async #read(window: WindowProcess, { kind, error }: ShownResult): Promise<void> {
    if (kind === 'charged') this.#isCharged = true;
    if (error?.code === 'dataset-changed') this.#disappointments += 1;
    // The user does as the message says: “Continue then.”
    if (kind === 'not-charged' && error?.code === 'too-early') this.#simulation.clock.pass(error.waitMs);
    if (error?.code === 'invalid_api_key' || error?.code === 'key-rejected')
      await this.#simulation.replaceKey(window);
  }
}

/**
 * The first window submits and pauses at its point, while a second one tries everything a user might. Then the first is
 * killed or released. @returns the second window, which may have to take over
 */
async function useTwoWindows(simulation: Simulation): Promise<WindowProcess> {
  const { crashes, second: how, withoutLocks } = simulation.cell;
  if (how === 'at once') return submitAtOnce(simulation);
  if (how === 'all continue') return continueAtOnce(simulation);
  const first = await simulation.open(crashes[0] && { ...crashes[0], by: 'pause' });
  const atPoint = simulation.paused(first);
  const submitted = simulation.submit(first).catch((): ShownResult => ({ kind: 'killed' }));
  // If the first window never reaches its point, there is nothing to disturb.
  const isPaused = await Promise.race([atPoint.then(() => true), submitted.then(() => false)]);
  const second = await simulation.open(how === 'set back' ? crashes[1] : undefined);
  // The request that pauses may have failed before; then the first window goes on without it.
  const isOver =
    isPaused && (await Promise.race([submitted.then(() => true), delay(OTHER_WINDOW_MS, false)]));
  if (isPaused && !isOver) {
    simulation.note('  window 1 pauses');
    if (how === 'set back') await giveNameAgain(simulation, second);
    else if (how === 'lock lost' || withoutLocks === true) await takeOver(simulation, first, second);
    else await disturb(simulation, second);
    if (first.isOver) simulation.violate(`the first window died, and nobody had killed it: ${first.output}`);
  }
  if (how === 'then kill') {
    await first.kill();
    simulation.died(first);
  } else simulation.release(first);
  await submitted;
  return second.isOver ? simulation.open() : second;
}

/** Tries everything in the second window, which must not affect or resend the first one's submission. */
async function disturb(simulation: Simulation, second: WindowProcess): Promise<void> {
  // A refused submission prevents nothing, even while the first window still owns it.
  const isMeant = ({ submission }: Shown) => !isRefused(submission);
  const open = (await second.call('pending')).filter(isMeant);
  const before = simulation.service.ledger.posts.length;
  for (const { id } of open)
    for (const [what, done] of [
      ['resumes', (await second.call('resume', id)).kind !== 'elsewhere'],
      ['discards', (await second.call('discard', id, 'may-be-charged')).kind !== 'kept'],
      ['checks', (await second.call('check', id)).kind !== 'elsewhere'],
      ['cancels', await second.call('cancel', id)],
    ] as const)
      if (done) simulation.violate(`one owner: a second window ${what} it`);
  // The first window may not have paused, and be done.
  const isOpen = open.length > 0 && (await second.call('pending')).some(isMeant);
  // Nothing is open but a receipt is shown, so the user knowingly submits a second time.
  if (!isOpen && (await second.call('receipts')).length > 0) simulation.riskedCharges += 1;
  const { kind } = await simulation.submit(second);
  if (isOpen && kind !== 'open') simulation.violate(`I3: a second window submits the same: ${kind}`);
  if (isOpen && simulation.service.ledger.posts.length > before)
    simulation.violate('one owner: a second window sent something');
}

/**
 * Sets the storage back to before the first window's submission, and submits the same under its name. Then the
 * first must not send.
 */
async function giveNameAgain(simulation: Simulation, second: WindowProcess): Promise<void> {
  simulation.note('  the storage is set back');
  const names = simulation.folder.keys;
  await simulation.folder.remove(names);
  await atOnce(simulation, [second], (window) => simulation.submit(window));
  if (simulation.folder.keys.join() !== names.join()) simulation.violate('I10: another name was given');
  // After the first window's last read, only the time limit stops it.
  if (simulation.cell.crashes[0]?.point === 'closed-mark durable') simulation.clock.pass(MINUTE_MS + 1);
}

/** The first window loses its lock, and the second one takes its submissions over. */
async function takeOver(simulation: Simulation, first: WindowProcess, second: WindowProcess): Promise<void> {
  const { loss = 'removed', taker = 'discards', crashes, withoutLocks } = simulation.cell;
  if (withoutLocks === true) simulation.note('  no locks');
  else if (loss === 'removed') await simulation.folder.removeLocks();
  else await first.call('loseLocks');
  await delay(OTHER_WINDOW_MS);
  const isSent = ['sent', 'answer torn', 'answer parsed'].includes(crashes[0]?.point ?? '');
  for (const item of await shownOf(second)) {
    const { id } = item;
    simulation.note(`  window 2 ${taker} what is ${item.state}`);
    if (taker === 'resends') await second.call('resume', id);
    else if (taker === 'discards' || isSent) await discard(simulation, second, item);
    else
      for (let times = 0; times < 3; times++) {
        simulation.clock.pass(times === 0 ? 16 * MINUTE_MS : 4 * MINUTE_MS);
        await second.call('check', id);
      }
  }
}

/**
 * Discards what the user sees, having confirmed what is known about its charge. If a look before it isn't answered, the user is
 * asked again.
 */
async function discard(
  simulation: Simulation,
  window: WindowProcess,
  { id, state, submission }: Shown,
): Promise<(Discarded | Kept)['kind']> {
  const mayBeCharged = submission.stage === 'sent' || state === 'unchecked';
  for (const confirmed of mayBeCharged ? (['may-be-charged'] as const) : CONFIRMED) {
    // The user has confirmed it, even if the window is killed before it answers.
    if (confirmed === 'may-be-charged') simulation.riskedCharges += 1;
    const done = await window.call('discard', id, confirmed);
    simulation.note(`  discards what is ${state}: ${done.kind}`);
    if (confirmed === 'may-be-charged' && done.kind !== 'discarded') simulation.riskedCharges -= 1;
    if (done.kind !== 'kept') return done.kind;
  }
  return 'kept';
}

const CONFIRMED = ['not-charged', 'may-be-charged'] as const;

/** Returns the tree's rows once none belongs to another window, or after half a second. */
async function shownOf(window: WindowProcess): Promise<Shown[]> {
  for (let times = 0; ; times++) {
    const shown = await window.call('pending');
    if (times === 20 || !shown.some(({ state }) => state === 'elsewhere')) return shown;
    await delay(25);
  }
}

/** Submits the same in several windows at once; the first may be killed. @returns one that still runs */
async function submitAtOnce(simulation: Simulation): Promise<WindowProcess> {
  const { crashes, windowsAtOnce = 2 } = simulation.cell;
  const windows = [await simulation.open(crashes[0])];
  while (windows.length < windowsAtOnce) windows.push(await simulation.open());
  const results = await atOnce(simulation, windows, (window) =>
    window.call('submit', simulation.draft(), []),
  );
  if (results.filter((kind) => kind === 'charged').length > 1)
    simulation.violate('I1: more than one window was charged');
  return closeAllBut(simulation, windows);
}

/** Continues the first window's submission in several windows at the same time. @returns one that still runs */
async function continueAtOnce(simulation: Simulation): Promise<WindowProcess> {
  const { crashes, windowsAtOnce = 2 } = simulation.cell;
  const first = await simulation.open(crashes[0]);
  await atOnce(simulation, [first], (window) => simulation.submit(window));
  const windows = [await simulation.open(crashes[1])];
  while (windows.length < windowsAtOnce) windows.push(await simulation.open());
  const [open] = simulation.folder.openIds();
  if (open !== undefined) await atOnce(simulation, windows, (window) => window.call('resume', open));
  return closeAllBut(simulation, [first, ...windows]);
}

/** Does the same in several windows at the same time. @returns the end in each; undefined where it was killed */
function atOnce(
  simulation: Simulation,
  windows: readonly WindowProcess[],
  act: (window: WindowProcess) => Promise<ShownResult>,
): Promise<(string | undefined)[]> {
  return Promise.all(
    windows.map(async (window) => {
      try {
        return (await act(window)).kind;
      } catch (error) {
        if (!(error instanceof Died)) throw error;
        simulation.died(window);
        return undefined;
      }
    }),
  );
}

/** Closes all windows but the last one that still runs. */
async function closeAllBut(
  simulation: Simulation,
  windows: readonly WindowProcess[],
): Promise<WindowProcess> {
  const running = windows.filter(({ isOver }) => !isOver);
  for (const window of running.slice(0, -1)) await window.close();
  return running.at(-1) ?? simulation.open();
}
