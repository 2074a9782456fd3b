import type { DownloadRecord } from './downloadRecord.ts';

/** What came home and could not be written down, as on a disk that is full: this window knows it all the same. */
export class UnwrittenRecords {
  readonly #byDownload = new Map<string, { accountId: string; record: DownloadRecord }>();
  readonly #joined = new Map<
    string,
    { written: readonly DownloadRecord[]; all: readonly DownloadRecord[] }
  >();

  has(id: string): boolean {
    return this.#byDownload.has(id);
  }

  add(id: string, accountId: string, record: DownloadRecord): void {
    this.#byDownload.set(id, { accountId, record });
    this.#joined.clear();
  }

  delete(id: string): void {
    this.#byDownload.delete(id);
    this.#joined.clear();
  }

  /** An account's, before those that are written; the same list as long as neither changes. */
  before(accountId: string, written: readonly DownloadRecord[]): readonly DownloadRecord[] {
    const own = [...this.#byDownload.values()].filter((one) => one.accountId === accountId);
    if (own.length === 0) return written;
    let joined = this.#joined.get(accountId);
    if (joined?.written !== written) {
      const records = own.map(({ record }) => record);
      const others = written.filter(({ path }) => !records.some((record) => record.path === path));
      joined = { written, all: [...records, ...others] };
      this.#joined.set(accountId, joined);
    }
    return joined.all;
  }
}
