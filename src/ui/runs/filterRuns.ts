import { askForFilter, type FilterChoice, type FilterOffer } from './filterDialog.ts';
import { tellNoRunsLoaded } from './listMessages.ts';
import type { Phase } from '../../core/runs/phase.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';

/** What the Runs view shows. */
interface Shown {
  readonly filter: FilterChoice;
  filterBy(filter: FilterChoice): void;
}

/**
 * Shows only the loaded runs that a person, or who calls it, wants to see.
 * @param shown whose filter it is
 */
export function filterRuns(sessions: Pick<Sessions, 'active'>, shown: Shown) {
  return async (argument: unknown): Promise<void> => {
    const session = sessions.active;
    if (session === undefined) return;
    if (typeof argument === 'string') {
      shown.filterBy({ text: argument.trim(), modelIds: [], phases: [] });
      return;
    }
    // Nothing that a rejected key once read is offered.
    if (session.isLocked || (session.runs.rows ?? []).length === 0) {
      tellNoRunsLoaded();
      return;
    }
    const choice = await askForFilter(offerOf(session), shown.filter);
    // Another account's runs are of other models.
    if (choice !== undefined && sessions.active === session) shown.filterBy(choice);
  };
}

function offerOf({ runs, models }: Session): FilterOffer {
  const byModel = new Map<string, number>();
  const byPhase = new Map<Phase, number>();
  for (const run of runs.rows ?? []) {
    const phase = runs.phase(run);
    byModel.set(run.model_id, (byModel.get(run.model_id) ?? 0) + 1);
    byPhase.set(phase, (byPhase.get(phase) ?? 0) + 1);
  }
  const phases = (['waiting', 'active', 'finished'] as const).flatMap((phase) => {
    const count = byPhase.get(phase);
    return count === undefined ? [] : [{ phase, count }];
  });
  const offered = [...byModel].map(([modelId, count]) => ({ modelId, name: models.nameOf(modelId), count }));
  return { phases, models: offered.sort((a, b) => b.count - a.count) };
}
