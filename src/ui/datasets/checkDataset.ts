import path from 'node:path';
import * as vscode from 'vscode';
import { isMendable } from '../../core/datasets/copyTypes.ts';
import {
  type Report,
  reportOrFailure,
  type ShownProblem,
  shownProblems,
  type Verdict,
  verdictOf,
} from '../../core/datasets/report.ts';
import type { Reports } from '../../core/datasets/reports.ts';
import { filesOf } from '../shared/arguments.ts';
import { chooseDataset, inspectOrRefuse } from '../shared/chooseDataset.ts';
import type { CommandResult } from '../shared/commands.ts';
import {
  checkingDatasetTitle,
  failureSentence,
  privacyPhrase,
  sizePhrase,
  useOf,
  verdictPhrase,
} from '../shared/datasetTexts.ts';
import { compact, formatCount } from '../shared/format.ts';
import { COMMANDS, type CommandId } from '../shared/ids.ts';
import type { Log } from '../shared/log.ts';
import {
  notify,
  showError,
  showInformation,
  showWarning,
  withLateProgress,
} from '../shared/notifications.ts';
import { TERMS } from '../shared/terms.ts';
import { canShowProblems, openDocument } from './datasetProblems.ts';

/**
 * Checks one or more selected datasets and shows the verdict. Called as `(uri?, uris?)` from menus.
 * @throws CancelledError
 */
export async function checkDataset(
  reports: Reports,
  log: Log,
  argument?: unknown,
  selection?: unknown,
): Promise<CommandResult> {
  const selected = filesOf(argument, selection);
  if (selected.length > 1) return checkSeveral(reports, selected, log);
  const uri = await chooseDataset(argument, undefined, 'any');
  if (uri === undefined) return { outcome: 'cancelled' };
  if ((await inspectOrRefuse(uri)) === undefined) return { outcome: 'failed' };
  const name = path.posix.basename(uri.path);
  const found = await withLateProgress(checkingDatasetTitle(name), (signal, onProgress) =>
    reportOrFailure(reports.check(uri.fsPath, signal, onProgress), log),
  );
  if (typeof found !== 'string') {
    showVerdict(uri, name, found);
    return { outcome: 'done' };
  }
  const again = () => vscode.commands.executeCommand(COMMANDS.checkDataset, uri);
  notify(showError, failureSentence(name, found), found === 'missing' ? {} : { [TERMS.checkAgain]: again });
  return { outcome: 'failed' };
}

async function checkSeveral(reports: Reports, uris: readonly vscode.Uri[], log: Log): Promise<CommandResult> {
  const checked: Report[] = [];
  let failed = 0;
  await withLateProgress(
    vscode.l10n.t('Checking {0} datasets', formatCount(uris.length)),
    async (signal, onProgress) => {
      for (const [index, uri] of uris.entries()) {
        if ((await inspectOrRefuse(uri)) === undefined) continue;
        const check = reports.check(uri.fsPath, signal, (fraction) =>
          onProgress((index + fraction) / uris.length),
        );
        const found = await reportOrFailure(check, log);
        if (typeof found === 'string') failed += 1;
        else checked.push(found);
      }
    },
  );
  // An error was shown for each skipped file.
  if (checked.length + failed === 0) return { outcome: 'failed' };
  const unclean = checked.filter((report) => verdictOf(report) !== 'clean');
  const text = verdictsSentence(checked.map(verdictOf), failed);
  const show = { [TERMS.showProblems]: () => showProblemsOf(unclean) };
  notify(showInformation, text, unclean.length === 0 ? {} : show);
  return { outcome: checked.length < uris.length ? 'failed' : 'done' };
}

/** Shows the list of problems, and previews the files whose problems aren't listed. */
async function showProblemsOf(reports: readonly Report[]): Promise<void> {
  const previewed = reports.filter((report) => !canShowProblems(report));
  for (const report of previewed) await previewProblem(report);
  if (previewed.length < reports.length)
    await vscode.commands.executeCommand('workbench.panel.markers.view.focus');
}

/** Previews a dataset at its first problem. */
function previewProblem(report: Report): Thenable<CommandResult | undefined> {
  const target = { row: firstProblem(report)?.row };
  const uri = vscode.Uri.file(report.path);
  return vscode.commands.executeCommand<CommandResult>(COMMANDS.previewDataset, uri, undefined, target);
}

function firstProblem(report: Report): ShownProblem | undefined {
  return report.kind === 'rows' ? shownProblems(report, 1).shown[0] : undefined;
}

function showVerdict(uri: vscode.Uri, name: string, report: Report): void {
  const run = (command: CommandId) => () => vscode.commands.executeCommand(command, uri);
  const { kind } = report;
  const verdict = verdictOf(report);
  const use = useOf(report);
  const hasProblems = verdict !== 'clean' && kind !== 'answers';
  const isDirty = openDocument(uri.fsPath)?.isDirty === true;
  const show = verdict === 'errors' ? showWarning : showInformation;
  notify(show, verdictSentence(name, report, isDirty), {
    ...(use && { [use.title]: run(use.command) }),
    ...(hasProblems && { [TERMS.showProblems]: run(COMMANDS.showDatasetProblems) }),
    ...(isMendable(report) && { [TERMS.prepareCopy]: run(COMMANDS.prepareDataset) }),
    ...(kind !== 'answers' && { [vscode.l10n.t('Preview')]: run(COMMANDS.previewDataset) }),
    ...(kind === 'rows' && { [vscode.l10n.t('Submit…')]: run(COMMANDS.submitDataset) }),
  });
}

/** @param isDirty whether an editor has changes that are not in the checked file */
function verdictSentence(name: string, report: Report, isDirty: boolean): string {
  const privacy = privacyPhrase(report);
  return compact(
    vscode.l10n.t('{0}: {1}.', name, compact(verdictPhrase(report), sizePhrase(report.sizeBytes)).join(', ')),
    privacy && vscode.l10n.t('Includes {0}.', privacy),
    isDirty && vscode.l10n.t('Unsaved changes weren’t checked.'),
  ).join(' ');
}

function verdictsSentence(verdicts: readonly Verdict[], failed: number): string {
  const count = (verdict: Verdict) => verdicts.filter((one) => one === verdict).length;
  const [errors, warnings, clean] = [count('errors'), count('warnings'), count('clean')];
  const found = compact(
    errors > 0 && vscode.l10n.t('{0} with errors', formatCount(errors)),
    warnings > 0 && vscode.l10n.t('{0} with warnings', formatCount(warnings)),
    clean > 0 && vscode.l10n.t('{0} without problems', formatCount(clean)),
    failed > 0 && vscode.l10n.t('{0} not checked', formatCount(failed)),
  );
  return vscode.l10n.t('Checked: {0}.', found.join(', '));
}

/** Shows a file's problems in its editor, or in the preview if VS Code doesn't open it as text. Checks a file without a report. */
export async function showDatasetProblems(
  reports: Reports,
  uri?: unknown,
): Promise<CommandResult | undefined> {
  if (!(uri instanceof vscode.Uri)) return { outcome: 'unavailable' };
  const report = reports.get(uri.fsPath)?.report;
  if (report === undefined) return vscode.commands.executeCommand<CommandResult>(COMMANDS.checkDataset, uri);
  if (!canShowProblems(report)) return previewProblem(report);
  const { line = 1, column = 1 } = firstProblem(report) ?? {};
  const place = new vscode.Position(line - 1, column - 1);
  await vscode.window.showTextDocument(uri, {
    selection: new vscode.Range(place, place),
    preserveFocus: true,
  });
  await vscode.commands.executeCommand('workbench.panel.markers.view.focus');
}
