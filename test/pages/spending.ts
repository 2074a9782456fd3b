// The spend page by the extension's own classes, with a real session and real submissions at a sandbox.
import assert from 'node:assert/strict';
import { serviceOf, type AccountBudget } from '../../src/core/accounts/account.ts';
import { Emitter } from '../../src/core/base/event.ts';
import type { Session } from '../../src/core/runs/session.ts';
import type { Draft } from '../../src/core/submission/submission.ts';
import { Submissions } from '../../src/core/submission/submissions.ts';
import { root } from '../env/project.ts';
import { Bench, silent } from '../helpers/runs/support.ts';
import { servicesOf } from '../helpers/services.ts';
import { Service } from '../ui/service.ts';
import { uriOf } from './previews.ts';
import type { Create } from './webviews.ts';

const { SpendPage } = await import('../../src/ui/money/spendPage.ts');
const API_KEY = 'service_spend_test';

/** An account at a sandbox, what it has submitted, and its page. */
export class Spending {
  readonly service: Service;
  session: Session;
  openJournal: () => Promise<void> = () => Promise.resolve();
  isSignedOut = false;
  readonly #bench: Bench;
  readonly #submissions: Submissions;
  readonly #accounts = new Emitter<void>();

  private constructor(bench: Bench, service: Service) {
    this.service = service;
    this.#bench = bench;
    this.#submissions = new Submissions(bench.journal);
    this.session = this.#signIn();
  }

  static async start(): Promise<Spending> {
    const one = new Spending(await Bench.start(), await Service.start(API_KEY));
    await one.refresh();
    return one;
  }

  async refresh(): Promise<void> {
    const { balance, models, runs } = this.session;
    await Promise.all([balance.refresh(), models.refresh(), runs.refresh()]);
  }

  /** Submits a dataset with its own name; the price depends on its size. */
  async submit(name: string, rows: number, changes: Partial<Draft> = {}): Promise<void> {
    const draft = await this.#bench.draft(rows, `${name}.jsonl`, { label: `run of ${name}`, ...changes });
    const known = await this.#bench.journal.knownOf({ origin: serviceOf(this.session.account), ...draft });
    const { kind } = await this.#submissions.submit(this.session, draft, silent(), known).result;
    assert.equal(kind, 'charged');
    await this.refresh();
  }

  /** Submits runs as another client does, and reads them with their prices. */
  async submitElsewhere(...labels: string[]): Promise<void> {
    for (const label of labels) await this.service.submitElsewhere(label);
    await this.refresh();
    const { runs } = this.session;
    for (const { run_id } of runs.rows ?? []) await runs.loadDetail(run_id);
  }

  /** Opens another window with the stored data. An earlier version had not stored the currency of one run. */
  async reopen(label: string): Promise<void> {
    const { account, runs } = this.session;
    const details = (runs.rows ?? []).flatMap(({ run_id }) => runs.detail(run_id) ?? []);
    const saved = runs.save();
    assert.ok(saved);
    this.session = this.#signIn();
    this.session.account = account;
    this.session.runs.acceptSaved(saved, Date.now());
    this.session.runs.addDetails(
      details.map((one) => (one.label === label ? { ...one, assumedCurrency: undefined } : one)),
    );
    await this.refresh();
  }

  change(account: { name?: string; budget?: AccountBudget }): void {
    Object.assign(this.session.account, account);
    this.#accounts.fire();
  }

  get create(): Create {
    return (panel) => {
      const { session } = this;
      const parts = servicesOf({
        context: { extensionUri: uriOf(root) },
        accounts: {
          accounts: this.isSignedOut ? [] : [session.account],
          former: [session.account],
          onDidChange: this.#accounts.event,
        },
        sessions: {
          find: () => (this.isSignedOut ? undefined : session),
          isReportedByState: () => false,
        },
        journal: this.#bench.journal,
        openJournal: () => this.openJournal(),
        submissions: this.#submissions,
        log: { error: () => undefined },
      });
      return new SpendPage({ accountId: session.account.id }, panel, parts);
    };
  }

  async end(): Promise<void> {
    this.#submissions.dispose();
    await this.#bench.end();
    await this.service.close();
  }

  #signIn(): Session {
    return this.#bench.session({ baseUrl: this.service.baseUrl, apiKey: API_KEY, keyId: 'key-1' });
  }
}

/** The pages' states, by what has happened. */
export const SPENDING = {
  loading: (one) => void (one.openJournal = () => new Promise(() => undefined)),
  unreadable: (one) => void (one.openJournal = () => Promise.reject(new Error('EIO'))),
  empty: () => undefined,
  async 'in one currency'(one) {
    await one.submit('small', 40);
    await one.submit('large', 9_000, { model_id: 'llama-3.1-8b-instruct', priority_processing: true });
    await one.submit('middle', 3_000);
  },
  async 'over budget'(one) {
    await SPENDING['in one currency'](one);
    one.change({ budget: { perRunCents: 200, perMonthCents: 300, currency: 'USD' } });
  },
  async 'with unknown prices'(one) {
    await one.submit('small', 40);
    one.service.addPastRuns(10_000);
    await one.refresh();
  },
  async 'in several currencies'(one) {
    await one.submit('small', 40);
    await one.submit('large', 9_000);
    // A run has the currency that the balance had when its details were first read.
    one.service.currency = 'EUR';
    await one.submitElsewhere(FORMER, 'elsewhere in euros');
    // Completes the runs, so that their details are read again.
    one.service.setSpeed(1_000_000);
    one.service.currency = 'JPY';
    one.change({
      name: 'Research and Development Europe, bills 2026',
      budget: { perRunCents: 500, perMonthCents: 2_000, currency: 'EUR' },
    });
    await one.reopen(FORMER);
  },
  'signed out': async (one) => {
    await SPENDING['in one currency'](one);
    one.isSignedOut = true;
  },
  'API key rejected': async (one) => {
    await SPENDING['in one currency'](one);
    one.service.apiKey = undefined;
    await one.refresh().catch(() => undefined);
  },
  offline: async (one) => {
    await SPENDING['in one currency'](one);
    await one.service.shut();
    await one.refresh().catch(() => undefined);
  },
} satisfies Record<string, (one: Spending) => unknown>;

/** The label of a run whose details an earlier version read. */
export const FORMER = 'elsewhere, read in an earlier version';
