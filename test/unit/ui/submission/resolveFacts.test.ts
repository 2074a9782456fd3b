import { NetworkError } from '../../../../src/core/api/errors.ts';
import type { Balance } from '../../../../src/core/api/types.ts';
import type { PendingSubmission } from '../../../../src/core/submission/pendingSubmission.ts';
import type { Submission } from '../../../../src/core/submission/submission.ts';
import { changedLines, golden } from '../../../helpers/golden.ts';
import { sessionOf } from '../../../helpers/services.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { submissionOf, pendingOf, refusedWith, uploadedAttempt } from '../../../helpers/submissions.ts';

const { factRows } = await withVscode(() => import('../../../../src/ui/submission/resolveFacts.ts'));

const now = new Date(2026, 4, 1, 14, 30).getTime();
const minutesAgo = (minutes: number) => now - minutes * 60_000;

describe('the facts of an open submission', () => {
  const unknown = (changes: Partial<Submission> = {}) =>
    pendingOf('idle', submissionOf({ attempts: [uploadedAttempt(minutesAgo(125))], ...changes }));
  const checked = (changes: Partial<NonNullable<Submission['lastCheck']>> = {}) => ({
    lastCheck: { at: { localMs: minutesAgo(25) }, complete: true, candidates: [], ...changes },
    balanceBefore: { balance_cents: 1_000, currency: 'USD' },
  });

  it('are those that the user needs for a decision', () => {
    const submission = unknown({
      label: 'My run ft-7k3m9qpx',
      marker: 'ft-7k3m9qpx',
      attempts: [{ started: { localMs: minutesAgo(130) } }, uploadedAttempt(minutesAgo(125))],
      ...checked({ balance_cents: 900 }),
    });
    const rowsOf = (
      shown: PendingSubmission,
      balance: { current?: Balance; readAtMs?: number } = {},
      checked: Parameters<typeof factRows>[2] = {},
    ) =>
      factRows(shown, sessionOf({ balance }), checked, now).map(
        ({ label, description }) => `${label}: ${description.replace(shown.id, 'ID')}`,
      );
    const usd = { balance_cents: 225_000, currency: 'USD' };
    const eur = { balance_cents: 1, currency: 'EUR' };
    // 15 minutes after the last byte.
    const at = { localMs: now, serviceMs: now, monotonicMs: 0 };
    const attempts = [{ started: at, closed: at, ended: at }];
    const plain = rowsOf(submission);
    const changed = (...given: Parameters<typeof rowsOf>) => changedLines(rowsOf(...given), plain);
    golden('submission-facts', {
      checked: plain,
      'a failed check': changed(submission, {}, { error: new NetworkError('refused') }),
      'a balance read since': changed(submission, { current: usd, readAtMs: now }),
      'a balance in another currency': changed(submission, { current: eur, readAtMs: now }),
      'balances in yen': changedLines(
        rowsOf(
          unknown({
            ...checked({ balance_cents: 225_000 }),
            balanceBefore: { balance_cents: 350_000, currency: 'JPY' },
          }),
        ),
        plain,
      ).filter((line) => line.includes('JPY')),
      'a check newer than the balance': rowsOf(
        unknown(checked({ balance_cents: 900, at: { localMs: now } })),
        { current: eur, readAtMs: now - 1 },
      ),
      'no balance before': rowsOf(unknown({ balanceBefore: undefined })),
      'checked too early': rowsOf(
        unknown({ attempts, marker: 'm', ...checked({ at, balance_cents: 1_000 }) }),
      ),
      'checked too early, and too late to resend': rowsOf(
        unknown({
          created: { localMs: minutesAgo(25 * 60) },
          ...{ attempts, marker: 'm', ...checked({ at, balance_cents: 1_000 }) },
        }),
      ),
      unsent: rowsOf(pendingOf('idle')),
      refused: rowsOf(pendingOf('idle', submissionOf(refusedWith('odd')))),
    });
  });
});
