import type { RunSummary } from '../api/types.ts';
import type { Phase } from './phase.ts';

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
