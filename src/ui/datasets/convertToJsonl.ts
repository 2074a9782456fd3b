import path from 'node:path';
import * as vscode from 'vscode';
import { MAX_DATASET_BYTES } from '../../core/api/types.ts';
import {
  convertDataset,
  ConvertError,
  MAX_COLUMNS,
  type Converted,
  type ConvertFailure,
} from '../../core/datasets/convert.ts';
import type { DatasetFile } from '../../core/datasets/fileKind.ts';
import { chooseDataset, inspectOrRefuse, datasetName, saveIfNeeded } from '../shared/chooseDataset.ts';
import type { CommandResult } from '../shared/commands.ts';
import { compact, formatCount, formatRows } from '../shared/format.ts';
import { COMMANDS } from '../shared/ids.ts';
import type { Log } from '../shared/log.ts';
import { showError, showInformation, withLateProgress } from '../shared/notifications.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
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
  const converted = await convert(source, datasetName(uri), worker, log);
  if (converted === undefined) return { outcome: 'failed' };
  void showInformation(convertedSentence(converted));
  await openWritten(converted.path);
  await vscode.commands.executeCommand(COMMANDS.checkDataset, vscode.Uri.file(converted.path));
  return { outcome: 'done' };
}

/** Writes the file; undefined after an error message. @throws CancelledError */
async function convert(
  source: DatasetFile,
  name: string,
  worker: string,
  log: Log,
): Promise<Converted | undefined> {
  try {
    return await withLateProgress(vscode.l10n.t('Converting {0}', name), (signal, onProgress) =>
      convertDataset(source, worker, MAX_DATASET_BYTES, { signal, onProgress }),
    );
  } catch (error) {
    const folder = path.basename(path.dirname(source.path));
    const sentence =
      error instanceof ConvertError ? notConverted(error, name) : notWritten(error, name, folder);
    if (sentence === undefined) throw error;
    log.error('convert', error);
    void showError(sentence);
    return undefined;
  }
}

function convertedSentence({ path: file, rows, ragged }: Converted): string {
  return compact(
    vscode.l10n.t('Created {0}: {1}.', sanitizeServiceText(path.basename(file)), formatRows(rows)),
    ragged > 0 && vscode.l10n.t('Left out: {0} with another number of values.', formatCount(ragged)),
  ).join(' ');
}

/** Why a file can't be converted, and what to do. */
function notConverted({ code, row = 0 }: ConvertError, name: string): string {
  const number = formatCount(row);
  const sentences: Readonly<Record<ConvertFailure, string>> = {
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
  };
  return sentences[code];
}
