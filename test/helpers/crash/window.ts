// A process that is one window after another: the real submitter, journal, session, client and transport, and no VS Code. The cell
// is the person, the network and the time.
import { readdirSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { Client } from '../../../src/core/api/client.ts';
import { ServiceError } from '../../../src/core/api/errors.ts';
import { ExpectedError } from '../../../src/core/base/errors.ts';
import type { ReconcileResult } from '../../../src/core/submission/reconciler.ts';
import type { Draft } from '../../../src/core/submission/intent.ts';
import type { SubmissionResult } from '../../../src/core/submission/pendingSubmission.ts';
import type { PendingSubmission } from '../../../src/core/submission/pendingSubmission.ts';
import { Session } from '../../../src/core/runs/session.ts';
import { Submitter } from '../../../src/core/submission/submitter.ts';
import { Random } from '../random.ts';
import type {
  AccountConfig,
  AttemptPlan,
  FromCell,
  FromWindow,
  Shown,
  Told,
  Verb,
  Verbs,
  WindowConfig,
} from './protocol.ts';
import { CrashingJournal, CrashSeam } from './seams.ts';
import { SharedClock } from './time.ts';
import { CountingTransport } from './wire.ts';

type Answered = (value: unknown) => void;

class Window {
  readonly #answers = new Map<number, Answered>();
  #calls = 0;
  #seam: CrashSeam | undefined;
  #clock: SharedClock | undefined;
  #transport: CountingTransport | undefined;
  #journal: CrashingJournal | undefined;
  #submitter: Submitter | undefined;
  #session: Session | undefined;
  #account: AccountConfig | undefined;
  #config: WindowConfig | undefined;
  #abort = new AbortController();

  readonly #verbs: { [Name in Verb]: (...args: Parameters<Verbs[Name]>) => unknown } = {
    start: (config) => this.#start(config),
    submit: async (draft: Draft) => {
      const { submitter, session } = this.#works;
      const outcome = submitter.submit(session, draft, this.#abort.signal).result;
      // It is given its id before anything is waited for.
      const id = this.#journal?.lastId;
      return toldOutcome(await outcome, id);
    },
    resume: async (id) => {
      const { submitter, session } = this.#works;
      return toldOutcome(await submitter.resume(session, id, this.#abort.signal).result, id);
    },
    check: async (id) => {
      try {
        return toldFinding(await this.#works.submitter.check(this.#works.session, id), id);
      } catch (error) {
        return { kind: 'failed', error: toldError(error) } satisfies Told;
      }
    },
    look: () => this.#works.submitter.checkDue(this.#works.session),
    adopt: async (id, runId) => {
      try {
        const isDone = await this.#works.submitter.adopt(this.#works.session, id, runId);
        return { kind: isDone ? 'adopted' : 'elsewhere', id } satisfies Told;
      } catch (error) {
        return { kind: 'failed', error: toldError(error) } satisfies Told;
      }
    },
    // Where the disk does not take it the person is told so, and it stays.
    discard: (id) => this.#works.submitter.discard(id).catch(() => false),
    cancel: (id) => this.#works.submitter.cancel(id),
    abort: () => {
      this.#abort.abort();
      this.#abort = new AbortController();
    },
    pending: () => this.#works.submitter.pending.map(shownOf),
    receipts: () => this.#journal?.receipts(),
    reconnect: (account) => {
      this.#account = account;
      this.#session?.reconnect();
    },
    descriptors: () => this.#descriptors(),
    close: () => {
      this.#submitter?.dispose();
      this.#journal?.dispose();
      this.#session?.dispose();
      this.#transport?.dispose();
      this.#clock?.dispose();
    },
  };

  get #works(): { submitter: Submitter; session: Session } {
    if (this.#submitter === undefined || this.#session === undefined) throw new Error('not started');
    return { submitter: this.#submitter, session: this.#session };
  }

  hear(message: FromCell): void {
    switch (message.kind) {
      case 'call':
        void this.#answer(message.call, message.verb, message.args);
        return;
      case 'go on':
        this.#seam?.goOn();
        return;
      default:
        this.#answers.get(message.call)?.(message.kind === 'plan' ? message.plan : undefined);
        this.#answers.delete(message.call);
    }
  }

  async #answer(call: number, verb: Verb, args: unknown[]): Promise<void> {
    try {
      const value = (await (this.#verbs[verb] as (...args: unknown[]) => unknown)(...args)) ?? null;
      say({ kind: 'value', call, value, posts: this.#transport?.posts ?? 0 });
    } catch (error) {
      say({ kind: 'failed', call, text: error instanceof Error ? String(error.stack) : String(error) });
    }
  }

  #ask(message: (call: number) => FromWindow): Promise<unknown> {
    this.#calls += 1;
    const call = this.#calls;
    const answer = new Promise<unknown>((resolve) => this.#answers.set(call, resolve));
    say(message(call));
    return answer;
  }

  async #start(config: WindowConfig): Promise<void> {
    this.#config = config;
    const random = new Random(config.seed);
    const seam = new CrashSeam(config.crash, (point) => say({ kind: 'at', point }));
    const clock = new SharedClock(config.clockFile, async (ms) => {
      await this.#ask((call) => ({ kind: 'pass', call, ms }));
    });
    const transport = new CountingTransport(config.window, seam, config.lie, async (ordinal) => {
      return (await this.#ask((call) => ({ kind: 'plan?', call, ordinal }))) as AttemptPlan;
    });
    const journal = new CrashingJournal(path.join(config.folder, 'journal'), seam, config.lie, (file) =>
      process.stdout.write(`set aside: ${file}\n`),
    );
    const submitter = new Submitter(journal, { clock, random: () => random.fraction() });
    const { account } = config;
    this.#account = account;
    const session = new Session(
      { kind: 'service', id: account.id, name: account.id, baseUrl: account.baseUrl },
      () => Promise.resolve(this.#account),
      (connection) =>
        new Client(connection, () => transport, {
          random: () => random.fraction(),
          clock,
          digestWorker: config.digestWorker,
        }),
    );
    submitter.onDidChange((submission) => {
      const isGone = !submitter.pending.some(({ id }) => id === submission.id);
      say({ kind: 'state', shown: shownOf(submission), isGone, posts: transport.posts });
    });
    this.#seam = seam;
    this.#clock = clock;
    this.#transport = transport;
    this.#journal = journal;
    this.#submitter = submitter;
    this.#session = session;
    await journal.open();
  }

  #descriptors(): string[] {
    const folder = this.#config?.folder ?? '';
    return readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        const target = readlinkSync(`/proc/self/fd/${fd}`);
        return target.startsWith(folder) ? [target.slice(folder.length + 1)] : [];
      } catch {
        // Closed meanwhile, such as the one that reads this folder.
        return [];
      }
    });
  }
}

function shownOf({ id, accountId, state, attempt, intent }: PendingSubmission): Shown {
  return { id, accountId, state, attempt, intent };
}

function toldOutcome(outcome: SubmissionResult, id?: string): Told {
  const told = { ...(id !== undefined && { id }), ...outcome };
  return 'error' in told ? { ...told, error: toldError(told.error) } : told;
}

function toldFinding(finding: ReconcileResult | undefined, id: string): Told {
  if (finding === undefined) return { kind: 'elsewhere', id };
  const { verdict, ...rest } = finding;
  return { kind: verdict, id, ...rest };
}

function toldError(error: unknown): NonNullable<Told['error']> {
  return {
    code: error instanceof ExpectedError ? error.code : 'unexpected',
    text: error instanceof Error ? `${error.name} ${error.message} ${error.stack ?? ''}` : String(error),
    serviceMessage: error instanceof ServiceError ? error.serviceMessage : '',
  };
}

function say(message: FromWindow): void {
  process.send?.(message);
}

const window = new Window();
process.on('message', (message) => window.hear(message as FromCell));
process.on('disconnect', () => process.exit(1));
