import { stat } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { MAX_DATASET_BYTES } from '../../core/api/types.ts';
import {
  convertDataset,
  ConvertError,
  MAX_COLUMNS,
  MAX_REQUESTS,
  type ConvertedFile,
  type ConvertFailure,
  type LeftOutRequest,
  type RequestCounts,
} from '../../core/datasets/convert.ts';
import type { DatasetFile } from '../../core/datasets/fileKind.ts';
import { chooseDataset, inspectOrRefuse, datasetName, saveIfNeeded } from '../shared/chooseDataset.ts';
import type { CommandResult } from '../shared/commands.ts';
import { compact, formatCount, formatRows } from '../shared/format.ts';
import { COMMANDS, type CommandId } from '../shared/ids.ts';
import type { Log } from '../shared/log.ts';
import { notify, showError, showInformation, withLateProgress } from '../shared/notifications.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { TERMS } from '../shared/terms.ts';
import { notWritten, openWritten } from './prepareCopy.ts';

/**
 * Writes the rows of a file beside it as JSONL, then opens and checks that. Called as `(uri?, uris?)`.
 * @param worker the script of the thread
 * @throws CancelledError
 */
export async function convertToJsonl(
  worker: string,
  log: Log,
  argument?: unknown,
  selection?: unknown,
): Promise<CommandResult> {
  const chosen = await chooseDataset(argument, selection, 'any');
  const uri = chosen && (await saveIfNeeded(chosen, vscode.l10n.t('Only the saved file is converted.')));
  if (uri === undefined) return { outcome: 'cancelled' };
  const source = await inspectOrRefuse(uri);
  if (source === undefined) return { outcome: 'failed' };
  const name = datasetName(uri);
  let converted = await convert({ source }, name, worker, log);
  if (converted === 'needs-input') {
    const batchInput = await chooseInput(uri);
    if (typeof batchInput === 'string') return { outcome: batchInput };
    converted = await convert({ source, batchInput }, name, worker, log);
  }
  if (typeof converted === 'string') return { outcome: 'failed' };
  const made = vscode.Uri.file(converted.path);
  const run = (command: CommandId) => () => vscode.commands.executeCommand(command, made);
  notify(
    showInformation,
    convertedSentence(converted),
    converted.requests === undefined
      ? {}
      : {
          [TERMS.prepareCopy]: run(COMMANDS.prepareDataset),
          [vscode.l10n.t('Preview')]: run(COMMANDS.previewDataset),
        },
  );
  await openWritten(converted.path);
  await vscode.commands.executeCommand(COMMANDS.checkDataset, made);
  return { outcome: 'done' };
}

/** Asks for the input of a batch, which has the requests. */
async function chooseInput(output: vscode.Uri): Promise<DatasetFile | 'cancelled' | 'failed'> {
  const [folder, name] = [path.dirname(output.fsPath), path.basename(output.fsPath)];
  const beside = path.join(folder, name.replace(/output/i, 'input'));
  const isThere = beside !== output.fsPath && (await stat(beside).catch(() => undefined)) !== undefined;
  const [chosen] =
    (await vscode.window.showOpenDialog({
      title: vscode.l10n.t('Choose the batch’s input file'),
      openLabel: vscode.l10n.t('Use as Input'),
      defaultUri: vscode.Uri.file(isThere ? beside : folder),
      filters: { JSONL: ['jsonl', 'ndjson'], [TERMS.allFiles]: ['*'] },
    })) ?? [];
  return chosen === undefined ? 'cancelled' : ((await inspectOrRefuse(chosen)) ?? 'failed');
}

/** Writes the file; otherwise an error message is shown, or the input of a batch is needed. @throws CancelledError */
async function convert(
  { source, batchInput }: { source: DatasetFile; batchInput?: DatasetFile },
  name: string,
  worker: string,
  log: Log,
): Promise<ConvertedFile | 'failed' | 'needs-input'> {
  try {
    return await withLateProgress(vscode.l10n.t('Converting {0}', name), (signal, onProgress) =>
      convertDataset(source, worker, MAX_DATASET_BYTES, { signal, onProgress, batchInput }),
    );
  } catch (error) {
    const failure = error instanceof ConvertError ? error : undefined;
    if (failure?.code === 'needs-input') return failure.code;
    const folder = path.basename(path.dirname(source.path));
    const sentence =
      failure === undefined ? notWritten(error, name, folder) : notConverted(failure.code, failure, name);
    if (sentence === undefined) throw error;
    log.error('convert', error);
    void showError(sentence);
    return 'failed';
  }
}

function convertedSentence({ path: file, rows, ragged, requests }: ConvertedFile): string {
  const name = sanitizeServiceText(path.basename(file));
  if (requests !== undefined) {
    const all = Object.values(requests.leftOut).reduce((sum, count) => sum + count, rows);
    return compact(
      vscode.l10n.t('Created {0}: {1} of {2}.', name, formatCount(rows), formatRows(all)),
      leftOutSentence(requests),
    ).join(' ');
  }
  return compact(
    vscode.l10n.t('Created {0}: {1}.', name, formatRows(rows)),
    ragged > 0 && vscode.l10n.t('Left out: {0} with another number of values.', formatCount(ragged)),
  ).join(' ');
}

/** Why requests and answers are left out. */
const LEFT_OUT: Readonly<Record<LeftOutRequest, (count: string) => string>> = {
  failed: (count) => vscode.l10n.t('{0} failed', count),
  'cut-off': (count) => vscode.l10n.t('{0} cut off at the limit of tokens', count),
  filtered: (count) => vscode.l10n.t('{0} filtered', count),
  refused: (count) => vscode.l10n.t('{0} refused', count),
  empty: (count) => vscode.l10n.t('{0} empty', count),
  'no-request': (count) => vscode.l10n.t('{0} without a request', count),
  'other-endpoint': (count) => vscode.l10n.t('{0} of another endpoint', count),
  unrecognized: (count) => vscode.l10n.t('{0} not recognized', count),
  'not-json': (count) => vscode.l10n.t('{0} not JSON', count),
  'too-long': (count) => vscode.l10n.t('{0} longer than 16 MB', count),
};

function leftOutSentence({ leftOut, several }: RequestCounts): string | undefined {
  const reasons = Object.keys(LEFT_OUT) as LeftOutRequest[];
  const list = compact(
    ...reasons.map((reason) => leftOut[reason] && LEFT_OUT[reason](formatCount(leftOut[reason]))),
  );
  const further = formatCount(several);
  if (list.length === 0)
    return several > 0
      ? vscode.l10n.t('Of {0} with several answers the first was kept.', further)
      : undefined;
  if (several > 0) list.push(vscode.l10n.t('of {0} with several answers the first was kept', further));
  return vscode.l10n.t('Left out: {0}.', list.join(', '));
}

type ShownFailure = Exclude<ConvertFailure, 'needs-input'>;

/** Why a file can't be converted, and what to do. */
function notConverted(code: ShownFailure, { row = 0, requests }: ConvertError, name: string): string {
  const number = formatCount(row);
  const sentences: Readonly<Record<ShownFailure, string>> = {
    unknown: vscode.l10n.t('Nothing was written: {0} is neither JSON nor CSV.', name),
    'not-json': vscode.l10n.t('Nothing was written: {0} isn’t valid JSON.', name),
    'not-utf-8': vscode.l10n.t('{0} isn’t UTF-8. Save it as UTF-8 first.', name),
    'not-utf-16': vscode.l10n.t('Nothing was written: {0} isn’t valid UTF-16.', name),
    'no-rows': vscode.l10n.t('Nothing was written: {0} has no rows.', name),
    ragged: vscode.l10n.t('Nothing was written: no row of {0} has as many values as its header.', name),
    'too-large': vscode.l10n.t('Nothing was written: the result would exceed 600 MB. Split {0} first.', name),
    'too-many-columns': vscode.l10n.t(
      'Nothing was written: {0} has more than {1} columns.',
      name,
      formatCount(MAX_COLUMNS),
    ),
    'row-too-long': vscode.l10n.t(
      'Nothing was written: row {1} of {0} is longer than 8 MB. A quote may not be closed.',
      name,
      number,
    ),
    quote: vscode.l10n.t(
      'Nothing was written: row {1} of {0}, counting the header, has a quote that isn’t doubled.',
      name,
      number,
    ),
    'quote-not-closed': vscode.l10n.t(
      'Nothing was written: row {1} of {0}, counting the header, has a quote that isn’t closed.',
      name,
      number,
    ),
    'only-requests': vscode.l10n.t(
      '{0} has requests but no answers. Convert the batch’s output instead.',
      name,
    ),
    'no-answers': compact(
      requests?.leftOut['no-request'] === undefined
        ? vscode.l10n.t('No row has an answer.')
        : vscode.l10n.t('No answer has its request in the chosen input file.'),
      requests && leftOutSentence(requests),
    ).join(' '),
    'too-many-requests': vscode.l10n.t(
      'Nothing was written: a batch’s input can have at most {0} requests.',
      formatCount(MAX_REQUESTS),
    ),
  };
  return sentences[code];
}
