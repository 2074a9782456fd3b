import assert from 'node:assert/strict';
import type { Balance } from '../../../../src/core/api/types.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import type { Intent } from '../../../../src/core/submission/intent.ts';
import type { PendingSubmission } from '../../../../src/core/submission/pendingSubmission.ts';
import type { Prior } from '../../../../src/core/submission/receipts.ts';
import type { RunNames } from '../../../../src/ui/shared/datasetTexts.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { intentOf, pendingOf, uploadedAttempt } from '../../../helpers/submissions.ts';

const { submissionDescription } = await withVscode(
  () => import('../../../../src/ui/submission/submissionState.ts'),
);
const { submissionAccessibleLabel, submissionTooltip } = await withVscode(
  () => import('../../../../src/ui/submission/submissionRows.ts'),
);
const { moneySentence } = await withVscode(() => import('../../../../src/ui/submission/submissionMoney.ts'));
const { factRows, UNCERTAINTIES } = await withVscode(
  () => import('../../../../src/ui/submission/resolveFacts.ts'),
);
const { priorRows } = await withVscode(() => import('../../../../src/ui/submission/summary.ts'));
const { formatMoment } = await withVscode(() => import('../../../../src/ui/shared/format.ts'));

const now = new Date(2026, 4, 1, 14, 30).getTime();
const minutesAgo = (minutes: number) => now - minutes * 60_000;

describe('texts of a submission', () => {
  const unknown = (changes: Partial<Intent> = {}) =>
    pendingOf('unknown', intentOf({ attempts: [uploadedAttempt(minutesAgo(125))], ...changes }));
  const checked = (changes: Partial<NonNullable<Intent['lastCheck']>> = {}) => ({
    lastCheck: { at: { localMs: minutesAgo(25) }, complete: true, candidates: [], ...changes },
    balanceBefore: { balance_cents: 1_000, currency: 'USD' },
  });

  it('a row shows the progress, the time left, and the attempt', () => {
    const live = { sentBytes: 120_000_000, totalBytes: 600_000_000, startedAtMs: now - 12_000 };
    for (const [state, changes, text] of [
      ['queued', {}, 'Upload queued'],
      ['uploading', { sentBytes: 0, attempt: 1 }, 'Uploading 0%'],
      ['uploading', { ...live, attempt: 1 }, 'Uploading 20% · 48 s left'],
      ['uploading', { ...live, attempt: 2 }, 'Uploading 20% · 48 s left · attempt 2'],
      ['validating', { attempt: 1 }, 'Validating…'],
      ['waiting', { attempt: 1, retryAtMs: now + 12_000 }, 'Retry in 12 s · attempt 2'],
      [
        'waiting',
        { retryAtMs: now + 3_480_000, isAsked: true },
        'Starts in 58 min · the service asked to wait',
      ],
      ['elsewhere', {}, 'Other window'],
    ] as const)
      assert.equal(submissionDescription(pendingOf(state, intentOf(), changes), now), text);
    const closed = (minutes: number) => ({
      attempts: [{ started: { localMs: 0 }, closed: { localMs: minutesAgo(minutes) } }],
    });
    for (const [minutes, text] of [
      [0.9, 'Validating…'],
      [4.5, 'Validating… · 4 min'],
    ] as const)
      assert.equal(submissionDescription(pendingOf('validating', intentOf(closed(minutes))), now), text);
  });

  it('a row that needs a decision starts with whether there was a charge', () => {
    const attempts = [uploadedAttempt(minutesAgo(125))];
    const refused = (code: string) =>
      pendingOf('refused', intentOf({ attempts, refused: { at: { localMs: now }, code } }));
    for (const [submission, text] of [
      [unknown(), 'May be charged · no answer'],
      [unknown(checked({ candidates: ['r'] })), 'May be charged · 1 possible run'],
      [unknown(checked({ candidates: ['r', 's'] })), 'May be charged · 2 possible runs'],
      [unknown(checked()), `May be charged · checked ${formatMoment(minutesAgo(25), now)}`],
      [pendingOf('not-charged', intentOf({ attempts })), 'Not charged · 2 checks'],
      [pendingOf('unsent'), 'Not charged · upload stopped'],
      [refused('insufficient_balance'), 'Not charged · balance too low'],
      [refused('model_not_available'), 'Not charged · model unavailable'],
      [refused('invalid_api_key'), 'Not charged · API key rejected'],
      [refused('validation_failed'), 'Not charged · refused'],
    ] satisfies [PendingSubmission, string][])
      assert.equal(submissionDescription(submission, now), text);
  });

  it('the accessible label and the tooltip contain everything', () => {
    const submission = unknown({ label: 'My run' });
    assert.equal(
      submissionAccessibleLabel(submission, now, 'Home'),
      'My run, train.jsonl, May be charged, no answer, Home',
    );
    assert.deepEqual(submissionTooltip(submission, 'Qwen 3 8B', now, 'Home').split('\n').slice(0, 6), [
      'train.jsonl',
      'May be charged · no answer',
      'Account: Home',
      'Model: Qwen 3 8B',
      'Label: My run',
      'Size: 600.0 MB',
    ]);
    // The record of this machine proves less than the service's answer.
    assert.match(
      submissionTooltip(pendingOf('unsent'), 'Qwen 3 8B', now),
      /^Not charged, as far as this machine knows · upload stopped$/m,
    );
  });

  it('moneySentence neither denies a possible charge nor suggests an impossible one', () => {
    const sentence = (submission: PendingSubmission) => moneySentence(submission, now);
    const states = [
      'queued',
      'uploading',
      'validating',
      'waiting',
      'checking',
      'unknown',
      'elsewhere',
    ] as const;
    for (const state of states) {
      assert.match(sentence(pendingOf(state, unknown().intent)), /^You may have been charged[.:] /, state);
      if (state !== 'unknown')
        assert.doesNotMatch(sentence(pendingOf(state)), /may have been charged/, state);
    }
    // This window may not have read yet what another one did.
    assert.doesNotMatch(sentence(pendingOf('elsewhere')), /[Nn]ot charged/);
    for (const state of ['unsent', 'refused', 'not-charged'] as const)
      assert.match(sentence(pendingOf(state)), /^Not charged/, state);
    const explained = intentOf(checked({ explained: true }));
    assert.match(
      sentence(pendingOf('not-charged', explained)),
      /your other runs explain the lower balance\.$/,
    );
    assert.match(
      sentence(unknown({ attempts: [{ ...uploadedAttempt(now), code: 'cancelled' }] })),
      /^You may have been charged: .*you canceled/,
    );
  });

  it('factRows contains the facts that the user needs for a decision', () => {
    const submission = unknown({
      label: 'My run ft-7k3m9qpx',
      marker: 'ft-7k3m9qpx',
      attempts: [{ started: { localMs: minutesAgo(130) } }, uploadedAttempt(minutesAgo(125))],
      ...checked({ balance_cents: 900 }),
    });
    const account = {
      id: 'account-1',
      kind: 'service',
      name: 'Work',
      baseUrl: 'https://service.test',
    } as const;
    let balance: { current?: Balance; readAtMs?: number } = {};
    const rowsOf = (shown: PendingSubmission, failure?: string): Record<string, string> =>
      Object.fromEntries(
        factRows(shown, { account, balance } as unknown as Session, 'Qwen 3 8B', failure, now).map(
          ({ label, description }) => [label, description],
        ),
      );
    const time = (ms: number) => formatMoment(ms, now);
    assert.deepEqual(rowsOf(submission), {
      'Balance before': `10.00 · 9.00 USD at ${time(minutesAgo(25))}`,
      'Last check': time(minutesAgo(25)),
      Why: UNCERTAINTIES.balance,
      'Fully uploaded': time(minutesAgo(124)),
      Attempts: `2, first at ${time(minutesAgo(130))}`,
      Dataset: 'train.jsonl, 600.0 MB, 7,473 rows',
      Model: 'Qwen 3 8B',
      Label: 'My run ft-7k3m9qpx',
      Queue: 'standard',
      Account: 'Work',
      'Idempotency-Key': submission.id,
    });
    assert.equal(rowsOf(submission, 'Offline.')['Last check'], 'Offline.');
    balance = { current: { balance_cents: 225_000, currency: 'USD' }, readAtMs: now };
    assert.equal(rowsOf(submission)['Balance before'], '10.00 · now 2,250.00 USD');
    balance = { current: { balance_cents: 1, currency: 'EUR' }, readAtMs: now };
    assert.equal(rowsOf(submission)['Balance before'], '10.00 USD · now 0.01 EUR');
    const recent = unknown(checked({ balance_cents: 900, at: { localMs: now } }));
    balance = { ...balance, readAtMs: now - 1 };
    assert.equal(rowsOf(recent)['Balance before'], '10.00 · now 9.00 USD');
    balance = {};
    assert.equal(rowsOf(unknown({ balanceBefore: undefined }))['Balance before'], undefined);
    // 15 minutes after the last byte.
    const at = { localMs: now, serviceMs: now, monotonicMs: 0 };
    const attempts = [{ started: at, closed: at, ended: at }];
    const early = unknown({ attempts, marker: 'm', ...checked({ at, balance_cents: 1_000 }) });
    assert.equal(rowsOf(early)['Next check'], `after ${time(now + 15 * 60_000)}`);
    const unsent = rowsOf(pendingOf('unsent'));
    assert.deepEqual(Object.keys(unsent), [
      ...['Fully uploaded', 'Attempts', 'Dataset', 'Model', 'Label', 'Queue', 'Account'],
    ]);
    assert.equal(unsent['Fully uploaded'], 'never');
    const refused = intentOf({ refused: { at: { localMs: now }, code: 'odd' } });
    assert.equal(rowsOf(pendingOf('refused', refused))['Error code'], 'odd');
  });

  describe('priorRows', () => {
    const hour = 60 * 60_000;
    const prior = (ageMs: number, changes: object = {}): Prior & RunNames => ({
      accountId: 'account-1',
      runId: 'run-1',
      priceCents: 517,
      currency: 'USD',
      rows: 1,
      modelId: 'm',
      modelName: 'Model M',
      otherAccount: undefined,
      isCompleted: true,
      status: 'completed',
      priority: false,
      submittedAtMs: now - ageMs,
      ...changes,
    });
    const rowsOf = (priors: ReturnType<typeof prior>[], chosen = { modelId: 'm', priority: false }) =>
      priorRows(priors, chosen, now).map((row) => `${row.icon} ${row.label}: ${row.description}`);

    it('warns if the same model and queue were used within a day', () => {
      const again = '3 h ago with Model M,';
      assert.deepEqual(rowsOf([prior(3 * hour)]), [
        `warning Submitted before · completed: ${again} 5.17 USD`,
      ]);
      const discarded = { runId: undefined, isCompleted: false, status: undefined };
      assert.deepEqual(rowsOf([prior(3 * hour, discarded)]), [
        `warning Submitted before: ${again} discarded: you may have been charged`,
      ]);
      assert.deepEqual(rowsOf([prior(3 * hour, { otherAccount: 'Home' })]), [
        'warning Submitted before · completed: 3 h ago with Model M by Home, 5.17 USD',
      ]);
      for (const [ageMs, chosen] of [
        [24 * hour, { modelId: 'm', priority: false }],
        [hour, { modelId: 'other', priority: false }],
        [hour, { modelId: 'm', priority: true }],
      ] as const)
        assert.match(
          rowsOf([prior(ageMs)], chosen)[0] ?? '',
          /^history Trained before: .+ 2026 with Model M, 5.17 USD$/,
        );
    });

    it('says “Trained before” only of a completed run', () => {
      const labelOf = (changes: object) => rowsOf([prior(30 * hour, changes)])[0]?.split(':')[0];
      assert.equal(labelOf({}), 'history Trained before');
      assert.equal(labelOf({ isCompleted: false, status: 'queued' }), 'history Submitted before · queued');
      assert.equal(labelOf({ isCompleted: false, status: undefined }), 'history Submitted before');
    });
  });
});
