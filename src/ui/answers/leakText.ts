import { l10n } from 'vscode';
import { compact, formatCount } from '../shared/format.ts';
import type { ShownAnswers } from './answersDocument.ts';
import type { AnswersHead } from './protocol.ts';
import type { ComparedData } from './trainedData.ts';

/** Stands in the headline's place until the prompts are compared. */
export const COMPARING = {
  isWarning: false,
  sentences: [l10n.t('Comparing with the training data…')],
} as const;

/** Says how many prompts are in the data, with one button. */
export function leakOf({ leak, file, trained }: ShownAnswers): AnswersHead['leak'] {
  if (leak === undefined || leak.kind === 'comparing') return undefined;
  const choose = { kind: 'chooseDataset', words: l10n.t('Choose Dataset…') } as const;
  if (leak.kind === 'unknown')
    return {
      text: l10n.t('Not compared with training data because no run or dataset is known for this file.'),
      action: choose,
    };
  if (leak.kind === 'failed')
    return { text: l10n.t('Couldn’t compare with {0}. See the log for details.', leak.name), action: choose };
  const { data, found } = leak;
  const rows = file.rows.length;
  const isSome = trained.size > 0 && trained.size < rows;
  const sentences = compact(
    foundSentence(data, trained.size, rows),
    isSome && othersSentence(rows - trained.size),
    isSome && l10n.t('The system message isn’t compared.'),
    found.sameAnswer > 0 && sameAnswerSentence(data, found.sameAnswer, trained.size > 0),
    data.changed !== undefined &&
      l10n.t('{0} has changed since the run; its current version was compared.', data.changed),
  );
  const show = { kind: 'showRows', words: l10n.t('Show Rows') } as const;
  // Without a run, the file may be the wrong one.
  return { text: sentences.join(' '), action: isSome ? show : data.isTraining ? undefined : choose };
}

/** The filter of rows whose prompts are in the data, and their note. */
export function trainedWord({ leak }: Pick<ShownAnswers, 'leak'>): string {
  return leak?.kind === 'compared' && !leak.data.isTraining ? l10n.t('In dataset') : l10n.t('Trained');
}

function foundSentence(data: ComparedData, found: number, rows: number): string {
  if (found === 0) return noneSentence(data, rows);
  if (found === rows) return allSentence(data, rows);
  const [some, all] = [formatCount(found), formatCount(rows)];
  if (found === 1)
    return data.isTraining
      ? l10n.t('1 of these {0} prompts was in the training data ({1}).', all, data.name)
      : l10n.t('1 of these {0} prompts is also in {1}.', all, data.name);
  return data.isTraining
    ? l10n.t('{0} of these {1} prompts were in the training data ({2}).', some, all, data.name)
    : l10n.t('{0} of these {1} prompts are also in {2}.', some, all, data.name);
}

function othersSentence(others: number): string {
  return others === 1
    ? l10n.t('The results below cover only the other row.')
    : l10n.t('The results below cover only the other {0} rows.', formatCount(others));
}

function noneSentence({ isTraining, name }: ComparedData, rows: number): string {
  const where = isTraining ? l10n.t('the training data ({0})', name) : name;
  return rows === 1
    ? l10n.t('This prompt isn’t in {0}. Rewordings aren’t detected.', where)
    : l10n.t('None of these {0} prompts is in {1}. Rewordings aren’t detected.', formatCount(rows), where);
}

function allSentence({ isTraining, name }: ComparedData, rows: number): string {
  if (rows === 1)
    return isTraining
      ? l10n.t('This prompt was in the training data ({0}). It can’t show whether training helped.', name)
      : l10n.t(
          'This prompt is also in {0}. If that was the training data, it can’t show whether training helped.',
          name,
        );
  const all = formatCount(rows);
  return isTraining
    ? l10n.t(
        'All {0} prompts were in the training data ({1}). They can’t show whether training helped.',
        all,
        name,
      )
    : l10n.t(
        'All {0} prompts are also in {1}. If that was the training data, they can’t show whether training helped.',
        all,
        name,
      );
}

/** @param isMore whether the prompts of other rows were found */
function sameAnswerSentence({ isTraining, name }: ComparedData, count: number, isMore: boolean): string {
  const where = isTraining ? l10n.t('a training row') : l10n.t('a row in {0}', name);
  const rows = formatCount(count);
  if (count === 1)
    return isMore
      ? l10n.t('1 more row has the same answer as {0} but a different prompt.', where)
      : l10n.t('1 row has the same answer as {0} but a different prompt.', where);
  return isMore
    ? l10n.t('{0} more rows have the same answer as {1} but a different prompt.', rows, where)
    : l10n.t('{0} rows have the same answer as {1} but a different prompt.', rows, where);
}
