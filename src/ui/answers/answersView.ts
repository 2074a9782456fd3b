import { l10n } from 'vscode';
import {
  MAX_BYTES,
  MAX_ANSWER_ROWS,
  type AnswersFile,
  type Comparison,
  type Side,
} from '../../core/answers/answersFile.ts';
import { refusalSentence } from '../shared/datasetTexts.ts';
import { compact, formatCount, formatRows } from '../shared/format.ts';
import { factLine, TERMS } from '../shared/terms.ts';
import { AnswersDocument, type AnswersDocumentParts, type ShownAnswers } from './answersDocument.ts';
import { COMPARING, leakOf, trainedWord } from './leakText.ts';
import type { AnswersFilter, AnswersHead, AnswersTable, AnswersWord } from './protocol.ts';
import { fileNameOf } from './trainedData.ts';

/** The page's own texts. */
export function answersWords(): Record<AnswersWord, string> {
  return {
    feed: l10n.t('Answers'),
    rowsLoading: TERMS.loading,
    noMatch: l10n.t('No matching rows'),
    keyboard: l10n.t('Arrow keys: move. Enter: complete prompt.'),
    comparison: l10n.t('Comparison'),
    rowsToShow: l10n.t('Rows to show'),
    copySummary: l10n.t('Copy Summary'),
    prompt: l10n.t('Prompt'),
    legend: l10n.t('Struck through: only in the expected answer. Underlined: not in it.'),
    showMore: l10n.t('Show More'),
    showLess: l10n.t('Show Less'),
    emptyText: l10n.t('(empty)'),
    showInHoldOut: l10n.t('Show in Hold-out'),
  };
}

/** The names of the texts of a row. */
export const NAMES: Readonly<Record<Side | 'expected', string>> = {
  expected: l10n.t('Expected'),
  base: l10n.t('Base model'),
  adapter: l10n.t('Adapter'),
};

const FILTERS: Readonly<Record<AnswersFilter, string>> = {
  all: l10n.t('All'),
  different: l10n.t('Different'),
  adapter: l10n.t('Adapter closer'),
  base: l10n.t('Base closer'),
  trained: l10n.t('Trained'),
};
/** Titles for sides that are ahead by another measure than being closer. */
const AHEAD: Readonly<Record<Side, string>> = {
  adapter: l10n.t('Adapter ahead'),
  base: l10n.t('Base ahead'),
};

export function answersTitle(fileName: string): string {
  return l10n.t('Answers: {0}', fileName);
}

/** What is known of a file and its comparison. */
export interface AnswersFacts {
  name: string;
  /** Whether it is the comparison that is packed with the extension. */
  isSample: boolean;
  /** Whether the file changed. */
  hasChanged: boolean;
  problem: AnswersDocument['problem'];
  shown: ShownAnswers | undefined;
  filter: AnswersFilter;
}

/** Everything above the rows. */
export function answersHead(facts: AnswersFacts): AnswersHead {
  const { name, isSample, hasChanged, problem, shown, filter } = facts;
  const hasRows = shown !== undefined && shown.file.rows.length > 0;
  const comparison = hasRows ? shown.comparison : undefined;
  const isComparing = shown?.leak?.kind === 'comparing';
  // Undefined also if there is nothing but trained rows.
  const verdict = isComparing || comparison?.rows === 0 ? undefined : comparison;
  const leak = shown && leakOf(shown);
  const isEmpty = shown !== undefined && !hasRows && !shown.file.isBeingWritten;
  return {
    type: 'head',
    title: shown === undefined ? name : l10n.t('{0} · {1}', name, formatRows(shown.file.rows.length)),
    notices: compact(
      isSample &&
        l10n.t('A real, tiny adapter: 80 rows of sums. It learned the form of the answers, not to add.'),
      hasChanged && shown && l10n.t('{0} changed; shown again.', name),
      ...(shown === undefined ? [] : fileNotices(name, shown)),
    ),
    failure: problem === undefined ? (isEmpty ? noAnswers(name) : undefined) : problemSentence(name, problem),
    leak,
    headline: isComparing ? { isWarning: false, sentences: [COMPARING] } : verdict && headlineOf(verdict),
    table: verdict && tableOf(verdict),
    filters: hasRows ? filterButtons(filter, shown) : [],
    summary:
      isComparing || !hasRows
        ? undefined
        : `${compact(inMarkdown(leak?.text), verdict && summaryOf(verdict), inMarkdown(fileNotices(name, shown).join('\n'))).join('\n\n')}\n`,
  };
}

function problemSentence(name: string, problem: NonNullable<AnswersFacts['problem']>): string {
  return problem === 'failed'
    ? l10n.t('The answers couldn’t be compared. See the log for details.')
    : refusalSentence(name, problem);
}

/** Returns the filters that list something, in order. */
export function offeredFilters({ comparison, trained }: ShownAnswers): AnswersFilter[] {
  const hasOthers = comparison.rows > 0;
  const isOffered: Partial<Record<AnswersFilter, boolean>> = {
    ...{ adapter: hasOthers, base: hasOthers, trained: hasOthers && trained.size > 0 },
  };
  return (Object.keys(FILTERS) as AnswersFilter[]).filter((filter) => isOffered[filter] ?? true);
}

function filterButtons(pressed: AnswersFilter, shown: ShownAnswers): AnswersHead['filters'] {
  const isCloser = shown.comparison.measure === 'closer';
  const words = { ...FILTERS, ...(!isCloser && AHEAD), trained: trainedWord(shown) };
  return offeredFilters(shown).map((filter) => ({
    filter,
    words: words[filter],
    isPressed: filter === pressed,
  }));
}

/**
 * Compares a file of answers once, as its page does: who is ahead and whether that can be chance, or why it can't
 * show that. Undefined without complete answers, unless their rows name this run alone.
 */
export async function verdictFor(
  runId: string,
  file: string,
  parts: AnswersDocumentParts,
  signal: AbortSignal,
): Promise<string | undefined> {
  const document = new AnswersDocument(file, parts);
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
    const verdict =
      comparison.rows === 0 ? leakOf(shown)?.text : headlineOf(comparison).sentences.slice(0, 2).join(' ');
    return verdict && factLine(fileNameOf(file), verdict);
  } finally {
    document.dispose();
  }
}

/** The sentence above the rows of a comparison. */
function headlineOf(comparison: Comparison): NonNullable<AnswersHead['headline']> {
  const { rows, failed, same, isProbablyInactive, isMostlyCutOff, measure, chance, cutOff, shortened } =
    comparison;
  const answered = formatRows(rows - failed);
  if (isMostlyCutOff) {
    const again = l10n.t(
      'The answers were cut off in {0} of {1}. Raise the limit of tokens, then compare again.',
      formatCount(cutOff.rows),
      answered,
    );
    return { isWarning: true, sentences: [again] };
  }
  if (isProbablyInactive) {
    const equal = formatCount(same);
    return {
      isWarning: true,
      sentences: [l10n.t('Both models gave the same answer in {0} of {1}.', equal, answered), INACTIVE],
    };
  }
  return {
    isWarning: false,
    sentences: compact(
      leadSentence(comparison),
      chanceSentence(chance, measure),
      NOT_BETTER[measure],
      comparison.isOftenCutOff &&
        l10n.t('The answers were cut off in {0}: raise the limit of tokens.', formatRows(cutOff.rows)),
      thinkingSentence(comparison.isMostlyThinking),
      shortened.rows > 0 &&
        l10n.t(
          'In {0}, only the first {1} characters were compared.',
          formatRows(shortened.rows),
          formatCount(shortened.characters),
        ),
      failed > 0 && l10n.t('{0} not compared: the program reported an error.', formatRows(failed)),
    ),
  };
}

/** What the numbers of a comparison don't show. */
const NOT_BETTER: Readonly<Record<Comparison['measure'], string>> = {
  exact: l10n.t('Exactly right means the same text, which isn’t the same as better: read the rows.'),
  fields: l10n.t('More fields right isn’t the same as better: read the rows.'),
  closer: l10n.t('Closer isn’t the same as better: read the rows.'),
};

const INACTIVE = l10n.t('The adapter probably wasn’t active: check the model names and how it was loaded.');

function leadSentence({ measure, ahead, equal, exact }: Comparison): string {
  const [adapter, base, others] = [formatRows(ahead.adapter), formatCount(ahead.base), formatCount(equal)];
  switch (measure) {
    case 'exact':
      return l10n.t(
        'Adapter exactly right in {0}, base model in {1}, both in {2}.',
        formatRows(exact.adapter),
        formatCount(exact.base),
        formatCount(exact.both),
      );
    case 'fields':
      return l10n.t(
        'Adapter had more fields right in {0}, base model in {1}, {2} equal.',
        adapter,
        base,
        others,
      );
    case 'closer':
      return l10n.t(
        'Adapter closer to the expected answer in {0}, base model in {1}, {2} about equal.',
        adapter,
        base,
        others,
      );
  }
}

function chanceSentence(chance: Comparison['chance'], measure: Comparison['measure']): string {
  if (chance.kind === 'too-few') return l10n.t('Too few rows to tell.');
  const p = probabilityText(chance.p);
  if (chance.kind === 'likely')
    return l10n.t('That can be chance: such a difference comes up in {0} of comparisons.', p);
  switch (measure) {
    case 'exact':
      return l10n.t(
        'If neither were exactly right more often, a difference this large would come up in {0} of comparisons.',
        p,
      );
    case 'fields':
      return l10n.t(
        'If neither had more fields right, a difference this large would come up in {0} of comparisons.',
        p,
      );
    case 'closer':
      return l10n.t(
        'If neither were closer, a difference this large would come up in {0} of comparisons.',
        p,
      );
  }
}

/** Rounds a probability to two digits, and at most one decimal. */
function probabilityText(p: number): string {
  if (p < 0.001) return '< 0.1%';
  return l10n.t('{0}%', formatCount(Math.round(p * (p < 0.1 ? 1_000 : 100)) / (p < 0.1 ? 10 : 1)));
}

function thinkingSentence({ base, adapter }: Comparison['isMostlyThinking']): string | undefined {
  if (base && adapter) return l10n.t('Thinking fills most answers of both models.');
  if (base) return l10n.t('Thinking fills most answers of the base model.');
  return adapter ? l10n.t('Thinking fills most answers of the adapter.') : undefined;
}

/** Undefined if the adapter was probably inactive, or most rows were cut off: numbers would only mislead. */
function tableOf(comparison: Comparison): AnswersTable | undefined {
  const {
    exact,
    validJson,
    medianCharacters: median,
    cutOff,
    isProbablyInactive,
    isMostlyCutOff,
  } = comparison;
  if (isProbablyInactive || isMostlyCutOff) return undefined;
  const row = (name: string, of: Readonly<Record<Side, number>>, note?: string) => ({
    name,
    cells: [formatCount(of.base), formatCount(of.adapter)],
    note,
  });
  return {
    columns: [NAMES.base, NAMES.adapter],
    rows: compact(
      row(l10n.t('Exact answer'), exact),
      validJson && row(l10n.t('Valid JSON'), validJson),
      row(
        l10n.t('Characters (median)'),
        { base: Math.round(median.base), adapter: Math.round(median.adapter) },
        l10n.t('expected: {0}', formatCount(Math.round(median.expected))),
      ),
      row(l10n.t('Cut off'), cutOff),
    ),
  };
}

/** Notices about what isn't shown. */
function fileNotices(name: string, { file, run, expectedRows }: ShownAnswers): string[] {
  const { rows, leftOut, isCut, isBeingWritten } = file;
  const count = formatCount(rows.length);
  return compact(
    run !== undefined && l10n.t('Adapter of {0}.', run),
    isBeingWritten &&
      (expectedRows === undefined
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
  'no-base': (count) => l10n.t('{0} without an answer of the base model', count),
  'no-adapter': (count) => l10n.t('{0} without an answer of the adapter', count),
  'not-json': (count) => l10n.t('{0} not JSON', count),
  'too-long': (count) => l10n.t('{0} too long', count),
};

function noAnswers(name: string): string {
  return l10n.t('{0} has no answers. Each line needs messages, expected, base and adapter.', name);
}

/** Names of runs and files are text, not markup. */
function inMarkdown(text = ''): string {
  return text.replace(/[\\`*_[\]<>|]/g, String.raw`\$&`);
}

/** The comparison as Markdown: counts only. */
function summaryOf(comparison: Comparison): string {
  const table = tableOf(comparison);
  const rows = formatRows(comparison.rows);
  const cells = (parts: readonly string[]) => `| ${parts.join(' | ')} |`;
  return compact(
    headlineOf(comparison).sentences.join('\n'),
    table &&
      [
        cells(['', ...table.columns]),
        cells(['---', ...table.columns.map(() => '---:')]),
        ...table.rows.map((row) => cells([compact(row.name, row.note).join(', '), ...row.cells])),
      ].join('\n'),
    table && l10n.t('Method: {0}, exact sign test, {1}', METHODS[comparison.measure], rows),
  ).join('\n\n');
}

const METHODS: Readonly<Record<Comparison['measure'], string>> = {
  exact: l10n.t('exact answers'),
  fields: l10n.t('equal fields'),
  // The name of a metric, its longest n-gram and its beta.
  closer: 'chrF2 (6, 2)',
};
