import { mkdtemp, rm } from 'node:fs/promises';
import type http from 'node:http';
import path from 'node:path';
import type { Draft } from '../../../src/core/submission/intent.ts';
import { startHttpServer, type TestServer } from '../httpServer.ts';
import { Random } from '../random.ts';
import { CellFolder } from './cellFolder.ts';
import type { CellSpec } from './cellSpec.ts';
import { FAULTS, isSilent, READ_FAULTS, type Fault, type FaultName, type Reply } from './faults.ts';
import { HostileService } from './hostileService.ts';
import type { Post } from './ledger.ts';
import type { AccountConfig, AttemptPlan, Crash, CrashPoint, Shown, Told, Verb } from './protocol.ts';
import { CANARIES, echoTo, type Stage } from './stage.ts';
import { VirtualClock } from './time.ts';
import { Claims } from './claims.ts';
import type { Surroundings, WindowProcess } from './windowProcess.ts';

/** A longer Retry-After is not waited for; jitter comes on top. */
const LONGEST_WAIT_MS = 11 * 60_000;

/** One cell's world: its time, its services, its folder, and the processes that live in it. */
export class World implements Surroundings {
  readonly spec: CellSpec;
  readonly stage: Stage;
  readonly folder: CellFolder;
  readonly clock: VirtualClock;
  readonly service: HostileService;
  /** Of another account, which never hears of what is not its own. */
  readonly otherService: HostileService;
  readonly elsewhere: http.IncomingMessage[];
  readonly account: AccountConfig;
  readonly claims: Claims;
  readonly windows: WindowProcess[] = [];
  readonly story: string[] = [];
  readonly violations: string[] = [];
  kills = 0;
  /** Reads fail no more. */
  healed = false;
  /** How many charges more than one the person has taken into account: gave one up with a warning, or submitted it twice. */
  moreWishes = 0;
  readonly faultsHit: FaultName[] = [];
  readonly killedAt: CrashPoint[] = [];
  /** Earlier ones of the account, which requests may still carry. */
  readonly formerApiKeys: string[] = [];
  /** How many attempts each press of a button led to. */
  readonly attemptsOfCalls: [call: string, attempts: number][] = [];
  /** What window is to end where; a pause at the service's points ends with `release`. */
  readonly #crashes = new Map<number, Crash & { isOver?: boolean }>();
  readonly #faults = new Map<string, Fault>();
  readonly #posts = new Map<number, number>();
  readonly #random: Random;
  readonly #elsewhere: TestServer;
  #nextFault = 0;
  #isCancelled = false;
  #release: (() => void) | undefined;
  #pausedAtService: ((point: CrashPoint) => void) | undefined;

  private constructor(
    spec: CellSpec,
    stage: Stage,
    folder: string,
    elsewhere: TestServer,
    seen: http.IncomingMessage[],
  ) {
    this.spec = spec;
    this.stage = stage;
    this.folder = new CellFolder(folder, stage.dataset);
    this.clock = new VirtualClock(`${folder}.time`);
    this.#random = new Random(spec.seed);
    this.#elsewhere = elsewhere;
    this.elsewhere = seen;
    this.service = new HostileService({
      mode: spec.mode,
      echo: echoTo,
      clock: this.clock,
      faultOf: (post) => this.#faults.get(`${post.window}:${post.ordinal}`) ?? FAULTS.ok,
      readFault: (path) => this.#readFault(path),
      elsewhere: () => `${this.#elsewhere.url}/api/v1/runs`,
      onPost: (post) => this.#onPost(post),
      onPoint: (point, post) => this.#onPoint(point, post),
      withoutDate: spec.withoutDate === true,
      ...(spec.pageRows !== undefined && { pageRows: spec.pageRows }),
      ...(spec.listLagMs !== undefined && { listLagMs: spec.listLagMs }),
    });
    this.otherService = new HostileService({ mode: spec.mode, clock: this.clock, faultOf: () => FAULTS.ok });
    this.claims = new Claims(this.service.ledger, (text) => this.violate(text));
    this.account = { id: 'account-1', baseUrl: '', apiKey: CANARIES.apiKey, keyId: 'key-1' };
  }

  static async make(spec: CellSpec, stage: Stage): Promise<World> {
    const folder = await mkdtemp(path.join(stage.folder, 'cell-'));
    const seen: http.IncomingMessage[] = [];
    const elsewhere = await startHttpServer((request, response) => {
      seen.push(request);
      response.end('{}');
    });
    const world = new World(spec, stage, folder, elsewhere, seen);
    await world.service.start();
    world.account.baseUrl = world.service.url;
    await world.folder.writeDataset();
    if (spec.wallOffsetMs !== undefined) world.clock.setWall(spec.wallOffsetMs);
    const { clock, service } = world;
    // Old ones and just now: of the same model, with and without a label.
    for (let index = 0; index < (spec.otherRuns ?? 0); index++)
      service.books.addOther('qwen3-8b', `other ${index}`, 10, clock.nowMs - index * 7 * 60_000);
    return world;
  }

  /** Closes the windows that are still open; their processes go to other cells at the end. */
  async close(): Promise<void> {
    for (const window of this.windows) await window.close().catch(() => window.kill());
  }

  /** What the person chooses. */
  draft(): Draft {
    return this.folder.draft(this.spec.withoutMarker !== true);
  }

  /** Another start, which finds everything as the last one left it. */
  async openAndClose(): Promise<void> {
    await (await this.open()).close();
  }

  async end(): Promise<void> {
    // One that failed may still be at work.
    for (const window of this.windows)
      if (this.violations.length > 0) await window.kill();
      else this.stage.giveBack(window);
    await this.service.close();
    await this.otherService.close();
    await this.#elsewhere.close();
    this.clock.dispose();
    // A window that was closed may still be about its last file; the stage takes the rest away.
    await rm(this.folder.path, { recursive: true, force: true }).catch(() => undefined);
  }

  violate(text: string): void {
    if (!this.violations.includes(text)) this.violations.push(text);
  }

  tell(text: string): void {
    this.story.push(text);
  }

  /** A new process on the same folder. */
  async open(crash?: Crash, account: AccountConfig = this.account): Promise<WindowProcess> {
    const number = this.windows.length + 1;
    const window = this.stage.take();
    this.windows.push(window);
    if (crash !== undefined) this.#crashes.set(number, { ...crash });
    this.tell(`window ${number} opens${crash === undefined ? '' : ` (to end at: ${crash.point})`}`);
    await window.start(this, {
      window: number,
      folder: this.folder.path,
      clockFile: this.clock.file,
      digestWorker: this.stage.digestWorker,
      account,
      seed: this.spec.seed + number,
      ...(this.spec.lie !== undefined && number === 1 && { lie: this.spec.lie }),
      ...(crash !== undefined && { crash }),
    });
    return window;
  }

  /** A window has died: at its point, unless somebody killed it before. */
  died(window: WindowProcess): void {
    this.kills += 1;
    const crash = this.#crashes.get(window.number);
    if (crash !== undefined) this.killedAt.push(crash.point);
    this.tell(`  window ${window.number} was killed`);
  }

  /** A window of another account tries what it should not. */
  async visitOtherAccount(ids: readonly string[]): Promise<void> {
    await this.otherService.start();
    const { url } = this.otherService;
    const account = { id: 'account-2', baseUrl: url, apiKey: CANARIES.otherApiKey, keyId: 'key-of-2' };
    const window = await this.open(undefined, account);
    for (const id of ids) {
      for (const { kind } of [await window.call('resume', id), await window.call('check', id)])
        if (kind !== 'elsewhere') this.violate(`accounts: another one does something with it: ${kind}`);
      const { kind } = await window.call('adopt', id, 'any');
      if (kind !== 'elsewhere') this.violate(`accounts: another one adopts a run for it: ${kind}`);
    }
    await window.call('look');
    await window.close();
  }

  /** Resolves when a window pauses at its point, in itself or at the service. */
  paused(window: WindowProcess): Promise<CrashPoint> {
    const atService = new Promise<CrashPoint>((resolve) => (this.#pausedAtService = resolve));
    return Promise.race([window.paused, atService]);
  }

  /** Lets go on whatever pauses. */
  release(window: WindowProcess): void {
    window.goOn();
    this.#release?.();
  }

  pass(ms: number): void {
    if (ms > LONGEST_WAIT_MS) this.violate(`I7: a window waits for ${ms} ms`);
    this.tell(`  ${Math.round(ms)} ms pass`);
    this.clock.pass(ms);
  }

  planOf(window: number, ordinal: number): AttemptPlan {
    const name: FaultName = this.spec.faults[this.#nextFault] ?? 'ok';
    this.#nextFault += 1;
    this.faultsHit.push(name);
    const { othersSpend = 0 } = this.spec;
    if (this.#random.chance(othersSpend)) this.service.books.addOther('qwen3-8b', 'another one', 50);
    const fault: Fault = FAULTS[name];
    this.#faults.set(`${window}:${ordinal}`, fault);
    this.tell(`  window ${window} sends attempt ${ordinal}: ${name}`);
    const { connect } = fault;
    if (connect === undefined) return { isSilent: isSilent(fault) };
    const instead = { refused: 'http://127.0.0.1:1', tls: this.stage.distrusted.url, dns: '' };
    return { isSilent: false, connect, insteadOf: instead[connect] };
  }

  shown(window: number, shown: Shown, isGone: boolean, posts: number): void {
    if (!isGone) this.claims.shown(window, shown, posts);
    const crash = this.#crashes.get(window);
    if (shown.state === 'waiting' && crash?.point === 'waiting') void this.windows[window - 1]?.kill();
    const { cancelAt, cancelBy } = this.spec;
    if (shown.state !== cancelAt || this.#isCancelled) return;
    this.#isCancelled = true;
    this.tell(`  ${cancelBy ?? 'cancel'} while ${shown.state}`);
    const sender = this.windows[window - 1];
    const done = cancelBy === 'abort' ? sender?.call('abort') : sender?.call('cancel', shown.id);
    done?.catch(() => undefined);
  }

  answered(window: number, verb: Verb, args: unknown[], value: unknown, posts: number): void {
    if (verb === 'submit' || verb === 'resume') {
      this.attemptsOfCalls.push([verb, posts - (this.#posts.get(window) ?? 0)]);
      this.#posts.set(window, posts);
    }
    if (verb === 'pending') for (const shown of value as Shown[]) this.claims.shown(window, shown, posts);
    if (verb === 'discard' && value === true) this.claims.discarded(String(args[0]));
    if (verb !== 'submit' && verb !== 'resume' && verb !== 'check') return;
    const told = value as Told;
    this.claims.told(window, told, posts);
    this.tell(
      `  window ${window} ${verb}: ${told.kind}${told.reason === undefined ? '' : ` (${told.reason})`}` +
        (told.error === undefined ? '' : ` [${told.error.code}: ${told.error.text.split('\n')[0] ?? ''}]`),
    );
  }

  /** The person enters another API key for the account. */
  async replaceKey(window?: WindowProcess): Promise<void> {
    const { account, formerApiKeys } = this;
    formerApiKeys.push(account.apiKey);
    account.keyId = `key-${formerApiKeys.length + 1}`;
    account.apiKey = formerApiKeys.length % 2 === 1 ? CANARIES.otherApiKey : CANARIES.apiKey;
    this.tell(`  enters another API key`);
    await window?.call('reconnect', account);
  }

  #readFault(path: string): Reply | undefined {
    const { readTrouble = 0, withoutDetails } = this.spec;
    if (withoutDetails === true && !this.healed && /\/runs\/[^/]+$/.test(path))
      return { kind: 'error', status: 500, code: 'internal' };
    return !this.healed && this.#random.chance(readTrouble) ? this.#random.of(READ_FAULTS) : undefined;
  }

  /** I3: no other Idempotency-Key for the same wish while one is unresolved. The intent is on disk before anything connects. */
  #onPost({ idempotencyKey, seq }: Post): void {
    const others = new Set(this.service.ledger.posts.map((post) => post.idempotencyKey));
    others.delete(idempotencyKey);
    for (const other of others) {
      const isOpen = !this.claims.isResolved(other) && this.folder.intent(other, 'receipts') === undefined;
      if (isOpen && this.folder.intent(other)?.refused === undefined)
        this.violate(`I3: request ${seq} has a new Idempotency-Key while another is unresolved`);
    }
    // It may be over already, where the body was given up at once.
    const intent = this.folder.intent(idempotencyKey) ?? this.folder.intent(idempotencyKey, 'receipts');
    if (intent === undefined || intent.attempts.length === 0)
      this.violate(`journal: request ${seq} was sent before its intent was durable and marked as sending`);
  }

  async #onPoint(point: 'sent' | 'answer-torn', post: Post): Promise<'killed' | undefined> {
    const crash = this.#crashes.get(post.window);
    const name: CrashPoint = point === 'sent' ? 'sent' : 'answer torn';
    const intent = this.folder.intent(post.idempotencyKey);
    if (intent?.attempts.some(({ closed }) => closed !== undefined) !== true)
      this.violate(`journal: request ${post.seq} released its closing boundary before that was durable`);
    if (crash?.point !== name || post.ordinal < (crash.fromAttempt ?? 0) || crash.isOver === true)
      return undefined;
    crash.isOver = true;
    if (crash.by !== 'pause') {
      await this.windows[post.window - 1]?.kill();
      return 'killed';
    }
    const released = new Promise<void>((resolve) => (this.#release = resolve));
    this.#pausedAtService?.(name);
    await released;
    return undefined;
  }
}
