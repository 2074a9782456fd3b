import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { PendingSubmission } from '../../../../src/core/submission/pendingSubmission.ts';
import { ended, type Submission } from '../../../../src/core/submission/submission.ts';
import { golden } from '../../../helpers/golden.ts';
import { sessionOf } from '../../../helpers/services.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import {
  chargedAt,
  submissionOf,
  pendingOf,
  refusedWith,
  uploadedAttempt,
} from '../../../helpers/submissions.ts';

const texts = await withVscode(() => import('../../../../src/ui/submission/submissionText.ts'));

const NOW_MS = new Date(2026, 4, 1, 14, 30).getTime();
const minutesAgo = (minutes: number) => NOW_MS - minutes * 60_000;
const HOUR = 60;

describe('the table of what the user reads', () => {
  beforeEach(() => mock.timers.enable({ apis: ['Date'], now: NOW_MS }));
  afterEach(() => mock.timers.reset());

  const label = 'My run ft-7k3m9qpx';
  const record = (changes: Partial<Submission> = {}) => submissionOf({ label, ...changes });
  const attempts = [uploadedAttempt(minutesAgo(125))];
  const asked = { notBefore: { localMs: minutesAgo(-HOUR) } };
  const STAGES: Readonly<Record<string, Submission>> = {
    draft: record(),
    'draft, the service asked you to wait': record(asked),
    sending: record({ stage: 'sending', attempts: [{ started: { localMs: minutesAgo(1) } }] }),
    sent: record({ stage: 'sent', attempts }),
    cleared: record({ stage: 'cleared', attempts }),
    'ended, refused': record({ ...refusedWith('insufficient_balance'), attempts }),
  };
  const WHO: Readonly<Record<string, Partial<PendingSubmission> & Pick<PendingSubmission, 'state'>>> = {
    'nobody, looked': { state: 'idle' },
    'first look runs': { state: 'unchecked' },
    'first look not answered': { state: 'unchecked', hasLooked: true },
    'checks here': { state: 'checking' },
    'queued here': { state: 'queued' },
    'uploads here': { state: 'uploading', sentBytes: 120_000_000, startedAtMs: NOW_MS - 12_000 },
    'waits here': { state: 'waiting', retryAtMs: NOW_MS + 12_000 },
    'prices here': { state: 'validating' },
    'other window': { state: 'elsewhere' },
  };
  /** Refused ones are at rest, or another window ends them; nothing unsent has a price. */
  const isMet = (stage: string, who: string) =>
    stage.startsWith('ended')
      ? ['nobody, looked', 'other window'].includes(who)
      : stage === 'sent'
        ? !who.startsWith('first look')
        : who !== 'prices here';

  const shown = (pending: PendingSubmission, session = sessionOf()) => {
    const { buttons, icon, named, row, sentence } = texts.submissionTextOf(pending, NOW_MS, session);
    return [
      `${icon} | ${row} | ${buttons.map((one) => `[${texts.BUTTONS[one]}]`).join(' ')}`,
      sentence,
      ...(named === sentence ? [] : [named]),
    ];
  };

  it('has a row, a sentence and buttons for every stage and whoever works on it', () => {
    const cases: Record<string, string[]> = {};
    for (const [stage, submission] of Object.entries(STAGES))
      for (const [who, live] of Object.entries(WHO))
        if (isMet(stage, who)) cases[`${stage}; ${who}`] = shown(pendingOf(live.state, submission, live));
    const offline = sessionOf({ state: 'offline' });
    cases['draft; first look, but no connection'] = shown(pendingOf('unchecked', record()), offline);
    golden('submission-table', cases);
    for (const [name, lines] of Object.entries(cases)) {
      const text = lines.join('\n');
      // A possible charge is never called "not charged". Before a look, nothing is said about money.
      if (/^sent; (?!other)/.test(name)) assert.match(text, /may have been charged/i, name);
      if (/^sent|first look/.test(name)) assert.doesNotMatch(text, /not charged/i, name);
      if (name.includes('first look')) assert.doesNotMatch(text, /may/i, name);
    }
  });

  it('says in the row why it may be charged, why it wasn’t, and how far it is', () => {
    const sent = (changes: Partial<Submission> = {}, live: Partial<PendingSubmission> = {}) =>
      pendingOf(live.state ?? 'idle', record({ stage: 'sent', attempts, ...changes }), live);
    const after = (httpStatus: number) => sent({ attempts: attempts.map((one) => ({ ...one, httpStatus })) });
    const checked = (...candidates: string[]) =>
      sent({ lastCheck: { at: { localMs: minutesAgo(25) }, complete: true, candidates } });
    const priced = (minutes: number) =>
      sent(
        { attempts: [{ started: { localMs: 0 }, closed: { localMs: minutesAgo(minutes) } }] },
        { state: 'validating' },
      );
    const canceled = { ...attempts[0]!, code: 'cancelled' };
    const uploads = { state: 'uploading', sentBytes: 120_000_000, startedAtMs: NOW_MS - 12_000 } as const;
    const explained = {
      at: { localMs: 0 },
      complete: true,
      candidates: [],
      explainedByReceipts: true as const,
    };
    const codes = ['model_not_available', 'invalid_api_key', 'validation_failed', 'constructor'];
    golden('submission-table-why', {
      'after 429': shown(after(429)),
      'after 503': shown(after(503)),
      'after 500': shown(after(500)),
      'an answer that isn’t readable': shown(after(200)),
      'a possible run': shown(checked('r')),
      'possible runs': shown(checked('r', 's')),
      checked: shown(checked()),
      'canceled after the upload': shown(sent({ attempts: [canceled] })),
      'canceled after it was resent': shown(sent({ attempts: [...attempts, canceled] })),
      'cleared, explained by other runs': shown(
        pendingOf('idle', record({ stage: 'cleared', attempts, lastCheck: explained })),
      ),
      'nothing uploaded': shown(pendingOf('uploading', record(), { attempt: 1 })),
      'uploaded again': shown(pendingOf('uploading', record(), { ...uploads, attempt: 2 })),
      'priced for less than a minute': shown(priced(0.9)),
      'priced for minutes': shown(priced(4.5)),
      'waits as the service asks': shown(
        pendingOf('waiting', record(), { retryAtMs: NOW_MS + 3_480_000, isAsked: true }),
      ),
      'the wait is over': shown(pendingOf('idle', record({ notBefore: { localMs: minutesAgo(1) } }))),
      ...Object.fromEntries(
        codes.map((code) => [`refused: ${code}`, shown(pendingOf('idle', record(refusedWith(code))))]),
      ),
    });
  });

  it('says what one was that is over, and what ends by Cancel and Discard', () => {
    const at = { at: { localMs: 1 } };
    const cases: Record<string, string | string[]> = {
      'not charged': texts.endSentence(ended(record(), 'not-charged', at)),
      discarded: texts.endSentence(ended(record(), 'discarded', at)),
      'charged, by an account that signed out': texts.endSentence(chargedAt(record(), 1)),
      unknown: texts.endSentence(undefined),
      'Cancel, before the last bytes': texts.cancelDetail(record()),
      'Cancel, after them': texts.cancelDetail(record({ stage: 'sent' })),
      'Cancel, in the progress': texts.progressText(pendingOf('waiting', STAGES['sent']), NOW_MS),
      'before a resend': ['draft', 'sent', 'cleared'].map((stage) =>
        texts.resentSentence(pendingOf('idle', STAGES[stage])),
      ),
    };
    for (const kind of ['sent', 'unanswered', 'cleared'] as const)
      cases[`Discard, ${kind}`] = [texts.discardDetail(kind), texts.discardDetail(kind, true)];
    golden('submission-table-ends', cases);
  });

  it('sanitizes and cuts the names of strangers', () => {
    const hostile = `Free \u202e$(check) [x](command:y)\u200b${'x'.repeat(5_000)}`;
    const session = sessionOf({ account: { name: hostile }, models: { nameOf: () => hostile } });
    const dataset = { ...record().dataset, filename: hostile };
    for (const submission of [...Object.values(STAGES), record(refusedWith('model_not_available'))])
      for (const { state } of Object.values(WHO)) {
        const text = shown(pendingOf(state, { ...submission, dataset, label: hostile }), session).join();
        assert.doesNotMatch(text, /\$\(|\]\(|\u202e|\u200b/);
        assert.ok(text.length < 400, text);
      }
  });
});
