import { serviceOf } from '../../core/accounts/account.ts';
import { sha256OfFile } from '../../core/api/dataset.ts';
import { DatasetChangedError } from '../../core/api/errors.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { CancelledError } from '../../core/base/errors.ts';
import { Emitter } from '../../core/base/event.ts';
import { isSameStamp } from '../../core/base/fileStamp.ts';
import type { RowDifference, Fingerprints } from '../../core/datasets/fingerprints.ts';
import type { Report } from '../../core/datasets/report.ts';
import type { CheckState, Reports } from '../../core/datasets/reports.ts';
import { estimateOf, rangeAccuracy, type Estimate } from '../../core/money/estimate.ts';
import type { Session } from '../../core/runs/session.ts';
import { followActive, type Sessions } from '../../core/runs/sessions.ts';
import { chargedSince, trainedBefore, wasSubmittedInSize } from '../../core/submission/earlier.ts';
import type { Journal } from '../../core/submission/journal.ts';
import { chargedReceiptsOf, type ChargedReceipt, type Receipt } from '../../core/submission/submission.ts';
import { shownEarlier, type ShownTrained } from '../shared/datasetTexts.ts';
import { differenceNumbers, namedReceipt, type NamedRun } from '../shared/differenceText.ts';
import type { Log } from '../shared/log.ts';

export interface DatasetRunsParts {
  fingerprints: Pick<Fingerprints, 'has' | 'since'>;
  journal: Pick<Journal, 'onDidChange' | 'receipts'>;
  log: Pick<Log, 'error'>;
  openJournal: () => Promise<void>;
  sessions: Sessions;
}

/** A dataset's last run and estimated price. */
export interface PastRuns {
  /** Whether the active account is the sandbox. */
  isSandbox?: boolean;
  trained: ShownTrained | undefined;
  /** What changed since the last run of this path; `null` if that can't be said, undefined until it is known. */
  since: SinceLastRun | null | undefined;
  /** For the standard queue of the active account. */
  price: Estimate;
  /** How many of the last estimates contained the actual price. */
  accuracy: ReturnType<typeof rangeAccuracy>;
}

export interface SinceLastRun {
  difference: RowDifference;
  run: NamedRun;
}

/** A file with a report. */
interface Followed {
  report: Report;
  /** Aborts hashing and comparing when the report is dropped or replaced. */
  stop: AbortController;
  hashing: Promise<void> | undefined;
  sha256: string | undefined;
  /** The run that it is compared with; null if there is none, undefined until that is known. */
  last: ChargedReceipt | null | undefined;
  /** As in `PastRuns`. */
  difference: RowDifference | null | undefined;
  known: PastRuns | undefined;
}

/** Owns the past runs of each checked file, according to the receipts of the active account's service. */
export class DatasetRuns implements Disposable {
  readonly #parts: DatasetRunsParts;
  readonly #store = new DisposableStore();
  readonly #changed = this.#store.add(new Emitter<void>());
  readonly #files = new Map<string, Followed>();
  #receipts: readonly Receipt[] = [];
  #reading: unknown;

  /** Fires when the past runs or the price of any file may have changed. */
  readonly onDidChange = this.#changed.event;

  constructor(reports: Pick<Reports, 'onDidChange'>, parts: DatasetRunsParts) {
    this.#parts = parts;
    const read = () => void this.#read();
    this.#store.add(reports.onDidChange((state) => this.#follow(state)));
    this.#store.add(parts.journal.onDidChange(read));
    this.#store.add(
      followActive(parts.sessions, (session) => {
        this.#forget();
        read();
        const forget = () => this.#forget();
        return (
          session && [
            session.models.onDidChange(forget),
            // The balance provides the currency of the estimate.
            session.balance.onDidChange(forget),
            // The runs say whether a dataset was trained or only submitted.
            session.runs.onDidChange(({ added, moved }) => {
              if (added.length + moved.length > 0) this.#forget();
            }),
          ]
        );
      }),
    );
  }

  /** Returns undefined if no account is active or the report is not the current one. */
  of(report: Report): PastRuns | undefined {
    const file = this.#files.get(report.path);
    const session = this.#parts.sessions.active;
    if (file === undefined || session === undefined || !isSameStamp(file.report, report)) return undefined;
    return (file.known ??= this.#known(file, session));
  }

  dispose(): void {
    this.#store.dispose();
    for (const { stop } of this.#files.values()) stop.abort();
    this.#files.clear();
  }

  #known({ report, sha256, last, difference }: Followed, session: Session): PastRuns {
    const { account, balance } = session;
    const { sizeBytes: bytes, rows, statistics } = report;
    const trained = trainedBefore(this.#receipts, serviceOf(account), report, sha256);
    const receipts = chargedReceiptsOf(this.#receipts, account.id);
    return {
      ...(account.kind === 'sandbox' && { isSandbox: true }),
      trained: trained && {
        ...trained,
        run: shownEarlier(trained.run, session, this.#parts.sessions),
        // The last run with fingerprints may be an older one.
        since:
          difference && last?.id === trained.run.id
            ? differenceNumbers(difference, trained.run.submittedAtMs)
            : undefined,
      },
      since: difference && last ? { difference, run: namedReceipt(last, session) } : difference && null,
      price: estimateOf(
        receipts,
        { size: { bytes, rows, characters: statistics.characters }, priority: false, sha256 },
        balance.current?.currency,
      ),
      accuracy: rangeAccuracy(receipts),
    };
  }

  #follow({ path, report }: CheckState): void {
    const file = this.#files.get(path);
    // Progress events don't change the report.
    if (file !== undefined && report !== undefined && isSameStamp(file.report, report)) return;
    file?.stop.abort();
    this.#files.delete(path);
    // Only rows can be trained on.
    if (report?.kind !== 'rows') return;
    const stop = new AbortController();
    this.#files.set(path, {
      ...{ report, stop, hashing: undefined, sha256: undefined, known: undefined },
      ...{ last: undefined, difference: undefined },
    });
    void this.#read();
  }

  /** Reads the receipts if there are both files and an active account. */
  async #read(): Promise<void> {
    const { journal, log, openJournal, sessions } = this.#parts;
    if (this.#files.size === 0 || sessions.active === undefined) return;
    const mine = (this.#reading = {});
    let receipts: readonly Receipt[];
    try {
      await openJournal();
      receipts = await journal.receipts();
    } catch (error) {
      log.error('dataset-runs', error);
      for (const file of this.#files.values()) file.difference ??= null;
      this.#forget();
      return;
    }
    if (this.#reading !== mine || this.#store.disposed) return;
    const known = this.#receipts;
    this.#receipts = receipts;
    // Receipts never change, and each is read only once.
    if (receipts.length !== known.length || receipts.some((one, at) => one !== known[at])) this.#forget();
    for (const file of this.#files.values()) void this.#hashIfNeeded(file).then(() => this.#compare(file));
  }

  async #hashIfNeeded(file: Followed): Promise<void> {
    const { active } = this.#parts.sessions;
    if (active === undefined) return;
    if (!wasSubmittedInSize(this.#receipts, serviceOf(active.account), file.report.sizeBytes)) return;
    await (file.hashing ??= this.#hash(file));
  }

  async #hash(file: Followed): Promise<void> {
    try {
      file.sha256 = await sha256OfFile(file.report, file.stop.signal);
      this.#forget();
    } catch (error) {
      // A changed file gets a new report.
      if (!(error instanceof DatasetChangedError)) this.#log(error);
    }
  }

  /** Finds what changed since the newest run of a path that has fingerprints, once for each report. */
  async #compare(file: Followed): Promise<void> {
    const { fingerprints, sessions } = this.#parts;
    const { report, sha256, stop } = file;
    const [receipts, session] = [this.#receipts, sessions.active];
    if (session === undefined) return;
    let last: ChargedReceipt | null = null;
    for (const one of chargedSince(receipts, serviceOf(session.account), { path: report.path, sha256 }))
      if (last === null && (await fingerprints.has(one.id))) last = one;
    // If so, a later call compares it.
    if (receipts !== this.#receipts || session !== sessions.active) return;
    if (file.last !== undefined && last?.id === file.last?.id) return;
    [file.last, file.difference] = [last, undefined];
    const asked = last && fingerprints.since(last.id, report, stop.signal);
    const difference = await asked?.catch((error: unknown) => this.#log(error));
    if (file.last !== last) return;
    file.difference = difference ?? null;
    this.#forget();
  }

  #log(error: unknown): undefined {
    if (!(error instanceof CancelledError)) this.#parts.log.error('dataset-runs', error);
  }

  /** Drops the results; `of` computes them again. */
  #forget(): void {
    for (const file of this.#files.values()) file.known = undefined;
    this.#changed.fire();
  }
}
