import type { RunSummary } from '../../core/api/types.ts';
import { foldText, searchWords } from '../../core/base/plainText.ts';
import type { Phase } from '../../core/runs/run.ts';

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
  return searchWords(text).length + modelIds.length + phases.length === 0;
}

/** The shortest prefix that matches a run ID; shorter ones match too many UUIDs. */
const MIN_ID_LENGTH = 4;

/**
 * Returns the runs that match a filter, in their order. Words are searched in the label with its marker, in
 * the model, as `foldText` has them, and at the start of the ID.
 */
export function matchingRuns(
  rows: readonly RunSummary[],
  filter: RunFilter,
  lookup: RunLookup,
): readonly RunSummary[] {
  if (isEmptyFilter(filter)) return rows;
  const words = searchWords(filter.text);
  const modelIds = new Set(filter.modelIds);
  const phases = new Set(filter.phases);
  return rows.filter((run) => {
    if (modelIds.size > 0 && !modelIds.has(run.model_id)) return false;
    if (phases.size > 0 && !phases.has(lookup.phase(run))) return false;
    if (words.length === 0) return true;
    const text = [lookup.label(run.run_id) ?? '', lookup.modelName(run.model_id), run.model_id]
      .map(foldText)
      .join('\n');
    const id = foldText(run.run_id);
    const isOfId = (word: string) => word === id || (word.length >= MIN_ID_LENGTH && id.startsWith(word));
    return words.every((word) => text.includes(word) || isOfId(word));
  });
}
