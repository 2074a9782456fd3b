import { stat } from 'node:fs/promises';
import path from 'node:path';
import { commands, l10n, Uri } from 'vscode';
import { heldOutOf } from '../../core/answers/filesBeside.ts';
import { MAX_DATASET_BYTES } from '../../core/api/types.ts';
import { DiskError } from '../../core/base/diskError.ts';
import { isSameStamp } from '../../core/base/fileStamp.ts';
import type { DatasetChecker, Prepared } from '../../core/datasets/checker.ts';
import {
  changesAnything,
  mendableOf,
  NO_CHANGES,
  PrepareError,
  MAX_SPLIT_ROWS,
  type Mendable,
  type PrepareChoices,
  type PrepareCounts,
  type PrepareFailure,
  type Preset,
  type NotConverted,
} from '../../core/datasets/copyTypes.ts';
import type { DatasetFile } from '../../core/datasets/fileKind.ts';
import type { Fingerprints } from '../../core/datasets/fingerprints.ts';
import type { Reading } from '../../core/datasets/readFacts.ts';
import { CheckError, reportOrFailure, type Report } from '../../core/datasets/report.ts';
import type { Reports } from '../../core/datasets/reports.ts';
import { chooseSaved, datasetName, inspectOrRefuse } from '../shared/chooseDataset.ts';
import type { CommandResult } from '../shared/commands.ts';
import { checkingDatasetTitle, failureSentence, KINDS, useOf } from '../shared/datasetTexts.ts';
import { compact, formatCount, formatRows } from '../shared/format.ts';
import { COMMANDS, type CommandId } from '../shared/ids.ts';
import type { Log } from '../shared/log.ts';
import {
  notify,
  showError,
  showInformation,
  showWarning,
  withLateProgress,
} from '../shared/notifications.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { choosePreparation, personalPhrase } from './copyOffers.ts';
import { opensAsText } from './datasetProblems.ts';

export interface PrepareParts {
  reports: Reports;
  readings: Pick<Reports<Reading>, 'currentReport'>;
  checker: Pick<DatasetChecker, 'prepareCopy' | 'mendableIn'>;
  fingerprints: Pick<Fingerprints, 'alsoIn'>;
  log: Log;
}

/**
 * Writes a cleaned, converted or split copy of a dataset beside it, and opens it. Called as
 * `(uri?, uris?, preset?)`.
 * @throws CancelledError
 */
export async function prepareDatasetCopy(
  parts: PrepareParts,
  argument?: unknown,
  selection?: unknown,
  preset?: unknown,
): Promise<CommandResult> {
  const uri = await chooseSaved(l10n.t('Only the saved file is copied.'), argument, selection);
  if (uri === undefined) return { outcome: 'cancelled' };
  const name = datasetName(uri);
  const report = await checked(uri, name, parts);
  if (report === undefined) return { outcome: 'failed' };
  const isClean = preset === ('clean' satisfies Preset);
  const mendable = isClean ? mendableOf(report) : await countedMendable(report, name, parts);
  const countHeldOut = () =>
    withLateProgress(checkingDatasetTitle(name), (signal) => heldOutOf(report, parts, signal));
  const choices = isClean
    ? NO_CHANGES
    : await choosePreparation(name, { ...mendable, heldOut: await countHeldOut() });
  if (choices === undefined) return { outcome: 'cancelled' };
  if (!changesAnything(choices) && !mendable.hasLitter) {
    void showInformation(l10n.t('Nothing to change.'));
    return { outcome: 'done' };
  }
  // Writes only what was checked: if the file changed since, nothing is written.
  const prepared = await write(report, name, choices, parts);
  if (prepared === undefined) return { outcome: 'failed' };
  await showPrepared(prepared);
  return { outcome: 'done' };
}

/** Returns the report of the file as it is now, or undefined after a message if it has no rows. */
async function checked(uri: Uri, name: string, { reports, log }: PrepareParts): Promise<Report | undefined> {
  if ((await inspectOrRefuse(uri)) === undefined) return undefined;
  reports.markRequested(uri.fsPath);
  const found = await withLateProgress(checkingDatasetTitle(name), (signal, onProgress) =>
    reportOrFailure(reports.currentReport(uri.fsPath, signal, onProgress), log),
  );
  if (typeof found === 'string') {
    void showError(failureSentence(name, found));
    return undefined;
  }
  if (found.kind === 'rows') return found;
  const use = useOf(found.kind);
  const sentence = l10n.t('{0} is {1}. {2}', name, ...KINDS[found.kind]);
  notify(
    showWarning,
    sentence,
    use === undefined ? {} : { [use.title]: () => commands.executeCommand(use.command, uri) },
  );
  return undefined;
}

/** Returns what a copy can change, by the report alone if reading the rows fails. */
function countedMendable(
  report: Report,
  name: string,
  { checker, readings, log }: PrepareParts,
): Promise<Mendable> {
  return withLateProgress(checkingDatasetTitle(name), async (signal, onProgress) => {
    const reading = await readings.currentReport(report.path, signal).catch((error: unknown) => {
      if (!(error instanceof CheckError)) throw error;
      log.error('reading', error);
      return undefined;
    });
    return checker.mendableIn(report, reading && isSameStamp(reading, report) ? reading : undefined, {
      signal,
      onProgress,
    });
  }).catch((error: unknown) => {
    if (!(error instanceof CheckError || error instanceof DiskError)) throw error;
    return { ...mendableOf(report), convertsAll: false };
  });
}

/** Writes the files; undefined after an error message. @throws CancelledError */
async function write(
  source: DatasetFile,
  name: string,
  choices: PrepareChoices,
  { checker, log }: PrepareParts,
): Promise<Prepared | undefined> {
  try {
    return await withLateProgress(l10n.t('Preparing a copy of {0}', name), (signal, onProgress) =>
      checker.prepareCopy(source, choices, { maxBytes: MAX_DATASET_BYTES, signal, onProgress }),
    );
  } catch (error) {
    const folder = path.basename(path.dirname(source.path));
    const { withoutHeldOut } = choices;
    const other = typeof withoutHeldOut === 'string' ? path.basename(withoutHeldOut) : undefined;
    const sentence = notWritten(error, name, folder, other && sanitizeServiceText(other));
    if (sentence === undefined) throw error;
    log.error('prepare-copy', error);
    void showError(sentence);
    return undefined;
  }
}

/**
 * Why nothing was written, and what to do; undefined for errors of the extension.
 * @param other the name of another file that was read
 */
export function notWritten(error: unknown, name: string, folder: string, other?: string): string | undefined {
  if (error instanceof PrepareError) {
    const left = error.counts === undefined ? [] : leftOut(error.counts);
    const reasons = left.length > 0 && l10n.t('Left out: {0}.', left.join(', '));
    return compact(FAILURES[error.code], reasons).join(' ');
  }
  if (error instanceof CheckError) {
    if (error.code !== 'changing') return failureSentence(name, error.code);
    return other === undefined
      ? l10n.t('Nothing was written: {0} changed in the meantime.', name)
      : l10n.t('Nothing was written: {0} or {1} changed in the meantime.', name, other);
  }
  if (!(error instanceof DiskError)) return undefined;
  if (error.code === 'disk-full') return l10n.t('Nothing was written: the disk is full.');
  if (error.code === 'no-permission')
    return l10n.t('Nothing was written: no permission to write to the folder {0}.', folder);
  if (error.code === 'name-too-long')
    return l10n.t('Nothing was written: the name of {0} is too long. Rename it first.', name);
  return l10n.t('Nothing was written: {0} couldn’t be copied. See the log for details.', name);
}

const FAILURES: Readonly<Record<PrepareFailure, string>> = {
  empty: l10n.t('Nothing was written: no rows would be left.'),
  'too-large': l10n.t('Nothing was written: the copy would exceed 600 MB.'),
  'too-many-rows': l10n.t('Nothing was written: at most {0} rows can be split.', formatCount(MAX_SPLIT_ROWS)),
  'too-few-rows': l10n.t('Nothing was written: too few rows are left. Hold out fewer.'),
  'one-prompt': l10n.t('All rows have the same prompt, so nothing can be held out.'),
  'large-prompts': l10n.t(
    'Every prompt appears in more rows than that, so nothing can be held out. Enter a larger number.',
  ),
};

/** Opens the file to train on, and says what was done. */
async function showPrepared({ main, holdOut, counts }: Prepared): Promise<void> {
  const uri = Uri.file(main);
  const run = (command: CommandId) => () => commands.executeCommand(command, uri);
  const names = [main, holdOut].map((file) => file && sanitizeServiceText(path.basename(file)));
  notify(showInformation, preparedSentence(names[0] ?? '', names[1], counts), {
    [l10n.t('Submit…')]: run(COMMANDS.submitDataset),
    [l10n.t('Preview')]: run(COMMANDS.previewDataset),
  });
  await openWritten(main);
}

/** Opens a new dataset as text, or in the preview if VS Code wouldn't display it. */
export async function openWritten(file: string): Promise<void> {
  const { size } = await stat(file);
  const uri = Uri.file(file);
  await commands.executeCommand(opensAsText(uri, size) ? 'vscode.open' : COMMANDS.previewDataset, uri);
}

/** Says in numbers what was done, without claiming that the result is safe or good. */
export function preparedSentence(main: string, holdOut: string | undefined, counts: PrepareCounts): string {
  const [written, rows] = [formatCount(counts.written), formatRows(counts.rows)];
  const created =
    holdOut === undefined
      ? l10n.t('Created {0}: {1} of {2}.', main, written, rows)
      : l10n.t(
          'Created {0}: {1} of {2}, and {3} ({4} for evaluation).',
          main,
          written,
          rows,
          holdOut,
          formatRows(counts.heldOut),
        );
  const left = leftOut(counts);
  const changes = compact(left.length > 0 && l10n.t('Left out: {0}', left.join(', ')), ...changesOf(counts));
  return compact(created, changes.length > 0 && l10n.t('{0}.', changes.join('; '))).join(' ');
}

/** Why rows were left out. */
function leftOut({ leftOut: rows, notConverted }: PrepareCounts): string[] {
  const reasons = (Object.entries(notConverted) as [NotConverted, number][]).toSorted(
    ([, one], [, other]) => other - one,
  );
  return compact(
    rows.error > 0 && l10n.t('{0} with errors', formatCount(rows.error)),
    rows.untrainable > 0 && l10n.t('{0} unusable for training', formatCount(rows.untrainable)),
    rows['held-out'] > 0 && l10n.t('{0} in the hold-out', formatCount(rows['held-out'])),
    rows.templateMarks > 0 && l10n.t('{0} with chat template tokens', formatCount(rows.templateMarks)),
    rows.emptyWords > 0 && l10n.t('{0} with empty-cell placeholders', formatCount(rows.emptyWords)),
    rows.refusals > 0 && l10n.t('{0} resembling a refusal', formatCount(rows.refusals)),
    rows.duplicate > 0 &&
      (rows.duplicate === 1 ? l10n.t('1 duplicate') : l10n.t('{0} duplicates', formatCount(rows.duplicate))),
    ...reasons.map(([reason, count]) => NOT_CONVERTED[reason](formatCount(count))),
    rows.mask > 0 && l10n.t('{0} that can’t be masked', formatCount(rows.mask)),
    rows.unchecked > 0 && l10n.t('{0} too long to check', formatCount(rows.unchecked)),
    rows.blank > 0 && l10n.t('{0} blank', formatCount(rows.blank)),
    rows.split > 0 && l10n.t('{0} not in the trial', formatCount(rows.split)),
  );
}

/** Why rows can't be converted to chat messages. */
const NOT_CONVERTED: Readonly<Record<NotConverted, (count: string) => string>> = {
  preference: (count) => l10n.t('{0} with preference pairs', count),
  label: (count) => l10n.t('{0} with a label', count),
  media: (count) => l10n.t('{0} with images, audio or video', count),
  template: (count) => l10n.t('{0} with a chat template in the text', count),
  evaluation: (count) => l10n.t('{0} with choices or a context', count),
  tools: (count) => l10n.t('{0} with tool calls', count),
  text: (count) => l10n.t('{0} with plain text', count),
  speaker: (count) => l10n.t('{0} with an unknown role', count),
  incomplete: (count) => l10n.t('{0} with missing text', count),
  unknown: (count) => l10n.t('{0} in an unknown format', count),
  key: (count) => l10n.t('{0} with a duplicate key', count),
  nested: (count) => l10n.t('{0} nested too deeply', count),
  chat: (count) => l10n.t('{0} in mixed formats', count),
  'not-json': (count) => l10n.t('{0} with invalid JSON', count),
};

/** Names of dropped fields that are listed. */
const LISTED_FIELDS = 3;

function changesOf({ masked, repaired, withSystem, converted, dropped }: PrepareCounts): string[] {
  const secrets = masked.apiKeys + masked.privateKeys;
  const personal = personalPhrase(masked);
  return compact(
    secrets > 0 &&
      (secrets === 1 ? l10n.t('1 secret masked') : l10n.t('{0} secrets masked', formatCount(secrets))),
    personal !== '' && l10n.t('{0} masked', personal),
    repaired > 0 && l10n.t('{0} repaired', formatRows(repaired)),
    withSystem > 0 && l10n.t('{0} with the system message added', formatRows(withSystem)),
    converted > 0 && l10n.t('{0} converted', formatRows(converted)),
    dropped.size > 0 && l10n.t('fields dropped: {0}', droppedNames(dropped)),
  );
}

function droppedNames(dropped: ReadonlyMap<string, number>): string {
  const names = [...dropped.keys()];
  const listed = names
    .slice(0, LISTED_FIELDS)
    .map((name) => `“${sanitizeServiceText(name, 20)}”`)
    .join(', ');
  const more = names.length - LISTED_FIELDS;
  return more > 0 ? l10n.t('{0} and {1} more', listed, formatCount(more)) : listed;
}
