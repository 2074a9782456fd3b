import { l10n } from 'vscode';
import type { Choice, VoteTally } from '../../core/answers/votes.ts';
import { formatCount, formatRows } from '../shared/format.ts';
import type { AnswersVoteRow } from './protocol.ts';
import type { Voting } from './voting.ts';

/** The user's choices, as buttons name them. */
export const CHOICES: Readonly<Record<Choice, string>> = {
  left: l10n.t('Left'),
  right: l10n.t('Right'),
  equal: l10n.t('Equal'),
};

/** What screen readers say after a vote. @param at its position in the session */
export function votedText(choice: Choice, at: number, { limit }: Pick<Voting, 'limit'>): string {
  return l10n.t('{0}. {1} of {2}.', CHOICES[choice], formatCount(at + 1), formatCount(limit));
}

/** The title above a row to vote on. */
export function voteTitle(
  at: number,
  { limit, total }: Pick<Voting, 'limit' | 'total'>,
): Pick<AnswersVoteRow, 'title' | 'note'> {
  return {
    title: l10n.t('{0} of {1}', formatCount(at + 1), formatCount(limit)),
    note: l10n.t('{0} of {1}', formatCount(limit), formatRows(total)),
  };
}

export function voteEnd({ isUnfinished, more, tally }: Pick<Voting, 'isUnfinished' | 'more' | 'tally'>) {
  const further = more > 0 ? l10n.t('{0} More', formatCount(more)) : undefined;
  return {
    sentences: tally === undefined ? [] : votesSentences(tally),
    more: isUnfinished ? l10n.t('Continue') : further,
  };
}

/** What the votes say, and what chance alone would. */
export function votesSentences({ adapter, base, equal, chance }: VoteTally): string[] {
  const preferred = l10n.t(
    'You preferred the adapter in {0}, the base model in {1}; {2} equal.',
    formatRows(adapter),
    formatCount(base),
    formatCount(equal),
  );
  const odds =
    chance.kind === 'too-few'
      ? l10n.t('Too few rows to tell.')
      : l10n.t(
          'If you had no preference, such a difference would come up in {0} of sessions.',
          probabilityText(chance.p),
        );
  return [preferred, odds];
}

/** Rounds a probability to two digits, and at most one decimal. */
export function probabilityText(p: number): string {
  if (p < 0.001) return '< 0.1%';
  return l10n.t('{0}%', formatCount(Math.round(p * (p < 0.1 ? 1_000 : 100)) / (p < 0.1 ? 10 : 1)));
}
