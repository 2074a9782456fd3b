import { setTimeout as delay } from 'node:timers/promises';
import type { Simulation } from './simulation.ts';
import type { Shown, Told } from './window.ts';
import { Died, type WindowProcess } from './windowProcess.ts';

const MINUTE_MS = 60_000;
/** The longest Retry-After of any fault. */
const RETRY_AFTER_MS = 24 * 60 * MINUTE_MS;
/** After so many actions the user gives up. */
const MAX_ACTIONS = 40;
/** After so many, nothing fails any more but what is planned. */
const HEALED_AFTER = 6;
/** It takes a moment until a window knows what another one has. */
const OTHER_WINDOW_MS = 250;

/** The user: submits, and after each end and restart does what the cell says with what is open. */
export class User {
  readonly #simulation: Simulation;
  #window: WindowProcess | undefined;
  #opened = 0;
  #timer: NodeJS.Timeout | undefined;
  #isCharged = false;
  /** How often the dataset was not what it had been. */
  #disappointments = 0;
  #isBetweenOver = false;
  #triedOpen = false;
  /** How often each was checked, and resent in vain. */
  readonly #checks = new Map<string, number>();
  readonly #resends = new Map<string, number>();

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  /** Acts until the wish is charged, or patience ends. @returns whether the user knows of the charge */
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
    return this.#isCharged;
  }

  /** The window's process will be another cell's. */
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
    if (cell.otherAccount === true) await this.#simulation.visitOtherAccount();
    if (cell.replacesKey === true) await this.#simulation.replaceKey();
    if (cell.datasetBecomes !== undefined) await folder.changeDataset(cell.datasetBecomes);
  }

  async #step(window: WindowProcess): Promise<void> {
    const item = (await this.#view(window)).find(({ state }) => state !== 'refused');
    if (item !== undefined) await this.#decide(window, item);
    // A refusal is answered with fresh consents, and a new Idempotency-Key.
    else if (!(await this.#seesReceipt(window))) await this.#submit(window);
  }

  /** What the tree shows once it is known what other windows have, or after a while. */
  async #view(window: WindowProcess): Promise<Shown[]> {
    if (this.#simulation.windows.filter(({ isOver }) => !isOver).length > 1) await delay(OTHER_WINDOW_MS);
    for (let times = 0; ; times++) {
      const shown = await window.call('pending');
      if (times === 20 || !shown.some(({ state }) => state === 'elsewhere')) return shown;
      await delay(25);
    }
  }

  async #seesReceipt(window: WindowProcess): Promise<boolean> {
    for (const { id, settled } of await window.call('receipts'))
      if (settled.kind === 'charged') {
        this.#simulation.claims.charged({ id, run: settled.run });
        this.#isCharged = true;
      }
    return this.#isCharged;
  }

  async #submit(window: WindowProcess): Promise<Told> {
    const told = await window.call('submit', this.#simulation.draft());
    await this.#read(window, told);
    // Nothing new is sent, either, before the service may be asked again.
    if (told.kind === 'not-charged' && told.error?.code === 'rate_limited')
      this.#simulation.clock.pass(RETRY_AFTER_MS);
    return told;
  }

  async #decide(window: WindowProcess, item: Shown): Promise<void> {
    const { user } = this.#simulation.cell;
    const { id, state } = item;
    // Twice in vain is enough: the service may have kept its failure. What so many checks cannot tell never will be told.
    const isHopeless = (this.#resends.get(id) ?? 0) >= 2;
    const isBeyond = (this.#checks.get(id) ?? 0) >= 8;
    if (state === 'elsewhere') {
      // Another window has it, or had it until it died.
      await this.#resend(window, id);
    } else if (user === 'impatient' && !this.#triedOpen) {
      this.#triedOpen = true;
      const { kind } = await this.#submit(window);
      if (kind !== 'open') this.#simulation.violate(`I3: the same again while one is open: ${kind}`);
    } else if (state === 'unsent' || state === 'not-charged') {
      const gives = state === 'unsent' ? 'discards' : 'checks, then starts over';
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
    // Whoever waits for a verdict gives the service its time.
    clock.pass(this.#checks.has(id) ? 4 * MINUTE_MS : (cell.checkAfterMs ?? 4 * MINUTE_MS));
    const told = await window.call('check', id);
    await this.#read(window, told);
    const [candidate, ...others] = told.candidates ?? [];
    if (cell.withoutMarker === true && candidate !== undefined && others.length === 0) {
      const { kind } = await window.call('adopt', id, candidate.run_id);
      this.#simulation.note(`  recognizes it: ${kind}`);
    }
    this.#checks.set(id, (this.#checks.get(id) ?? 0) + 1);
  }

  async #discard(window: WindowProcess, { id, state }: Shown): Promise<void> {
    const isDone = await window.call('discard', id);
    this.#simulation.note(`  discards what is ${state}: ${isDone}`);
    if (isDone && state !== 'unsent' && state !== 'not-charged') this.#simulation.moreWishes += 1;
  }

  async #read(window: WindowProcess, { kind, error }: Told): Promise<void> {
    if (kind === 'charged') this.#isCharged = true;
    if (error?.code === 'dataset-changed') this.#disappointments += 1;
    if (error?.code === 'invalid_api_key' || error?.code === 'key-rejected')
      await this.#simulation.replaceKey(window);
  }
}

/**
 * The first window submits and pauses at its point; meanwhile a second one tries everything that a user might. Then the first
 * is killed, or goes on to its end. @returns the window that is left, which may have to take over
 */
async function useTwoWindows(simulation: Simulation): Promise<WindowProcess> {
  const { crashes, second: how } = simulation.cell;
  if (how === 'at once') return submitAtOnce(simulation);
  const first = await simulation.open(crashes[0] && { ...crashes[0], by: 'pause' });
  const atPoint = simulation.paused(first);
  const submitted = first.call('submit', simulation.draft()).catch((): Told => ({ kind: 'killed' }));
  // A point that it never comes to: then there is nothing to disturb.
  const isPaused = await Promise.race([atPoint.then(() => true), submitted.then(() => false)]);
  const second = await simulation.open();
  if (isPaused) {
    simulation.note('  window 1 pauses');
    await delay(OTHER_WINDOW_MS);
    if (how === 'lock lost') await takeOver(simulation, second);
    else await disturb(simulation, second);
    if (first.isOver) simulation.violate(`the first window died, and nobody had killed it: ${first.output}`);
  }
  if (how === 'then kill') {
    await first.kill();
    simulation.died(first);
  } else simulation.release(first);
  await submitted;
  return second;
}

/** Whatever the second window does, it sends nothing of what the first one has. */
async function disturb(simulation: Simulation, second: WindowProcess): Promise<void> {
  const open = (await second.call('pending')).filter(({ state }) => state !== 'refused');
  const before = simulation.service.ledger.posts.length;
  for (const { id } of open)
    for (const [what, done] of [
      ['resumes', (await second.call('resume', id)).kind !== 'elsewhere'],
      ['discards', await second.call('discard', id)],
      ['checks', (await second.call('check', id)).kind !== 'elsewhere'],
      ['cancels', await second.call('cancel', id)],
    ] as const)
      if (done) simulation.violate(`one owner: a second window ${what} it`);
  // Nothing is open: it is another wish, as the user sees it.
  if (open.length === 0) simulation.moreWishes += 1;
  const { kind } = await second.call('submit', simulation.draft());
  if (open.length > 0 && kind !== 'open') simulation.violate(`I3: a second window submits the same: ${kind}`);
  if (open.length > 0 && simulation.service.ledger.posts.length > before)
    simulation.violate('one owner: a second window sent something');
}

/** Without its lock the first window owns nothing any more: the second one says that nothing was charged, and gives it up. */
async function takeOver(simulation: Simulation, second: WindowProcess): Promise<void> {
  await simulation.folder.removeLocks();
  await delay(OTHER_WINDOW_MS);
  for (const { id, state } of await second.call('pending')) {
    if (state === 'unknown') simulation.moreWishes += 1;
    simulation.note(`  window 2 discards what is ${state}: ${await second.call('discard', id)}`);
  }
}

/** Two windows submit the same at the same moment. */
async function submitAtOnce(simulation: Simulation): Promise<WindowProcess> {
  const [first, second] = [await simulation.open(), await simulation.open()];
  const told = await Promise.all([first, second].map((window) => window.call('submit', simulation.draft())));
  // One of them, unless it was over before the other began.
  if (told.every(({ kind }) => kind === 'charged')) simulation.moreWishes += 1;
  await first.close();
  return second;
}
