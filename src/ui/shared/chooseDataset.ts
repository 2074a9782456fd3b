import path from 'node:path';
import { CancellationTokenSource, l10n, TabInputCustom, TabInputText, Uri, window, workspace } from 'vscode';
import { isAnswersFile } from '../../core/answers/answersFile.ts';
import { MAX_DATASET_BYTES } from '../../core/api/types.ts';
import { inspectDataset, type DatasetFile } from '../../core/datasets/fileKind.ts';
import { filesOf } from './arguments.ts';
import { refusalSentence } from './datasetTexts.ts';
import { askModal, showError, showWarning } from './notifications.ts';
import { sanitizeServiceText } from './serviceText.ts';
import { pick, type PickRow } from './steps.ts';
import { tabsOf } from './tabs.ts';
import { TERMS } from './terms.ts';

/** Leaves room for the rest of a sentence. */
const MAX_NAME_UNITS = 60;

/** JSONL by its ending or language, any file that may become JSONL, or JSONL with answers to compare. */
type Wanted = 'jsonl' | 'any' | 'answers';

/**
 * Returns the file of the menu's argument, else of the active tab, else one that the user picks. VS Code
 * doesn't sync files over 50 MiB to extensions: they have no `activeTextEditor`, but a tab with a URI.
 */
export async function chooseDataset(
  argument: unknown,
  selection?: unknown,
  wanted: Wanted = 'jsonl',
): Promise<Uri | undefined> {
  const files = filesOf(argument, selection);
  if (files.length > 1) return pickOne(files, wanted);
  const given = files[0] ?? activeTabUri(wanted);
  const isWanted = files.length > 0 || wanted !== 'answers' || (given && (await isAnswersFile(given.fsPath)));
  return isWanted ? (given ?? offerFiles(wanted)) : offerFiles(wanted);
}

function activeTabUri(active: Wanted): Uri | undefined {
  const input = window.tabGroups.activeTabGroup.activeTab?.input;
  const uri = input instanceof TabInputText || input instanceof TabInputCustom ? input.uri : undefined;
  if (uri === undefined || active === 'any') return uri;
  const document = window.activeTextEditor?.document;
  const isJsonl = document?.uri.toString() === uri.toString() && document.languageId === 'jsonl';
  return isJsonl || /\.(jsonl|ndjson)$/i.test(uri.path) ? uri : undefined;
}

/** The longest search of a large workspace. */
const SEARCH_MS = 2_000;
const MAX_OFFERED = 200;

/** Offers the workspace's datasets, or its files of answers except `but` (the first of two), and any other file. */
export async function offerFiles(wanted: Wanted, but?: string): Promise<Uri | undefined> {
  const search = new CancellationTokenSource();
  const timer = setTimeout(() => search.cancel(), SEARCH_MS);
  const found = await workspace.findFiles(
    wanted === 'any' ? '**/*.{jsonl,ndjson,csv,tsv}' : '**/*.{jsonl,ndjson}',
    '**/node_modules/**',
    MAX_OFFERED,
    search.token,
  );
  clearTimeout(timer);
  search.dispose();
  const hasAnswers = async ({ fsPath }: Uri) => fsPath !== but && (await isAnswersFile(fsPath));
  const haveAnswers = await Promise.all(found.map(hasAnswers));
  const offered = found.filter((_, index) => haveAnswers[index] === (wanted === 'answers'));
  const inOrder = offered.toSorted((one, two) => (one.path < two.path ? -1 : 1));
  return offered.length === 0 ? openDataset(wanted, but) : pickOne(inOrder, wanted, { but });
}

/** Asks the user for a file. */
export async function openDataset(wanted: Wanted = 'jsonl', but?: string): Promise<Uri | undefined> {
  const chosen = await window.showOpenDialog({
    title: titleOf(wanted, but),
    openLabel: wanted === 'answers' ? TERMS.compareAnswers : l10n.t('Use as Dataset'),
    filters: { JSONL: ['jsonl', 'ndjson'], [TERMS.allFiles]: ['*'] },
    canSelectMany: false,
  });
  return chosen?.[0];
}

function titleOf(wanted: Wanted, but: string | undefined): string {
  if (but !== undefined) return l10n.t('Choose Answers to Compare with {0}', datasetName(Uri.file(but)));
  return wanted === 'answers' ? l10n.t('Choose Answers to Compare') : l10n.t('Choose a Dataset');
}

/** @param search what was searched, if the list is to offer another file */
async function pickOne(
  uris: readonly Uri[],
  wanted: Wanted,
  search?: { but: string | undefined },
): Promise<Uri | undefined> {
  const items: PickRow<Uri | undefined>[] = uris.map((uri) => ({
    icon: 'file',
    label: datasetName(uri),
    description: path.posix.dirname(workspace.asRelativePath(uri)).replace(/^\.$/, ''),
    value: uri,
  }));
  if (search !== undefined)
    items.push({ icon: 'folder-opened', label: l10n.t('Choose Another File…'), value: undefined });
  const answer = await pick(
    { title: titleOf(wanted, search?.but) },
    { placeholder: wanted === 'answers' ? '' : l10n.t('A run trains on one file. Which one?'), items },
  );
  return answer.kind === 'value' ? (answer.value ?? openDataset(wanted, search?.but)) : undefined;
}

/** Like `chooseDataset`, but asks to save unsaved changes, with the reason, or where to save an untitled file. */
export async function chooseSaved(
  reason: string,
  ...which: Parameters<typeof chooseDataset>
): Promise<Uri | undefined> {
  const uri = await chooseDataset(...which);
  if (uri?.scheme === 'untitled') return workspace.save(uri);
  // Unlike the document, the tab exists even if the file is too large to be synced.
  const isDirty = () => uri !== undefined && tabsOf(uri).some((tab) => tab.isDirty);
  if (uri === undefined || !isDirty()) return uri;
  const question = l10n.t('{0} has unsaved changes.', datasetName(uri));
  const buttons = { [l10n.t('Save and Continue')]: true };
  if ((await askModal(showWarning, question, reason, buttons)) !== true) return undefined;
  const saved = await workspace.save(uri);
  // `save` may also return undefined because one of the file's editors, a preview, had nothing to save.
  return saved ?? (isDirty() ? undefined : uri);
}

/** Returns the file, or undefined after an error message if it can't be a dataset. */
export async function inspectOrRefuse(uri: Uri): Promise<DatasetFile | undefined> {
  const file = uri.scheme === 'file' ? await inspectDataset(uri.fsPath, MAX_DATASET_BYTES) : 'not-on-disk';
  if (typeof file !== 'string') return file;
  void showError(refusalSentence(datasetName(uri), file));
  return undefined;
}

/** Returns the name of a dataset for display. */
export function datasetName(uri: Uri): string {
  return sanitizeServiceText(path.posix.basename(uri.path), MAX_NAME_UNITS);
}
