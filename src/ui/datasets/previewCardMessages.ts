import * as vscode from 'vscode';
import type { ProblemClass, ProblemGroup } from '../../core/datasets/problems.ts';
import type { Format, Report, Role, Summary } from '../../core/datasets/report.ts';
import type { PreviewCard, PreviewChart, PreviewProblemClass } from './protocol.ts';
import {
  formatName,
  kindSentence,
  sizePhrase,
  tokensPhrase,
  verdictPhrase,
} from '../shared/datasetMessages.ts';
import { formatBytes, formatCount } from '../shared/format.ts';
import { problemClassName, problemName } from './messages.ts';

/** What is known of a file before, while and after it is checked. */
export interface CardSource {
  sizeBytes: number;
  report: Report | undefined;
  summary: Summary | undefined;
  /** From 0 to 1 while it is checked. */
  progress: number | undefined;
  /** Why there is no report, as a sentence. */
  failure: string | undefined;
}

/** The card of a dataset: verdict, facts, pictures and problems. */
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
          : l10n.t('{0}, {1} of them blank', formatCount(report.rows), formatCount(report.blankRows)),
    },
    { name: l10n.t('Characters'), value: formatCount(statistics.characters) },
    { name: l10n.t('Tokens'), value: tokensPhrase(summary) },
    { name: l10n.t('Row length'), value: lengthsText(report) },
    ...(hasTurns ? [{ name: l10n.t('Longest conversation'), value: turnsText(statistics.maxTurns) }] : []),
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

function turnsText(turns: number): string {
  return turns === 1 ? vscode.l10n.t('1 turn') : vscode.l10n.t('{0} turns', formatCount(turns));
}

function duplicatesText(report: Report): string {
  const { l10n } = vscode;
  const count = duplicatesOf(report);
  const text =
    count === 0 ? l10n.t('none') : count === 1 ? l10n.t('1 row') : l10n.t('{0} rows', formatCount(count));
  return report.duplicatesLookedForRows >= report.rows
    ? text
    : l10n.t('{0}; not looked for beyond row {1}', text, formatCount(report.duplicatesLookedForRows));
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
          { name: l10n.t('only once, or the first'), count: report.rows - report.blankRows - repeated },
          { name: l10n.t('repeated'), count: repeated },
        ];
  const turns = Object.entries(roles).map(([role, count]) => ({ name: roleName(role as Role), count }));
  return [
    chart('columns', l10n.t('Length of rows'), l10n.t('Length'), l10n.t('Rows'), columns),
    chart('bars', l10n.t('Formats'), l10n.t('Format'), l10n.t('Rows'), occurring(formats)),
    chart('bars', l10n.t('Duplicates'), l10n.t('Row'), l10n.t('Rows'), repeats),
    chart('bars', l10n.t('Who speaks'), l10n.t('Role'), l10n.t('Turns'), occurring(turns)),
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

/** Rounded, but neither nothing nor everything unless it is. */
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
      return l10n.t('another role');
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
