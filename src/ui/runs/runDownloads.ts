import type { ActiveDownload } from '../../core/downloads/types.ts';
import type { Downloads } from '../../core/downloads/downloads.ts';
import { isSoundAdapter } from '../../core/downloads/downloadTarget.ts';
import { isProgressing } from './progressPace.ts';

/** What the view asks of the downloads. */
export type DownloadsShown = Pick<Downloads, 'active' | 'records' | 'onDidChange'>;

/** Looks up what came home and what is on its way, by run: rows are drawn by the thousands. */
export class RunDownloads {
  readonly #downloads: DownloadsShown;
  #accountId: string | undefined;
  #known: { active: ReadonlyMap<string, ActiveDownload>; home: ReadonlySet<string> } | undefined;

  constructor(downloads: DownloadsShown) {
    this.#downloads = downloads;
  }

  active(accountId: string, runId: string): ActiveDownload | undefined {
    return this.#of(accountId).active.get(runId);
  }

  isHome(accountId: string, runId: string): boolean {
    return this.#of(accountId).home.has(runId);
  }

  /** The runs of which something comes just now. */
  progressing(accountId: string | undefined): string[] {
    const active = accountId === undefined ? [] : [...this.#of(accountId).active.values()];
    return active.filter(({ state }) => isProgressing(state)).map(({ runId }) => runId);
  }

  /** Something began, went on or ended. */
  changed(): void {
    this.#known = undefined;
  }

  #of(accountId: string) {
    if (this.#known !== undefined && this.#accountId === accountId) return this.#known;
    const active = new Map<string, ActiveDownload>();
    for (const download of this.#downloads.active) {
      const { runId } = download;
      const isNews = active.get(runId)?.state !== 'downloading';
      if (download.accountId === accountId && isNews) active.set(runId, download);
    }
    const home = new Set(
      this.#downloads
        .records(accountId)
        .filter(isSoundAdapter)
        .map(({ runId }) => runId),
    );
    this.#accountId = accountId;
    return (this.#known = { active, home });
  }
}
