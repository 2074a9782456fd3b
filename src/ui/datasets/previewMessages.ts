import * as vscode from 'vscode';
import type { ProblemClass, ProblemGroup } from '../../core/datasets/problems.ts';
import type { CheckFailure, Format, ProblemRows, Report, Role, Summary } from '../../core/datasets/report.ts';
import type { ListPhase } from '../../core/datasets/rowList.ts';
import {
  failureSentence,
  formatName,
  kindSentence,
  sizePhrase,
  tokensPhrase,
  verdictPhrase,
} from '../shared/datasetMessages.ts';
import { formatBytes, formatCount, formatRows } from '../shared/format.ts';
import { problemClassName, problemName } from './messages.ts';
import type { PreviewCard, PreviewChart, PreviewProblemClass, PreviewWord } from './protocol.ts';

/** The words that the page itself needs; it fills in `{0}`. */
export function pageWords(): Record<PreviewWord, string> {
  const { l10n } = vscode;
  return {
    feed: l10n.t('Dataset rows'),
    rowsLoading: l10n.t('Loading…'),
    search: l10n.t('Search in rows'),
    matchCase: l10n.t('Match Case'),
    clearFilter: l10n.t('Show All Rows'),
    problemFilter: l10n.t('Rows with problems'),
    allRows: l10n.t('All rows'),
    continueSearch: l10n.t('Continue Search'),
    goToRow: l10n.t('Go to Row'),
    goToRowHint: l10n.t('Row number'),
    showDetails: l10n.t('Show Details'),
    hideDetails: l10n.t('Hide Details'),
    details: l10n.t('Dataset details'),
    raw: l10n.t('Raw'),
    openSource: l10n.t('Open in Editor'),
    showMore: l10n.t('Show More'),
    showLess: l10n.t('Show Less'),
    moreTurns: l10n.t('Show {0} More', '{0}'),
    emptyText: l10n.t('(empty)'),
    blankRow: l10n.t('(blank line)'),
    notParsed: l10n.t('Not valid JSON:'),
    toolCall: l10n.t('calls {0}', '{0}'),
    toolCallId: l10n.t('answers {0}', '{0}'),
    noRole: l10n.t('no role'),
    reload: l10n.t('Reload'),
    copy: l10n.t('Copy'),
    asTable: l10n.t('{0} as a table', '{0}'),
    noMatch: l10n.t('No matching rows'),
    problemsOfRow: l10n.t('Problems of this row'),
    keyboard: l10n.t('Arrow keys move between rows, Enter toggles the raw text.'),
  };
}

/** The title of the page. */
export function previewTitle(fileName: string): string {
  return vscode.l10n.t('Preview of {0}', fileName);
}

/** The name of a row. */
export function rowTitle(row: number): string {
  return vscode.l10n.t('Row {0}', formatCount(row));
}

/** How much of a row is left out. */
export function restOfRow(bytes: number): string {
  return vscode.l10n.t('{0} more not shown', formatBytes(bytes));
}

/** A row has more problems than are listed with it. */
export function moreProblems(): string {
  return vscode.l10n.t('More problems are not shown.');
}

/** Why there is no verdict on the dataset. */
export function checkFailure(name: string, failure: CheckFailure | 'too-large'): string {
  return failure === 'too-large'
    ? vscode.l10n.t('{0} is too large for the service and was not checked.', name)
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
  if (!isCounted) return l10n.t('{0} rows so far…', formatCount(rows));
  if (phase === 'all') return formatRows(rows);
  if (phase === 'waiting') return l10n.t('Waiting for the check…');
  const [shown, all] = [formatCount(length), formatCount(rows)];
  const listed =
    problems !== undefined && problems.located < problems.total
      ? l10n.t(
          '{0} of {1} rows (first {2} of {3} problems)',
          shown,
          all,
          formatCount(problems.located),
          formatCount(problems.total),
        )
      : l10n.t('{0} of {1} rows', shown, all);
  const percent = Math.floor(searched * 100);
  switch (phase) {
    case 'searching':
      return l10n.t('{0}, {1} % searched…', listed, percent);
    case 'resting':
      return l10n.t('{0}, {1} % searched', listed, percent);
    case 'failed':
      return l10n.t('{0}, the rest of the file couldn’t be read', listed);
    case 'done':
      return listed;
  }
}

/** The notice above the rows when they differ from the file on disk, or in an editor. */
export function changedNotice(name: string, change: 'changed' | 'missing' | 'unsaved'): string {
  const { l10n } = vscode;
  switch (change) {
    case 'changed':
      return l10n.t('{0} has changed on disk.', name);
    case 'missing':
      return l10n.t('{0} no longer exists. Its last known contents are shown.', name);
    case 'unsaved':
      return l10n.t('{0} has unsaved changes. The saved file is shown.', name);
  }
}

/** What is known of a file before, during and after its check. */
export interface CardSource {
  sizeBytes: number;
  report: Report | undefined;
  summary: Summary | undefined;
  /** From 0 to 1 while it is checked. */
  progress: number | undefined;
  /** Why there is no report, as a sentence. */
  failure: string | undefined;
}

/** The card of a dataset: verdict, facts, charts and problems. */
export function previewCard({ sizeBytes, report, summary, progress, failure }: CardSource): PreviewCard {
  return {
    type: 'card',
    progress:
      progress === undefined
        ? undefined
        : {
            text: vscode.l10n.t('Checking, {0} %…', Math.floor(progress * 100)),
            fraction: progress,
          },
    verdict: verdictOfCard(summary, failure),
    facts: factsOf(sizeBytes, report, summary),
    charts: report?.kind === 'rows' ? chartsOf(report) : [],
    problems: report === undefined || report.problems.length === 0 ? undefined : problemsOf(report),
  };
}

function verdictOfCard(summary: Summary | undefined, failure: string | undefined): PreviewCard['verdict'] {
  if (failure !== undefined) return { kind: 'none', text: failure };
  if (summary === undefined) return { kind: 'none', text: '' };
  const { kind, verdict } = summary;
  return { kind: verdict, text: kind === 'rows' ? `${verdictPhrase(summary)}.` : kindSentence(kind) };
}

function factsOf(
  sizeBytes: number,
  report: Report | undefined,
  summary: Summary | undefined,
): PreviewCard['facts'] {
  const { l10n } = vscode;
  const parts = [formatBytes(sizeBytes), sizePhrase(sizeBytes) ?? []].flat();
  const size = { name: l10n.t('Size'), value: parts.join(', ') };
  if (report === undefined || summary === undefined) return [size];
  const hash = {
    name: l10n.t('SHA-256'),
    value: `${report.sha256.slice(0, 12)}…`,
    copy: report.sha256,
  };
  if (report.kind !== 'rows') return [size, hash];
  const { statistics } = report;
  const hasTurns = statistics.maxTurns > 0;
  return [
    size,
    {
      name: l10n.t('Rows'),
      value:
        report.blankRows === 0
          ? formatCount(report.rows)
          : l10n.t('{0}, {1} blank', formatCount(report.rows), formatCount(report.blankRows)),
    },
    { name: l10n.t('Characters'), value: formatCount(statistics.characters) },
    { name: l10n.t('Tokens'), value: tokensPhrase(summary) },
    { name: l10n.t('Row length'), value: lengthsText(report) },
    ...(hasTurns ? [{ name: l10n.t('Longest conversation'), value: messagesText(statistics.maxTurns) }] : []),
    { name: l10n.t('Duplicates'), value: duplicatesText(report) },
    hash,
  ];
}

function lengthsText({ statistics: { lengths } }: Report): string {
  return vscode.l10n.t(
    'median {0}, 99 % up to {1}, longest {2}',
    formatBytes(lengths.percentiles.p50),
    formatBytes(lengths.percentiles.p99),
    formatBytes(lengths.maxBytes),
  );
}

function messagesText(count: number): string {
  return count === 1 ? vscode.l10n.t('1 message') : vscode.l10n.t('{0} messages', formatCount(count));
}

function duplicatesText(report: Report): string {
  const { l10n } = vscode;
  const count = duplicatesOf(report);
  const text = count === 0 ? l10n.t('none') : formatRows(count);
  return report.duplicatesLookedForRows >= report.rows
    ? text
    : l10n.t('{0} (first {1} rows)', text, formatCount(report.duplicatesLookedForRows));
}

function duplicatesOf(report: Report): number {
  return report.problems.find(({ code }) => code === 'duplicate-row')?.total ?? 0;
}

function chartsOf(report: Report): PreviewChart[] {
  const { l10n } = vscode;
  const { lengths, roles } = report.statistics;
  const columns = lengths.histogram.map(({ fromBytes, toBytes, rows }) => ({
    name:
      fromBytes <= 1
        ? l10n.t('up to {0}', formatBytes(toBytes))
        : l10n.t('{0} to {1}', formatBytes(fromBytes), formatBytes(toBytes)),
    count: rows,
  }));
  const formats = Object.entries(report.formats).map(([format, count]) => ({
    name: formatName(format as Format),
    count,
  }));
  const repeated = duplicatesOf(report);
  const repeats =
    repeated === 0
      ? []
      : [
          { name: l10n.t('unique'), count: report.rows - report.blankRows - repeated },
          { name: l10n.t('duplicate'), count: repeated },
        ];
  const turns = Object.entries(roles).map(([role, count]) => ({ name: roleName(role as Role), count }));
  return [
    chart('columns', l10n.t('Row length'), l10n.t('Length'), l10n.t('Rows'), columns),
    chart('bars', l10n.t('Formats'), l10n.t('Format'), l10n.t('Rows'), occurring(formats)),
    chart('bars', l10n.t('Duplicates'), l10n.t('Row'), l10n.t('Rows'), repeats),
    chart('bars', l10n.t('Messages by role'), l10n.t('Role'), l10n.t('Messages'), occurring(turns)),
  ].filter(({ parts }) => parts.length > 0);
}

interface Part {
  name: string;
  count: number;
}

function occurring(parts: readonly Part[]): Part[] {
  return parts.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count);
}

function chart(
  kind: PreviewChart['kind'],
  title: string,
  nameHeader: string,
  valueHeader: string,
  parts: readonly Part[],
): PreviewChart {
  const sum = parts.reduce((total, { count }) => total + count, 0);
  const largest = parts.reduce((most, { count }) => Math.max(most, count), 1);
  return {
    kind,
    title,
    nameHeader,
    valueHeader,
    parts: parts.map(({ name, count }) => ({
      name,
      value: vscode.l10n.t('{0} ({1} %)', formatCount(count), percentOf(count, sum)),
      share: count / largest,
    })),
  };
}

/** Rounded, but to 0 or 100 only if it is exact. */
function percentOf(count: number, sum: number): string {
  const percent = (count / Math.max(1, sum)) * 100;
  if (percent > 0 && percent < 0.1) return '< 0.1';
  if (percent > 99.9 && percent < 100) return '> 99.9';
  return String(Math.round(percent * 10) / 10);
}

function roleName(role: Role): string {
  const { l10n } = vscode;
  switch (role) {
    case 'system':
      return l10n.t('system');
    case 'user':
      return l10n.t('user');
    case 'assistant':
      return l10n.t('assistant');
    case 'tool':
      return l10n.t('tool');
    case 'other':
      return l10n.t('other');
  }
}

function problemsOf(report: Report): NonNullable<PreviewCard['problems']> {
  const classes = [...new Set(report.problems.map((group) => group.class))];
  return {
    title: vscode.l10n.t('Problems'),
    classes: classes.map((problemClass) =>
      problemClassOf(
        problemClass,
        report.problems.filter((group) => group.class === problemClass),
      ),
    ),
  };
}

function problemClassOf(problemClass: ProblemClass, groups: readonly ProblemGroup[]): PreviewProblemClass {
  return {
    choice: problemClass,
    name: problemClassName(problemClass),
    count: formatCount(groups.reduce((sum, { total }) => sum + total, 0)),
    codes: groups.map(({ code, severity, total }) => ({
      choice: code,
      name: problemName(code),
      count: formatCount(total),
      severity,
    })),
  };
}
