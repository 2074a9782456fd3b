import path from 'node:path';
import { l10n } from 'vscode';
import { heldOutOf, type HeldOut } from '../../core/answers/filesBeside.ts';
import { serviceOf, type Account } from '../../core/accounts/account.ts';
import { sha256OfFile } from '../../core/api/dataset.ts';
import { DatasetChangedError } from '../../core/api/errors.ts';
import type { Balance, Model } from '../../core/api/types.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { CancelledError } from '../../core/base/errors.ts';
import { isSameStamp, isStill } from '../../core/base/fileStamp.ts';
import type { RowDifference } from '../../core/datasets/fingerprints.ts';
import type { Reading } from '../../core/datasets/readFacts.ts';
import type { Report } from '../../core/datasets/report.ts';
import { moneyOf, type AccountMoney } from '../../core/money/accountMoney.ts';
import type { DatasetSize, RunParameters } from '../../core/money/estimate.ts';
import { queueTimes } from '../../core/money/spending.ts';
import { newMarker, withMarker } from '../../core/runs/marker.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Receipt } from '../../core/submission/intent.ts';
import {
  chargeIdsOf,
  earlierSubmissionsOf,
  isNews,
  trainedBefore,
  type KnownSubmissions,
} from '../../core/submission/earlier.ts';
import type { Proposal } from '../shared/proposal.ts';
import type { Services } from '../../services.ts';
import { shownEarlier, type ShownEarlier, type ShownTrained } from '../shared/datasetTexts.ts';
import { shortText } from '../shared/chargeText.ts';
import { differenceNumbers } from '../shared/differenceText.ts';
import { formatCount, formatDay } from '../shared/format.ts';
import { setting } from '../shared/settings.ts';
import type { DatasetLocation } from './datasetPlace.ts';
import { OpenSubmissions, type BesideOpen } from './openSubmissions.ts';
import type { CheckedDataset } from './checkedDataset.ts';
import { readBalance, receiptsOf, type ReviewFacts } from './readFacts.ts';

/** Why a review starts again with the check. */
export type Restart =
  | 'account-changed'
  | 'dataset-changed'
  | 'other-dataset'
  | 'reconnected'
  | 'submitted-meanwhile';

/** What a review shows but doesn't change. */
export interface SubmissionContext {
  account: Account;
  dataset: { filename: string; place: DatasetLocation; size: DatasetSize };
  /** Undefined if an earlier check was reused. */
  check?: Report | 'unchecked';
  models: readonly Model[];
  balance: Balance | undefined;
  /** Set while the service asks to wait: until when, and when the balance was read. */
  held?: { untilMs: number; balanceReadAtMs: number | undefined } | undefined;
  money: AccountMoney;
  /** How long runs waited in each queue, if enough is known. */
  queueTimes: ReturnType<typeof queueTimes>;
  /** Added to the label; undefined if the setting is off. */
  marker: string | undefined;
  /** Earlier submissions of these bytes to the same service, and of this label from elsewhere. Newest first. */
  earlierOf: (sha256: string, label: string) => readonly (ShownEarlier & { state?: string | undefined })[];
  /** The last run of this file, and what changed since, once that is known. */
  trainedBefore: (sha256: string) => (ShownTrained & { changed?: string | undefined }) | undefined;
  /** What is also in the hold-out beside the dataset, once that is known. */
  heldOut?: HeldOut | undefined;
  /** What the texts of the dataset say, once that is known. */
  reading?: Reading | undefined;
  /** The receipt of the run that is submitted again. */
  earlier?: Receipt | undefined;
  /** Why the summary is shown again. */
  notice?: string | undefined;
  /** Given if an agent proposed it. */
  proposal?: Proposal | undefined;
}

/** What the user chose before consenting; the label without its marker. */
export interface SubmissionChoices {
  model: Model | undefined;
  label: string;
  priority: boolean;
}

/** The facts and the questions of a review, as its steps see it. */
export type Review = Pick<
  DatasetReview,
  'confirmDuplicates' | 'context' | 'late' | 'nowMs' | 'ready' | 'restart' | 'sha256'
>;

type Parts = Pick<
  Services,
  'agreedUnreadable' | 'fingerprints' | 'journal' | 'log' | 'readings' | 'sessions' | 'submissions'
>;

/** Owns what is known while the user reviews a dataset for an account, and its hash, which is computed meanwhile. */
export class DatasetReview implements Disposable {
  /** Of the dataset. Rejects with DatasetChangedError, CancelledError. */
  readonly sha256: Promise<string>;
  /** Data that arrives later; each updates the summary when it resolves. They never reject. */
  readonly late: readonly Promise<unknown>[];
  readonly #dataset: CheckedDataset & { place: DatasetLocation };
  readonly #session: Session;
  readonly #facts: ReviewFacts;
  readonly #services: Parts;
  readonly #shown: Pick<SubmissionContext, 'notice' | 'earlier' | 'proposal'>;
  readonly #marker = setting('labelMarker') ? newMarker() : undefined;
  readonly #open: OpenSubmissions;
  readonly #store = new DisposableStore();
  #receipts: readonly Receipt[];
  #heldOut: HeldOut | undefined;
  #reading: Reading | undefined;
  /** What changed since the run of a receipt. */
  #since: { id: string; text: string | undefined; changed: string | undefined } | undefined;
  #isReconnected = false;

  constructor(
    dataset: CheckedDataset & { place: DatasetLocation },
    session: Session,
    facts: ReviewFacts,
    services: Parts,
    shown: Pick<SubmissionContext, 'notice' | 'earlier' | 'proposal'>,
  ) {
    this.#dataset = dataset;
    this.#session = session;
    this.#facts = facts;
    this.#services = services;
    this.#shown = shown;
    this.#receipts = facts.receipts;
    this.#open = new OpenSubmissions(session, services);
    const stop = new AbortController();
    this.sha256 = sha256OfFile(dataset.file, stop.signal);
    this.sha256.catch(() => undefined);
    const { signal } = stop;
    const read = [this.#readHeldOut(signal), this.#readDifference(signal), this.#readTexts(signal)];
    this.late = [...facts.late, ...read];
    this.#store.add(session.onDidChangeState((state) => (this.#isReconnected ||= state === 'connecting')));
    this.#store.add({ dispose: () => stop.abort() });
  }

  /** What the user may have seen, and the open submissions that they agreed to. */
  get known(): KnownSubmissions {
    return { ...this.#open.agreed, receipts: chargeIdsOf(this.#receipts) };
  }

  /** Returns the time by the clock of the records. */
  nowMs(): number {
    return this.#services.submissions.nowMs;
  }

  /** Returns what is known now: balance and spending may change while the user reads. */
  context(): SubmissionContext {
    const { file, place, check, counts } = this.#dataset;
    const { account, balance, submissionsNotBeforeMs: untilMs, runs } = this.#session;
    const { journal, sessions, submissions } = this.#services;
    const money = moneyOf(this.#session, this.#receipts, submissions.pending);
    return {
      account,
      dataset: { filename: path.basename(file.path), place, size: { bytes: file.sizeBytes, ...counts } },
      check,
      models: this.#facts.models,
      balance: balance.current,
      held: untilMs === undefined ? undefined : { untilMs, balanceReadAtMs: balance.readAtMs },
      money,
      queueTimes: queueTimes(money.receipts, (runId) => runs.detail(runId)),
      marker: this.#marker,
      heldOut: this.#heldOut,
      reading: this.#reading,
      ...this.#shown,
      earlierOf: (sha256, label) => {
        const records = journal.latest;
        const listed = { accountId: account.id, label, runs };
        return earlierSubmissionsOf(sha256, serviceOf(account), { records, listed }).map((one) => {
          const open = submissions.pending.find(({ id }) => id === one.id);
          const state = open && shortText(open, Date.now());
          return { ...shownEarlier(one, this.#session, sessions), state };
        });
      },
      trainedBefore: (sha256) => {
        const trained = trainedBefore(this.#receipts, serviceOf(account), file, sha256);
        if (trained === undefined) return undefined;
        const { text: since, changed } = (this.#since?.id === trained.run.id && this.#since) || {};
        return { ...trained, run: shownEarlier(trained.run, this.#session, sessions), since, changed };
      },
    };
  }

  /** Resolves when the digest is known or failed, and the balance and receipts were reread. Never rejects. */
  async ready(): Promise<void> {
    // A pending submission may have been charged by now. Then only its receipt has the price.
    const read = receiptsOf(this.#services).then((now) => {
      if (now.length > 0) this.#receipts = now;
    });
    await Promise.allSettled([this.sha256, readBalance(this.#session), read]);
  }

  /** Returns what has changed since the review began, if anything. */
  async restart(sha256: string): Promise<Restart | undefined> {
    const { file, sha256: checkedSha256 } = this.#dataset;
    if (this.#services.sessions.active !== this.#session) return 'account-changed';
    if (this.#isReconnected) return 'reconnected';
    const isChecked = checkedSha256 === undefined || checkedSha256 === sha256;
    if (!isChecked || !(await isStill(file.path, file))) return 'dataset-changed';
    const knownIds = chargeIdsOf(this.#facts.receipts);
    const records = await receiptsOf(this.#services);
    return earlierSubmissionsOf(sha256, serviceOf(this.#session.account), { records }).some((one) =>
      isNews(one, knownIds),
    )
      ? 'submitted-meanwhile'
      : undefined;
  }

  async #readHeldOut(signal: AbortSignal): Promise<void> {
    this.#heldOut = await heldOutOf(this.#dataset.file, this.#services, signal).catch(() => undefined);
  }

  async #readTexts(signal: AbortSignal): Promise<void> {
    const { check, file } = this.#dataset;
    if (check === 'unchecked' || (check?.kind ?? 'rows') !== 'rows') return;
    try {
      const reading = await (await this.#services.readings()).currentReport(file.path, signal);
      if (isSameStamp(reading, file)) this.#reading = reading;
    } catch (error) {
      if (!(error instanceof CancelledError)) this.#services.log.error('texts-not-read', error);
    }
  }

  async #readDifference(signal: AbortSignal): Promise<void> {
    try {
      const trained = this.context().trainedBefore(await this.sha256);
      if (trained?.kind !== 'changed') return;
      const { id } = trained.run;
      const difference = await this.#services.fingerprints.since(id, this.#dataset.file, signal);
      const { submittedAtMs } = trained.run;
      this.#since = difference && {
        id,
        text: differenceNumbers(difference, submittedAtMs),
        changed: changedSince(difference, submittedAtMs),
      };
    } catch (error) {
      if (!(error instanceof CancelledError || error instanceof DatasetChangedError))
        this.#services.log.error('since-the-run', error);
    }
  }

  /** Asks about open submissions of the same bytes. */
  confirmDuplicates(sha256: string, model: Model): Promise<BesideOpen> {
    return this.#open.confirm(sha256, path.basename(this.#dataset.file.path), model);
  }

  dispose(): void {
    this.#store.dispose();
  }
}

/** In few words; undefined if not all rows were compared. */
function changedSince(
  { added, removed, changed, notCompared }: RowDifference,
  sinceMs: number,
): string | undefined {
  const counts = [added, removed, changed].map(formatCount);
  return notCompared > 0
    ? undefined
    : l10n.t('{0} added, {1} removed, {2} changed since {3}', ...counts, formatDay(sinceMs));
}

/** The parameters of the chosen run that determine price and budget checks. */
export function runParameters(
  { dataset }: SubmissionContext,
  { priority }: Pick<SubmissionChoices, 'priority'>,
  sha256: string | undefined,
): RunParameters {
  return { size: dataset.size, priority, sha256 };
}

/** Returns the label as it will be sent. */
export function sentLabel({ marker }: SubmissionContext, label: string): string {
  return marker === undefined ? label : withMarker(label, marker);
}
