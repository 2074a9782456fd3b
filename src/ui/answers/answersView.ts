import { l10n } from 'vscode';
import {
  MAX_BYTES,
  MAX_ANSWER_ROWS,
  labelsOf,
  type AnswersFile,
  type Comparison,
  type ComparedSide,
} from '../../core/answers/answersFile.ts';
import { refusalSentence } from '../shared/datasetTexts.ts';
import { compact, formatCount, formatPercent, formatRows, formatShare } from '../shared/format.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { factLine, TERMS } from '../shared/terms.ts';
import { AnswersDocument, type AnswersDocumentParts, type ShownAnswers } from './answersDocument.ts';
import { COMPARING, leakOf, trainedWord } from './leakText.ts';
import type { AnswersFilter, AnswersHead, AnswersTable, AnswersWord } from './protocol.ts';
import { pairNotices, sidesOf, type Sides } from './sides.ts';
import { fileNameOf } from './trainedData.ts';

/** The page's own texts. */
export function answersWords(): Record<AnswersWord, string> {
  return {
    feed: l10n.t('Answers'),
    rowsLoading: TERMS.loading,
    noMatch: l10n.t('No matching rows'),
    keyboard: l10n.t('Arrow keys: move. Enter: show full prompt.'),
    rowsToShow: l10n.t('Rows to show'),
    copySummary: l10n.t('Copy Summary'),
    compareWithOther: l10n.t('Compare with Other Answers…'),
    showDifferences: l10n.t('Show Differences'),
    prompt: l10n.t('Prompt'),
    legend: l10n.t('Struck through: only in the expected answer. Underlined: not in the expected answer.'),
    showMore: l10n.t('Show More'),
    showLess: l10n.t('Show Less'),
    emptyText: l10n.t('(empty)'),
    showInHoldOut: l10n.t('Show in Hold-out'),
  };
}

/** What the head of the page shows. */
export interface AnswersFacts {
  /** Names of the one or two files, sanitized. */
  files: readonly string[];
  /** Whether it is the packaged sample. */
  isSample: boolean;
  /** Whether the file changed. */
  hasChanged: boolean;
  problem: AnswersDocument['problem'];
  shown: ShownAnswers | undefined;
  filter: AnswersFilter;
}

/** Everything above the rows. */
export function answersHead(facts: AnswersFacts): AnswersHead {
  const { files, isSample, hasChanged, problem, shown, filter } = facts;
  const sides = sidesOf(files, shown?.runs);
  const name = sides.title;
  const rows = shown && formatRows(shown.file.rows.length);
  const hasRows = shown !== undefined && shown.file.rows.length > 0;
  const comparison = hasRows ? shown.comparison : undefined;
  const isComparing = shown?.leak?.kind === 'comparing';
  // Undefined, too, if all rows were trained on.
  const verdict = isComparing || comparison?.rows === 0 ? undefined : comparison;
  const leak = shown && leakOf(shown);
  const isEmpty = shown !== undefined && !hasRows && !shown.file.isBeingWritten;
  return {
    type: 'head',
    title:
      rows === undefined
        ? name
        : sides.arePaired
          ? l10n.t('{0} · {1} in common', name, rows)
          : l10n.t('{0} · {1}', name, rows),
    notices: compact(
      isSample &&
        l10n.t(
          'A real but tiny adapter, trained on 80 rows of sums. It learned the form of the answers, not how to add.',
        ),
      hasChanged &&
        shown &&
        (sides.arePaired
          ? l10n.t('A file changed and was reloaded.')
          : l10n.t('{0} changed and was reloaded.', name)),
      ...(shown === undefined ? [] : fileNotices(name, shown, sides)),
    ),
    failure: problem ? problemSentence(problem) : isEmpty ? nothingSentence(files, shown) : undefined,
    leak,
    headline: isComparing ? COMPARING : verdict && headlineOf(verdict, sides),
    tables: compact(verdict && comparisonTable(verdict, sides), shown && verdict && labelTable(shown, sides)),
    filters: hasRows ? filterButtons(filter, shown, sides) : [],
    canCompareWithOther: hasRows && !sides.arePaired,
    summary:
      isComparing || !hasRows
        ? undefined
        : `${compact(inMarkdown(leak?.text), verdict && summaryOf(verdict, sides), inMarkdown(fileNotices(name, shown, sides).join('\n'))).join('\n\n')}\n`,
  };
}

/** With two files, the one without answers is named. */
function nothingSentence(files: readonly string[], shown: ShownAnswers): string {
  const without = files[shown.files.findIndex(({ rows }) => rows.length === 0)];
  return without === undefined
    ? l10n.t('No rows in common. Both files must use the same hold-out.')
    : l10n.t(
        '{0} has no answers. Each line needs the fields “messages”, “expected”, “base” and “adapter”.',
        without,
      );
}

function problemSentence({ kind, path }: NonNullable<AnswersFacts['problem']>): string {
  return kind === 'failed'
    ? l10n.t('The answers couldn’t be compared. See the log for details.')
    : refusalSentence(fileNameOf(path), kind);
}

/** Returns the filters that list something, in order. With two files, first where the second one is behind. */
export function offeredFilters({ comparison, pairs, trained }: ShownAnswers): AnswersFilter[] {
  if (comparison.rows === 0) return ['all', 'different'];
  const closer = pairs === undefined ? (['adapter', 'base'] as const) : (['base', 'adapter'] as const);
  return compact('all', 'different', ...closer, trained.size > 0 && 'trained');
}

function filterButtons(pressed: AnswersFilter, shown: ShownAnswers, { names, shortBase }: Sides) {
  const isCloser = shown.comparison.measure === 'closer';
  const ahead = (name: string) => (isCloser ? l10n.t('{0} closer', name) : l10n.t('{0} ahead', name));
  const words: Readonly<Record<AnswersFilter, string>> = {
    ...{ all: l10n.t('All'), different: l10n.t('Different'), trained: trainedWord(shown) },
    ...{ base: ahead(shortBase), adapter: ahead(names.adapter) },
  };
  return offeredFilters(shown).map((filter) => ({
    filter,
    words: words[filter],
    isPressed: filter === pressed,
  }));
}

/**
 * Compares a file of answers once, as its page does. Says which side is ahead and whether that can be chance, or why
 * it can't tell. Undefined without complete answers, or if their rows don't name this run alone.
 */
export async function verdictFor(
  runId: string,
  file: string,
  parts: AnswersDocumentParts,
  signal: AbortSignal,
): Promise<string | undefined> {
  const document = new AnswersDocument([file], parts);
  try {
    const isOpen = () => document.shown === undefined || document.shown.leak?.kind === 'comparing';
    while (document.problem === undefined && isOpen()) {
      if (signal.aborted) return undefined;
      await new Promise<void>((resolve) => {
        document.onDidChange(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    const { shown } = document;
    if (shown === undefined || shown.file.rows.length === 0 || shown.file.isBeingWritten) return undefined;
    if (shown.file.runs.length !== 1 || shown.file.runs[0] !== runId) return undefined;
    const { comparison } = shown;
    const { sentences } = headlineOf(comparison, sidesOf([file]));
    const verdict = comparison.rows === 0 ? leakOf(shown)?.text : sentences.slice(0, 2).join(' ');
    return verdict && factLine(fileNameOf(file), verdict);
  } finally {
    document.dispose();
  }
}

/** The sentence above the rows of a comparison. */
function headlineOf(comparison: Comparison, sides: Sides): NonNullable<AnswersHead['headline']> {
  const { rows, failed, same, isProbablyInactive, isMostlyCutOff, measure, chance, cutOff, shortened } =
    comparison;
  const answered = rows - failed;
  if (isMostlyCutOff) {
    const again = l10n.t(
      'The answers were cut off in {0} of {1}. Raise the token limit, then compare again.',
      formatCount(cutOff.rows),
      formatRows(answered),
    );
    return { isWarning: true, sentences: [again] };
  }
  if (isProbablyInactive) {
    const counts = [formatCount(same), formatRows(answered - cutOff.rows)] as const;
    return {
      isWarning: true,
      sentences: sides.arePaired
        ? [
            l10n.t('Both files have the same answer in {0} of {1}.', ...counts),
            l10n.t('Check that each was made with its own adapter.'),
          ]
        : [
            l10n.t('Both models gave the same answer in {0} of {1}.', ...counts),
            l10n.t('The adapter probably wasn’t active. Check the model names and how it was loaded.'),
          ],
    };
  }
  return {
    isWarning: false,
    sentences: compact(
      leadSentence(comparison, sides),
      chanceSentence(chance),
      NOT_BETTER[measure],
      comparison.isOftenCutOff &&
        l10n.t('The answers were cut off in {0}. Raise the token limit.', formatRows(cutOff.rows)),
      thinkingSentence(comparison.isMostlyThinking, sides),
      shortened.rows > 0 &&
        l10n.t(
          'In {0}, only the first {1} characters were compared.',
          formatRows(shortened.rows),
          formatCount(shortened.characters),
        ),
      failed > 0 && l10n.t('{0} not compared because the program reported an error.', formatRows(failed)),
    ),
  };
}

/** What the numbers don't show. */
const NOT_BETTER: Readonly<Record<Comparison['measure'], string>> = {
  exact: l10n.t('Exactly right means identical text, which isn’t always better. Read the rows.'),
  fields: l10n.t('Having more fields right isn’t always better. Read the rows.'),
  closer: l10n.t('Closer isn’t always better. Read the rows.'),
};

function leadSentence({ measure, ahead, equal, exact }: Comparison, { names, inside }: Sides): string {
  const counts = [names.adapter, formatRows(ahead.adapter), inside, formatCount(ahead.base)] as const;
  const others = formatCount(equal);
  switch (measure) {
    case 'exact':
      return l10n.t(
        '{0} was exactly right in {1}, {2} in {3}, both in {4}.',
        names.adapter,
        formatRows(exact.adapter),
        inside,
        formatCount(exact.base),
        formatCount(exact.both),
      );
    case 'fields':
      return l10n.t('{0} had more fields right in {1}, {2} in {3}; they tied in {4}.', ...counts, others);
    case 'closer':
      return l10n.t(
        '{0} was closer to the expected answer in {1}, {2} in {3}; they were about equal in {4}.',
        ...counts,
        others,
      );
  }
}

function chanceSentence(chance: Comparison['chance']): string {
  if (chance.kind === 'too-few') return l10n.t('Too few rows to tell.');
  const p = probabilityText(chance.p);
  return chance.kind === 'likely'
    ? l10n.t(
        'This could be chance: if the two were equally good, a difference this large would come up in {0} of comparisons.',
        p,
      )
    : l10n.t('If the two were equally good, a difference this large would come up in {0} of comparisons.', p);
}

/** Rounds a probability to two digits, and at most one decimal. It is never 0, even if it is too small for a number. */
function probabilityText(p: number): string {
  return formatPercent(p < 0.1 ? Math.max(p, Number.MIN_VALUE) : Math.round(p * 100) / 100);
}

function thinkingSentence(
  { base, adapter }: Comparison['isMostlyThinking'],
  { names, arePaired }: Sides,
): string | undefined {
  if (base && adapter) return l10n.t('Most answers from both models begin with thinking.');
  if (arePaired && (base || adapter))
    return l10n.t('Most answers from {0} begin with thinking.', base ? names.base : names.adapter);
  if (base) return l10n.t('Most base model answers begin with thinking.');
  return adapter ? l10n.t('Most adapter answers begin with thinking.') : undefined;
}

/**
 * How both sides did, in numbers. Undefined if the adapter was probably inactive, or most rows were cut off: they would only
 * mislead.
 */
function comparisonTable(comparison: Comparison, { names }: Sides): AnswersTable | undefined {
  const { ahead, equal, exact, validJson, medianCharacters: median, cutOff } = comparison;
  if (comparison.isProbablyInactive || comparison.isMostlyCutOff) return undefined;
  const compared = ahead.base + ahead.adapter + equal;
  const row = (name: string, of: Readonly<Record<ComparedSide, number>>, isShare = false) => {
    const format = (count: number) => (isShare ? formatShare(count, compared) : formatCount(count));
    return { name, cells: [format(of.base), format(of.adapter)] };
  };
  return {
    ...{ name: l10n.t('Comparison'), corner: '', columns: [names.base, names.adapter] },
    rows: compact(
      row(validJson ? l10n.t('Same fields') : l10n.t('Exact answer'), exact, true),
      validJson && row(l10n.t('Valid JSON'), validJson, true),
      row(l10n.t('Characters (median), expected: {0}', formatCount(Math.round(median.expected))), {
        base: Math.round(median.base),
        adapter: Math.round(median.adapter),
      }),
      row(l10n.t('Cut off'), cutOff),
    ),
  };
}

/** How often each side gave each expected answer. Undefined without labels. */
function labelTable({ file, scores, comparison }: ShownAnswers, { names }: Sides): AnswersTable | undefined {
  const { measure, isProbablyInactive, isMostlyCutOff } = comparison;
  const labels = labelsOf(file.rows, scores, comparison);
  if (labels.length === 0 || isProbablyInactive || isMostlyCutOff) return undefined;
  return {
    name: measure === 'fields' ? l10n.t('Same fields') : l10n.t('Exactly right'),
    corner: l10n.t('Expected'),
    columns: [l10n.t('Rows'), names.base, names.adapter],
    rows: labels.map(({ label, rows, base, adapter }) => ({
      name: sanitizeServiceText(label),
      cells: [formatCount(rows), formatShare(base, rows), formatShare(adapter, rows)],
    })),
  };
}

/** Notices about what isn't shown. */
function fileNotices(name: string, shown: ShownAnswers, sides: Sides): string[] {
  const { file, runs, expectedRows } = shown;
  const run = sides.arePaired ? undefined : runs[0]?.name;
  const { rows, leftOut, isCut, isBeingWritten } = file;
  const count = formatCount(rows.length);
  return compact(
    run !== undefined && l10n.t('Adapter from {0}.', run),
    ...pairNotices(shown, sides),
    isBeingWritten &&
      (sides.arePaired
        ? l10n.t('A file is being written: {0} in common so far.', formatRows(rows.length))
        : expectedRows === undefined
          ? l10n.t('{0} is being written: {1} so far.', name, formatRows(rows.length))
          : l10n.t('{0} is being written: {1} of {2}.', name, count, formatRows(expectedRows))),
    leftOutSentence(leftOut),
    isCut &&
      l10n.t(
        'Only the first {0} or {1} MB are shown.',
        formatRows(MAX_ANSWER_ROWS),
        formatCount(MAX_BYTES / 2 ** 20),
      ),
  );
}

function leftOutSentence(leftOut: AnswersFile['leftOut']): string | undefined {
  const all = Object.values(leftOut).reduce((sum, count) => sum + count, 0);
  if (all === 0) return undefined;
  const reasons = (Object.keys(REASONS) as (keyof AnswersFile['leftOut'])[]).flatMap((reason) => {
    const count = leftOut[reason] ?? 0;
    return count === 0 ? [] : [REASONS[reason](formatCount(count))];
  });
  return l10n.t('{0} left out: {1}.', formatRows(all), reasons.join(', '));
}

const REASONS: Readonly<Record<keyof AnswersFile['leftOut'], (count: string) => string>> = {
  'no-expected': (count) => l10n.t('{0} without an expected answer', count),
  'no-messages': (count) => l10n.t('{0} without messages', count),
  'no-base': (count) => l10n.t('{0} without a base model answer', count),
  'no-adapter': (count) => l10n.t('{0} without an adapter answer', count),
  'not-json': (count) => l10n.t('{0} with invalid JSON', count),
  'too-long': (count) => l10n.t('{0} too long', count),
};

/** Names of runs and files are text, not markup. */
function inMarkdown(text = ''): string {
  return text.replace(/[\\`*_[\]<>|]/g, String.raw`\$&`);
}

/** The comparison as Markdown: counts only. */
function summaryOf(comparison: Comparison, given: Sides): string {
  const [base, adapter] = [inMarkdown(given.names.base), inMarkdown(given.names.adapter)];
  const sides = { ...given, names: { base, adapter }, inside: inMarkdown(given.inside) };
  const table = comparisonTable(comparison, sides);
  const rows = formatRows(comparison.rows);
  const cells = (parts: readonly string[]) => `| ${parts.join(' | ')} |`;
  return compact(
    headlineOf(comparison, sides).sentences.join('\n'),
    table &&
      [
        cells(['', ...table.columns]),
        cells(['---', ...table.columns.map(() => '---:')]),
        ...table.rows.map((row) => cells([row.name, ...row.cells])),
      ].join('\n'),
    table && l10n.t('Method: {0}, exact sign test, {1}', METHODS[comparison.measure], rows),
  ).join('\n\n');
}

const METHODS: Readonly<Record<Comparison['measure'], string>> = {
  exact: l10n.t('exact answers'),
  fields: l10n.t('matching fields'),
  // The name of a metric, its longest n-gram and its beta.
  closer: 'chrF2 (6, 2)',
};
