import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';
import { commands, l10n, Uri, workspace } from 'vscode';
import { isSameStamp } from '../../core/base/fileStamp.ts';
import { isMendable } from '../../core/datasets/copyTypes.ts';
import type { DatasetFile } from '../../core/datasets/fileKind.ts';
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
import type { DatasetSize } from '../../core/money/estimate.ts';
import type { Submission } from '../../core/submission/submission.ts';
import { chooseSaved, datasetName, inspectOrRefuse } from '../shared/chooseDataset.ts';
import type { CommandResult } from '../shared/commands.ts';
import { checkingDatasetTitle, failureSentence, foundCounts, KINDS, useOf } from '../shared/datasetTexts.ts';
import { compact, formatBytes, formatRows } from '../shared/format.ts';
import { COMMANDS, type CommandId } from '../shared/ids.ts';
import type { Log } from '../shared/log.ts';
import { askModal, showError, showWarning, withLateProgress } from '../shared/notifications.ts';
import { TERMS } from '../shared/terms.ts';

/** A dataset that may be submitted, with exactly the bytes that were checked. */
export interface CheckedDataset {
  file: DatasetFile;
  place: DatasetLocation;
  /** Undefined if the user knows the verdict from an earlier check. */
  check?: Report | 'unchecked';
  counts: { rows?: number; characters?: number };
  /** The hash of the checked bytes, if known. */
  sha256?: string;
}

/** What `chooseCheckedDataset` needs for a check. */
interface DatasetChecks {
  accountName: string;
  reports: Pick<Reports, 'markRequested' | 'currentReport'>;
  log: Pick<Log, 'error'>;
  /** The dataset of an earlier submission. It is checked again only if the file changed. */
  known?: Submission['dataset'] | undefined;
}

/**
 * Chooses a dataset, saves it, and checks it. The user must confirm errors and secrets twice.
 * @returns the end of the command if the user canceled, or was shown why there is nothing to submit
 * @throws CancelledError
 */
export async function chooseCheckedDataset(
  argument: unknown,
  selection: unknown,
  checks: DatasetChecks,
): Promise<CheckedDataset | CommandResult> {
  const uri = await chooseSaved(l10n.t('Only the saved file is submitted.'), argument, selection);
  if (uri === undefined) return { outcome: 'cancelled' };
  const file = await inspectOrRefuse(uri);
  if (file === undefined) return { outcome: 'failed' };
  const { known } = checks;
  if (known?.path !== file.path || !isSameStamp(known, file)) {
    checks.reports.markRequested(uri.fsPath);
    return checkDataset(uri, checks, MAX_RECHECKS);
  }
  const { rows, characters, sha256 } = known;
  return { file, place: await datasetPlaceOf(file.path), counts: { rows, characters }, sha256 };
}

/** How often a dataset that changed after its check is checked again. */
const MAX_RECHECKS = 2;

/** Checks the file until there is a verdict for its bytes, or the user continues without one. */
async function checkDataset(
  uri: Uri,
  checks: DatasetChecks,
  rechecks: number,
): Promise<CheckedDataset | CommandResult> {
  const { accountName, log, reports } = checks;
  const name = datasetName(uri);
  const found = await withLateProgress(checkingDatasetTitle(name), (signal, onProgress) =>
    reportOrFailure(reports.currentReport(uri.fsPath, signal, onProgress), log),
  );
  const isReport = typeof found !== 'string';
  const choice = isReport
    ? await confirmProblems(name, found, accountName)
    : await confirmUnchecked(name, found, accountName);
  if (choice === 'again') return checkDataset(uri, checks, rechecks);
  if (choice !== 'submit') {
    if (choice !== undefined) await commands.executeCommand(choice, uri);
    return { outcome: 'cancelled' };
  }
  const file = await inspectOrRefuse(uri);
  if (file === undefined) return { outcome: 'failed' };
  const place = await datasetPlaceOf(file.path);
  if (!isReport) return { file, place, check: 'unchecked', counts: {} };
  const { kind, rows, statistics } = found;
  if (isSameStamp(found, file)) {
    const counts = kind === 'rows' ? { rows, characters: statistics.characters } : {};
    return { file, place, check: found, counts };
  }
  if (rechecks > 0) return checkDataset(uri, checks, rechecks - 1);
  void showError(failureSentence(name, 'changing'));
  return { outcome: 'failed' };
}

/**
 * Asks twice about serious problems, so that a habitual click sends no secret. Enter converts a file without
 * rows, else shows the problems. @returns the command that was chosen instead, if any
 */
async function confirmProblems(
  name: string,
  report: Report,
  accountName: string,
): Promise<'submit' | CommandId | undefined> {
  if (verdictOf(report) !== 'errors') return 'submit';
  const why = stoppingPhrase(report);
  const use = useOf(report);
  const areAnswers = report.kind === 'answers';
  const choice = await askModal(
    showWarning,
    l10n.t('{0} isn’t ready to submit: {1}.', name, why),
    stoppingDetail(report),
    {
      ...(use && { [use.title]: use.command }),
      ...(!areAnswers && { [TERMS.showProblems]: COMMANDS.showDatasetProblems }),
      ...(isMendable(report) && { [TERMS.prepareCopy]: COMMANDS.prepareDataset }),
      // Nobody means to train with the answers of two models.
      ...(!areAnswers && { [l10n.t('Submit Anyway…')]: 'continue' }),
    },
  );
  if (choice !== 'continue') return choice;
  return askModal(
    showWarning,
    l10n.t('Submit {0} despite these problems?', name),
    l10n.t('It will be sent to {0} unchanged: {1}. A final confirmation follows.', accountName, why),
    { [TERMS.showProblems]: COMMANDS.showDatasetProblems, [TERMS.submitAnyway]: 'submit' },
  );
}

function stoppingDetail(report: Report): string {
  const { kind } = report;
  const { errors, secrets, unchecked } = countProblems(report);
  const isRows = kind === 'rows';
  return compact(
    !isRows && KINDS[kind][1],
    isRows && errors > 0 && l10n.t('The service may reject the file, or charge for unusable rows.'),
    isRows && secrets > 0 && l10n.t('Secrets would leave this machine, and a model can repeat them.'),
    (unchecked > 0 || isUnread(kind)) && l10n.t('The unchecked part may contain secrets.'),
    NOTHING_SENT,
  ).join(' ');
}

/** Why a submission needs confirmation: "3 errors, 1 secret", or what the file is if it has no rows. */
function stoppingPhrase(report: Report): string {
  if (report.kind !== 'rows') return KINDS[report.kind][0];
  if (hasOnlyBlankRows(report)) return l10n.t('it has only blank rows');
  const { unchecked } = countProblems(report);
  return compact(
    ...foundCounts(report, false),
    unchecked > 0 && l10n.t('{0} too long to check', formatRows(unchecked)),
  ).join(', ');
}

/** Asks how to continue after a failed check. Only if the check crashed, it can be submitted unchecked. */
async function confirmUnchecked(
  name: string,
  failure: CheckFailure,
  accountName: string,
): Promise<'again' | 'submit' | undefined> {
  const choice = await askModal(showWarning, failureSentence(name, failure), NOTHING_SENT, {
    ...(failure !== 'missing' && { [TERMS.checkAgain]: 'again' }),
    ...(failure === 'worker-died' && { [l10n.t('Submit Without Checking…')]: 'continue' }),
  });
  if (choice !== 'continue') return choice;
  return askModal(
    showWarning,
    l10n.t('Submit {0} without checking?', name),
    l10n.t('It will be sent to {0} unchecked. A final confirmation follows.', accountName),
    { [TERMS.checkAgain]: 'again', [l10n.t('Submit Without Checking')]: 'submit' },
  );
}

const NOTHING_SENT = l10n.t('Nothing has been sent.');

/** Where a dataset really is: relative to the workspace if it is inside, else absolute. */
export interface DatasetLocation {
  file: string;
  folder: string;
  /** Whether the dataset is a link to a file of another name. */
  isLink: boolean;
}

/** The longest folder that the final question shows uncut. */
export const MAX_FOLDER_UNITS = 44;

/** Whether the final question cuts the folder, so that the summary shows it in a row of its own. */
export function isLongFolder({ folder }: DatasetLocation): boolean {
  return folder.length > MAX_FOLDER_UNITS;
}

/** The size of a dataset, as the summary, the final question and the dialog of an open submission show it. */
export function sizeFacts({ bytes, rows }: DatasetSize): string[] {
  return compact(formatBytes(bytes), rows !== undefined && formatRows(rows));
}

/** Resolves links, which could make two datasets look the same. Never rejects. */
export async function datasetPlaceOf(file: string): Promise<DatasetLocation> {
  const resolve = (name: string) => realpath(name).catch(() => name);
  const real = await resolve(file);
  const [root, ...others] = workspace.workspaceFolders ?? [];
  // Two folders of a workspace may have the same name.
  const base = root === undefined || others.length > 0 ? undefined : await resolve(root.uri.fsPath);
  const shown = (name: string) => {
    const inside = base === undefined ? '' : path.relative(base, name);
    const isOutside = inside === '' || inside.split(path.sep)[0] === '..' || path.isAbsolute(inside);
    return isOutside ? name : inside;
  };
  const isLink = await lstat(file).then(
    (stats) => stats.isSymbolicLink() && path.basename(real) !== path.basename(file),
    () => false,
  );
  return { file: shown(real), folder: shown(path.dirname(real)), isLink };
}
