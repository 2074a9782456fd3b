import type { Account } from '../accounts/account.ts';
import type { Client, Connection, CallOptions } from '../api/client.ts';
import { isUnauthorized, NetworkError, ServiceError, UnexpectedAnswerError } from '../api/errors.ts';
import { RateGate } from '../api/rateGate.ts';
import type { Balance, Model, ModelList } from '../api/types.ts';
import { shared, type Shared } from '../base/async.ts';
import { SYSTEM_CLOCK, type Clock } from '../base/clock.ts';
import { DisposableStore, type Disposable } from '../base/disposable.ts';
import { ExpectedError } from '../base/errors.ts';
import { Emitter } from '../base/event.ts';
import type { Call } from './detailStore.ts';
import { Budget } from './pacing.ts';
import { RunStore } from './runStore.ts';

/** What is known of the way to the service: nothing yet, it answers, it cannot be reached, or the API key is no good. */
export type SessionState = 'connecting' | 'ready' | 'offline' | 'key-rejected' | 'key-missing';

type SharedState = Partial<Pick<Session, 'notBeforeMs' | 'readsNotBeforeMs'>> & {
  offlineSinceMs?: number | undefined;
};

/** The account's API key is not on this machine (deleted by the keyring, or entered for another origin). */
export class KeyMissingError extends ExpectedError {
  readonly code = 'key-missing';

  constructor() {
    super('no API key is stored for this account');
  }
}

/** The service refused this API key earlier, so that nothing was sent this time. */
export class KeyRejectedError extends ExpectedError {
  readonly code = 'key-rejected';

  constructor() {
    super('the API key was refused earlier; nothing was sent');
  }
}

/** One account at work: its client, its truth (runs, models, balance) and whether the service can be reached. */
export class Session implements Disposable {
  /** As it is stored: its budget and website may change. */
  account: Account;
  readonly runs: RunStore;
  readonly models: ModelStore;
  readonly balance: Latest<Balance>;
  /** The GETs that nobody asks for; closed but in the window that polls the account. */
  readonly budget: Budget;
  readonly #clock: Clock;
  readonly #connect: () => Promise<Connection | undefined>;
  readonly #createClient: (connection: Connection, gate: RateGate) => Client;
  /** What the service asked for, also in another window: it does not end with a connection. */
  readonly #gate: RateGate;
  readonly #disposables = new DisposableStore();
  readonly #onDidChangeState = this.#disposables.add(new Emitter<SessionState>());
  #client: Promise<Client> | undefined;
  #opened: Client | undefined;
  /** As an earlier connection knew it. */
  #clockSkewMs: number | undefined;
  #state: SessionState = 'connecting';
  #offlineSince: number | undefined;
  /** The 401s by which the state became `key-rejected`. */
  readonly #refusals = new WeakSet();

  /** Fires when the state changes, with the new one. */
  readonly onDidChangeState = this.#onDidChangeState.event;

  /** @param connect resolves address and API key; undefined where there is no key */
  constructor(
    account: Account,
    connect: () => Promise<Connection | undefined>,
    createClient: (connection: Connection, gate: RateGate) => Client,
    clock: Clock = SYSTEM_CLOCK,
  ) {
    this.account = account;
    this.#clock = clock;
    this.budget = new Budget(clock, account.kind === 'sandbox');
    this.#connect = connect;
    this.#createClient = createClient;
    this.#gate = new RateGate(() => clock.nowMs());
    const call: Call = (work) => this.call(work);
    const nowMs = () => clock.nowMs();
    this.runs = this.#disposables.add(new RunStore(call, nowMs));
    this.models = this.#disposables.add(new ModelStore(call, (client, how) => client.listModels(how), nowMs));
    this.balance = this.#disposables.add(new Latest(call, (client, how) => client.getBalance(how), nowMs));
  }

  get state(): SessionState {
    return this.#state;
  }

  /** Milliseconds since the epoch, while offline. */
  get offlineSince(): number | undefined {
    return this.#offlineSince;
  }

  /** The service asked for nothing to be sent before then: milliseconds since the epoch by this machine's clock. */
  get notBeforeMs(): number | undefined {
    return this.#gate.untilMs();
  }

  /** The same for what somebody waits for. */
  get readsNotBeforeMs(): number | undefined {
    return this.#gate.untilMs(true);
  }

  /**
   * How far the service's clock was ahead of this machine's at the last answer, in milliseconds; undefined until one came. For what is shown: what is sent is decided by the client's own answers.
   */
  get clockSkewMs(): number | undefined {
    return this.#opened?.clockSkewMs ?? this.#clockSkewMs;
  }

  /**
   * Takes in what another window knows of the way to the service. What a refused API key means is not its matter.
   * @param isOfLiving whether that window still runs: what one that has ended knew of the way is old
   */
  acceptShared(known: SharedState, isOfLiving: boolean): void {
    const { offlineSinceMs, notBeforeMs, readsNotBeforeMs } = known;
    if (notBeforeMs !== undefined) this.#gate.holdUntil(notBeforeMs, readsNotBeforeMs);
    if (this.#disposables.disposed || this.isLocked || !isOfLiving) return;
    if (offlineSinceMs === undefined) this.#setState('ready');
    else this.#setState('offline', offlineSinceMs);
  }

  /**
   * Works with the account's client and learns from how it ends. After a 401 nothing is sent until `reconnect`.
   * @throws KeyMissingError, KeyRejectedError, and whatever the work throws
   */
  async call<T>(work: (client: Client) => Promise<T>): Promise<T> {
    if (this.#disposables.disposed) throw new KeyMissingError();
    if (this.#state === 'key-rejected') throw new KeyRejectedError();
    const pending = (this.#client ??= this.#open());
    const client = await this.#openedOf(pending);
    // Opened with what `reconnect` has replaced since: nothing is sent with it.
    if (pending !== this.#client) return this.call(work);
    try {
      const result = await work(client);
      if (pending === this.#client) this.#setState('ready');
      return result;
    } catch (error) {
      // What the connection before `reconnect` met says nothing of the one since.
      if (pending === this.#client) this.#learnFrom(error);
      throw error;
    }
  }

  /** Whether the change to `key-rejected` was caused by this error. */
  isReportedByState(error: unknown): boolean {
    return error instanceof Error && this.#refusals.has(error);
  }

  /** Whether the service takes no API key that is stored: then nothing that was read with an earlier one is shown. */
  get isLocked(): boolean {
    return this.#state === 'key-rejected' || this.#state === 'key-missing';
  }

  /**
   * Forgets the connection, after the API key or the proxy's settings changed. Reads that are on their way are repeated;
   * `connecting` fires each time, also while it is the state already.
   */
  reconnect(): void {
    this.#clockSkewMs = this.clockSkewMs;
    this.#client = undefined;
    this.#opened = undefined;
    this.runs.drop();
    this.models.refresh.drop();
    this.balance.refresh.drop();
    this.#state = 'connecting';
    this.#offlineSince = undefined;
    this.#onDidChangeState.fire('connecting');
  }

  /** Ends it: the API key is forgotten, and nothing new is sent. What is under way ends as it would. */
  dispose(): void {
    this.#client = undefined;
    this.#opened = undefined;
    this.#disposables.dispose();
  }

  async #open(): Promise<Client> {
    const connection = await this.#connect();
    if (connection === undefined) throw new KeyMissingError();
    return (this.#opened = this.#createClient(connection, this.#gate));
  }

  async #openedOf(pending: Promise<Client>): Promise<Client> {
    try {
      return await pending;
    } catch (error) {
      if (pending === this.#client) {
        // A sandbox that could not start, or a keyring that was locked, may do so the next time.
        this.#client = undefined;
        this.#setState(error instanceof KeyMissingError ? 'key-missing' : 'offline');
      }
      throw error;
    }
  }

  #learnFrom(error: unknown): void {
    if (error instanceof Error && isUnauthorized(error)) {
      this.#refusals.add(error);
      this.#setState('key-rejected');
    } else if (error instanceof NetworkError) this.#setState('offline');
    else if (error instanceof UnexpectedAnswerError)
      this.#setState(isOfAnotherSender(error) ? 'offline' : 'ready');
    else if (error instanceof ServiceError) this.#setState('ready');
  }

  #setState(state: SessionState, sinceMs = this.#clock.nowMs()): void {
    // A refused API key stays refused until `reconnect`, however what was under way ends.
    if (state === this.#state || this.#state === 'key-rejected') return;
    this.#state = state;
    this.#offlineSince = state === 'offline' ? sinceMs : undefined;
    this.#onDidChangeState.fire(state);
  }
}

/** Whether a portal or a gateway answered in the service's place; an odd answer of the service says that it is there. */
function isOfAnotherSender({ kind, httpStatus }: UnexpectedAnswerError): boolean {
  return kind === 'html' || kind === 'redirect' || (kind === 'no-error-body' && httpStatus >= 502);
}

/** What the service's clock says now, in milliseconds since the epoch; this machine's until an answer came. */
export function serviceNowMs({ clockSkewMs }: Pick<Session, 'clockSkewMs'>): number {
  return Date.now() + (clockSkewMs ?? 0);
}

/** So much of a display name is stored. */
const MAX_STORED_UNITS = 200;

/** Owns the last answer to something that is read as a whole, such as the balance. */
export class Latest<T> implements Disposable {
  readonly #read: (isBackground: boolean) => Promise<T>;
  readonly #nowMs: () => number;
  readonly #onDidChange = new Emitter<void>();
  #current: T | undefined;
  #readAtMs: number | undefined;

  /** Fires when it was read, or came another way. */
  readonly onDidChange = this.#onDidChange.event;

  /** Reads it; calls that overlap share one request. @throws ApiError, KeyMissingError */
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

  /** Reads it with nobody waiting: no request is repeated. @throws ApiError, KeyMissingError */
  async readInBackground(): Promise<void> {
    const before = this.#current;
    const answer = await this.#read(true);
    // What a submission returned meanwhile is newer than this answer may be.
    if (this.#current === before) this.set(answer);
  }

  /** Undefined until it is known. */
  get current(): T | undefined {
    return this.#current;
  }

  /** When the service said so, in milliseconds since the epoch. */
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

/** Owns the base models that an account may train. */
export class ModelStore extends Latest<ModelList> {
  #storedNames: ReadonlyMap<string, string> = new Map();

  /** Undefined until the list was read. */
  get models(): readonly Model[] | undefined {
    return this.current?.data;
  }

  /** Rows of the last list that could not be read. */
  get skipped(): number {
    return this.current?.skipped ?? 0;
  }

  /** The model's display name, or its id while no list names it. */
  nameOf(modelId: string): string {
    const model = this.models?.find(({ model_id }) => model_id === modelId);
    return model?.name ?? this.#storedNames.get(modelId) ?? modelId;
  }

  /** The display names of some models by their ids, to be stored; unknown ones are left out. */
  namesOf(modelIds: ReadonlySet<string>): (readonly [modelId: string, name: string])[] {
    return [...modelIds].flatMap((id) => {
      const name = this.nameOf(id);
      return name === id ? [] : [[id, name.slice(0, MAX_STORED_UNITS)] as const];
    });
  }

  /** Takes in the names of a list that was read earlier. */
  keepNames(names: readonly (readonly [modelId: string, name: string])[]): void {
    this.#storedNames = new Map(names);
  }
}
