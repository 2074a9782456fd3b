import { l10n } from 'vscode';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import { isPastBoundary, stageOf } from '../../core/submission/stage.ts';
import { formatMoment } from '../shared/format.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { stateText } from './submissionState.ts';

/** Buttons of an open submission, in its dialog and in notifications. */
export const BUTTONS = {
  checkNow: l10n.t('Check Now'),
  continue: l10n.t('Continue…'),
  resend: l10n.t('Resend…'),
} as const;

/** Why a resend is safe. Short enough for a row, which cuts its end off. */
export const RESENDING = l10n.t('The service documents that the same request ID isn’t charged twice.');

/** Rounds up, since what comes too early is refused again. */
function waitTime(untilMs: number): string {
  return formatMoment(Math.ceil(untilMs / 60_000) * 60_000, Date.now());
}

/** Until when the service asked not to submit. */
export function waitSentence(untilMs: number): string {
  return l10n.t('The service asked to wait until {0}.', waitTime(untilMs));
}

/** The sentence about a submission that wasn't sent because the service is busy. */
export function busySentence(untilMs: number): string {
  return l10n.t('Not charged: the service asked to wait until {0}. Continue then.', waitTime(untilMs));
}

/** Two lines of the final question, with the sentence around it. */
const MAX_FILE_UNITS = 32;

/** The sentence about whether a submission was charged. */
export function moneySentence(submission: PendingSubmission, nowMs: number): string {
  const { intent, state } = submission;
  const stage = stageOf(intent, { nowMs });
  const filename = sanitizeServiceText(intent.dataset.filename, MAX_FILE_UNITS);
  switch (state) {
    case 'stopped':
      return l10n.t(
        'The upload of {0} was interrupted. The service didn’t answer whether it was charged.',
        filename,
      );
    case 'unsent':
      return stage.busyUntilMs === undefined
        ? l10n.t('Not charged: the upload of {0} was interrupted.', filename)
        : busySentence(stage.busyUntilMs);
    case 'not-charged':
      return intent.lastCheck?.explained
        ? l10n.t('Not charged: two checks found no such run, and your other runs explain the lower balance.')
        : l10n.t('Not charged: two checks found no such run and no lower balance.');
    case 'unknown':
      return intent.attempts.at(-1)?.code === 'cancelled'
        ? l10n.t('You may have been charged: you canceled after the upload finished.')
        : l10n.t('You may have been charged: the service didn’t confirm it.');
    case 'refused':
      return stateText(submission, nowMs);
    // This window may not know yet how far the other one got.
    case 'elsewhere':
      return isPastBoundary(stage)
        ? l10n.t('You may have been charged. Continue in the other window.')
        : l10n.t('Open in another window. Continue there.');
    default:
      if (state === 'checking' && !isPastBoundary(stage))
        return l10n.t('The upload of {0} was interrupted. Checking whether it was charged…', filename);
      return isPastBoundary(stage)
        ? l10n.t('You may have been charged. {0}', stateText(submission, nowMs))
        : l10n.t('Not charged so far. {0}', stateText(submission, nowMs));
  }
}
