import type { RunPage, RunSummary, RunDetail } from '../api/types.ts';
import { instantOf } from '../base/clock.ts';

/**
 * How far a run is. The complete list of states is not shown (spec: "States and transitions"), so every other status counts as
 * active and is shown as it came. `ended`: its word reads as an end. It may not be one, so the run is still watched.
 */
export type Phase = 'waiting' | 'active' | 'finished' | 'ended';

const END = /fail|error|cancel|reject|expire|abort/i;

/** Lists say `complete`, details `completed`; an available artifact or an end time means finished, too. */
export function phaseOf(run: RunSummary, detail?: RunDetail): Phase {
  const statuses = [run.status, detail?.status];
  if (statuses.includes('complete') || statuses.includes('completed')) return 'finished';
  if (run.artifacts_available || detail?.completed_at !== undefined) return 'finished';
  if (run.status === 'queued') return 'waiting';
  return END.test(run.status) ? 'ended' : 'active';
}

/** The runs of one day of the user's calendar, in their order. */
export interface RunDay {
  /** Its first moment, in milliseconds since the epoch. */
  startMs: number;
  rows: RunSummary[];
}

/** Runs by the local day on which they were created, newest first; one that was just submitted has no time: it is of today. */
export function groupByDay(rows: readonly RunSummary[], nowMs: number): RunDay[] {
  const days = Map.groupBy(rows, ({ created_at }) => startOfDay(instantOf(created_at) || nowMs));
  return [...days].map(([startMs, of]) => ({ startMs, rows: of })).sort((a, b) => b.startMs - a.startMs);
}

/** How many days of the calendar lie between a day and now; 0 is today. A day may have 23 hours. */
export function daysAgo(startMs: number, nowMs: number): number {
  return Math.round((startOfDay(nowMs) - startMs) / (24 * 60 * 60_000));
}

/** The first moment of the day of the user's calendar, in milliseconds since the epoch. */
export function startOfDay(timeMs: number): number {
  return new Date(timeMs).setHours(0, 0, 0, 0);
}

/** Which runs are shown: those that hold every word, are of one of the models and in one of the phases. Empty: all. */
export interface RunFilter {
  readonly text: string;
  readonly modelIds: readonly string[];
  readonly phases: readonly Phase[];
}

/** What is known of runs besides their rows. */
export interface RunLookup {
  label(runId: string): string | undefined;
  phase(run: RunSummary): Phase;
  modelName(modelId: string): string;
}

export function isEmptyFilter({ text, modelIds, phases }: RunFilter): boolean {
  return wordsOf(text).length + modelIds.length + phases.length === 0;
}

/** So much of an id's beginning names it; less is in many a UUID. */
const MIN_ID_LENGTH = 4;

/**
 * The runs that a filter lets through, in their order. Words are looked for in label and model, whatever their case, and at the
 * beginning of the id.
 */
export function filterRuns(
  rows: readonly RunSummary[],
  filter: RunFilter,
  lookup: RunLookup,
): readonly RunSummary[] {
  if (isEmptyFilter(filter)) return rows;
  const words = wordsOf(filter.text);
  const modelIds = new Set(filter.modelIds);
  const phases = new Set(filter.phases);
  return rows.filter((run) => {
    if (modelIds.size > 0 && !modelIds.has(run.model_id)) return false;
    if (phases.size > 0 && !phases.has(lookup.phase(run))) return false;
    if (words.length === 0) return true;
    const text = [lookup.label(run.run_id) ?? '', lookup.modelName(run.model_id), run.model_id]
      .map(folded)
      .join('\n');
    const id = folded(run.run_id);
    const isOfId = (word: string) => word === id || (word.length >= MIN_ID_LENGTH && id.startsWith(word));
    return words.every((word) => text.includes(word) || isOfId(word));
  });
}

function wordsOf(text: string): string[] {
  return folded(text)
    .split(/\s+/)
    .filter((word) => word !== '');
}

/** More of a text is not searched: normalizing a megabyte of accents takes minutes. */
const MAX_UNITS = 1024;

/** However a keyboard or a service composes accents. */
function folded(text: string): string {
  return text.slice(0, MAX_UNITS).normalize('NFC').toLowerCase();
}

/**
 * Merges the newest page, or the newest ones together, into the loaded rows. Rows of other pages stay. A row that should
 * be on it and is not is gone; a row without `created_at` (just submitted, not listed yet) stays. Where the page
 * and the loaded rows do not touch, runs may be missing between them: then only the page remains. Where it holds the
 * oldest remaining row, the list continues at its cursor (`restarted`).
 * @param doTouch where that is known from elsewhere, such as when what is missing is about to be read
 */
export function mergeFirstPage(
  rows: readonly RunSummary[],
  page: RunPage,
  doTouch?: boolean,
): { rows: readonly RunSummary[]; restarted: boolean } {
  const listed = new Set(page.data.map((row) => row.run_id));
  const waiting: RunSummary[] = [];
  const older: RunSummary[] = [];
  const oldest = oldestMs(page.data);
  let meet = false;
  for (const row of rows) {
    if (listed.has(row.run_id)) meet = true;
    else if (createdAtMs(row) === Infinity) waiting.push(row);
    else if (createdAtMs(row) <= oldest) older.push(row);
  }
  if (!page.has_more || !(doTouch ?? meet))
    return { rows: sorted([...waiting, ...page.data]), restarted: true };
  return { rows: sorted([...waiting, ...page.data, ...older]), restarted: older.length === 0 };
}

/** Merges an older page: its rows replace the loaded ones with their ids. */
export function mergeLaterPage(rows: readonly RunSummary[], page: RunPage): readonly RunSummary[] {
  const listed = new Set(page.data.map((row) => row.run_id));
  return sorted([...rows.filter((row) => !listed.has(row.run_id)), ...page.data]);
}

/** When a run was made, in milliseconds since the epoch; Infinity where that is unknown: it was just submitted. */
export function createdAtMs(row: RunSummary): number {
  const time = instantOf(row.created_at);
  return Number.isNaN(time) ? Infinity : time;
}

/** When the oldest of some runs was made. */
export function oldestMs(rows: readonly RunSummary[]): number {
  return rows.reduce((oldest, row) => Math.min(oldest, createdAtMs(row)), Infinity);
}

/** Newest first, as the service lists; a row without a time was just submitted and comes first. */
function sorted(rows: RunSummary[]): RunSummary[] {
  return rows
    .map((row) => ({ row, time: createdAtMs(row) }))
    .sort((a, b) => (a.time === b.time ? 0 : b.time - a.time))
    .map(({ row }) => row);
}

/** What one reading of the list from its beginning has seen, and whether it must continue. */
export class PageSearch {
  readonly #known: ReadonlySet<string>;
  readonly #wanted: Map<string, RunSummary>;
  readonly #maxGapPages: number;
  readonly #rows = new Map<string, RunSummary>();
  #pages = 0;
  /** How many of the last ones had nothing new. */
  #vain = 0;
  #skipped = 0;
  #hasMore = false;
  /** Whether there is nothing between what was read and what was loaded. */
  touches: boolean;
  #oldestMs = Infinity;

  /**
   * @param known the loaded rows
   * @param wanted those of them that are searched for
   * @param maxGapPages how many pages are read to find any of the loaded rows, or one that was not seen before
   */
  constructor(known: readonly RunSummary[], wanted: readonly RunSummary[], maxGapPages: number) {
    this.#known = new Set(known.map(({ run_id }) => run_id));
    this.#wanted = new Map(wanted.map((row) => [row.run_id, row]));
    this.#maxGapPages = maxGapPages;
    this.touches = known.length === 0;
  }

  /** Takes in the page behind those that it has seen. */
  add(page: RunPage): void {
    const before = this.#rows.size;
    this.#pages++;
    this.#skipped += page.skipped;
    this.#hasMore = page.has_more;
    this.#oldestMs = Math.min(this.#oldestMs, oldestMs(page.data));
    for (const row of page.data) {
      this.#rows.set(row.run_id, row);
      this.#wanted.delete(row.run_id);
      if (this.#known.has(row.run_id)) this.touches = true;
    }
    this.#vain = this.#rows.size > before ? 0 : this.#vain + 1;
  }

  /** All pages together. */
  get listed(): RunPage {
    return { data: [...this.#rows.values()], has_more: this.#hasMore, skipped: this.#skipped };
  }

  /** Whether another page may show more of what is searched for; a newer one that was not listed is gone. */
  get continues(): boolean {
    if (this.#vain >= this.#maxGapPages) return false;
    if (!this.touches && this.#pages < this.#maxGapPages) return true;
    for (const row of this.#wanted.values()) if (createdAtMs(row) <= this.#oldestMs) return true;
    return false;
  }
}
