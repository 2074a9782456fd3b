import * as vscode from 'vscode';
import type { ListPhase } from '../../core/datasets/rowList.ts';
import type { ProblemRows, CheckFailure } from '../../core/datasets/report.ts';
import type { DatasetProblem } from '../../core/datasets/fileKind.ts';
import type { PreviewWord } from './protocol.ts';
import { failureSentence } from '../shared/datasetMessages.ts';
import { formatBytes, formatCount } from '../shared/format.ts';

/** The words that the page itself needs; `{0}` is filled in there. */
export function previewWords(): Record<PreviewWord, string> {
  const { l10n } = vscode;
  return {
    feed: l10n.t('Rows of the dataset'),
    rowsLoading: l10n.t('Reading…'),
    search: l10n.t('Search in rows'),
    matchCase: l10n.t('Match Case'),
    clearFilter: l10n.t('Show All Rows'),
    problemFilter: l10n.t('Rows with problems'),
    allRows: l10n.t('All rows'),
    goToRow: l10n.t('Go to Row'),
    goToRowHint: l10n.t('Row number'),
    showDetails: l10n.t('Show Details'),
    hideDetails: l10n.t('Hide Details'),
    details: l10n.t('Details of the dataset'),
    raw: l10n.t('Raw'),
    openSource: l10n.t('Open in Editor'),
    showMore: l10n.t('Show More'),
    showLess: l10n.t('Show Less'),
    moreTurns: l10n.t('Show {0} More', '{0}'),
    emptyText: l10n.t('(empty)'),
    blankRow: l10n.t('(a blank line)'),
    notParsed: l10n.t('The row cannot be read as JSON. This is its text:'),
    toolCall: l10n.t('calls {0}', '{0}'),
    toolCallId: l10n.t('answers {0}', '{0}'),
    noRole: l10n.t('no role'),
    reload: l10n.t('Reload'),
    copy: l10n.t('Copy'),
    copied: l10n.t('Copied'),
    asTable: l10n.t('{0}, as a table', '{0}'),
    noMatch: l10n.t('No such rows.'),
    problemsOfRow: l10n.t('Problems of this row'),
    keyboard: l10n.t('Arrow keys move between rows, Enter switches a row to its raw text.'),
  };
}

/** The tooltip-like title of the page. */
export function previewTitle(fileName: string): string {
  return vscode.l10n.t('Preview of {0}', fileName);
}

/** The name of a row. */
export function rowTitle(row: number): string {
  return vscode.l10n.t('Row {0}', formatCount(row));
}

/** How much of a row is not on the page. */
export function restOfRow(bytes: number): string {
  return vscode.l10n.t('{0} more not shown.', formatBytes(bytes));
}

/** Says that a row has more problems than are listed with it. */
export function moreProblems(): string {
  return vscode.l10n.t('This row has more problems than these.');
}

/** Why there is no verdict on the dataset. */
export function checkFailure(name: string, failure: CheckFailure | 'too-large'): string {
  return failure === 'too-large'
    ? vscode.l10n.t('{0} is larger than what the service takes, so it is not checked.', name)
    : failureSentence(name, failure);
}

/** Where a problem is, as the editor counts. */
export function placeOf(line: number, column: number): string {
  return vscode.l10n.t('line {0}, column {1}', formatCount(line), formatCount(column));
}

/** What is listed, and how far the work is. */
export function listStatus(list: {
  phase: ListPhase;
  length: number;
  rows: number;
  isCounted: boolean;
  searched: number;
  problems: ProblemRows | undefined;
}): string {
  const { l10n } = vscode;
  const { phase, length, rows, isCounted, searched, problems } = list;
  const all = formatCount(rows);
  if (!isCounted) return l10n.t('{0} rows so far…', all);
  if (phase === 'all') return rowCount(rows);
  if (phase === 'waiting') return l10n.t('Waiting for the check…');
  const shown = l10n.t('{0} of {1} rows', formatCount(length), all);
  const cut =
    problems !== undefined && problems.located < problems.total
      ? l10n.t('places of the first {0} of {1}', formatCount(problems.located), formatCount(problems.total))
      : undefined;
  const told = cut === undefined ? shown : l10n.t('{0} ({1})', shown, cut);
  const percent = Math.floor(searched * 100);
  switch (phase) {
    case 'searching':
      return l10n.t('{0}, {1} % searched…', told, percent);
    case 'resting':
      return l10n.t('{0}, {1} % searched', told, percent);
    case 'failed':
      return l10n.t('{0}: the file could not be read to its end', told);
    case 'done':
      return told;
  }
}

/** The button that goes on with a search that rests. */
export function searchOn(): string {
  return vscode.l10n.t('Search On');
}

function rowCount(rows: number): string {
  return rows === 1 ? vscode.l10n.t('1 row') : vscode.l10n.t('{0} rows', formatCount(rows));
}

/** Why there is nothing to preview. */
export function noPreview(name: string, problem: DatasetProblem | 'not-on-disk'): string {
  const { l10n } = vscode;
  switch (problem) {
    case 'missing':
      return l10n.t('{0} is not there any more.', name);
    case 'folder':
      return l10n.t('{0} is a folder.', name);
    case 'not-a-file':
      return l10n.t('{0} is not a plain file.', name);
    case 'empty':
      return l10n.t('{0} is empty. A dataset has one JSON object on each line.', name);
    case 'not-on-disk':
      return l10n.t(
        '{0} is not a file on the machine where extensions run, so it cannot be previewed.',
        name,
      );
    case 'unreadable':
    case 'too-large':
      return l10n.t('{0} cannot be read. Check its permissions.', name);
  }
}

/** The notice over the rows when what is shown is not what is on disk, or in an editor. */
export function changedNotice(name: string, change: 'changed' | 'missing' | 'unsaved'): string {
  const { l10n } = vscode;
  switch (change) {
    case 'changed':
      return l10n.t('{0} has changed on disk.', name);
    case 'missing':
      return l10n.t('{0} is not there any more. What was read of it is still shown.', name);
    case 'unsaved':
      return l10n.t('{0} has unsaved changes in an editor. This is the file on disk.', name);
  }
}
