import * as vscode from 'vscode';
import { runIdOf } from './arguments.ts';
import { showInformation } from './notifications.ts';
import { pick } from './steps.ts';

/** A run as it can be chosen from a list. */
export interface RunChoice {
  runId: string;
  name: string;
  description: string;
}

/** The run of the argument, or, called from the palette, one that the user picks. */
export async function chooseRun(argument: unknown, runs: readonly RunChoice[]): Promise<string | undefined> {
  const given = runIdOf(argument);
  if (given !== undefined) return given;
  const { l10n } = vscode;
  if (runs.length === 0) {
    void showInformation(l10n.t('There are no matching runs.'));
    return undefined;
  }
  const answer = await pick(
    { title: l10n.t('Choose a Run'), step: 1, totalSteps: 1 },
    {
      placeholder: l10n.t('Which run?'),
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

/** Puts a run's id on the clipboard. */
export async function copyRunIdToClipboard(runId: string): Promise<void> {
  await vscode.env.clipboard.writeText(runId);
  void vscode.window.setStatusBarMessage(vscode.l10n.t('Run ID copied'), 3_000);
}
