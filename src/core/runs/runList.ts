import type { RunPage, RunSummary, RunDetail } from '../api/types.ts';
import { instantOf } from '../base/clock.ts';

/**
 * The progress of a run. The list of states is incomplete (spec: "States and transitions"), so any other
 * status counts as active and is shown unchanged. `ended`: it reads like an end, but is still watched in case
 * it isn't.
 */
export type Phase = 'waiting' | 'active' | 'finished' | 'ended';

/** A word such as “cancelling” says that the end is still to come. */
const END = /(?:fail|error|cancel|reject|expire|abort)(?!l?ing)/i;

/** Lists say `complete`, details `completed`. An available artifact or an end time also means finished. */
export function phaseOf(run: RunSummary, detail?: RunDetail): Phase {
  const statuses = [run.status, detail?.status];
  if (statuses.includes('complete') || statuses.includes('completed')) return 'finished';
  if (run.artifacts_available || detail?.completed_at !== undefined) return 'finished';
  if (run.status === 'queued') return 'waiting';
  return END.test(run.status) ? 'ended' : 'active';
}

/** The runs of one local calendar day. */
export interface RunDay {
  /** The start of the day, in milliseconds since the epoch. */
  startMs: number;
  rows: RunSummary[];
}

/** Groups runs by local day, newest first. A run without a valid time is new and belongs to today. */
export function groupByDay(rows: readonly RunSummary[], nowMs: number): RunDay[] {
  const days = Map.groupBy(rows, ({ created_at }) => startOfDay(instantOf(created_at) || nowMs));
  return [...days].map(([startMs, of]) => ({ startMs, rows: of })).sort((a, b) => b.startMs - a.startMs);
}

/** Returns how many calendar days ago a day started; 0 is today. Rounds, as a day may have 23 hours. */
export function daysAgo(startMs: number, nowMs: number): number {
  return Math.round((startOfDay(nowMs) - startMs) / (24 * 60 * 60_000));
}

/** Returns the start of the local day, in milliseconds since the epoch. */
export function startOfDay(timeMs: number): number {
  return new Date(timeMs).setHours(0, 0, 0, 0);
}

/** Selects runs with every word and any of the models and phases. Empty conditions match all. */
export interface RunFilter {
  readonly text: string;
  readonly modelIds: readonly string[];
  readonly phases: readonly Phase[];
}

/** Provides data about runs that their rows don't contain. */
export interface RunLookup {
  label(runId: string): string | undefined;
  phase(run: RunSummary): Phase;
  modelName(modelId: string): string;
}

export function isEmptyFilter({ text, modelIds, phases }: RunFilter): boolean {
  return wordsOf(text).length + modelIds.length + phases.length === 0;
}

/** The shortest prefix that matches a run ID; shorter ones match too many UUIDs. */
const MIN_ID_LENGTH = 4;

/**
 * Returns the runs that match a filter, in their order. Words are searched in label and model, ignoring case,
 * and at the start of the ID.
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

/** How much of a text is searched: normalizing a megabyte of accents takes minutes. */
const MAX_UNITS = 1024;

/** Ignores case, and how accents are composed. */
function folded(text: string): string {
  return text.slice(0, MAX_UNITS).normalize('NFC').toLowerCase();
}

/**
 * Merges the newest page, or several newest pages as one, into the loaded rows. Removes rows in the page's
 * range that it doesn't contain. Keeps older rows, and rows without `created_at` (just submitted, not listed
 * yet). If page and loaded rows don't touch, runs may be missing in between, so older rows are dropped.
 * `restarted`: the page contains the oldest remaining row, so the list continues at its cursor.
 * @param doTouch overrides the detection, for example when the missing pages are about to be read
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

/** Merges an older page; its rows replace loaded rows with the same IDs. */
export function mergeLaterPage(rows: readonly RunSummary[], page: RunPage): readonly RunSummary[] {
  const listed = new Set(page.data.map((row) => row.run_id));
  return sorted([...rows.filter((row) => !listed.has(row.run_id)), ...page.data]);
}

/** Returns the creation time in milliseconds since the epoch; Infinity if unknown: just submitted. */
export function createdAtMs(row: RunSummary): number {
  const time = instantOf(row.created_at);
  return Number.isNaN(time) ? Infinity : time;
}

/** Returns the creation time of the oldest run. */
export function oldestMs(rows: readonly RunSummary[]): number {
  return rows.reduce((oldest, row) => Math.min(oldest, createdAtMs(row)), Infinity);
}

/** Sorts newest first, like the service; rows without a time were just submitted and come first. */
function sorted(rows: RunSummary[]): RunSummary[] {
  return rows
    .map((row) => ({ row, time: createdAtMs(row) }))
    .sort((a, b) => (a.time === b.time ? 0 : b.time - a.time))
    .map(({ row }) => row);
}

/** Collects the pages of one read from the start of the list, and decides whether to continue. */
export class PageSearch {
  readonly #known: ReadonlySet<string>;
  readonly #wanted: Map<string, RunSummary>;
  readonly #maxGapPages: number;
  readonly #rows = new Map<string, RunSummary>();
  #pages = 0;
  /** The number of pages since the last one with new rows. */
  #vain = 0;
  #skipped = 0;
  #hasMore = false;
  /** Whether no runs are missing between the read and the loaded rows. */
  touches: boolean;
  #oldestMs = Infinity;

  /**
   * @param known the loaded rows
   * @param wanted the loaded rows to search for
   * @param maxGapPages how many pages may be read without reaching a loaded row, or without any new row
   */
  constructor(known: readonly RunSummary[], wanted: readonly RunSummary[], maxGapPages: number) {
    this.#known = new Set(known.map(({ run_id }) => run_id));
    this.#wanted = new Map(wanted.map((row) => [row.run_id, row]));
    this.#maxGapPages = maxGapPages;
    this.touches = known.length === 0;
  }

  /** Adds the next page. */
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

  /** All pages as one. */
  get listed(): RunPage {
    return { data: [...this.#rows.values()], has_more: this.#hasMore, skipped: this.#skipped };
  }

  /** Whether another page may contain wanted rows. A newer row that was not listed is gone. */
  get continues(): boolean {
    if (this.#vain >= this.#maxGapPages) return false;
    if (!this.touches && this.#pages < this.#maxGapPages) return true;
    for (const row of this.#wanted.values()) if (createdAtMs(row) <= this.#oldestMs) return true;
    return false;
  }
}
