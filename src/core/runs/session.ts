import { randomUUID } from 'node:crypto';
import type { Account } from '../accounts/account.ts';
import type { Client, Connection, CallOptions } from '../api/client.ts';
import { isUnauthorized, NetworkError, ServiceError, UnexpectedResponseError } from '../api/errors.ts';
import { RateGate, type Waits } from '../api/rateGate.ts';
import type { Balance, Model, ModelList, RunCreation } from '../api/types.ts';
import { shared, type Shared } from '../base/async.ts';
import { SYSTEM_CLOCK, type Clock } from '../base/clock.ts';
import { DisposableStore, type Disposable } from '../base/disposable.ts';
import { ExpectedError } from '../base/errors.ts';
import { Emitter } from '../base/event.ts';
import { counted } from '../base/rareCases.ts';
import { RETRIES } from '../base/retry.ts';
import type { Call } from './detailStore.ts';
import { RequestQuota } from './pacing.ts';
import { RunStore } from './runStore.ts';

/** The state of the connection: not known yet, working, without a usable API key, or unreachable. */
type ConnectionState =
  | { kind: 'connecting' | 'ready' | 'key-rejected' | 'key-missing' }
  /** `sinceMs`: in milliseconds since the epoch. */
  | { kind: 'offline'; sinceMs: number };
export type SessionState = ConnectionState['kind'];

interface SharedState {
  offlineSinceMs?: number | undefined;
  waits?: Waits | undefined;
}

const CONNECTING: Readonly<ConnectionState> = { kind: 'connecting' };

/** The account's API key is not on this machine: deleted from the keyring, or entered for another origin. */
export class KeyMissingError extends ExpectedError {
  readonly code = 'key-missing';

  constructor() {
    super('no API key is stored for this account');
  }
}

/** The service rejected this API key earlier, so nothing was sent. */
export class KeyRejectedError extends ExpectedError {
  readonly code = 'key-rejected';

  constructor() {
    super('the API key was refused earlier; nothing was sent');
  }
}

/** Owns the connection of one account: its client, its runs, models, and balance, and their state. */
export class Session implements Disposable {
  /** The account as stored; its budget and website may change. */
  account: Account;
  readonly runs: RunStore;
  readonly models: ModelStore;
  readonly balance: Latest<Balance>;
  /** Identifies this window in what the windows of the account share. */
  readonly windowId: string = randomUUID();
  /** Limits the background GETs of all windows. */
  readonly quota: RequestQuota;
  readonly #clock: Clock;
  readonly #connect: () => Promise<Connection | undefined>;
  readonly #createClient: (connection: Connection, gate: RateGate) => Client;
  /** Enforces the waits that the service asked for, also in other windows. It outlives connections. */
  readonly #gate: RateGate;
  readonly #disposables = new DisposableStore();
  readonly #onDidChangeState = this.#disposables.add(new Emitter<SessionState>());
  #client: Promise<Client> | undefined;
  #opened: Client | undefined;
  /** The clock skew of the previous connection. */
  #clockSkewMs: number | undefined;
  #state: Readonly<ConnectionState> = CONNECTING;
  /** The 401 errors that caused the state `key-rejected`. */
  readonly #refusals = new WeakSet();

  /** Fires with the new state when it changes. */
  readonly onDidChangeState = this.#onDidChangeState.event;

  /** @param connect resolves the address and API key; undefined without a key */
  constructor(
    account: Account,
    connect: () => Promise<Connection | undefined>,
    createClient: (connection: Connection, gate: RateGate) => Client,
    clock: Clock = SYSTEM_CLOCK,
  ) {
    this.account = account;
    this.#clock = clock;
    this.quota = new RequestQuota(clock, account.kind === 'sandbox');
    this.#connect = connect;
    this.#createClient = createClient;
    this.#gate = new RateGate(() => clock.nowMs());
    const call: Call = (work) => this.call(work);
    const nowMs = () => clock.nowMs();
    this.runs = this.#disposables.add(new RunStore(call, nowMs, () => this.balance.current?.currency));
    this.models = this.#disposables.add(new ModelStore(call, (client, how) => client.listModels(how), nowMs));
    this.balance = this.#disposables.add(new Latest(call, (client, how) => client.getBalance(how), nowMs));
    this.balance.onDidChange(() => this.runs.learnCurrency());
  }

  get state(): SessionState {
    return this.#state.kind;
  }

  /** Since when the service is unreachable, in milliseconds since the epoch. */
  get offlineSince(): number | undefined {
    return this.#state.kind === 'offline' ? this.#state.sinceMs : undefined;
  }

  /** Nothing is read in the background before this time (ms since the epoch, local clock). */
  get notBeforeMs(): number | undefined {
    return this.#gate.untilMs();
  }

  /** Like `notBeforeMs`, for submissions. If the service asks reads to wait, submissions wait ten minutes at most. */
  get submissionsNotBeforeMs(): number | undefined {
    return this.#gate.untilMs('submission');
  }

  /** Like `submissionsNotBeforeMs`, but undefined unless that is longer than a submission waits. */
  get longWaitUntilMs(): number | undefined {
    const isLong = this.#gate.remainingMs('submission') > RETRIES.submission.longestRetryAfterMs;
    return isLong ? this.submissionsNotBeforeMs : undefined;
  }

  /** The waits that the service asked for, to share them with other windows. */
  get waits(): Readonly<Waits> | undefined {
    return this.#gate.waits;
  }

  /**
   * Reads the balance although the service asks submissions to wait. A response ends that wait in all windows.
   * @throws as `call`
   */
  async endLongWait(): Promise<void> {
    const balance = await this.call((client) => client.getBalance({ isUrgent: true }));
    this.#gate.endSubmissionWait();
    this.balance.set(balance);
  }

  /** Adds a run that was just charged, takes over the balance after it, and reads both again. @param label as sent */
  charged(run: RunCreation, modelId: string, label: string | undefined): void {
    this.runs.insertCreated(run, modelId, label);
    const { balance_after_cents: balance_cents, currency } = run;
    if (balance_cents !== undefined && currency !== undefined) this.balance.set({ balance_cents, currency });
    this.readAgain();
  }

  /** Reads runs and balance again, after a charge or a possible one. Returns at once and ignores errors. */
  readAgain(): void {
    void Promise.allSettled([this.runs.refresh(), this.balance.refresh()]);
  }

  /**
   * How far the service's clock was ahead of the local one at the last response, in milliseconds. For display
   * only: sending is decided by the client's own responses.
   */
  get clockSkewMs(): number | undefined {
    return this.#opened?.clockSkewMs ?? this.#clockSkewMs;
  }

  /**
   * Adopts the connection state of another window, except for a rejected API key.
   * @param isOfLiving whether that window is still running; otherwise its connection state is stale
   */
  acceptShared(known: SharedState, isOfLiving: boolean): void {
    const { offlineSinceMs, waits } = known;
    if (waits !== undefined) this.#gate.adopt(waits);
    if (!isOfLiving || this.#disposables.disposed || this.isLocked) return;
    if (offlineSinceMs === undefined) this.#setState('ready');
    else this.#setState('offline', offlineSinceMs);
  }

  /**
   * Runs work with the account's client, and updates the state. After a 401, sends nothing until `reconnect`.
   * @throws KeyMissingError, KeyRejectedError, and the errors of the work
   */
  async call<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const [client, pending] = await this.#connected();
    try {
      const result = await work(client);
      if (pending === this.#client) this.#setState('ready');
      return result;
    } catch (error) {
      // Errors of the connection before `reconnect` say nothing about the new one.
      if (pending === this.#client) this.#learnFrom(error);
      throw error;
    }
  }

  /**
   * Returns the ID of the API key and a value that recognizes it. Sends nothing.
   * @throws KeyMissingError, KeyRejectedError
   */
  async key(): Promise<{ keyId: string; keyCheck: Awaited<ReturnType<Client['keyCheck']>> }> {
    const [client] = await this.#connected();
    return { keyId: client.keyId, keyCheck: await client.keyCheck() };
  }

  /** The ID of the API key of the current connection; undefined before the first call. */
  get keyId(): string | undefined {
    return this.#opened?.keyId;
  }

  /** Whether this error caused the state `key-rejected`, so that it needs no report of its own. */
  isReportedByState(error: unknown): boolean {
    return error instanceof Error && this.#refusals.has(error);
  }

  /** Whether no stored API key works. Data that was read with an earlier key is then hidden. */
  get isLocked(): boolean {
    return this.state === 'key-rejected' || this.state === 'key-missing';
  }

  /**
   * Drops the connection after the API key or the proxy settings changed. Reads in progress are repeated.
   * Always fires `connecting`, even if that is already the state.
   */
  reconnect(): void {
    this.#clockSkewMs = this.clockSkewMs;
    this.#client = undefined;
    this.#opened = undefined;
    this.runs.drop();
    this.models.refresh.drop();
    this.balance.refresh.drop();
    this.#state = CONNECTING;
    this.#onDidChangeState.fire('connecting');
  }

  /** Ends the session: forgets the API key and sends no new requests. Requests in progress still finish. */
  dispose(): void {
    this.#client = undefined;
    this.#opened = undefined;
    this.#disposables.dispose();
  }

  /** Returns the client, with the promise that identifies its connection. Opens one if there is none. */
  async #connected(): Promise<[Client, pending: Promise<Client>]> {
    if (this.#disposables.disposed) throw new KeyMissingError();
    if (this.state === 'key-rejected') throw new KeyRejectedError();
    const pending = (this.#client ??= this.#open());
    const client = await this.#openedOf(pending);
    // `reconnect` may have replaced the connection meanwhile.
    return pending === this.#client ? [client, pending] : this.#connected();
  }

  async #open(): Promise<Client> {
    const connection = await this.#connect();
    if (connection === undefined) throw new KeyMissingError();
    return (this.#opened = this.#createClient(connection, this.#gate));
  }

  /** Waits for a connection. If it fails, the state says so, and the next call opens another one. */
  async #openedOf(pending: Promise<Client>): Promise<Client> {
    try {
      return await pending;
    } catch (error) {
      if (pending === this.#client) {
        // A sandbox that failed to start, or a locked keyring, may work the next time.
        this.#client = undefined;
        this.#setState(error instanceof KeyMissingError ? 'key-missing' : 'offline');
      }
      throw error;
    }
  }

  /** Sets the state that follows from the error of a call. */
  #learnFrom(error: unknown): void {
    if (error instanceof Error && isUnauthorized(error)) {
      this.#refusals.add(error);
      this.#setState('key-rejected');
    } else if (error instanceof NetworkError) this.#setState('offline');
    else if (error instanceof UnexpectedResponseError)
      this.#setState(counted('gateway', isOfAnotherSender(error)) ? 'offline' : 'ready');
    else if (error instanceof ServiceError) this.#setState('ready');
  }

  #setState(kind: SessionState, sinceMs = this.#clock.nowMs()): void {
    // A rejected API key stays rejected until `reconnect`, however pending requests end.
    if (kind === this.state || this.state === 'key-rejected') return;
    this.#state = kind === 'offline' ? { kind, sinceMs } : { kind };
    this.#onDidChangeState.fire(kind);
  }
}

/** Whether a portal or gateway answered. Any other unexpected response is the service's, so it is reachable. */
function isOfAnotherSender({ kind, httpStatus }: UnexpectedResponseError): boolean {
  return kind === 'html' || kind === 'redirect' || (kind === 'no-error-body' && httpStatus >= 502);
}

/** Returns the service's time in milliseconds since the epoch; before the first response, this machine's. */
export function serviceNowMs({ clockSkewMs }: Pick<Session, 'clockSkewMs'>): number {
  return Date.now() + (clockSkewMs ?? 0);
}

/** Owns the latest value of a resource that is read in one request, such as the balance. */
export class Latest<T> implements Disposable {
  readonly #read: (isBackground: boolean) => Promise<T>;
  readonly #nowMs: () => number;
  readonly #onDidChange = new Emitter<void>();
  #current: T | undefined;
  #readAtMs: number | undefined;

  /** Fires when the value was read or set. */
  readonly onDidChange = this.#onDidChange.event;

  /** Reads the value; overlapping calls share one request. @throws ApiError, KeyMissingError */
  readonly refresh: Shared<T>;

  constructor(
    call: Call,
    read: (client: Client, options: CallOptions) => Promise<T>,
    nowMs: () => number = Date.now,
  ) {
    this.#read = (isBackground) => call((client) => read(client, { isBackground }));
    this.#nowMs = nowMs;
    this.refresh = shared(async (isCurrent) => {
      for (;;) {
        const before = this.#current;
        const answer = await this.#read(false);
        if (!isCurrent()) return answer;
        if (this.#current !== before) continue;
        this.set(answer);
        return answer;
      }
    });
  }

  /** Reads the value with a single request, without retries. @throws ApiError, KeyMissingError */
  async readInBackground(): Promise<void> {
    const before = this.#current;
    const answer = await this.#read(true);
    // A value returned by a submission meanwhile may be newer than this response.
    if (this.#current === before) this.set(answer);
  }

  /** Undefined until it is known. */
  get current(): T | undefined {
    return this.#current;
  }

  /** When the value was read, in milliseconds since the epoch. */
  get readAtMs(): number | undefined {
    return this.#readAtMs;
  }

  set(answer: T, readAtMs = this.#nowMs()): void {
    this.#current = answer;
    this.#readAtMs = readAtMs;
    this.#onDidChange.fire();
  }

  dispose(): void {
    this.#onDidChange.dispose();
  }
}

/** Owns the list of base models that an account may train. */
export class ModelStore extends Latest<ModelList> {
  /** Undefined until the list was read. */
  get models(): readonly Model[] | undefined {
    return this.current?.data;
  }

  /** The number of unreadable rows in the last list. */
  get skipped(): number {
    return this.current?.skipped ?? 0;
  }

  /** Returns the model's display name, or its ID if the name is unknown. */
  nameOf(modelId: string): string {
    return this.models?.find(({ model_id }) => model_id === modelId)?.name ?? modelId;
  }
}
