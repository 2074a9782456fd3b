import type { RunSummary } from '../../core/api/types.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import type { Session } from '../../core/runs/session.ts';
import { runIdOf } from './arguments.ts';
import { showInformation } from './notifications.ts';
import { chooseRunWords, runDescription } from './runMessages.ts';
import { pick } from './steps.ts';

/** A run as it can be chosen from a list. */
export interface RunChoice {
  runId: string;
  name: string;
  description: string;
}

/** The loaded runs of an account that can be chosen. */
export function runChoices(
  { runs, models }: Pick<Session, 'models' | 'runs'>,
  isWanted: (run: RunSummary) => boolean = () => true,
): RunChoice[] {
  return (runs.rows ?? []).filter(isWanted).map((run) => {
    const modelName = models.nameOf(run.model_id);
    const label = withoutMarker(runs.label(run.run_id) ?? '') || undefined;
    const view = { run, phase: runs.phase(run), modelName, label };
    return { runId: run.run_id, name: label ?? modelName, description: runDescription(view, Date.now()) };
  });
}

/** The run of the argument or, called from the palette, one that the user picks. */
export async function chooseRun(argument: unknown, runs: readonly RunChoice[]): Promise<string | undefined> {
  const given = runIdOf(argument);
  if (given !== undefined) return given;
  if (runs.length === 0) {
    void showInformation(chooseRunWords.none());
    return undefined;
  }
  const answer = await pick(
    { title: chooseRunWords.title(), step: 1, totalSteps: 1 },
    {
      placeholder: chooseRunWords.which(),
      items: runs.map(({ runId, name, description }) => ({
        label: name,
        description,
        detail: runId,
        value: runId,
      })),
    },
  );
  return answer.kind === 'value' ? answer.value : undefined;
}
