// A process that serves as one window after another: the real submissions, journal, session, client, and transport without
// VS Code. The simulation provides the user, the network, and the time.
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { link as linkFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { serviceOf } from '../../../src/core/accounts/account.ts';
import { Client } from '../../../src/core/api/client.ts';
import { NetworkError, ServiceError } from '../../../src/core/api/errors.ts';
import type { HttpResponse, HttpRequest } from '../../../src/core/api/exchange.ts';
import { Transport } from '../../../src/core/api/transport.ts';
import type { RunCreation } from '../../../src/core/api/types.ts';
import { ExpectedError } from '../../../src/core/base/errors.ts';
import { Session } from '../../../src/core/runs/session.ts';
import type { Lease } from '../../../src/core/storage/lease.ts';
import type { At } from '../../../src/core/storage/versionFile.ts';
import { waitMsOf } from '../../../src/core/submission/errors.ts';
import { Journal, type KnownSubmissions } from '../../../src/core/submission/journal.ts';
import type {
  PendingSubmission,
  SubmissionResult,
  SubmissionState,
} from '../../../src/core/submission/pendingSubmission.ts';
import {
  bytesKeyOf,
  type Draft,
  type Submission,
  type Receipt,
} from '../../../src/core/submission/submission.ts';
import { Submissions } from '../../../src/core/submission/submissions.ts';
import { Random } from '../random.ts';
import { Rpc } from '../rpc.ts';
import type { Crash, CrashPoint } from './cells.ts';
import { ProcessClock } from './clock.ts';
import { lieOf, type LieName, type Send } from './lies.ts';
import { mayFollow, stepOf } from './transitions.ts';

export interface WindowConfig {
  window: number;
  folder: string;
  clockFile: string;
  account: { id: string; baseUrl: string; apiKey: string; keyId: string };
  crash?: Crash;
  /** How its storage or network lies. */
  lie?: LieName;
  seed: number;
}

/** A pending submission as the user sees it. */
export interface Shown {
  id: string;
  accountId: string;
  state: SubmissionState;
  submission: Submission;
}

/** A result as shown to the user, with all parts of an error that could reach a log or the user. */
export interface ShownResult {
  kind: string;
  id?: string;
  run?: RunCreation;
  reason?: string;
  candidates?: readonly { run_id: string }[];
  isKept?: boolean;
  error?: { code: string; text: string; serviceMessage: string; waitMs: number };
}

/** Nothing was discarded. */
export interface Kept {
  kind: 'kept';
}

export interface AttemptPlan {
  connect?: 'refused' | 'dns' | 'tls';
  /** The origin to send to instead of the service's. */
  insteadOf?: string;
  isSilent: boolean;
}

/** The user's actions in a window. */
export type WindowMethods = Window['methods'] & { start: typeof start };

/** Bytes sent when a process is killed in the middle of a body. */
const MIDDLE_BYTES = 60_000;
const KEPT: Kept = { kind: 'kept' };
const DIRECT = { strictSsl: true, systemCertificates: false, env: {} };
const LONG_MS = 8000;
const LONG = { connectMs: 5000, pricingMs: LONG_MS, stallMs: LONG_MS, bodyMs: LONG_MS, answerMs: LONG_MS };
/** For attempts that are never answered, to save real time. */
const SHORT = { pricingMs: 120, stallMs: 120, bodyMs: 400, answerMs: 400 };
/** Points without a write. */
const NO_WRITE: ReadonlySet<CrashPoint> = new Set(['submission durable', 'mid-body', 'settled']);

const rpc = new Rpc(
  (message) => process.send?.(message),
  () => ({ start, ...window?.methods }),
);

/** Kills or pauses the process, or fails a write, at the cell's crash point. */
class CrashHook {
  readonly #crash: Crash | undefined;
  #isOver = false;
  #goOn: (() => void) | undefined;

  constructor(crash: Crash | undefined) {
    this.#crash = crash;
  }

  isAt(point: CrashPoint, attempt = Infinity): boolean {
    return !this.#isOver && this.#crash?.point === point && attempt >= (this.#crash.fromAttempt ?? 0);
  }

  /** Called when the process reaches a crash point. */
  async reach(point: CrashPoint, attempt = Infinity): Promise<void> {
    if (!this.isAt(point, attempt)) return;
    this.#isOver = true;
    const { by } = this.#crash ?? {};
    if (by === 'disk full' && !NO_WRITE.has(point))
      throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    if (by !== 'pause') process.kill(process.pid, 'SIGKILL');
    // The signal takes a moment, in which nothing else may happen.
    const goesOn = new Promise<void>((resolve) => (this.#goOn = resolve));
    void rpc.call('at', point);
    await goesOn;
  }

  goOn(): void {
    this.#goOn?.();
  }
}

/** The real journal, with crash points. */
class CrashingJournal extends Journal {
  readonly #folder: string;
  readonly #hook: CrashHook;
  readonly #writing: { submission: Submission | undefined };
  /** Whether the next write is the first one of a record that was left open. */
  #isClaim = false;
  /** The versions that the owner of a record last read or wrote. */
  readonly #below = new WeakMap<Lease, { record: Submission; isWritten: boolean }>();

  constructor(folder: string, hook: CrashHook, lie: WindowConfig['lie']) {
    const { link } = lieOf(lie);
    const writing: { submission: Submission | undefined } = { submission: undefined };
    super(folder, {
      onUnreadable: (file) => process.stdout.write(`unreadable: ${file}\n`),
      at: (point) => atPoint(point, writing.submission, hook),
      ...(link !== undefined && { link: (from, to) => link(linkFile, from, to) }),
    });
    this.#folder = folder;
    this.#hook = hook;
    this.#writing = writing;
  }

  override async create(...args: Parameters<Journal['create']>): ReturnType<Journal['create']> {
    const [submission] = args;
    await this.#hook.reach('before the submission');
    if (this.#hook.isAt('temporary file torn')) {
      const name = `${bytesKeyOf(submission)}.1.1.json.${randomUUID()}.tmp`;
      await writeFile(path.join(this.#folder, name), '{"version":');
      await this.#hook.reach('temporary file torn');
    }
    this.#writing.submission = submission;
    const created = await super.create(...args);
    if (!('lease' in created)) return created;
    this.#below.set(created.lease, { record: submission, isWritten: true });
    await this.#hook.reach('submission durable');
    return created;
  }

  override async acquire(id: string): ReturnType<Journal['acquire']> {
    this.#isClaim = true;
    const owned = await super.acquire(id);
    if (owned !== undefined) this.#below.set(owned.lease, { record: owned.submission, isWritten: false });
    return owned;
  }

  override async write(lease: Lease, submission: Submission): Promise<void> {
    const { length } = submission.attempts;
    const isClaim = this.#isClaim;
    this.#isClaim = false;
    if (isClaim) await this.#hook.reach('claim in a temporary file', length);
    const last = submission.attempts.at(-1);
    const isBegun = last !== undefined && last.ended === undefined && last.closed === undefined;
    this.#writing.submission = submission;
    const below = this.#below.get(lease);
    // After a failure, the version below is unknown.
    this.#below.delete(lease);
    await super.write(lease, submission);
    if (below !== undefined && !mayFollow(below.record, submission, below.isWritten))
      void rpc.call('violate', `I10: a window wrote ${stepOf(submission)} on top of ${stepOf(below.record)}`);
    this.#below.set(lease, { record: submission, isWritten: true });
    if (isClaim) await this.#hook.reach('claim written', length);
    if (isBegun) await this.#hook.reach('marked as sending', length);
  }

  override async close(lease: Lease, submission: Submission): Promise<void> {
    const { length } = submission.attempts;
    await this.#hook.reach('digest equal', length);
    this.#writing.submission = submission;
    await super.close(lease, submission);
    await this.#hook.reach('closed-mark durable', length);
  }

  override async settle(lease: Lease, receipt: Receipt): Promise<void> {
    const isCharged = receipt.charge !== undefined;
    const { length } = receipt.attempts;
    if (isCharged) await this.#hook.reach('answer parsed', length);
    this.#writing.submission = receipt;
    await super.settle(lease, receipt);
    if (isCharged) await this.#hook.reach('settled', length);
  }
}

/** The crash points within a write. */
async function atPoint(
  point: Parameters<At>[0],
  submission: Submission | undefined,
  hook: CrashHook,
): Promise<void> {
  if (point === 'emptied') await hook.reach('older versions emptied');
  if (submission === undefined) return;
  const { attempts, stage } = submission;
  const { length } = attempts;
  const isClosing = stage === 'sent' && attempts.at(-1)?.ended === undefined;
  if (stage === 'charged') {
    if (point === 'temporary') await hook.reach('receipt in a temporary file', length);
    if (point === 'linked') await hook.reach('receipt written', length);
  } else if (isClosing) {
    if (point === 'temporary') await hook.reach('closed-mark in a temporary file', length);
    if (point === 'linked') await hook.reach('closed-mark written', length);
  } else if (length === 0 && point === 'temporary') await hook.reach('temporary file only');
}

/** The real transport, which numbers attempts, requests their plan, and has a crash point in the body. */
class CrashingTransport extends Transport {
  readonly #short = new Transport(DIRECT, { timeouts: SHORT });
  readonly #long = new Transport(DIRECT, { timeouts: LONG });
  readonly #config: WindowConfig;
  readonly #hook: CrashHook;
  #posts = 0;

  constructor(config: WindowConfig, hook: CrashHook) {
    super(DIRECT);
    this.#config = config;
    this.#hook = hook;
  }

  override async send(request: HttpRequest): Promise<HttpResponse> {
    const headers = { ...request.headers, 'x-window': String(this.#config.window) };
    if (request.method === 'GET') return this.#long.send({ ...request, headers });
    const ordinal = ++this.#posts;
    const plan = (await rpc.call('plan', ordinal)) as AttemptPlan;
    if (plan.connect === 'dns') throw new NetworkError('dns', 'ENOTFOUND');
    const url = plan.insteadOf === undefined ? request.url : new URL(request.url.pathname, plan.insteadOf);
    const sound: Send = (sent) => (plan.isSilent ? this.#short : this.#long).send(sent);
    const { send } = lieOf(this.#config.lie);
    const attempt = {
      ...request,
      url,
      headers: { ...headers, 'x-post': String(ordinal) },
      ...(request.body && { body: this.#watched(request.body, ordinal) }),
    };
    return send === undefined ? sound(attempt) : send(sound, attempt, ordinal);
  }

  override dispose(): void {
    super.dispose();
    this.#short.dispose();
    this.#long.dispose();
  }

  async *#watched(body: AsyncIterable<Uint8Array>, attempt: number): AsyncGenerator<Uint8Array> {
    let sentBytes = 0;
    for await (const chunk of body) {
      yield chunk;
      sentBytes += chunk.byteLength;
      if (sentBytes > MIDDLE_BYTES) await this.#hook.reach('mid-body', attempt);
    }
  }
}

/** A client that spares the 50 ms of a scrypt for each process; `sameKey.test.ts` tests it. */
class QuickClient extends Client {
  override keyCheck(): ReturnType<Client['keyCheck']> {
    return Promise.resolve({ salt: 'salt', hash: this.keyId });
  }
}

class Window {
  readonly #folder: string;
  readonly #hook: CrashHook;
  readonly #clock: ProcessClock;
  readonly #transport: CrashingTransport;
  readonly #journal: CrashingJournal;
  readonly #submissions: Submissions;
  readonly #session: Session;
  #account: WindowConfig['account'];
  #abort = new AbortController();

  constructor(config: WindowConfig) {
    this.#account = config.account;
    this.#folder = config.folder;
    const random = new Random(config.seed);
    this.#hook = new CrashHook(config.crash);
    const pass = async (ms: number) => {
      await rpc.call('pass', ms);
    };
    const clock = (this.#clock = new ProcessClock(config.clockFile, pass));
    const transport = (this.#transport = new CrashingTransport(config, this.#hook));
    this.#journal = new CrashingJournal(path.join(config.folder, 'journal'), this.#hook, config.lie);
    this.#submissions = new Submissions(this.#journal, { clock, random: () => random.fraction() });
    const { id, baseUrl } = config.account;
    this.#session = new Session(
      { kind: 'service', id, name: id, baseUrl },
      () => Promise.resolve(this.#account),
      (connection, gate) =>
        new QuickClient(connection, () => transport, {
          random: () => random.fraction(),
          clock,
          gate,
        }),
      clock,
    );
    this.#submissions.onDidChange((row) => {
      const isGone = !this.#submissions.pending.some(({ id: open }) => open === row.id);
      void rpc.call('show', shownOf(row), isGone);
    });
  }

  readonly methods = {
    open: async () => {
      await this.#journal.open();
      // As the Runs view and Summary do, so that the service's time is known.
      await this.#session.balance.refresh().catch(() => undefined);
    },
    /** The earlier submissions in the question before the user submits a draft. */
    told: (draft: Draft) => this.#journal.knownOf({ origin: serviceOf(this.#session.account), ...draft }),
    submit: (draft: Draft, told: KnownSubmissions) => {
      const { id, result } = this.#submissions.submit(this.#session, draft, this.#abort.signal, told);
      return resultOf(result, id);
    },
    resume: (id: string) =>
      resultOf(this.#submissions.resume(this.#session, id, this.#abort.signal).result, id),
    check: (id: string) =>
      resultFrom(async () => {
        const result = await this.#submissions.check(this.#session, id);
        if (result === undefined) return { kind: 'elsewhere', id };
        const { verdict, ...rest } = result;
        return { kind: verdict, id, ...rest };
      }),
    checkDue: () => this.#submissions.checkDue(this.#session),
    adopt: (id: string, runId: string) =>
      resultFrom(async () => {
        const isDone = await this.#submissions.adopt(this.#session, id, runId);
        return { kind: isDone ? 'adopted' : 'elsewhere', id };
      }),
    // If the disk fails, the user sees the error and the submission stays.
    discard: (id: string, confirmed: 'may-be-charged' | 'not-charged') =>
      this.#submissions.discard(id, confirmed, this.#session).then(
        (done) => done ?? KEPT,
        () => KEPT,
      ),
    /** Loses all locks without a trace: POSIX drops them when anything in the process closes the file. */
    loseLocks: () => {
      const folder = path.join(this.#folder, 'journal', 'leases');
      const names = existsSync(folder) ? readdirSync(folder) : [];
      for (const name of names) readFileSync(path.join(folder, name));
    },
    /** Reads the runs with their labels, as the Runs view does, and links those of settled submissions. */
    refresh: () =>
      resultFrom(async () => {
        const { runs } = this.#session;
        await runs.refresh();
        for (const { run_id } of runs.rows ?? []) await runs.loadDetail(run_id);
        await this.#submissions.linkMarked(this.#session);
        return { kind: 'refreshed' };
      }),
    cancel: (id: string) => this.#submissions.cancel(id),
    /** Cancels as the notification's button does. */
    abort: () => {
      this.#abort.abort();
      this.#abort = new AbortController();
    },
    pending: () => this.#submissions.pending.map(shownOf),
    receipts: () => this.#journal.receipts(),
    reconnect: (account: WindowConfig['account']) => {
      this.#account = account;
      this.#session.reconnect();
    },
    /** Continues after a pause. */
    goOn: () => this.#hook.goOn(),
    close: () => {
      for (const part of [this.#submissions, this.#journal, this.#session, this.#transport, this.#clock])
        part.dispose();
    },
  };
}

function shownOf({ id, accountId, state, submission }: PendingSubmission): Shown {
  return { id, accountId, state, submission };
}

async function resultOf(result: Promise<SubmissionResult>, id: string): Promise<ShownResult> {
  const outcome = { id, ...(await result) };
  return 'error' in outcome ? { ...outcome, error: errorOf(outcome.error) } : outcome;
}

function resultFrom(work: () => Promise<ShownResult>): Promise<ShownResult> {
  return work().catch((error: unknown) => ({ kind: 'failed', error: errorOf(error) }));
}

function errorOf(error: unknown): NonNullable<ShownResult['error']> {
  return {
    code: error instanceof ExpectedError ? error.code : 'unexpected',
    text: error instanceof Error ? `${error.name} ${error.message} ${error.stack ?? ''}` : String(error),
    serviceMessage: error instanceof ServiceError ? error.serviceMessage : '',
    waitMs: waitMsOf(error),
  };
}

/** Replaces the process's window with one for a new cell. */
function start(config: WindowConfig): Promise<void> {
  window = new Window(config);
  return window.methods.open();
}

let window: Window | undefined;
process.on('message', (message) => void rpc.hear(message));
process.on('disconnect', () => process.exit(1));
