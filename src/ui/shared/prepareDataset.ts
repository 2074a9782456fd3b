import path from 'node:path';
import * as vscode from 'vscode';
import { MAX_DATASET_BYTES } from '../../core/api/types.ts';
import { isSameStamp } from '../../core/base/fileStamp.ts';
import {
  CheckError,
  countProblems,
  isBlank,
  isConvertible,
  isUnread,
  verdictOf,
  type CheckFailure,
  type Report,
} from '../../core/datasets/report.ts';
import { inspectDataset, type DatasetFile } from '../../core/datasets/fileKind.ts';
import type { Reports } from '../../core/datasets/reports.ts';
import type { Intent } from '../../core/submission/intent.ts';
import { filesOf } from './arguments.ts';
import { checkingTitle, failureSentence, foundCounts, KINDS, refusalSentence } from './datasetTexts.ts';
import { compact, formatRows } from './format.ts';
import { COMMANDS } from './ids.ts';
import { askModal, showError, showWarning, withLateProgress } from './notifications.ts';
import type { Log } from './log.ts';
import { sanitizeServiceText } from './serviceText.ts';
import { pick, type Choice } from './steps.ts';
import { tabsOf } from './tabs.ts';
import { TERMS } from './terms.ts';

/** How often a dataset that changed after its check is checked again. */
const MAX_RECHECKS = 2;

/** Leaves room for the rest of a sentence. */
const MAX_NAME_UNITS = 60;

/** A dataset that may be submitted: only the bytes that the file had when it was checked. */
export interface CheckedDataset {
  file: DatasetFile;
  /** Undefined if the user knows the verdict from an earlier check. */
  check?: Report | 'unchecked';
  counts: { rows?: number; characters?: number };
  /** The hash of the checked bytes, if known. */
  sha256?: string;
}

/** What `prepareDataset` needs for a check. */
export interface DatasetChecks {
  reports: Pick<Reports, 'markRequested' | 'currentReport'>;
  log: Pick<Log, 'error'>;
  /** The dataset of an earlier submission, which is checked again only if the file changed. */
  known?: Intent['dataset'];
}

/**
 * Chooses a dataset, saves it, and checks it. The user must confirm errors and secrets twice.
 * @returns undefined if the user canceled, or was shown why there is nothing to submit
 * @throws CancelledError
 */
export async function prepareDataset(
  argument: unknown,
  selection: unknown,
  accountName: string,
  checks: DatasetChecks,
): Promise<CheckedDataset | undefined> {
  const chosen = await chooseDataset(argument, selection);
  const uri = chosen && (await saveIfNeeded(chosen));
  let file = uri && (await inspectOrRefuse(uri));
  if (uri === undefined || file === undefined) return undefined;
  const { known } = checks;
  if (known?.path === file.path && isSameStamp(known, file)) {
    const { rows, characters, sha256 } = known;
    return { file, counts: { rows, characters }, sha256 };
  }
  const name = nameOf(uri);
  checks.reports.markRequested(uri.fsPath);
  for (let recheck = 0; recheck <= MAX_RECHECKS; recheck += 1) {
    const check = await passGate(uri, accountName, checks);
    file = check && (await inspectOrRefuse(uri));
    if (check === undefined || file === undefined) return undefined;
    if (check === 'unchecked') return { file, check, counts: {} };
    const { kind, rows, statistics } = check;
    if (isSameStamp(check, file))
      return { file, check, counts: kind === 'rows' ? { rows, characters: statistics.characters } : {} };
  }
  void showError(failureSentence(name, 'changing'));
  return undefined;
}

/**
 * Returns the file of the menu's argument, else that of the active tab, else one that the user picks. VS Code doesn't sync files
 * over 50 MiB to extensions: there is no `activeTextEditor` for them, but their tabs provide the URI.
 * @param active which file of the active tab: of JSONL by its ending or language, or any
 */
export async function chooseDataset(
  argument: unknown,
  selection?: unknown,
  active: 'jsonl' | 'any' = 'jsonl',
): Promise<vscode.Uri | undefined> {
  const files = filesOf(argument, selection);
  return files.length > 1 ? pickOne(files) : (files[0] ?? activeTabUri(active) ?? offerDatasets());
}

function activeTabUri(active: 'jsonl' | 'any'): vscode.Uri | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  const uri =
    input instanceof vscode.TabInputText || input instanceof vscode.TabInputCustom ? input.uri : undefined;
  if (uri === undefined || active === 'any') return uri;
  const document = vscode.window.activeTextEditor?.document;
  const isJsonl = document?.uri.toString() === uri.toString() && document.languageId === 'jsonl';
  return isJsonl || /\.(jsonl|ndjson)$/i.test(uri.path) ? uri : undefined;
}

/** The user doesn't have to wait longer, even if the workspace is large. */
const SEARCH_MS = 2_000;
const MAX_OFFERED = 200;

/** Offers the JSONL files of the workspace, and any other file. */
async function offerDatasets(): Promise<vscode.Uri | undefined> {
  const search = new vscode.CancellationTokenSource();
  const timer = setTimeout(() => search.cancel(), SEARCH_MS);
  const found = await vscode.workspace.findFiles(
    '**/*.{jsonl,ndjson}',
    '**/node_modules/**',
    MAX_OFFERED,
    search.token,
  );
  clearTimeout(timer);
  search.dispose();
  return found.length === 0 ? openDataset() : pickOne(found.toSorted(byPath), openDataset);
}

function byPath(one: vscode.Uri, other: vscode.Uri): number {
  return one.path < other.path ? -1 : 1;
}

/** Asks the user for a file. */
export async function openDataset(): Promise<vscode.Uri | undefined> {
  const chosen = await vscode.window.showOpenDialog({
    title: vscode.l10n.t('Choose a Dataset'),
    openLabel: vscode.l10n.t('Use as Dataset'),
    filters: { JSONL: ['jsonl', 'ndjson'], [TERMS.allFiles]: ['*'] },
    canSelectMany: false,
  });
  return chosen?.[0];
}

/** @param other asks for another file, if the list is to offer that */
async function pickOne(
  uris: readonly vscode.Uri[],
  other?: () => Promise<vscode.Uri | undefined>,
): Promise<vscode.Uri | undefined> {
  const items: Choice<vscode.Uri | undefined>[] = uris.map((uri) => ({
    icon: 'file',
    label: nameOf(uri),
    description: path.posix.dirname(vscode.workspace.asRelativePath(uri)).replace(/^\.$/, ''),
    value: uri,
  }));
  if (other !== undefined)
    items.push({ icon: 'folder-opened', label: vscode.l10n.t('Choose Another File…'), value: undefined });
  const answer = await pick(
    { title: vscode.l10n.t('Choose a Dataset') },
    { placeholder: vscode.l10n.t('A run trains on one file. Which one?'), items },
  );
  if (answer.kind !== 'value') return undefined;
  return answer.value ?? other?.();
}

/** Asks to save unsaved changes, or where to save an untitled file; undefined if the user declined. */
async function saveIfNeeded(uri: vscode.Uri): Promise<vscode.Uri | undefined> {
  if (uri.scheme === 'untitled') return vscode.workspace.save(uri);
  // Unlike the document, the tab exists even if the file is too large to be synced.
  const isDirty = () => tabsOf(uri).some((tab) => tab.isDirty);
  if (!isDirty()) return uri;
  if (!(await confirmSave(nameOf(uri)))) return undefined;
  const saved = await vscode.workspace.save(uri);
  // `save` may also return undefined because one of the file's editors, a preview, had nothing to save.
  return saved ?? (isDirty() ? undefined : uri);
}

/** Asks whether to save a dataset before it is submitted. */
async function confirmSave(name: string): Promise<boolean> {
  const question = vscode.l10n.t('{0} has unsaved changes.', name);
  const detail = vscode.l10n.t('Only the saved file is submitted.');
  return (
    (await askModal(showWarning, question, detail, { [vscode.l10n.t('Save and Continue')]: true })) === true
  );
}

/** Returns the file, or undefined after an error message if it can't be a dataset. */
export async function inspectOrRefuse(uri: vscode.Uri): Promise<DatasetFile | undefined> {
  const file = uri.scheme === 'file' ? await inspectDataset(uri.fsPath, MAX_DATASET_BYTES) : 'not-on-disk';
  if (typeof file !== 'string') return file;
  void showError(refusalSentence(nameOf(uri), file));
  return undefined;
}

/** Checks the file until there is a verdict or the user continues without one; undefined if the submission ends here. */
async function passGate(
  uri: vscode.Uri,
  accountName: string,
  { reports, log }: DatasetChecks,
): Promise<Report | 'unchecked' | undefined> {
  const name = nameOf(uri);
  for (;;) {
    const found = await withLateProgress(checkingTitle(name), (signal, onProgress) =>
      reportOrFailure(reports.currentReport(uri.fsPath, signal, onProgress), log),
    );
    if (typeof found === 'string') {
      const choice = await confirmUnchecked(name, found, accountName);
      if (choice === 'again') continue;
      return choice;
    }
    const choice = verdictOf(found) === 'errors' ? await confirmProblems(name, found, accountName) : 'submit';
    if (choice === 'problems') await vscode.commands.executeCommand(COMMANDS.showDatasetProblems, uri);
    if (choice === 'convert') await vscode.commands.executeCommand(COMMANDS.convertToJsonl, uri);
    return choice === 'submit' ? found : undefined;
  }
}

/** Asks twice, so that a habitual click sends no secret. In both dialogs, Enter shows the problems. */
async function confirmProblems(
  name: string,
  report: Report,
  accountName: string,
): Promise<'problems' | 'convert' | 'submit' | undefined> {
  const why = stoppingPhrase(report);
  const choice = await askModal(
    showWarning,
    vscode.l10n.t('{0} is not ready to submit: {1}.', name, why),
    stoppingDetail(report),
    {
      [TERMS.showProblems]: 'problems',
      ...(isConvertible(report.kind) && { [TERMS.convertToJsonl]: 'convert' }),
      [vscode.l10n.t('Submit Anyway…')]: 'continue',
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
  if (isBlank(report)) return vscode.l10n.t('it has only blank rows');
  const counts = countProblems(report);
  return compact(
    ...foundCounts({ ...counts, warnings: 0 }),
    counts.unchecked > 0 && vscode.l10n.t('{0} too long to check', formatRows(counts.unchecked)),
  ).join(', ');
}

/** Asks how to continue after a failed check. Submitting without a verdict is offered only if the check itself crashed. */
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

/** Awaits a check and returns its report, or why it failed. @throws CancelledError */
export async function reportOrFailure(
  check: Promise<Report>,
  log: Pick<Log, 'error'>,
): Promise<Report | CheckFailure> {
  try {
    return await check;
  } catch (error) {
    if (!(error instanceof CheckError)) throw error;
    log.error('not-checked', error);
    return error.code;
  }
}

function nameOf(uri: vscode.Uri): string {
  return sanitizeServiceText(path.posix.basename(uri.path), MAX_NAME_UNITS);
}
