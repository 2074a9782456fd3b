import { l10n } from 'vscode';
import type { PendingSubmission, SubmissionState } from '../../core/submission/pendingSubmission.ts';
import { stageOf } from '../../core/submission/stage.ts';
import { compact, formatCount, formatDuration, formatMoment } from '../shared/format.ts';
import { leftText } from '../shared/runText.ts';
import { TERMS } from '../shared/terms.ts';

/** The state in one line, money first, since a narrow view cuts off the end. */
export function stateText(submission: PendingSubmission, nowMs: number): string {
  const { attempt, intent, isAsked, retryAtMs = nowMs, state } = submission;
  const leftToWait = formatDuration(retryAtMs - nowMs);
  const texts: Record<SubmissionState, () => string> = {
    queued: () => l10n.t('Upload queued'),
    uploading: () => uploadText(submission, nowMs),
    validating: () => validatingText(submission, nowMs),
    waiting: () =>
      (isAsked
        ? [l10n.t('Starts in {0}', leftToWait), l10n.t('the service asked to wait')]
        : [l10n.t('Retry in {0}', leftToWait), l10n.t('attempt {0}', attempt + 1)]
      ).join(' · '),
    checking: () => TERMS.checking,
    elsewhere: () => l10n.t('Other window'),
    stopped: () => l10n.t('Upload stopped'),
    unsent: () =>
      notCharged(
        stageOf(intent, { nowMs }).busyUntilMs === undefined
          ? l10n.t('upload stopped')
          : l10n.t('service busy'),
      ),
    'not-charged': () => notCharged(l10n.t('2 checks')),
    unknown: () => unknownText(submission, nowMs),
    refused: () => notCharged(refusal(intent.refused?.code)),
  };
  return texts[state]();
}

function notCharged(why: string): string {
  return [l10n.t('Not charged'), why].join(' · ');
}

function refusal(code: string | undefined): string {
  if (code === 'insufficient_balance') return l10n.t('balance too low');
  if (code === 'model_not_available') return l10n.t('model unavailable');
  return code === 'invalid_api_key' ? l10n.t('API key rejected') : l10n.t('refused');
}

function uploadText(submission: PendingSubmission, nowMs: number): string {
  const { attempt, sentBytes, startedAtMs = nowMs, totalBytes } = submission;
  const percent = Math.floor((100 * sentBytes) / totalBytes);
  const passedMs = nowMs - startedAtMs;
  const leftMs = (passedMs * (totalBytes - sentBytes)) / sentBytes;
  return compact(
    l10n.t('Uploading {0}%', percent),
    passedMs >= 500 && sentBytes > 0 && leftText(formatDuration(leftMs)),
    attempt > 1 && l10n.t('attempt {0}', attempt),
  ).join(' · ');
}

function validatingText({ intent: { attempts } }: PendingSubmission, nowMs: number): string {
  const minutes = Math.floor((nowMs - (attempts.at(-1)?.closed?.localMs ?? nowMs)) / 60_000);
  return minutes < 1 ? l10n.t('Validating…') : l10n.t('Validating… · {0} min', minutes);
}

function unknownText({ intent: { lastCheck } }: PendingSubmission, nowMs: number): string {
  const runs = lastCheck?.candidates.length ?? 0;
  const why =
    lastCheck === undefined
      ? l10n.t('no answer')
      : runs === 0
        ? l10n.t('checked {0}', formatMoment(lastCheck.at.localMs, nowMs))
        : runs === 1
          ? l10n.t('1 possible run')
          : l10n.t('{0} possible runs', formatCount(runs));
  return [TERMS.mayBeCharged, why].join(' · ');
}

/** The gray text of a row. @param accountName given unless the account is active */
export function submissionDescription(
  submission: PendingSubmission,
  nowMs: number,
  accountName?: string,
): string {
  return compact(stateText(submission, nowMs), accountName).join(' · ');
}

/** How many records can't be read; empty if all can. */
export function unreadableText(count: number): string {
  if (count === 0) return '';
  return count === 1
    ? l10n.t('A submission record can’t be read.')
    : l10n.t('{0} submission records can’t be read.', formatCount(count));
}
