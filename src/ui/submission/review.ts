import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { l10n, ProgressLocation } from 'vscode';
import { serviceOf, type Account } from '../../core/accounts/account.ts';
import { heldOutOf, type HeldOut } from '../../core/answers/filesBeside.ts';
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
import type { DatasetSize } from '../../core/money/estimate.ts';
import { newMarker } from '../../core/runs/marker.ts';
import type { Session } from '../../core/runs/session.ts';
import { earlierSubmissionsOf, trainedBefore } from '../../core/submission/earlier.ts';
import type { Receipt } from '../../core/submission/submission.ts';
import type { Services } from '../../services.ts';
import { shownEarlier, type ShownEarlier, type ShownTrained } from '../shared/datasetTexts.ts';
import { differenceNumbers } from '../shared/differenceText.ts';
import { formatCount, formatDay, inSandbox } from '../shared/format.ts';
import { showWarning, withProgress } from '../shared/notifications.ts';
import type { Proposal } from '../shared/proposal.ts';
import { setting } from '../shared/settings.ts';
import type { CheckedDataset, DatasetLocation } from './checkedDataset.ts';
import { OpenSubmissions } from './openSubmissions.ts';
import { submissionTextOf } from './submissionText.ts';

/** Why a submission begins again with the check. */
export type Restart = 'account-changed' | 'dataset-changed' | 'reconnected' | 'submitted-meanwhile';

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
  /** Added to the label; undefined if the setting is off. */
  marker: string | undefined;
  /** Earlier submissions of these bytes to the same service, and of this label from elsewhere. Newest first. */
  earlierOf: (sha256: string, label: string) => readonly (ShownEarlier & { state?: string | undefined })[];
  /** The last run of this file, and what changed since, once that is known. */
  trainedBefore: (sha256: string) => (ShownTrained & { changed?: string | undefined }) | undefined;
  /** The rows that are also in the hold-out, once that is known. */
  heldOut?: HeldOut | undefined;
  /** Facts about the texts of the dataset, once they are known. */
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
  model: Model;
  label: string;
  priority: boolean;
}

/** Without a model, the user is asked for it first. */
export type InitialChoices = Omit<SubmissionChoices, 'model'> & { model: Model | undefined };

/** The facts and the questions of a review, as its steps see it. */
export type Review = Pick<
  DatasetReview,
  'context' | 'late' | 'nowMs' | 'open' | 'ready' | 'restart' | 'sha256'
>;

type Parts = Pick<Services, 'fingerprints' | 'journal' | 'log' | 'readings' | 'sessions' | 'submissions'>;

/** Owns what is known while the user reviews a dataset for an account, and its hash, which is computed meanwhile. */
export class DatasetReview implements Disposable {
  /** The hash of the dataset. Rejects with DatasetChangedError, CancelledError. */
  readonly sha256: Promise<string>;
  /** Data that arrives later; each updates the summary when it resolves. They never reject. */
  readonly late: readonly Promise<unknown>[];
  /** Asks about open submissions of the same bytes. */
  readonly open: Pick<OpenSubmissions, 'confirm'>;
  readonly #dataset: CheckedDataset;
  readonly #session: Session;
  readonly #facts: ReviewFacts;
  readonly #services: Parts;
  readonly #shown: Pick<SubmissionContext, 'notice' | 'earlier' | 'proposal'>;
  readonly #marker = setting('labelMarker') ? newMarker() : undefined;
  readonly #store = new DisposableStore();
  #receipts: readonly Receipt[];
  #heldOut: HeldOut | undefined;
  #reading: Reading | undefined;
  /** What changed since the run of a receipt. */
  #since: { id: string; text: string | undefined; changed: string | undefined } | undefined;
  #isReconnected = false;

  constructor(
    dataset: CheckedDataset,
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
    this.open = new OpenSubmissions(session, services);
    const stop = new AbortController();
    this.sha256 = sha256OfFile(dataset.file, stop.signal);
    this.sha256.catch(() => undefined);
    const { signal } = stop;
    const read = [this.#readHeldOut(signal), this.#readDifference(signal), this.#readTexts(signal)];
    this.late = [...facts.late, ...read];
    this.#store.add(session.onDidChangeState((state) => (this.#isReconnected ||= state === 'connecting')));
    this.#store.add({ dispose: () => stop.abort() });
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
      marker: this.#marker,
      heldOut: this.#heldOut,
      reading: this.#reading,
      ...this.#shown,
      earlierOf: (sha256, label) => {
        const records = journal.latest;
        const listed = { accountId: account.id, label, runs };
        return earlierSubmissionsOf(sha256, serviceOf(account), { records, listed }).map((one) => {
          const open = submissions.pending.find(({ id }) => id === one.id);
          const state = open && submissionTextOf(open, Date.now(), this.#session).row;
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

  /** Returns what has changed since the review began, if anything. @throws CancelledError */
  async restart(): Promise<Restart | undefined> {
    const { file, sha256: checkedSha256 } = this.#dataset;
    const sha256 = await this.sha256.catch((error: unknown) => {
      if (error instanceof DatasetChangedError) return undefined;
      throw error;
    });
    if (sha256 === undefined) return 'dataset-changed';
    if (this.#services.sessions.active !== this.#session) return 'account-changed';
    if (this.#isReconnected) return 'reconnected';
    const isChecked = checkedSha256 === undefined || checkedSha256 === sha256;
    if (!isChecked || !(await isStill(file.path, file))) return 'dataset-changed';
    const idsAmong = (records: readonly Receipt[]) =>
      earlierSubmissionsOf(sha256, serviceOf(this.#session.account), { records }).map(({ id }) => id);
    const known = idsAmong(this.#facts.receipts);
    const now = idsAmong(await receiptsOf(this.#services));
    return now.every((id) => known.includes(id)) ? undefined : 'submitted-meanwhile';
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

type FactParts = Pick<Services, 'journal' | 'log'>;

/** Reads from the service and the journal, with its title. */
export const LOADING = {
  location: ProgressLocation.Window,
  title: l10n.t('Loading models and balance…'),
} as const;

/** How long a question waits for the current balance; after that, the previous one is shown. */
const BALANCE_WAIT_MS = 3_000;

/** The data from the service and the journal that the questions of a submission need. */
type ReviewFacts = NonNullable<Awaited<ReturnType<typeof readReviewFacts>>>;

/**
 * Reads the models, the balance, and the receipts. While the service asks to wait, reads only what is
 * unknown. A possible charge can be resent even if no model is available.
 * @returns undefined, after a warning, if no model is available
 * @throws ApiError, KeyMissingError if the models can't be read and nothing may have been charged
 */
export async function readReviewFacts(session: Session, parts: FactParts, mayBeCharged = false) {
  const known = () => (session.submissionsNotBeforeMs === undefined ? undefined : session.models.models);
  const readModels = async () => {
    try {
      return known() ?? (await session.models.refresh()).data;
    } catch (error) {
      const models = known();
      if (models === undefined && !mayBeCharged) throw error;
      parts.log.error('models', error);
      return models ?? [];
    }
  };
  const [models, late, receipts] = await withProgress(LOADING, () =>
    Promise.all([readModels(), readBalance(session), receiptsOf(parts)]),
  );
  const available = models.filter((model) => model.available);
  if (available.length > 0 || mayBeCharged) return { models: available, late, receipts };
  const text = l10n.t('No base models are available. Nothing was submitted.');
  void showWarning(inSandbox(text, session.account.kind === 'sandbox'));
  return undefined;
}

/** Refreshes the balance, unless asked to wait. @returns the read if `BALANCE_WAIT_MS` isn't enough */
async function readBalance({ balance, submissionsNotBeforeMs }: Session): Promise<Promise<unknown>[]> {
  if (submissionsNotBeforeMs !== undefined) return [];
  const reading = balance.refresh().catch(() => undefined);
  const isLate = await Promise.race([
    reading.then(() => false),
    delay(BALANCE_WAIT_MS, true, { ref: false }),
  ]);
  return isLate ? [reading] : [];
}

/** Never rejects: without receipts, a submission only shows less. */
export function receiptsOf({ journal, log }: FactParts): Promise<readonly Receipt[]> {
  return journal.receipts().catch((error: unknown) => {
    log.error('receipts', error);
    return [];
  });
}
