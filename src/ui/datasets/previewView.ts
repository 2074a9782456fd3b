import { l10n } from 'vscode';
import type { Tokens } from '../../core/datasets/readFacts.ts';
import { countOf, verdictOf, type CheckFailure, type Report, type Role } from '../../core/datasets/report.ts';
import type { RowFile, RowList } from '../../core/datasets/rowFile.ts';
import {
  diskSentence,
  failureSentence,
  FORMAT_NAMES,
  earlierName,
  earlierPhrase,
  sizePhrase,
  trainedPhrase,
  verdictPhrase,
} from '../shared/datasetTexts.ts';
import { compact, formatBytes, formatCount, formatRows, formatShare } from '../shared/format.ts';
import { expectedPriceText } from '../shared/priceText.ts';
import { TERMS } from '../shared/terms.ts';
import { contentFacts, inFirstRows, isTokenCountVague, labelCounts, sinceFact } from './contentFacts.ts';
import type { PastRuns } from './datasetRuns.ts';
import type { PreviewTexts } from './previewDocument.ts';
import { PROBLEM_CLASSES, problemName } from './problemTexts.ts';
import type { PreviewCard, PreviewChart, PreviewWord } from './protocol.ts';

/** 4,096 and 8,192 tokens, as powers of 2. */
const LINES: readonly [number, number] = [12, 13];

/** Rows with fewer tokens are one bar. */
const MAX_TOKEN_BARS = 8;

/** Fewer rows than this hardly teach a model anything. */
const FEW_ROWS = 10;

/** The page's own texts; it replaces `{0}` itself. */
export function previewWords(): Record<PreviewWord, string> {
  return {
    feed: l10n.t('Dataset rows'),
    rowsLoading: TERMS.loading,
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
    details: TERMS.details,
    raw: l10n.t('Raw'),
    openSource: l10n.t('Open in Editor'),
    showMore: l10n.t('Show More'),
    showLess: l10n.t('Show Less'),
    moreTurns: l10n.t('Show {0} More', '{0}'),
    emptyText: l10n.t('(empty)'),
    blankRow: l10n.t('(blank line)'),
    notParsed: l10n.t('Not valid JSON:'),
    toolCall: l10n.t('calls {0}', '{0}'),
    toolCallId: l10n.t('result of {0}', '{0}'),
    noRole: l10n.t('no role'),
    reload: TERMS.reload,
    noMatch: l10n.t('No matching rows'),
    problemsOfRow: TERMS.problems,
    keyboard: l10n.t('Arrow keys: move. Enter: raw text.'),
  };
}

/** Says why the dataset has no verdict. */
export function checkFailure(name: string, failure: CheckFailure | 'too-large'): string {
  return failure === 'too-large'
    ? l10n.t('{0} is too large for the service.', name)
    : failureSentence(name, failure);
}

/** Says how many rows are listed, and the progress of counting or searching. */
export function listStatus(
  { phase, length, searched, problems }: Pick<RowList, 'phase' | 'length' | 'searched' | 'problems'>,
  { rows, isCounted }: Pick<RowFile, 'rows' | 'isCounted'>,
): string {
  if (!isCounted) return l10n.t('{0} rows so far…', formatCount(rows));
  if (phase === 'all') return formatRows(rows);
  if (phase === 'waiting') return l10n.t('Waiting for the check…');
  const [shown, all] = [formatCount(length), formatCount(rows)];
  let listed = l10n.t('{0} of {1} rows', shown, all);
  if (problems !== undefined && problems.located < problems.total) {
    listed = l10n.t('{0} of {1} rows (first {2} found)', shown, all, formatCount(problems.located));
  }
  const percent = Math.floor(searched * 100);
  if (phase === 'searching') return l10n.t('{0}, {1}% searched…', listed, percent);
  if (phase === 'resting') return l10n.t('{0}, {1}% searched', listed, percent);
  return phase === 'failed' ? l10n.t('{0}; the rest is unreadable', listed) : listed;
}

/** The notice above the rows when they differ from the file on disk or in an editor. */
export function changedNotice(name: string, change: 'changed' | 'missing' | 'unsaved'): string {
  return change === 'unsaved'
    ? l10n.t('{0} has unsaved changes, which aren’t shown.', name)
    : diskSentence(name, change);
}

/** The data for the card of a JSONL file, before, during or after the check. */
export interface CardSource extends PreviewTexts {
  sizeBytes: number;
  report: Report | undefined;
  /** From 0 to 1 while the check is running. */
  progress: number | undefined;
  /** Why there is no report, as a sentence. */
  failure: string | undefined;
  past: PastRuns | undefined;
}

/** The card of a dataset: verdict, facts, charts and problems. */
export function previewCard(source: CardSource): PreviewCard {
  const { report, failure, past } = source;
  return {
    type: 'card',
    progress: progressOf(source),
    verdict: failure === undefined ? verdictOfCard(report) : { kind: 'none', text: failure },
    facts: [...factsOf(source), ...pastFacts(report, past)],
    charts: report === undefined ? [] : chartsOf(report, source),
    problems: report === undefined || report.problems.length === 0 ? undefined : problemsOf(report),
  };
}

function progressOf({ progress, readProgress }: CardSource): PreviewCard['progress'] {
  const fraction = progress ?? readProgress;
  if (fraction === undefined) return undefined;
  const percent = Math.floor(fraction * 100);
  return progress === undefined
    ? { text: l10n.t('Reading text, {0}%…', percent), fraction, stop: TERMS.cancel }
    : { text: l10n.t('Checking… {0}%', percent), fraction };
}

function verdictOfCard(report: Report | undefined): PreviewCard['verdict'] {
  if (report === undefined) return { kind: 'none', text: '' };
  return { kind: verdictOf(report), text: `${verdictPhrase(report)}.` };
}

function factsOf({ sizeBytes, report, reading, texts }: CardSource): PreviewCard['facts'] {
  const size = { name: TERMS.size, value: compact(formatBytes(sizeBytes), sizePhrase(sizeBytes)).join(', ') };
  if (report === undefined) return [size];
  const { rows, blankRows, statistics, repeats } = report;
  const { characters, maxTurns } = statistics;
  const tokens = reading?.tokens;
  const tooLong = countOf(report, 'row-too-long');
  return compact(
    size,
    { name: TERMS.rows, value: rowsText(rows, blankRows) },
    characters !== undefined && { name: l10n.t('Characters'), value: formatCount(characters) },
    tokens &&
      tokens.text > 0 && { name: l10n.t('Tokens'), value: tokensText(tokens, isTokenCountVague(reading)) },
    tokens && tokens.rowsOver4096 > 0 && { name: l10n.t('Long rows'), value: longRowsText(tokens) },
    tooLong > 0 && {
      name: TERMS.notChecked,
      value: l10n.t('{0} longer than 64 MiB, excluded from these numbers and charts', formatRows(tooLong)),
    },
    { name: l10n.t('Longest row'), value: formatBytes(statistics.longestBytes) },
    { name: TERMS.duplicates, value: duplicatesText(report) },
    repeats.prompts > 0 && { name: l10n.t('Repeated prompts'), value: repeatedPromptsText(report) },
    ...(reading === undefined ? [] : contentFacts(reading, maxTurns, texts)),
    reading !== undefined &&
      reading.unread > 0 && {
        name: l10n.t('Text not read'),
        value: l10n.t('{0} longer than 1 MB', formatRows(reading.unread)),
      },
  );
}

function rowsText(rows: number, blankRows: number): string {
  const [count, blank] = [rows - blankRows, formatCount(blankRows)];
  if (count > 0 && count < FEW_ROWS)
    return blankRows === 0
      ? l10n.t('Only {0}', formatRows(count))
      : l10n.t('Only {0} (plus {1} blank)', formatRows(count), blank);
  return blankRows === 0 ? formatCount(rows) : l10n.t('{0} ({1} blank)', formatCount(rows), blank);
}

function pastFacts(report: Report | undefined, past: PastRuns | undefined): PreviewCard['facts'] {
  if (report === undefined || past === undefined) return [];
  const { trained, since, price } = past;
  return compact(
    trained && {
      name: earlierName(trained.run),
      // What changed is a separate fact.
      value: since ? earlierPhrase(trained.run) : trainedPhrase(trained),
    },
    since ? sinceFact(since) : undefined,
    { name: TERMS.price, value: expectedPriceText(price) },
  );
}

function duplicatesText(report: Report): string {
  const count = countOf(report, 'duplicate-row');
  const text = count === 0 ? TERMS.none : formatRows(count);
  return inFirstRows(text, report, report.comparedRows);
}

function repeatedPromptsText(report: Report): string {
  const { prompts, withOtherAnswers } = report.repeats;
  const count = formatCount(prompts);
  const text =
    withOtherAnswers === 0
      ? count
      : l10n.t('{0} ({1} with different answers)', count, formatCount(withOtherAnswers));
  return inFirstRows(text, report);
}

function chartsOf(report: Report, { reading, texts }: CardSource): PreviewChart[] {
  const { roles } = report.statistics;
  const repeated = countOf(report, 'duplicate-row');
  return [
    ...(reading === undefined
      ? []
      : [tokensChart(reading.tokens), chart(l10n.t('Answers'), labelCounts(reading, texts))]),
    chart(
      l10n.t('Formats'),
      occurring(report.formats, (format) => FORMAT_NAMES[format]),
    ),
    chart(
      TERMS.duplicates,
      repeated === 0
        ? []
        : [
            [l10n.t('unique'), report.rows - report.blankRows - repeated],
            [l10n.t('duplicate'), repeated],
          ],
    ),
    chart(
      l10n.t('Roles'),
      occurring(roles, (role) => ROLES[role]),
    ),
    // A single bar adds nothing to the facts.
  ].filter(({ parts }) => parts.length > 1);
}

/** Rows by their tokens, up to both lines at least: trainers often cut rows there. */
function tokensChart({ rows }: Tokens): PreviewChart {
  const end = rows.length === 0 ? 0 : Math.max(rows.length, LINES[1] + 1);
  const first = Math.max(
    rows.findIndex((count) => count > 0),
    end - MAX_TOKEN_BARS,
  );
  const to = (bin: number) => formatCount(2 ** bin);
  const bars: Part[] = [];
  for (let bin = first; bin < end; bin++) {
    const before = bin === first ? rows.slice(0, first).reduce((sum, count) => sum + count, 0) : 0;
    const name = bin === first ? l10n.t('up to {0}', to(bin)) : l10n.t('{0} to {1}', to(bin - 1), to(bin));
    bars.push([name, before + (rows[bin] ?? 0)]);
  }
  const { title, parts } = chart(l10n.t('Tokens per row (approx.)'), bars);
  const line = (bin: number) => (LINES.includes(bin) ? l10n.t('{0} tokens', to(bin)) : undefined);
  return { title, parts: parts.map((part, index) => ({ ...part, line: line(first + index) })) };
}

type Part = [name: string, count: number];

function occurring<K extends string>(
  counts: Readonly<Record<K, number>>,
  nameOf: (key: K) => string,
): Part[] {
  return (Object.entries(counts) as [K, number][])
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([key, count]) => [nameOf(key), count]);
}

function chart(title: string, parts: readonly Part[]): PreviewChart {
  const sum = parts.reduce((total, [, count]) => total + count, 0);
  const largest = Math.max(1, ...parts.map(([, count]) => count));
  return {
    title,
    parts: parts.map(([name, count]) => ({
      name,
      value: formatShare(count, sum),
      share: count / largest,
    })),
  };
}

const ROLES: Readonly<Record<Role, string>> = {
  system: l10n.t('system'),
  user: l10n.t('user'),
  assistant: l10n.t('assistant'),
  tool: l10n.t('tool'),
  other: l10n.t('other'),
};

function problemsOf({ problems }: Report): NonNullable<PreviewCard['problems']> {
  const classes = Map.groupBy(problems, (group) => group.class);
  return {
    title: TERMS.problems,
    classes: Array.from(classes, ([problemClass, groups]) => ({
      choice: problemClass,
      name: PROBLEM_CLASSES[problemClass],
      count: formatCount(groups.reduce((sum, { total }) => sum + total, 0)),
      codes: groups.map(({ code, severity, total }) => ({
        choice: code,
        name: problemName(code),
        count: formatCount(total),
        severity,
      })),
    })),
  };
}

/** The estimated number of tokens, rounded to two digits. */
function tokensText({ text, assistant }: Tokens, isVague: boolean): string {
  const rounded = (count: number) => formatCount(Number(count.toPrecision(2)));
  const count =
    assistant === 0
      ? l10n.t('about {0} tokens', rounded(text))
      : l10n.t('about {0} tokens, {1} from the assistant', rounded(text), rounded(assistant));
  return isVague ? l10n.t('{0}; tokenizers differ widely for this script', count) : count;
}

function longRowsText({ rowsOver4096, rowsOver8192 }: Tokens): string {
  const rows = formatRows(rowsOver4096);
  return rowsOver8192 === 0
    ? l10n.t('{0} over about 4,096 tokens', rows)
    : l10n.t('{0} over about 4,096 tokens, {1} over 8,192', rows, formatCount(rowsOver8192));
}
