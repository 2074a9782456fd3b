import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { newMarker, withMarker } from '../../../src/core/runs/marker.ts';
import type { Discarded } from '../../../src/core/submission/pendingSubmission.ts';
import { isOver, type Draft, type Submission } from '../../../src/core/submission/submission.ts';
import { Random } from '../random.ts';
import type { Cell, Crash, CrashPoint } from './cells.ts';
import { SimulatedClock } from './clock.ts';
import { FAULTS, isSilent, READ_FAULTS, type Fault, type FaultName, type Reply } from './faults.ts';
import { Claims, verify } from './invariants.ts';
import { HostileService, type Post, type Repeat } from './service.ts';
import { CANARIES, DATASET, type Stage } from './stage.ts';
import { User } from './user.ts';
import type { AttemptPlan, Kept, Shown, ShownResult, WindowConfig, WindowMethods } from './window.ts';
import type { Surroundings, WindowProcess } from './windowProcess.ts';

/** The client's longest wait for Retry-After (10 minutes), plus jitter. */
const LONGEST_WAIT_MS = 11 * 60_000;
/** In real time; a cell takes a fraction of it unless the machine is busy. */
const LIMIT_MS = 10 * 60_000;

export interface CellResult {
  cell: Cell;
  violations: string[];
  /** The points where processes were killed, and the faults of attempts. */
  killedAt: CrashPoint[];
  faults: FaultName[];
  repeats: Repeat[];
  /** A readable log of the cell. */
  story: string[];
}

/** Runs one cell and checks every invariant. Never throws: errors become violations. */
export async function runCell(cell: Cell, stage: Stage): Promise<CellResult> {
  const simulation = new Simulation(cell, stage);
  const user = new User(simulation);
  let timer: NodeJS.Timeout | undefined;
  try {
    await simulation.start();
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('I7: it never ends')), LIMIT_MS);
    });
    const knows = await Promise.race([user.act(), late]);
    for (const window of simulation.windows) await window.close().catch(() => window.kill());
    verify(simulation);
    const isCharged = simulation.service.ledger.charges.length > 0;
    if (knows && !isCharged) simulation.violate('I4: reported as charged, and nothing was');
    // A changed dataset is never sent, because the user did not consent to it, so there may be no charge.
    if (!knows && cell.datasetBecomes === undefined) simulation.violate('end: the user never got a run');
  } catch (error) {
    simulation.violate(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    user.end();
    clearTimeout(timer);
  }
  await simulation.end();
  const { violations, killedAt, faultsHit: faults, story } = simulation;
  return { cell, violations, killedAt, faults, repeats: [...simulation.service.ledger.repeats], story };
}

/** Runs cells, `atOnce` at a time. */
export async function runCells(
  cells: readonly Cell[],
  stage: Stage,
  atOnce: number,
  onEnd: (result: CellResult) => void,
): Promise<void> {
  const rest = cells.values();
  const work = async () => {
    for (const cell of rest) onEnd(await runCell(cell, stage));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

/** A report of a failed cell: violations, how to repeat it, and its log. */
export function reportOf({ cell, violations, story }: CellResult): string {
  const repeat = `npm run test:soak -- --cell ${JSON.stringify(cell.name)}`;
  return [
    ...violations,
    `cell: ${cell.name}, seed ${cell.seed} (${repeat})`,
    JSON.stringify(cell),
    ...story,
  ].join('\n');
}

/** Owns the environment of one cell: clock, services, folder, and window processes. */
export class Simulation implements Surroundings {
  readonly cell: Cell;
  readonly folder: CellFolder;
  readonly clock: SimulatedClock;
  readonly service: HostileService;
  /** The service of another account, which must receive nothing of this one. */
  readonly otherService: HostileService;
  /** The target of redirects. */
  readonly elsewhere: HostileService;
  readonly account: WindowConfig['account'];
  readonly claims: Claims;
  readonly windows: WindowProcess[] = [];
  readonly story: string[] = [];
  readonly violations: string[] = [];
  /** Whether reads have stopped failing. */
  healed = false;
  /** Whether the user agreed to submit beside records that can't be read. */
  isUnreadableAgreed = false;
  /** Charges beyond one that the user risked, by discarding despite the warning or by submitting twice. */
  riskedCharges = 0;
  readonly faultsHit: FaultName[] = [];
  readonly killedAt: CrashPoint[] = [];
  /** Windows that were killed while they may not have stored an answer. */
  readonly cutOff = new Set<number>();
  /** Windows whose submission waits: they have stored the last answer. */
  readonly #waiting = new Set<number>();
  /** Earlier API keys of the account, which requests may still contain. */
  readonly formerApiKeys: string[] = [];
  /** The account's API keys, by their ID. */
  readonly apiKeys = new Map([['key-1', CANARIES.apiKey as string]]);
  /** Number of attempts per click. */
  readonly attemptsOfCalls: [call: string, attempts: number][] = [];
  readonly #stage: Stage;
  /** The planned crash of each window, by number. */
  readonly #crashes = new Map<number, Crash>();
  /** Windows that were killed or paused at a point of the service. */
  readonly #over = new Set<number>();
  readonly #faults = new Map<string, Fault>();
  readonly #posts = new Map<number, number>();
  readonly #random: Random;
  readonly #pausedAtService = Promise.withResolvers<undefined>();
  readonly #released = Promise.withResolvers<undefined>();
  #nextFault = 0;
  #isCanceled = false;

  constructor(cell: Cell, stage: Stage) {
    const folder = mkdtempSync(path.join(stage.folder, 'cell-'));
    this.cell = cell;
    this.#stage = stage;
    this.folder = new CellFolder(folder);
    this.clock = new SimulatedClock(`${folder}.time`);
    this.#random = new Random(cell.seed);
    const { mode, pageRows, listLagMs } = cell;
    this.service = new HostileService({
      mode,
      clock: this.clock,
      echo: (authorization) =>
        `${CANARIES.row} ${authorization.replace(/^Bearer /, '')} ${CANARIES.signedUrl}`,
      faultOf: ({ window, ordinal }) => this.#faults.get(`${window}:${ordinal}`) ?? FAULTS.ok,
      readFault: (url) => this.#readFault(url),
      elsewhere: () => `${this.elsewhere.url}/api/v1/runs`,
      closedMs: (key) => this.folder.submission(key)?.attempts.at(-1)?.closed?.serviceMs,
      onPost: (post) => this.#onPost(post),
      onPoint: (point, post) => this.#onPoint(point, post),
      withoutDate: cell.withoutDate === true,
      ...(pageRows !== undefined && { pageRows }),
      ...(listLagMs !== undefined && { listLagMs }),
    });
    const { clock } = this;
    this.otherService = new HostileService({ mode, clock, faultOf: () => FAULTS.ok });
    this.elsewhere = new HostileService({ mode, clock, faultOf: () => FAULTS.ok });
    this.claims = new Claims(this.service.ledger, this.clock, (text) => this.violate(text));
    this.account = { id: 'account-1', baseUrl: '', apiKey: CANARIES.apiKey, keyId: 'key-1' };
  }

  async start(): Promise<void> {
    const { cell, clock, service, account } = this;
    await Promise.all([service.start(), this.elsewhere.start()]);
    account.baseUrl = service.url;
    await this.folder.writeDataset();
    this.claims.withoutLocks = cell.withoutLocks === true || cell.second === 'lock lost';
    if (cell.withoutLocks === true) await this.folder.preventLocks();
    clock.setWall(cell.wallOffsetMs ?? 0);
    // Recent runs with the same model, 7 minutes apart.
    for (let index = 0; index < (cell.otherRuns ?? 0); index++)
      service.addRun('qwen3-8b', `other ${index}`, 10, clock.nowMs - index * 7 * 60_000);
  }

  async end(): Promise<void> {
    // Processes of a failed cell may still be busy.
    for (const window of this.windows)
      if (this.violations.length > 0) await window.kill();
      else this.#stage.giveBack(window);
    for (const each of [this.service, this.otherService, this.elsewhere]) await each.close();
    this.clock.dispose();
    // A closed window may still be writing a file; the stage removes the rest.
    await rm(this.folder.path, { recursive: true, force: true }).catch(() => undefined);
  }

  violate(text: string): void {
    if (!this.violations.includes(text)) this.violations.push(text);
  }

  note(text: string): void {
    this.story.push(text);
  }

  /** Submits like a user that has seen the receipts in the window. */
  async submit(window: WindowProcess): Promise<ShownResult> {
    // No user submits twice within a millisecond.
    this.clock.pass(1);
    const draft = this.draft();
    const told = await window.call('told', draft);
    // The question says that each unreadable one may have been charged.
    for (const { bytes, k, record, isOver: isDone } of told)
      if (record === undefined && !isDone) {
        this.claims.toldOf(this.folder.idOf(`${bytes}.${k}`));
        this.riskedCharges += this.isUnreadableAgreed ? 0 : 1;
        this.isUnreadableAgreed = true;
      }
    return window.call('submit', draft, told);
  }

  draft(): Draft {
    return this.folder.draft(this.cell.withoutMarker !== true);
  }

  /** Opens another window on the same folder. */
  async open(crash?: Crash, account = this.account): Promise<WindowProcess> {
    const number = this.windows.length + 1;
    const window = this.#stage.take();
    this.windows.push(window);
    if (crash !== undefined) this.#crashes.set(number, crash);
    this.note(`window ${number} opens${crash === undefined ? '' : ` (to end at: ${crash.point})`}`);
    const { lie, seed } = this.cell;
    await window.start(this, {
      window: number,
      folder: this.folder.path,
      clockFile: this.clock.file,
      account,
      seed: seed + number,
      ...(lie !== undefined && number === 1 && { lie }),
      ...(crash !== undefined && { crash }),
    });
    return window;
  }

  /** Records that a window was killed, at its crash point if it has one. */
  died({ number }: WindowProcess): void {
    const crash = this.#crashes.get(number);
    if (crash !== undefined) this.killedAt.push(crash.point);
    if (!this.#waiting.has(number)) this.cutOff.add(number);
    this.note(`  window ${number} was killed`);
  }

  hasFullDisk(window: number): boolean {
    return this.#crashes.get(window)?.by === 'disk full';
  }

  /** Opens a window of another account that tries forbidden actions. */
  async visitOtherAccount(): Promise<void> {
    await this.otherService.start();
    const { url } = this.otherService;
    const account = { id: 'account-2', baseUrl: url, apiKey: CANARIES.otherApiKey, keyId: 'key-of-2' };
    const window = await this.open(undefined, account);
    for (const id of this.folder.openIds())
      for (const { kind } of [
        await window.call('resume', id),
        await window.call('check', id),
        await window.call('adopt', id, 'any'),
      ])
        if (kind !== 'elsewhere') this.violate(`accounts: another one does something with it: ${kind}`);
    await window.call('checkDue');
    await window.close();
  }

  /** Resolves when a window pauses at its point, in the process or at the service. */
  paused(window: WindowProcess): Promise<unknown> {
    return Promise.race([window.paused, this.#pausedAtService.promise]);
  }

  /** Resumes a paused window or service. */
  release(window: WindowProcess): void {
    window.call('goOn').catch(() => undefined);
    this.#released.resolve(undefined);
  }

  async replaceKey(window?: WindowProcess): Promise<void> {
    const { account, formerApiKeys } = this;
    formerApiKeys.push(account.apiKey);
    account.keyId = `key-${formerApiKeys.length + 1}`;
    account.apiKey = formerApiKeys.length % 2 === 1 ? CANARIES.otherApiKey : CANARIES.apiKey;
    this.apiKeys.set(account.keyId, account.apiKey);
    this.note('  enters another API key');
    await window?.call('reconnect', account);
  }

  pass(ms: number): void {
    if (ms > LONGEST_WAIT_MS) this.violate(`I7: a window waits for ${ms} ms`);
    this.note(`  ${Math.round(ms)} ms pass`);
    this.clock.pass(ms);
  }

  plan(window: WindowProcess, ordinal: number): AttemptPlan {
    const name: FaultName = this.cell.faults[this.#nextFault++] ?? 'ok';
    this.faultsHit.push(name);
    if (this.#random.chance(this.cell.othersSpend ?? 0)) this.service.addRun('qwen3-8b', 'another one', 50);
    const fault: Fault = FAULTS[name];
    this.#faults.set(`${window.number}:${ordinal}`, fault);
    this.note(`  window ${window.number} sends attempt ${ordinal}: ${name}`);
    const { connect } = fault;
    if (connect === undefined) return { isSilent: isSilent(fault) };
    const instead = { refused: 'http://127.0.0.1:1', tls: this.#stage.distrusted.url, dns: '' };
    return { isSilent: false, connect, insteadOf: instead[connect] };
  }

  shown(window: WindowProcess, shown: Shown): void {
    this.folder.observe();
    this.claims.shown(window, shown);
    if (shown.state === 'waiting') this.#waiting.add(window.number);
    else this.#waiting.delete(window.number);
    const isAtPoint = this.#crashes.get(window.number)?.point === 'waiting';
    if (shown.state === 'waiting' && isAtPoint) void window.kill();
    const { cancelAt, cancelBy = 'cancel' } = this.cell;
    if (shown.state !== cancelAt || this.#isCanceled) return;
    this.#isCanceled = true;
    this.note(`  ${cancelBy} while ${shown.state}`);
    const done = cancelBy === 'abort' ? window.call('abort') : window.call('cancel', shown.id);
    done.catch(() => undefined);
  }

  answered(window: WindowProcess, method: keyof WindowMethods, args: unknown[], value: unknown): void {
    const { number, posts } = window;
    this.folder.observe();
    if (method === 'pending') for (const shown of value as Shown[]) this.claims.shown(window, shown);
    if (method === 'discard') this.claims.discarded(window, String(args[0]), value as Discarded | Kept);
    if (method === 'submit' || method === 'resume') {
      this.attemptsOfCalls.push([method, posts - (this.#posts.get(number) ?? 0)]);
      this.#posts.set(number, posts);
    } else if (method !== 'check') return;
    const result = value as ShownResult;
    this.claims.reported(window, result);
    const error = result.error && ` [${result.error.code}: ${result.error.text.split('\n')[0] ?? ''}]`;
    this.note(`  window ${number} ${method}: ${result.kind} ${result.reason ?? ''}${error ?? ''}`);
  }

  #readFault(url: string): Reply | undefined {
    if (this.healed) return undefined;
    if (this.cell.withoutDetails === true && /\/runs\/[^/]+$/.test(url))
      return { kind: 'error', status: 500, code: 'internal' };
    return this.#random.chance(this.cell.readTrouble ?? 0) ? this.#random.of(READ_FAULTS) : undefined;
  }

  /** I3: no other Idempotency-Key for the same dataset while one is unresolved. The submission is on disk before anything connects. */
  #onPost({ idempotencyKey, seq }: Post): void {
    const others = new Set(this.service.ledger.posts.map((post) => post.idempotencyKey));
    others.delete(idempotencyKey);
    for (const other of others) {
      const submission = this.folder.submission(other);
      const isAgreed = this.isUnreadableAgreed && this.folder.isUnreadable(other);
      const isKnown = !this.folder.gone.has(other);
      if (isKnown && !this.claims.isResolved(other) && !(submission && isOver(submission)) && !isAgreed)
        this.violate(`I3: request ${seq} has a new Idempotency-Key while another is unresolved`);
    }
    this.folder.remember(idempotencyKey);
    // The attempt may have ended already if the body was aborted immediately.
    const submission = this.folder.submission(idempotencyKey);
    if (!this.folder.gone.has(idempotencyKey) && !submission?.attempts.length)
      this.violate(
        `journal: request ${seq} was sent before its submission was durable and marked as sending`,
      );
  }

  async #onPoint(point: 'sent' | 'answer torn', post: Post): Promise<'killed' | undefined> {
    this.folder.observe();
    const submission = this.folder.submission(post.idempotencyKey);
    if (submission?.attempts.some(({ closed }) => closed !== undefined) !== true)
      this.violate(`journal: request ${post.seq} released its closing boundary before that was durable`);
    const crash = this.#crashes.get(post.window);
    if (crash?.point !== point || post.ordinal < (crash.fromAttempt ?? 0) || this.#over.has(post.window))
      return undefined;
    this.#over.add(post.window);
    if (crash.by !== 'pause') {
      await this.windows[post.window - 1]?.kill();
      return 'killed';
    }
    this.#pausedAtService.resolve(undefined);
    await this.#released.promise;
    return undefined;
  }
}

/** Owns the folder of a cell: the dataset, and the journal as it is on the disk. */
class CellFolder {
  readonly path: string;
  readonly #journal: string;
  readonly #dataset: string;
  #remembered: [key: string, versions: number] | undefined;
  /** IDs and keys of submissions that were sent. */
  readonly #sent = new Set<string>();
  /** By ID: `<bytes>.<k>`. */
  readonly #keys = new Map<string, string>();
  /** The content of each version before clean-up emptied it, by name. */
  readonly #texts = new Map<string, string>();
  /** By ID: the ID of the API key that a submission was created with. */
  readonly #keyIds = new Map<string, string>();
  /** IDs of submissions that were deleted. */
  readonly gone = new Set<string>();
  /** A name that is never given again, because a later submission of the bytes was there. */
  #deleted: string | undefined;

  constructor(folder: string) {
    this.path = folder;
    this.#journal = path.join(folder, 'journal');
    this.#dataset = path.join(folder, 'train.jsonl');
  }

  async writeDataset(): Promise<void> {
    await writeFile(this.#dataset, DATASET.text);
  }

  /** The user's choices: always the same except for the marker. */
  draft(isMarked: boolean): Draft {
    const marker = newMarker();
    const { sha256, sizeBytes, rows } = DATASET;
    const accepted_at = '2031-05-03T12:00:00Z';
    return {
      dataset: {
        path: this.#dataset,
        filename: 'train.jsonl',
        sizeBytes,
        sha256,
        rows,
        mtimeMs: 1,
        ctimeMs: 1,
      },
      model_id: 'qwen3-8b',
      label: isMarked ? withMarker('first try', marker) : 'first try',
      ...(isMarked && { marker }),
      priority_processing: false,
      consents: {
        model_terms: { accepted_at, urls: ['https://models.test/terms'] },
        data_policy: { accepted_at },
      },
    };
  }

  /** Replaces or removes the dataset. */
  async changeDataset(to: NonNullable<Cell['datasetBecomes']>): Promise<void> {
    const { text } = DATASET;
    const texts = {
      other: text.replaceAll('home', 'hell'),
      longer: `${text}{}\n`,
      shorter: text.slice(0, -1),
    };
    if (to === 'gone') await rm(this.#dataset);
    else await writeFile(this.#dataset, texts[to]);
  }

  /** Reads the highest version of a submission from the disk that can be read; undefined if there is none. */
  submission(id: string): Submission | undefined {
    this.observe();
    const key = this.#keys.get(id);
    const isOwn = (version: Submission | '' | undefined) => typeof version === 'object' && version.id === id;
    const found = key === undefined ? undefined : this.chain(key).findLast(isOwn);
    return found === '' ? undefined : found;
  }

  isUnreadable(id: string): boolean {
    const key = this.#keys.get(id);
    return key === undefined || this.chain(key).at(-1) === undefined;
  }

  /** The ID of the last submission that had a name. */
  idOf(key: string): string {
    this.observe();
    return [...this.#keys].findLast(([, one]) => one === key)?.[0] ?? '';
  }

  /** The versions of a record: an empty text for an emptied one, undefined for one that is gone or damaged. */
  chain(key: string): readonly (Submission | '' | undefined)[] {
    const versions = this.#versionsOf(key);
    return Array.from(versions, (text) => {
      if (text === undefined || text === '') return text;
      try {
        return JSON.parse(text) as Submission;
      } catch {
        return undefined;
      }
    });
  }

  hasVersion(key: string, n: number): boolean {
    return existsSync(path.join(this.#journal, `${key}.${n}.json`));
  }

  /** `<bytes>.<k>` of all records. */
  get keys(): readonly string[] {
    const keys = this.#names().map((name) => /^([\da-f]{32}\.\d+)\.\d+\.json$/.exec(name)?.[1]);
    return [...new Set(keys.filter((key) => key !== undefined))];
  }

  /** Keeps the record of the newest submission as it is at the beginning of its first attempt. */
  remember(id: string): void {
    this.observe();
    const key = this.#keys.get(id);
    if (key === undefined || this.#sent.has(id)) return;
    this.#sent.add(id).add(key);
    this.#remembered = [key, this.#versionsOf(key).length];
  }

  /** Keeps the current content of the versions. */
  observe(): void {
    for (const name of this.#names())
      if (name.endsWith('.json') && !this.#texts.has(name)) {
        const text = textOf(path.join(this.#journal, name));
        if (!text) continue;
        this.#texts.set(name, text);
        const id = /^ {2}"id": "([\da-f-]{36})"/m.exec(text)?.[1];
        if (id === undefined) continue;
        this.#keys.set(id, name.replace(/\.\d+\.json$/, ''));
        if (name.endsWith('.1.json')) this.#keyIds.set(id, (JSON.parse(text) as Submission).keyId);
      }
  }

  /** The ID of the API key that a submission was created with. */
  keyIdOf(id: string): string | undefined {
    return this.#keyIds.get(id);
  }

  /** Deletes submissions. */
  async remove(keys: readonly string[]): Promise<void> {
    this.observe();
    for (const [id, key] of this.#keys) if (keys.includes(key)) this.gone.add(id);
    for (const name of this.#names())
      if (keys.includes(name.replace(/\.\d+\.json$/, ''))) {
        await rm(path.join(this.#journal, name));
        this.#texts.delete(name);
      }
  }

  /** Deletes one of several submissions. */
  async deleteOne(which: NonNullable<Cell['deletes']>): Promise<void> {
    const keys = this.keys.toSorted();
    const key = which === 'first' ? keys[0] : keys.at(-1);
    if (key === undefined || keys.length < 2) return;
    await this.remove([key]);
    if (which === 'first') this.#deleted = key;
  }

  /** A deleted name that was given again, although a later submission was there. */
  get givenAgain(): string | undefined {
    return this.keys.find((key) => key === this.#deleted);
  }

  /**
   * Sets the folder back: everything that was created since is gone, such as a next submission that was not sent yet.
   * @param to a version of the newest sent submission, at most the one below its highest. By default the version at the
   * beginning of its first attempt
   */
  async rollBack(to?: number): Promise<void> {
    if (this.#remembered === undefined) return;
    const [key, atFirst] = this.#remembered;
    const { length } = this.#versionsOf(key);
    const highest = to === undefined ? atFirst : Math.max(1, Math.min(to, length - 1));
    const isSince = (name: string) =>
      name.startsWith(`${key}.`) || !this.#sent.has(name.replace(/\.\d+\.json$/, ''));
    for (const name of this.#names().filter((one) => one.endsWith('.json') && isSince(one)))
      await rm(path.join(this.#journal, name));
    for (let n = 1; n <= highest; n++)
      await writeFile(
        path.join(this.#journal, `${key}.${n}.json`),
        this.#texts.get(`${key}.${n}.json`) ?? '',
      );
    // The next version with a freed name has another text.
    const names = this.#names();
    for (const name of this.#texts.keys()) if (!names.includes(name)) this.#texts.delete(name);
  }

  /** Puts a file where the locks would be, so that nothing can be locked. */
  async preventLocks(): Promise<void> {
    await mkdir(this.#journal, { recursive: true });
    await writeFile(path.join(this.#journal, 'leases'), '');
  }

  /** Makes the newest version of an open record unreadable. */
  async damage(): Promise<void> {
    const key = this.#keys.get(this.openIds().at(-1) ?? '');
    if (key !== undefined)
      await writeFile(
        path.join(this.#journal, `${key}.${this.#versionsOf(key).length}.json`),
        '{"version":1,',
      );
  }

  openIds(): string[] {
    return this.keys.flatMap((key) => {
      const highest = this.chain(key).findLast((version) => typeof version === 'object');
      return highest && !isOver(highest) ? highest.id : [];
    });
  }

  /** Removes the lock files, as a cleanup tool or a synchronized folder might. */
  async removeLocks(): Promise<void> {
    const folder = path.join(this.#journal, 'leases');
    // The folder is made for the first lock.
    for (const name of await readdir(folder).catch(() => []))
      await rm(path.join(folder, name), { force: true });
  }

  /** All files except versions of records, temporary files, and locks, with `<id>` in place of IDs. */
  strayFiles(): string[] {
    return this.#files()
      .map((file) => path.relative(this.#journal, file))
      .filter(
        (name) =>
          !/^(?:[\da-f]{32}\.\d+\.\d+\.json(?:\.[\da-f-]{36}\.tmp)?|leases(?:\/[\da-f-]{36}\.lock)?)$/.test(
            name,
          ),
      )
      .map((name) => name.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>'));
  }

  /** All files of the journal, with their text. */
  texts(): [name: string, text: string][] {
    return this.#files().map((file) => [path.basename(file), textOf(file) ?? '']);
  }

  #names(): string[] {
    return existsSync(this.#journal) ? readdirSync(this.#journal) : [];
  }

  /** The texts of a record's versions, from 1 to the highest; undefined for a gap. */
  #versionsOf(key: string): (string | undefined)[] {
    const highest = this.#names().map(
      (name) =>
        Number(/^\.(\d+)\.json$/.exec(name.slice(key.length))?.[1] ?? 0) * Number(name.startsWith(key)),
    );
    return Array.from({ length: Math.max(0, ...highest) }, (_, index) =>
      textOf(path.join(this.#journal, `${key}.${index + 1}.json`)),
    );
  }

  #files(): string[] {
    if (!existsSync(this.#journal)) return [];
    return readdirSync(this.#journal, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => path.join(parentPath, name));
  }
}

/** Undefined if there is no file, because a window may be removing it. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
