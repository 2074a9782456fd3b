import path from 'node:path';
import * as vscode from 'vscode';
import { MAX_DATASET_BYTES } from '../../core/api/types.ts';
import { CancelledError } from '../../core/base/errors.ts';
import {
  convertDataset,
  ConvertError,
  type ConvertedFile,
  type ConvertOptions,
} from '../../core/datasets/convert.ts';
import type { DatasetFile } from '../../core/datasets/fileKind.ts';
import { reportOrFailure, verdictOf } from '../../core/datasets/report.ts';
import type { Reports } from '../../core/datasets/reports.ts';
import { chooseSaved, datasetName, inspectOrRefuse } from '../shared/chooseDataset.ts';
import type { CommandResult } from '../shared/commands.ts';
import { checkingDatasetTitle } from '../shared/datasetTexts.ts';
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
import { answer } from './convertQuestions.ts';
import { convertedSentence, notConverted, uselessReason } from './convertTexts.ts';
import { notWritten, openWritten } from './prepareCopy.ts';

/** What a conversion needs. */
export interface ConvertParts {
  /** The script of the thread. */
  worker: string;
  log: Log;
  reports: Pick<Reports, 'check'>;
  /** Where chosen columns are remembered. */
  memory: vscode.Memento;
}

/**
 * Writes the rows of a file beside it as JSONL, then opens and checks that. Called as `(uri?, uris?, asksAgain?)`.
 * @throws CancelledError
 */
export async function convertToJsonl(
  parts: ConvertParts,
  argument?: unknown,
  selection?: unknown,
  asksAgain?: unknown,
): Promise<CommandResult> {
  const reason = vscode.l10n.t('Only the saved file is converted.');
  const uri = await chooseSaved(reason, argument, selection, 'any');
  if (uri === undefined) return { outcome: 'cancelled' };
  const source = await inspectOrRefuse(uri);
  if (source === undefined) return { outcome: 'failed' };
  const name = datasetName(uri);
  for (let answers: ConvertOptions = {}; ;) {
    const converted = await convert(source, answers, name, parts);
    if (converted === 'failed') return { outcome: converted };
    if (!(converted instanceof ConvertError)) {
      await showConverted(converted, answers.columns && uri, parts);
      return { outcome: 'done' };
    }
    const more = await answer(converted, uri, parts.memory, asksAgain === true);
    if (typeof more === 'string') return { outcome: more };
    answers = { ...answers, ...more };
  }
}

/** Writes the file; otherwise shows an error message or returns a question. @throws CancelledError */
async function convert(
  source: DatasetFile,
  answers: ConvertOptions,
  name: string,
  { worker, log }: ConvertParts,
): Promise<ConvertedFile | ConvertError | 'failed'> {
  try {
    return await withLateProgress(vscode.l10n.t('Converting {0}', name), (signal, onProgress) =>
      convertDataset(source, worker, MAX_DATASET_BYTES, { signal, onProgress, ...answers }),
    );
  } catch (error) {
    const isOwn = error instanceof ConvertError;
    const folder = path.basename(path.dirname(source.path));
    const sentence = isOwn ? notConverted(error, name) : notWritten(error, name, folder);
    if (isOwn && sentence === undefined) return error;
    if (sentence === undefined) throw error;
    log.error('convert', error);
    void showError(sentence);
    return 'failed';
  }
}

/** Opens and checks the new file, and reports it in one notification. @param source given if columns were chosen */
async function showConverted(
  converted: ConvertedFile,
  source: vscode.Uri | undefined,
  { log, reports }: ConvertParts,
): Promise<void> {
  const made = vscode.Uri.file(converted.path);
  await openWritten(converted.path);
  const title = checkingDatasetTitle(path.basename(made.fsPath));
  const found = await withLateProgress(title, (signal, onProgress) =>
    reportOrFailure(reports.check(made.fsPath, signal, onProgress), log),
  ).catch((error: unknown) => {
    if (!(error instanceof CancelledError)) throw error;
  });
  const report = typeof found === 'object' ? found : undefined;
  const isUseless = report !== undefined && uselessReason(converted, report) !== undefined;
  const run = (command: CommandId) => () => vscode.commands.executeCommand(command, made);
  const again = () => vscode.commands.executeCommand(COMMANDS.convertToJsonl, source, undefined, true);
  notify(isUseless ? showWarning : showInformation, convertedSentence(converted, report), {
    ...(report &&
      verdictOf(report) !== 'clean' && { [TERMS.showProblems]: run(COMMANDS.showDatasetProblems) }),
    ...(!isUseless && { [TERMS.prepareCopy]: run(COMMANDS.prepareDataset) }),
    [vscode.l10n.t('Preview')]: run(COMMANDS.previewDataset),
    ...(!isUseless && { [vscode.l10n.t('Submit…')]: run(COMMANDS.submitDataset) }),
    ...(source && { [vscode.l10n.t('Other Columns…')]: again }),
  });
}
