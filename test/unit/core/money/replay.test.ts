import assert from 'node:assert/strict';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Balance } from '../../../../src/core/api/types.ts';
import { accountMoneyOf } from '../../../../src/core/money/accountMoney.ts';
import { toCsv } from '../../../../src/core/money/exports.ts';
import { GROUPS } from '../../../../src/core/money/spending.ts';
import { newMarker, withMarker } from '../../../../src/core/runs/marker.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import { canContinue, mayHaveBeenCharged } from '../../../../src/core/submission/pendingSubmission.ts';
import { isRefused, type Receipt } from '../../../../src/core/submission/submission.ts';
import { Submissions } from '../../../../src/core/submission/submissions.ts';
import { defaultPrice, type PriceOf } from '../../../../src/sandbox/catalog.ts';
import type { Sandbox } from '../../../../src/sandbox/sandbox.ts';
import type { Scenario } from '../../../../src/sandbox/scenarios.ts';
import { rowsOfCsv } from '../../../helpers/csv.ts';
import { beforeNaming } from '../../../helpers/journalVersions.ts';
import { Random } from '../../../helpers/random.ts';
import { HOUR, MINUTE } from '../../../helpers/runs/stage.ts';
import { Bench, silent } from '../../../helpers/runs/support.ts';
import { TestClock } from '../../../helpers/runs/testClock.ts';
import { form } from '../../../helpers/sandbox/stage.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const { spendPageState } = await withVscode(() => import('../../../../src/ui/money/spendView.ts'));

const SUBMISSIONS = 150;
/** Each seed simulates another story. */
const SEED = Number(process.env['REPLAY_SEED'] ?? 20_310_508);

const ACCOUNT = 'account-1';
const FAULTS: readonly Scenario[] = [
  'answer-lost',
  'connection-lost',
  'insufficient-balance',
  'rate-limited',
];
/** A run that the plan includes is free. */
const PRICES: readonly PriceOf[] = [
  defaultPrice,
  () => ({ cents: 500, plan: 'Flat' }),
  () => ({ cents: 0, plan: 'Included' }),
];
const LABELS = ['plain', '=1+1', '@risk', 'a, “b” and "c"', 'Größe 😀', ''] as const;

interface Books {
  runs: { run_id: string; price_cents: number; plan: string; created_at: number }[];
  balanceCents: number;
}

/** Simulates a user, the service, and a machine whose windows are killed now and then. */
class Replay {
  readonly bench: Bench;
  readonly sandbox: Sandbox;
  readonly clock: TestClock;
  readonly random = new Random(SEED);
  /** Kinds of events that have happened. */
  readonly story = new Set<string>();
  session!: Session;
  submissions!: Submissions;
  priceOf = defaultPrice;
  receipts!: () => Promise<Receipt[]>;
  #close: () => void = () => undefined;
  /** Number of files that this window can still write before it is killed. */
  #writesLeft = Infinity;

  constructor(bench: Bench, sandbox: Sandbox, clock: TestClock) {
    this.bench = bench;
    this.sandbox = sandbox;
    this.clock = clock;
  }

  /** Opens a window in place of the previous one. */
  async open(): Promise<void> {
    this.#close();
    this.#writesLeft = Infinity;
    const { bench, clock, random } = this;
    const journal = bench.otherJournal({
      // Like a kill: later writes never reach the disk.
      link: beforeNaming(() => {
        if (this.#writesLeft-- > 0) return;
        submissions.dispose();
        throw Object.assign(new Error('killed'), { code: 'EIO' });
      }),
    });
    const submissions = new Submissions(journal, { clock, random: () => random.fraction() });
    await journal.open();
    await submissions.probe();
    this.submissions = submissions;
    this.session = bench.session(this.sandbox, ACCOUNT, () => clock.nowMs());
    this.receipts = () => journal.receipts();
    this.#close = () => {
      submissions.dispose();
      journal.dispose();
    };
  }

  /** Submits a new dataset, and decides as a user might until no submission is pending. */
  async submit(index: number): Promise<void> {
    const { bench, clock, random } = this;
    const { control } = this.sandbox;
    clock.pass(random.below(12) * HOUR + MINUTE);
    if (random.chance(0.1)) this.priceOf = random.of(PRICES);
    control.setScenario(random.chance(0.5) ? random.of(FAULTS) : 'none');
    const marker = random.chance(0.8) ? newMarker() : undefined;
    const label = random.of(LABELS);
    const balanceBefore = await this.session.balance.refresh().catch(() => undefined);
    const draft = await bench.draft(1 + random.below(4_000), `${index}.jsonl`, {
      // The last model isn't available.
      model_id: random.chance(0.95) ? random.of(['qwen3-8b', 'gemma-2-2b-it']) : 'gemma-2-9b-it',
      priority_processing: random.chance(0.3),
      label: marker === undefined ? label : withMarker(label, marker),
      ...(marker !== undefined && { marker }),
      ...(balanceBefore !== undefined && { balanceBefore }),
    });
    await this.#mayDie(() => this.submissions.submit(this.session, draft, silent(), []).result);
    if (random.chance(0.5)) this.#spoilKeys();
    for (let steps = 0; this.submissions.pending.length > 0; steps++) {
      assert.ok(steps < 30, `never ends: ${JSON.stringify(this.submissions.pending)}`);
      if (random.chance(0.3)) control.setScenario('none');
      await this.#decide();
    }
  }

  /** Submits with the same account from another machine. */
  async submitElsewhere(): Promise<void> {
    const { baseUrl, apiKey } = this.sandbox;
    this.sandbox.control.setScenario('none');
    const headers = { authorization: `Bearer ${apiKey}` };
    const body = form({ label: null });
    const { status } = await fetch(`${baseUrl}/api/v1/runs`, { method: 'POST', headers, body });
    if (status === 201) this.story.add('submitted elsewhere');
  }

  /** Reads the service's books, runs oldest first; `leaveCents` sets the balance first. */
  books(leaveCents?: number): Books {
    const database = new DatabaseSync(path.join(this.bench.folder, 'sandbox-0', 'sandbox.sqlite'));
    if (leaveCents !== undefined) database.prepare('UPDATE account SET balance_cents = ?').run(leaveCents);
    const runs = database.prepare('SELECT * FROM runs ORDER BY sequence').all() as unknown as Books['runs'];
    const account = database.prepare('SELECT balance_cents FROM account').get();
    database.close();
    return { runs, balanceCents: Number(account?.['balance_cents']) };
  }

  /** Makes the service answer 409 or 500 to a repeat of any Idempotency-Key so far. */
  #spoilKeys(): void {
    const database = new DatabaseSync(path.join(this.bench.folder, 'sandbox-0', 'sandbox.sqlite'));
    const spoiled = this.random.of(["fingerprint = 'of another request'", "answer = 'unreadable'"]);
    database.exec(`UPDATE used_idempotency_keys SET ${spoiled}`);
    database.close();
  }

  /** Runs `work` in a window that may be killed meanwhile; returns undefined if it was, or if `work` threw. */
  async #mayDie<T>(work: () => Promise<T>): Promise<T | undefined> {
    this.#writesLeft = this.random.chance(0.2) ? this.random.below(6) : Infinity;
    const result = await work().catch(() => undefined);
    const isKilled = this.#writesLeft < 0;
    this.#writesLeft = Infinity;
    if (!isKilled) return result;
    this.story.add('killed');
    await this.open();
    return undefined;
  }

  /** Checks, adopts, resumes, or discards one pending submission, as a user might. */
  async #decide(): Promise<void> {
    const { clock, random, session, submissions } = this;
    await submissions.probe();
    const [row] = submissions.pending;
    if (row === undefined) return;
    const { id, submission, state } = row;
    const mayBeCharged = mayHaveBeenCharged(row);
    this.story.add(state === 'idle' ? (submission.reason ?? submission.stage) : state);
    clock.pass(random.below(20) * MINUTE);
    if (mayBeCharged && random.chance(0.7)) {
      const finding = await this.#mayDie(() => submissions.check(session, id));
      if (finding?.verdict !== 'cannot-tell') return;
      const [candidate] = finding.candidates;
      if (candidate !== undefined) await this.#mayDie(() => submissions.adopt(session, id, candidate.run_id));
    } else if (!isRefused(submission) && canContinue(row, clock.nowMs()) && random.chance(0.5))
      await this.#mayDie(() => submissions.resume(session, id, silent()).result);
    else await submissions.discard(id, mayBeCharged ? 'may-be-charged' : 'not-charged');
  }
}

const sum = (cents: readonly (number | undefined)[]) =>
  cents.reduce<number>((all, one) => all + (one ?? NaN), 0);

/** Parses an amount of the page; NaN unless it is exact, without "at least", and in USD. */
function centsOf(text = ''): number {
  const [, amount] = /^([-\d,]+\.\d\d) USD\*?$/.exec(text) ?? [];
  return Math.round(Number(amount?.replaceAll(',', '')) * 100);
}

describe('the money of 150 submissions with refusals, lost responses, and crashes', () => {
  let replay: Replay;
  beforeEach(async () => {
    const bench = await Bench.start();
    const clock = new TestClock();
    const sandbox = await bench.sandbox({
      now: () => Math.floor(clock.serviceMs),
      priceOf: (...run) => replay.priceOf(...run),
    });
    replay = new Replay(bench, sandbox, clock);
    await replay.open();
  });
  afterEach(() => replay.bench.end());

  it(`agrees to the cent in receipts, spending, exports and the service’s books (REPLAY_SEED=${SEED})`, async () => {
    const { clock, random, sandbox, story } = replay;
    const funds = [{ atMs: clock.serviceMs, cents: 3_000 }];
    replay.books(3_000);
    for (let index = 0; index < SUBMISSIONS; index++) {
      await replay.submit(index);
      if (random.chance(0.05)) await replay.submitElsewhere();
      if (random.chance(0.5) || replay.books().balanceCents > 1_000) continue;
      clock.pass(MINUTE);
      const cents = 500 + random.below(4_000);
      sandbox.control.addFunds(cents);
      funds.push({ atMs: clock.serviceMs, cents });
    }

    const { runs, balanceCents } = replay.books();
    const totalCents = sum(runs.map((run) => run.price_cents));
    assert.equal(sum(funds.map(({ cents }) => cents)) - totalCents, balanceCents);

    // Each receipt belongs to a different run, and agrees with the service's books.
    const all = await replay.receipts();
    const account = { id: ACCOUNT };
    const moneyNow = (runs?: Session['runs'], balance?: Balance) =>
      accountMoneyOf({ account, receipts: all, runs, balance, pending: [], nowMs: clock.serviceMs });
    const { receipts } = moneyNow();
    const withoutReceipt = new Map(runs.map((run) => [run.run_id, run]));
    for (const { charge } of receipts) {
      const run = withoutReceipt.get(charge.run.run_id);
      assert.ok(withoutReceipt.delete(charge.run.run_id), `two receipts of ${charge.run.run_id}`);
      const { price_cents, plan_name, balance_after_cents } = charge.run;
      assert.deepEqual([price_cents, plan_name], [run?.price_cents, run?.plan]);
      story.add(`charged, ${charge.foundBy}`);
      if (run === undefined || balance_after_cents === undefined) continue;
      const before = runs.slice(0, runs.indexOf(run) + 1);
      const fundsThen = funds.filter(({ atMs }) => atMs <= run.created_at);
      const balanceThen =
        sum(fundsThen.map(({ cents }) => cents)) - sum(before.map((one) => one.price_cents));
      assert.equal(balance_after_cents, balanceThen);
    }
    for (const { reason, stage } of all) story.add(reason ?? stage);

    // Runs without a receipt come from the service's list and details.
    sandbox.control.setScenario('none');
    await replay.open();
    const { session } = replay;
    await session.runs.refresh();
    while (session.runs.hasMore) await session.runs.loadMore();
    const balance = await session.balance.refresh();
    for (const { isUnread, runId } of moneyNow(session.runs, balance).charged)
      if (isUnread) await session.runs.loadDetail(runId);
    const money = moneyNow(session.runs, balance);
    const { charged } = money;

    // The spend page agrees.
    const pageBy = (groupBy: (typeof GROUPS)[number]) =>
      spendPageState({
        accountId: ACCOUNT,
        formerName: undefined,
        session,
        receipts: 'loaded',
        money,
        reading: undefined,
        view: { groupBy, search: '', sortBy: 'date', isDescending: true },
        maxRows: Infinity,
      });
    const page = pageBy('month');
    const prices = new Map(runs.map((run) => [run.run_id, run.price_cents]));
    const shown = (page.runs?.rows ?? []).map(({ show, cells }) => [show.target, centsOf(cells[1])] as const);
    assert.equal(shown.length, runs.length);
    assert.deepEqual(new Map(shown), prices);
    const fact = (key: string) => centsOf(page.facts.find((one) => one.key === key)?.value);
    assert.deepEqual([fact('all'), fact('balance')], [totalCents, balanceCents]);
    for (const by of GROUPS) {
      const groups = pageBy(by).groups?.rows ?? [];
      assert.equal(sum(groups.map(({ spent }) => centsOf(spent))), totalCents, by);
      assert.ok(groups.length > 1, by);
    }

    // The export agrees on each run.
    const csv = rowsOfCsv(toCsv(charged));
    assert.deepEqual(new Map(csv.map((row) => [row['run_id'], Number(row['price_cents'])])), prices);
    assert.equal(csv.length, runs.length);
    assert.equal(csv.filter((row) => row['dataset_sha256'] === '').length, withoutReceipt.size);

    const happened = [
      ...[
        'charged',
        'not-charged',
        'discarded',
        'submitted elsewhere',
        'killed',
        'sent',
        'refused',
        'unchecked',
      ],
      ...['charged, answered', 'charged, found', 'charged, recognised'],
    ];
    assert.deepEqual(
      happened.filter((what) => !story.has(what)),
      [],
      'the story has everything',
    );
  });
});
