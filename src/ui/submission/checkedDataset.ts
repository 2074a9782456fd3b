import * as vscode from 'vscode';
import { isSameStamp } from '../../core/base/fileStamp.ts';
import type { DatasetFile } from '../../core/datasets/fileKind.ts';
import { isMendable } from '../../core/datasets/copyTypes.ts';
import {
  countProblems,
  hasOnlyBlankRows,
  isUnread,
  reportOrFailure,
  verdictOf,
  type CheckFailure,
  type Report,
} from '../../core/datasets/report.ts';
import type { Reports } from '../../core/datasets/reports.ts';
import type { Intent } from '../../core/submission/intent.ts';
import { chooseDataset, inspectOrRefuse, datasetName, saveIfNeeded } from '../shared/chooseDataset.ts';
import type { CommandResult } from '../shared/commands.ts';
import { checkingDatasetTitle, failureSentence, foundCounts, KINDS, useOf } from '../shared/datasetTexts.ts';
import { compact, formatRows } from '../shared/format.ts';
import { COMMANDS } from '../shared/ids.ts';
import type { Log } from '../shared/log.ts';
import { askModal, showError, showWarning, withLateProgress } from '../shared/notifications.ts';
import { TERMS } from '../shared/terms.ts';

/** How often a dataset that changed after its check is checked again. */
const MAX_RECHECKS = 2;

/** A dataset that may be submitted, with exactly the bytes that were checked. */
export interface CheckedDataset {
  file: DatasetFile;
  /** Undefined if the user knows the verdict from an earlier check. */
  check?: Report | 'unchecked';
  counts: { rows?: number; characters?: number };
  /** The hash of the checked bytes, if known. */
  sha256?: string;
}

/** What `chooseCheckedDataset` needs for a check. */
export interface DatasetChecks {
  reports: Pick<Reports, 'markRequested' | 'currentReport'>;
  log: Pick<Log, 'error'>;
  /** The dataset of an earlier submission. It is checked again only if the file changed. */
  known?: Intent['dataset'];
}

/**
 * Chooses a dataset, saves it, and checks it. The user must confirm errors and secrets twice.
 * @returns the end of the command if the user canceled, or was shown why there is nothing to submit
 * @throws CancelledError
 */
export async function chooseCheckedDataset(
  argument: unknown,
  selection: unknown,
  accountName: string,
  checks: DatasetChecks,
): Promise<CheckedDataset | CommandResult> {
  const chosen = await chooseDataset(argument, selection);
  const uri = chosen && (await saveIfNeeded(chosen, vscode.l10n.t('Only the saved file is submitted.')));
  if (uri === undefined) return { outcome: 'cancelled' };
  let file = await inspectOrRefuse(uri);
  if (file === undefined) return { outcome: 'failed' };
  const { known } = checks;
  if (known?.path === file.path && isSameStamp(known, file)) {
    const { rows, characters, sha256 } = known;
    return { file, counts: { rows, characters }, sha256 };
  }
  const name = datasetName(uri);
  checks.reports.markRequested(uri.fsPath);
  for (let recheck = 0; recheck <= MAX_RECHECKS; recheck += 1) {
    const check = await checkUntilAccepted(uri, accountName, checks);
    if (check === undefined) return { outcome: 'cancelled' };
    file = await inspectOrRefuse(uri);
    if (file === undefined) return { outcome: 'failed' };
    if (check === 'unchecked') return { file, check, counts: {} };
    const { kind, rows, statistics } = check;
    if (isSameStamp(check, file))
      return { file, check, counts: kind === 'rows' ? { rows, characters: statistics.characters } : {} };
  }
  void showError(failureSentence(name, 'changing'));
  return { outcome: 'failed' };
}

/** Checks the file until there is a verdict or the user continues without one; undefined if the submission ends here. */
async function checkUntilAccepted(
  uri: vscode.Uri,
  accountName: string,
  { reports, log }: DatasetChecks,
): Promise<Report | 'unchecked' | undefined> {
  const name = datasetName(uri);
  for (;;) {
    const found = await withLateProgress(checkingDatasetTitle(name), (signal, onProgress) =>
      reportOrFailure(reports.currentReport(uri.fsPath, signal, onProgress), log),
    );
    if (typeof found === 'string') {
      const choice = await confirmUnchecked(name, found, accountName);
      if (choice === 'again') continue;
      return choice;
    }
    const choice = verdictOf(found) === 'errors' ? await confirmProblems(name, found, accountName) : 'submit';
    if (choice === 'problems') await vscode.commands.executeCommand(COMMANDS.showDatasetProblems, uri);
    if (typeof choice === 'object') await vscode.commands.executeCommand(choice.command, uri);
    if (choice === 'prepare') await vscode.commands.executeCommand(COMMANDS.prepareDataset, uri);
    return choice === 'submit' ? found : undefined;
  }
}

/** Asks twice, so that a habitual click sends no secret. Enter converts what isn't rows, else shows the problems. */
async function confirmProblems(
  name: string,
  report: Report,
  accountName: string,
): Promise<'problems' | 'prepare' | 'submit' | ReturnType<typeof useOf>> {
  const why = stoppingPhrase(report);
  const use = useOf(report);
  const areAnswers = report.kind === 'answers';
  const choice = await askModal(
    showWarning,
    vscode.l10n.t('{0} is not ready to submit: {1}.', name, why),
    stoppingDetail(report),
    {
      ...(use && { [use.title]: use }),
      ...(!areAnswers && { [TERMS.showProblems]: 'problems' }),
      ...(isMendable(report) && { [TERMS.prepareCopy]: 'prepare' }),
      // Nobody means to train with the answers of two models.
      ...(!areAnswers && { [vscode.l10n.t('Submit Anyway…')]: 'continue' }),
    },
  );
  if (choice !== 'continue') return choice;
  return askModal(
    showWarning,
    vscode.l10n.t('Submit {0} despite these problems?', name),
    vscode.l10n.t('It will be sent to {0} unchanged: {1}. A final confirmation follows.', accountName, why),
    { [TERMS.showProblems]: 'problems', [TERMS.submitAnyway]: 'submit' },
  );
}

function stoppingDetail(report: Report): string {
  const { kind } = report;
  const { errors, secrets, unchecked } = countProblems(report);
  const isRows = kind === 'rows';
  return compact(
    !isRows && KINDS[kind][1],
    isRows && errors > 0 && vscode.l10n.t('The service may reject the file, or charge for unusable rows.'),
    isRows && secrets > 0 && vscode.l10n.t('Secrets would leave this machine, and a model can repeat them.'),
    (unchecked > 0 || isUnread(kind)) && vscode.l10n.t('What wasn’t checked may contain secrets.'),
    NOTHING_SENT,
  ).join(' ');
}

/** Why a submission needs confirmation: "3 errors, 1 secret", or what the file is if it has no rows. */
function stoppingPhrase(report: Report): string {
  if (report.kind !== 'rows') return KINDS[report.kind][0];
  if (hasOnlyBlankRows(report)) return vscode.l10n.t('it has only blank rows');
  const { unchecked } = countProblems(report);
  return compact(
    ...foundCounts(report, false),
    unchecked > 0 && vscode.l10n.t('{0} too long to check', formatRows(unchecked)),
  ).join(', ');
}

/** Asks how to continue after a failed check. Only if the check crashed, it can be submitted unchecked. */
async function confirmUnchecked(
  name: string,
  failure: CheckFailure,
  accountName: string,
): Promise<'again' | 'unchecked' | undefined> {
  const choice = await askModal(showWarning, failureSentence(name, failure), NOTHING_SENT, {
    ...(failure !== 'missing' && { [TERMS.checkAgain]: 'again' }),
    ...(failure === 'worker-died' && { [vscode.l10n.t('Submit Without Checking…')]: 'continue' }),
  });
  if (choice !== 'continue') return choice;
  return askModal(
    showWarning,
    vscode.l10n.t('Submit {0} without checking?', name),
    vscode.l10n.t('It will be sent to {0} unchecked. A final confirmation follows.', accountName),
    { [TERMS.checkAgain]: 'again', [vscode.l10n.t('Submit Without Checking')]: 'unchecked' },
  );
}

const NOTHING_SENT = vscode.l10n.t('Nothing has been sent.');
