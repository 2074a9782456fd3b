import * as vscode from 'vscode';
import type { Phase } from '../../core/runs/phase.ts';
import type { RunFilter } from '../../core/runs/runFilter.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { filterWords, notifyNoRunsLoaded, phaseName, runCount } from './messages.ts';

/** Whose filter it is. */
interface Shown {
  readonly filter: RunFilter;
  filterBy(filter: RunFilter): void;
}

/** Shows only the loaded runs that match a text, or what the user chooses. */
export async function filterRuns(
  sessions: Pick<Sessions, 'active'>,
  shown: Shown,
  argument: unknown,
): Promise<void> {
  const session = sessions.active;
  if (session === undefined) return;
  if (typeof argument === 'string') {
    shown.filterBy({ text: argument.trim(), modelIds: [], phases: [] });
    return;
  }
  // Nothing that was read with a rejected API key is offered.
  if (session.isLocked || (session.runs.rows ?? []).length === 0) {
    notifyNoRunsLoaded();
    return;
  }
  const choice = await askForFilter(offerOf(session), shown.filter);
  // Another account has other models.
  if (choice !== undefined && sessions.active === session) shown.filterBy(choice);
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

/** What there is to choose from, with how many loaded runs each has. */
interface FilterOffer {
  models: readonly { modelId: string; name: string; count: number }[];
  phases: readonly { phase: Phase; count: number }[];
}

type Item = vscode.QuickPickItem & { modelId?: string; phase?: Phase };

/**
 * One box for the whole filter: typed text is searched, checked rows narrow it down, Enter takes both.
 * @returns undefined where it was closed
 */
function askForFilter(offer: FilterOffer, current: RunFilter): Promise<RunFilter | undefined> {
  const input = vscode.window.createQuickPick<Item>();
  const separator = (label: string): Item => ({ label, kind: vscode.QuickPickItemKind.Separator });
  // Typed text filters the runs, not these rows.
  const phases = offer.phases.map(({ phase, count }): Item => ({
    label: phaseName(phase),
    description: runCount(count),
    alwaysShow: true,
    phase,
  }));
  const models = offer.models.map(({ modelId, name, count }): Item => ({
    label: sanitizeServiceText(name),
    description: name === modelId ? runCount(count) : `${sanitizeServiceText(modelId)} · ${runCount(count)}`,
    alwaysShow: true,
    modelId,
  }));
  input.title = filterWords.title();
  input.placeholder = filterWords.placeholder();
  input.canSelectMany = true;
  input.items = [separator(filterWords.phase()), ...phases, separator(filterWords.model()), ...models];
  input.value = current.text;
  input.selectedItems = [
    ...phases.filter(({ phase }) => phase !== undefined && current.phases.includes(phase)),
    ...models.filter(({ modelId }) => modelId !== undefined && current.modelIds.includes(modelId)),
  ];
  input.ignoreFocusOut = true;
  return new Promise<RunFilter | undefined>((resolve) => {
    input.onDidAccept(() => {
      resolve({
        text: input.value.trim(),
        modelIds: input.selectedItems.flatMap(({ modelId }) => (modelId === undefined ? [] : [modelId])),
        phases: input.selectedItems.flatMap(({ phase }) => (phase === undefined ? [] : [phase])),
      });
    });
    input.onDidHide(() => resolve(undefined));
    input.show();
  }).finally(() => input.dispose());
}
