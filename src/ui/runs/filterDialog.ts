import * as vscode from 'vscode';
import { phaseName, runCount, type Phase } from './listMessages.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';

/** What a person chooses: words, and any of the models and phases. */
export interface FilterChoice {
  text: string;
  modelIds: readonly string[];
  phases: readonly Phase[];
}

/** What there is to choose from, with how many loaded runs each has. */
export interface FilterOffer {
  models: readonly { modelId: string; name: string; count: number }[];
  phases: readonly { phase: Phase; count: number }[];
}

type Item = vscode.QuickPickItem & { modelId?: string; phase?: Phase };

/**
 * One box for the whole filter: what is typed is looked for, what is ticked narrows it down, Enter takes both.
 * @returns undefined when it was left
 */
export function askForFilter(offer: FilterOffer, current: FilterChoice): Promise<FilterChoice | undefined> {
  const { l10n } = vscode;
  const input = vscode.window.createQuickPick<Item>();
  const separator = (label: string): Item => ({ label, kind: vscode.QuickPickItemKind.Separator });
  // What is typed filters the runs and not these rows.
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
  input.title = l10n.t('Filter Runs');
  input.placeholder = l10n.t('Words in label, model or id; tick phases and models');
  input.canSelectMany = true;
  input.items = [separator(l10n.t('Phase')), ...phases, separator(l10n.t('Model')), ...models];
  input.value = current.text;
  input.selectedItems = [
    ...phases.filter(({ phase }) => phase !== undefined && current.phases.includes(phase)),
    ...models.filter(({ modelId }) => modelId !== undefined && current.modelIds.includes(modelId)),
  ];
  input.ignoreFocusOut = true;
  return new Promise<FilterChoice | undefined>((resolve) => {
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
