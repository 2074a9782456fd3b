import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import type { Intent } from '../../../../src/core/submission/intent.ts';
import type { PendingSubmission } from '../../../../src/core/submission/pendingSubmission.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';
import { intentOf, pendingOf, wholeAttempt } from '../../../helpers/submissions.ts';

describe('submissions that are not settled, in words', () => {
  let hooks: ModuleHooks;
  let words: typeof import('../../../../src/ui/submission/pendingMessages.ts');
  let resolve: typeof import('../../../../src/ui/submission/resolveMessages.ts');
  let formatMoment: typeof import('../../../../src/ui/shared/format.ts').formatMoment;
  let notices: typeof import('../../../../src/ui/submission/noticeMessages.ts');
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');
  const now = new Date(2026, 4, 1, 14, 30).getTime();
  const minutesAgo = (minutes: number) => now - minutes * 60_000;

  before(async () => {
    hooks = standInForVscode();
    words = await import('../../../../src/ui/submission/pendingMessages.ts');
    ({ formatMoment } = await import('../../../../src/ui/shared/format.ts'));
    standIn = await import('../../../helpers/vscodeStandIn.ts');
    notices = await import('../../../../src/ui/submission/noticeMessages.ts');
    resolve = await import('../../../../src/ui/submission/resolveMessages.ts');
  });
  after(() => hooks.deregister());

  const text = (submission: PendingSubmission) => words.submissionDescription(submission, now);
  const unknown = (changes: Partial<Intent> = {}) =>
    pendingOf('unknown', intentOf({ attempts: [wholeAttempt(minutesAgo(125))], ...changes }));

  it('tell bytes, speed and time left, and which attempt it is from the second on', () => {
    const live = { sentBytes: 120_000_000, totalBytes: 600_000_000, startedAtMs: now - 12_000 };
    assert.equal(
      text(pendingOf('uploading', intentOf(), { ...live, attempt: 1 })),
      '120.0 MB of 600.0 MB · 10.0 MB/s · 48 s left',
    );
    assert.equal(
      text(pendingOf('uploading', intentOf(), { ...live, attempt: 2 })),
      'Attempt 2: 120.0 MB of 600.0 MB · 10.0 MB/s · 48 s left',
    );
    assert.equal(
      text(pendingOf('uploading', intentOf(), { sentBytes: 0, attempt: 1 })),
      '0 bytes of 600.0 MB',
    );
    assert.equal(
      text(pendingOf('validating', intentOf(), { attempt: 1 })),
      'Uploaded; the service is validating',
    );
    assert.equal(
      text(pendingOf('validating', intentOf(), { attempt: 3 })),
      'Attempt 3: uploaded; the service is validating',
    );
    assert.equal(
      text(pendingOf('waiting', intentOf(), { attempt: 1, retryAtMs: now + 12_000 })),
      'Attempt 2 in 12 s',
    );
  });

  it('say of each state that rests whether it was charged, and how old it is', () => {
    const sent = { attempts: [wholeAttempt(minutesAgo(125))] };
    const refused = (code: string) =>
      text(pendingOf('refused', intentOf({ ...sent, refused: { at: { localMs: now }, code } })));
    assert.equal(text(unknown()), 'May be charged · no answer · 2 h 5 min ago');
    assert.equal(
      text(unknown({ attempts: [wholeAttempt(minutesAgo(3), true)] })),
      'May be charged · interrupted · 3 min ago',
    );
    // A check that found nothing notes when the attempt must have been over, and no more.
    const [cut] = [wholeAttempt(minutesAgo(3), true)];
    assert.equal(
      text(unknown({ attempts: [{ ...cut, ended: { localMs: now } }] })),
      'May be charged · interrupted · 3 min ago',
    );
    assert.equal(text(pendingOf('not-charged', intentOf(sent))), 'Not charged · 2 h 5 min ago');
    assert.equal(
      text(pendingOf('unsent', intentOf({ created: { localMs: minutesAgo(60) } }))),
      'Not charged · not sent · 1 h ago',
    );
    assert.equal(refused('insufficient_balance'), 'Not charged · balance too low · 2 h 5 min ago');
    for (const code of ['model_not_available', 'invalid_api_key', 'validation_failed', ''])
      assert.match(refused(code), /^Not charged · [^·]+ · /, code);
    assert.equal(text(pendingOf('elsewhere', intentOf(sent))), 'Open in another window');
  });

  it('say what the last look saw, and claim no more than that', () => {
    const seen = (look: Partial<NonNullable<Intent['lastLook']>>) =>
      words.lookText(
        unknown({
          lastLook: { at: { localMs: minutesAgo(25) }, complete: true, candidates: [], ...look },
          balanceBefore: { balance_cents: 1_000, currency: 'USD' },
        }),
        now,
      );
    const clock = formatMoment(minutesAgo(25), now);
    assert.equal(seen({ balance_cents: 1_000 }), `No charge seen as of ${clock}`);
    assert.equal(seen({ balance_cents: 2_000 }), `No charge seen as of ${clock}`);
    assert.equal(seen({ balance_cents: 999 }), `No such run, but a lower balance, as of ${clock}`);
    assert.equal(seen({}), `No such run seen as of ${clock}`);
    assert.equal(seen({ complete: false, balance_cents: 1_000 }), `Not everything could be read at ${clock}`);
    assert.equal(seen({ candidates: ['r'], complete: false }), `1 run could be this one, as of ${clock}`);
    assert.equal(seen({ candidates: ['r', 's'] }), `2 runs could be this one, as of ${clock}`);
    assert.equal(words.lookText(unknown(), now), undefined);
    assert.equal(
      text(
        unknown({
          lastLook: { at: { localMs: minutesAgo(25) }, complete: true, candidates: [], balance_cents: 5 },
          balanceBefore: { balance_cents: 5, currency: 'USD' },
        }),
      ),
      `May be charged · checked ${clock} · 2 h 5 min ago`,
    );
  });

  it('name the day of a moment that was on another one', () => {
    assert.notEqual(formatMoment(minutesAgo(24 * 60), now), formatMoment(now, now));
    assert.match(formatMoment(minutesAgo(24 * 60), now), /2026/);
  });

  it('are called by the label that the person gave, without its marker, or by the file', () => {
    const named = (label?: string, marker?: string) =>
      words.submissionName(
        unknown({ ...(label !== undefined && { label }), ...(marker !== undefined && { marker }) }),
      );
    assert.equal(named('My run ft-7k3m9qpx', 'ft-7k3m9qpx'), 'My run');
    assert.equal(named('ft-7k3m9qpx My long run', 'ft-7k3m9qpx'), 'My long run');
    assert.equal(named('ft-7k3m9qpx', 'ft-7k3m9qpx'), 'train.jsonl');
    assert.equal(named('My run ft-7k3m9qpx'), 'My run ft-7k3m9qpx');
    assert.equal(named('My run', 'ft-7k3m9qpx'), 'My run');
    assert.equal(named(), 'train.jsonl');
  });

  it('are told whole to a screen reader and in the tooltip', () => {
    const submission = unknown({ label: 'My run' });
    assert.equal(
      words.submissionAccessibleLabel(submission, now),
      'My run, train.jsonl, May be charged, no answer, 2 h 5 min ago',
    );
    assert.equal(
      words.submissionAccessibleLabel(submission, now, 'Home'),
      'My run, train.jsonl, May be charged, no answer, Home, 2 h 5 min ago',
    );
    const lines = words.submissionTooltip(submission, 'Qwen 3 8B', now).split('\n');
    assert.deepEqual(lines.slice(0, 5), [
      'train.jsonl',
      'May be charged · no answer · 2 h 5 min ago',
      'Model: Qwen 3 8B',
      'Label: My run',
      'Size: 600.0 MB',
    ]);
  });

  it('say nothing of a charge that cannot be, and never that none was while it may have been', () => {
    for (const state of ['unsent', 'refused', 'not-charged'] as const)
      assert.match(words.truthSentence(pendingOf(state), now), /^(Nothing was|Not) charged: /, state);
    for (const [code, why] of [
      ['insufficient_balance', ', because the balance was too low.'],
      ['model_not_available', ', because the model was not available.'],
      ['invalid_api_key', ', because it did not accept the API key.'],
      ['', '.'],
      ['validation_failed\u202e', ' with the error “validation_failed<U+202E>”.'],
    ] as const)
      assert.equal(
        words.truthSentence(pendingOf('refused', intentOf({ refused: { at: { localMs: now }, code } })), now),
        `Nothing was charged: the service refused it${why}`,
      );
    for (const attempts of [[wholeAttempt(now)], [wholeAttempt(now, true)]])
      assert.match(words.truthSentence(unknown({ attempts }), now), /^You may have been charged: /);
  });

  it('are known with what a person needs to decide', () => {
    const view = unknown({
      label: 'My run ft-7k3m9qpx',
      attempts: [{ started: { localMs: minutesAgo(130) } }, wholeAttempt(minutesAgo(125))],
      balanceBefore: { balance_cents: 10_000, currency: 'USD' },
      lastLook: {
        at: { localMs: minutesAgo(1) },
        complete: true,
        candidates: [],
        balance_cents: 10_000,
      },
    });
    const known = {
      view,
      accountName: 'Work',
      isSandbox: false,
      modelName: 'Qwen 3 8B',
      doubt: 'too-early',
      againAtMs: now + 15 * 60_000,
      failure: undefined,
    } as const;
    const clock = (ms: number) => formatMoment(ms, now);
    const rows = Object.fromEntries(resolve.knownRows(known, now).map(({ name, value }) => [name, value]));
    assert.deepEqual(rows, {
      'Last check': `No charge seen as of ${clock(minutesAgo(1))}`,
      Why: 'Too early to tell: the service may still be validating.',
      'Next check': `Check again after ${clock(now + 15 * 60_000)}`,
      Balance: '100.00 USD before, 100.00 USD at the last check',
      'Fully uploaded': clock(minutesAgo(124)),
      Attempts: `2, the first started at ${clock(minutesAgo(130))}`,
      Dataset: 'train.jsonl, 600.0 MB, 7,473 rows',
      Model: 'Qwen 3 8B',
      Label: 'My run ft-7k3m9qpx',
      Queue: 'standard',
      Account: 'Work',
      'Idempotency-Key': view.id,
    });
    const failed = resolve.knownRows({ ...known, failure: 'Offline.', doubt: undefined }, now);
    assert.equal(failed.find(({ name }) => name === 'Last check')?.value, 'Offline.');
    const unsent = resolve.knownRows({ ...known, view: pendingOf('unsent'), doubt: undefined }, now);
    assert.equal(unsent.find(({ name }) => name === 'Fully uploaded')?.value, 'never');
    assert.equal(
      unsent.some(({ name }) => name === 'Last check' || name === 'Idempotency-Key'),
      false,
    );
  });

  it('that stand in files which cannot be read are told of, with the file and what it may mean', () => {
    const { tellJournalSetAside } = notices;
    standIn.forget();
    tellJournalSetAside('/storage/submissions/intents/x.json');
    tellJournalSetAside('/storage/submissions/intents/x.json.unreadable-1');
    const [left = '', moved = ''] = standIn.told.sentences;
    assert.match(left, /The file x\.json .* was left as it is/);
    assert.match(moved, /was set aside as x\.json\.unreadable-1\./);
    for (const sentence of [left, moved]) {
      assert.match(sentence, /may have been charged: compare the balance and the runs/);
      assert.ok(sentence.endsWith('/storage/submissions/intents'));
    }
  });

  it('have a reason of its own for each doubt', () => {
    const doubts = [
      'candidates',
      'balance',
      'no-marker',
      'no-balance',
      'key-replaced',
      'too-early',
      'incomplete',
      'no-clock',
    ] as const;
    assert.equal(new Set(doubts.map(resolve.doubtSentence)).size, doubts.length);
  });
});
