import type { RunSummary } from '../../core/api/types.ts';
import type { RunChoice } from './runMessages.ts';
import { runDescription, type RunView } from '../runs/messages.ts';

/** What a store of runs tells of them. */
interface Runs {
  rows: readonly RunSummary[] | undefined;
  label: (runId: string) => string | undefined;
  phase: (run: RunSummary) => RunView['phase'];
}

/** The loaded runs as rows to choose from. @param withoutMarker a label as the person gave it */
export function runChoices(
  session: { runs: Runs; models: { nameOf: (modelId: string) => string } },
  withoutMarker: (label: string) => string,
  isWanted: (run: RunSummary) => boolean = () => true,
): RunChoice[] {
  return (session.runs.rows ?? []).filter(isWanted).map((run) => {
    const modelName = session.models.nameOf(run.model_id);
    const given = withoutMarker(session.runs.label(run.run_id) ?? '');
    const label = given === '' ? undefined : given;
    const view: RunView = { run, phase: session.runs.phase(run), modelName, label };
    return { runId: run.run_id, name: label ?? modelName, description: runDescription(view, Date.now()) };
  });
}
