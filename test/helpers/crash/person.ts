import { setTimeout as delay } from 'node:timers/promises';
import { duel } from './duel.ts';
import type { Shown, Told } from './protocol.ts';
import { Died, type WindowProcess } from './windowProcess.ts';
import type { World } from './world.ts';

const MINUTE_MS = 60_000;
/** The longest Retry-After of any fault. */
const RETRY_AFTER_MS = 24 * 60 * MINUTE_MS;
/** After so many things done, the person gives up. */
const PATIENCE = 40;
/** After so many, nothing fails any more but what is planned. */
const HEALED_AFTER = 6;

/** The one in front of the screen: submits, and after each end and restart does what the cell says with what is open. */
export class Person {
  readonly #world: World;
  #window: WindowProcess | undefined;
  #opened = 0;
  #timer: NodeJS.Timeout | undefined;
  #isCharged = false;
  /** How often the dataset was not what it had been. */
  #disappointments = 0;
  #isBetweenOver = false;
  #triedOpen = false;
  /** How often each was looked for. */
  readonly #checks = new Map<string, number>();
  /** How often each was sent again in vain. */
  readonly #hopeless = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Lives until the wish is charged, or patience ends. @returns whether the person knows of the charge */
  async live(): Promise<boolean> {
    for (let done = 0; done < PATIENCE && this.#disappointments < 3 && !this.#isCharged; done++) {
      this.#world.healed = done >= HEALED_AFTER;
      try {
        await this.#step(await this.#present());
      } catch (error) {
        if (!(error instanceof Died)) throw error;
        if (this.#window !== undefined) this.#world.died(this.#window);
        this.#window = undefined;
        await this.#betweenWindows();
      }
    }
    this.end();
    return this.#isCharged;
  }

  /** Lets go of the window: its process will be another cell's. */
  end(): void {
    clearTimeout(this.#timer);
  }

  async #present(): Promise<WindowProcess> {
    if (this.#window !== undefined) return this.#window;
    const { crashes, killAfterMs, second } = this.#world.spec;
    if (second !== undefined && this.#opened === 0) {
      this.#opened = 2;
      this.#window = await duel(this.#world);
      return this.#window;
    }
    const crash = crashes[this.#opened];
    this.#opened += 1;
    const window = await this.#world.open(crash);
    this.#window = window;
    if (killAfterMs !== undefined && this.#opened === 1)
      this.#timer = setTimeout(() => void window.kill(), killAfterMs);
    return window;
  }

  async #betweenWindows(): Promise<void> {
    const { spec, clock } = this.#world;
    if (this.#isBetweenOver) return;
    this.#isBetweenOver = true;
    if (spec.sleepMs !== undefined) clock.sleepMachine(spec.sleepMs);
    if (spec.setWallMs !== undefined) clock.setWall(spec.setWallMs);
    if (spec.otherAccount === true) await this.#world.visitOtherAccount(this.#world.folder.openIds());
    if (spec.replacesKey === true) await this.#world.replaceKey();
    if (spec.datasetBecomes !== undefined) await this.#world.folder.changeDataset(spec.datasetBecomes);
  }

  async #step(window: WindowProcess): Promise<void> {
    const shown = await this.#settledView(window);
    const item = shown.find(({ state }) => state !== 'refused') ?? shown[0];
    if (item !== undefined && item.state !== 'refused') {
      await this.#decide(window, item);
      return;
    }
    if (await this.#seesReceipt(window)) return;
    // A refusal is answered with fresh consents, and a new Idempotency-Key.
    await this.#submit(window);
  }

  /** What the tree shows once it is known what other windows have, or after a while. */
  async #settledView(window: WindowProcess): Promise<Shown[]> {
    const isAlone = this.#world.windows.filter(({ isOver }) => !isOver).length === 1;
    if (!isAlone) await delay(250);
    for (let looks = 0; ; looks++) {
      const shown = await window.call('pending');
      if (looks === 20 || !shown.some(({ state }) => state === 'elsewhere')) return shown;
      await delay(25);
    }
  }

  async #seesReceipt(window: WindowProcess): Promise<boolean> {
    const receipts = await window.call('receipts');
    for (const { id, settled } of receipts)
      if (settled.kind === 'charged') {
        this.#world.claims.receipt(id, settled.run.run_id, settled.run.price_cents);
        this.#isCharged = true;
      }
    return this.#isCharged;
  }

  async #submit(window: WindowProcess): Promise<Told> {
    const told = await window.call('submit', this.#world.draft());
    await this.#hear(window, told);
    // Nothing new is sent, either, before the service may be asked again.
    if (told.kind === 'not-charged' && told.error?.code === 'rate_limited')
      this.#world.clock.pass(RETRY_AFTER_MS);
    return told;
  }

  async #decide(window: WindowProcess, item: Shown): Promise<void> {
    const { person } = this.#world.spec;
    if (item.state === 'elsewhere') {
      // Another window has it, or had it until it died.
      await this.#resume(window, item);
      return;
    }
    if (person === 'impatient' && !this.#triedOpen) {
      this.#triedOpen = true;
      const told = await this.#submit(window);
      if (told.kind !== 'open') this.#world.violate(`I3: the same again while one is open: ${told.kind}`);
      return;
    }
    if (item.state === 'unsent') {
      if (person === 'discards' || this.#isHopeless(item.id)) await this.#discard(window, item);
      else await this.#resume(window, item);
      return;
    }
    if (item.state === 'not-charged') {
      if (person === 'checks, then starts anew' || this.#isHopeless(item.id))
        await this.#discard(window, item);
      else await this.#resume(window, item);
      return;
    }
    if (person === 'discards' || this.#isBeyond(item.id)) await this.#discard(window, item);
    else if ((person === 'continues' || person === 'impatient') && !this.#isHopeless(item.id))
      await this.#resume(window, item);
    else await this.#check(window, item);
  }

  /** Twice in vain is enough: the service may have kept its failure. */
  #isHopeless(id: string): boolean {
    return (this.#hopeless.get(id) ?? 0) >= 2;
  }

  async #resume(window: WindowProcess, { id }: Shown): Promise<void> {
    this.#hopeless.set(id, (this.#hopeless.get(id) ?? 0) + 1);
    await this.#hear(window, await window.call('resume', id));
  }

  async #check(window: WindowProcess, { id }: Shown): Promise<void> {
    // Whoever waits for a verdict gives the service its time.
    const { lookAfterMs, addsFunds } = this.#world.spec;
    if (addsFunds === true && this.#checks.size === 0) this.#world.service.books.balanceCents += 50_000;
    this.#world.clock.pass(this.#checks.has(id) ? 4 * MINUTE_MS : (lookAfterMs ?? 4 * MINUTE_MS));
    const told = await window.call('check', id);
    await this.#hear(window, told);
    const [candidate, ...others] = told.candidates ?? [];
    const { withoutMarker } = this.#world.spec;
    if (withoutMarker === true && candidate !== undefined && others.length === 0) {
      const adopted = await window.call('adopt', id, candidate.run_id);
      this.#world.tell(`  recognises it: ${adopted.kind}`);
    }
    this.#checks.set(id, (this.#checks.get(id) ?? 0) + 1);
  }

  /** What cannot be told after so many looks never will be. */
  #isBeyond(id: string): boolean {
    return (this.#checks.get(id) ?? 0) >= 8;
  }

  async #discard(window: WindowProcess, { id, state }: Shown): Promise<void> {
    const isDone = await window.call('discard', id);
    this.#world.tell(`  discards what is ${state}: ${isDone}`);
    if (isDone && state !== 'unsent' && state !== 'not-charged') this.#world.moreWishes += 1;
  }

  async #hear(window: WindowProcess, { kind, error }: Told): Promise<void> {
    if (kind === 'charged') this.#isCharged = true;
    await this.#seesNothingOpen(window);
    if (error?.code === 'dataset-changed') this.#disappointments += 1;
    if (error?.code === 'invalid_api_key' || error?.code === 'key-rejected')
      await this.#world.replaceKey(window);
  }

  /** I9: whatever was told, nothing is under way; other windows' locks are only looked at, for a moment. */
  async #seesNothingOpen(window: WindowProcess): Promise<void> {
    for (let tries = 0; ; tries++) {
      const open = await window.call('descriptors');
      const left = open.filter((file) => file.endsWith('.jsonl') || file.endsWith('.lock'));
      const isSure = tries >= 20 || left.some((file) => file.endsWith('.jsonl'));
      if (left.length > 0 && isSure) this.#world.violate(`I9: open after the end: ${left.join(', ')}`);
      if (left.length === 0 || isSure) return;
      await delay(10);
    }
  }
}
