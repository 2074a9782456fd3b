import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import type { Intent } from '../../../../src/core/submission/intent.ts';
import type {
  PendingSubmission,
  SubmissionState,
} from '../../../../src/core/submission/pendingSubmission.ts';
import type { Prior } from '../../../../src/core/submission/runFacts.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';
import { intentOf, pendingOf, wholeAttempt } from '../../../helpers/submissions.ts';

describe('messages of submissions', () => {
  let hooks: ModuleHooks;
  let messages: typeof import('../../../../src/ui/submission/messages.ts');
  let priorRows: typeof import('../../../../src/ui/submission/stepMessages.ts').priorRows;
  let formatMoment: typeof import('../../../../src/ui/shared/format.ts').formatMoment;
  const now = new Date(2026, 4, 1, 14, 30).getTime();
  const minutesAgo = (minutes: number) => now - minutes * 60_000;

  before(async () => {
    hooks = standInForVscode();
    messages = await import('../../../../src/ui/submission/messages.ts');
    ({ priorRows } = await import('../../../../src/ui/submission/stepMessages.ts'));
    ({ formatMoment } = await import('../../../../src/ui/shared/format.ts'));
  });
  after(() => hooks.deregister());

  const unknown = (changes: Partial<Intent> = {}) =>
    pendingOf('unknown', intentOf({ attempts: [wholeAttempt(minutesAgo(125))], ...changes }));
  const check = (changes: Partial<NonNullable<Intent['lastLook']>> = {}) => ({
    lastLook: { at: { localMs: minutesAgo(25) }, complete: true, candidates: [], ...changes },
    balanceBefore: { balance_cents: 1_000, currency: 'USD' },
  });

  it('the row says progress, time left and the attempt', () => {
    const live = { sentBytes: 120_000_000, totalBytes: 600_000_000, startedAtMs: now - 12_000 };
    for (const [state, changes, text] of [
      ['queued', {}, 'Upload queued'],
      ['uploading', { sentBytes: 0, attempt: 1 }, 'Uploading 0%'],
      ['uploading', { ...live, attempt: 1 }, 'Uploading 20% · 48 s left'],
      ['uploading', { ...live, attempt: 2 }, 'Uploading 20% · 48 s left · attempt 2'],
      ['validating', { attempt: 1 }, 'Validating…'],
      ['waiting', { attempt: 1, retryAtMs: now + 12_000 }, 'Retry in 12 s · attempt 2'],
    ] as const)
      assert.equal(messages.submissionDescription(pendingOf(state, intentOf(), changes), now), text);
  });

  it('the row of each state that rests says first whether it was charged, then since when', () => {
    const sent = { attempts: [wholeAttempt(minutesAgo(125))] };
    const refused = (code: string) =>
      pendingOf('refused', intentOf({ ...sent, refused: { at: { localMs: now }, code } }));
    const cases: [PendingSubmission, string][] = [
      [unknown(), 'May be charged · no answer'],
      [unknown(check({ candidates: ['r'] })), 'May be charged · 1 possible run'],
      [unknown(check({ candidates: ['r', 's'] })), 'May be charged · 2 possible runs'],
      [unknown(check()), `May be charged · checked ${formatMoment(minutesAgo(25), now)}`],
      [pendingOf('not-charged', intentOf(sent)), 'Not charged · 2 checks'],
      [
        pendingOf('unsent', intentOf({ created: { localMs: minutesAgo(125) } })),
        'Not charged · upload stopped',
      ],
      [refused('insufficient_balance'), 'Not charged · balance too low'],
      [refused('model_not_available'), 'Not charged · model unavailable'],
      [refused('invalid_api_key'), 'Not charged · API key rejected'],
      [refused('validation_failed'), 'Not charged · refused'],
    ];
    for (const [submission, text] of cases)
      assert.equal(messages.submissionDescription(submission, now), `${text} · 2 h 5 min ago`);
    assert.equal(messages.submissionDescription(pendingOf('elsewhere'), now), 'Other window');
    // A row is narrow; a screen reader has room.
    const spoken = messages.submissionAccessibleLabel(pendingOf('not-charged', intentOf(sent)), now);
    assert.match(spoken, /Not charged, confirmed by 2 checks, /);
  });

  it('a sentence about the money never denies a possible charge, nor suggests an impossible one', () => {
    const sentence = (submission: PendingSubmission) => messages.moneySentence(submission, now);
    const states: SubmissionState[] = [
      'queued',
      'uploading',
      'validating',
      'waiting',
      'checking',
      'unknown',
      'elsewhere',
    ];
    for (const state of states) {
      assert.match(sentence(pendingOf(state, unknown().intent)), /^You may have been charged[.:] /, state);
      if (state !== 'unknown')
        assert.doesNotMatch(sentence(pendingOf(state)), /may have been charged/, state);
    }
    // What another window did may not be read yet.
    assert.doesNotMatch(sentence(pendingOf('elsewhere')), /[Nn]ot charged/);
    for (const state of ['unsent', 'refused', 'not-charged'] as const)
      assert.match(sentence(pendingOf(state)), /^Not charged: /, state);
    const codes = ['insufficient_balance', 'model_not_available', 'invalid_api_key', '', 'odd\u202e'];
    const refused = codes.map((code) =>
      sentence(pendingOf('refused', intentOf({ refused: { at: { localMs: now }, code } }))),
    );
    assert.equal(new Set(refused).size, codes.length);
    for (const text of refused) assert.match(text, /^Not charged: /);
    assert.ok(refused.at(-1)?.includes('“odd<U+202E>”'));
    assert.match(
      sentence(unknown({ attempts: [{ ...wholeAttempt(now), code: 'cancelled' }] })),
      /^You may have been charged: .*you canceled/,
    );
  });

  it('the last check claims no more than it saw', () => {
    const time = formatMoment(minutesAgo(25), now);
    const cases: [Parameters<typeof check>[0], string][] = [
      [{ balance_cents: 1_000 }, 'No charge found'],
      [{ balance_cents: 2_000 }, 'No charge found'],
      [{ balance_cents: 999 }, 'No such run, but a lower balance'],
      [{}, 'No such run'],
      [{ complete: false, balance_cents: 1_000 }, 'Incomplete'],
      [{ candidates: ['r'], complete: false }, '1 possible run'],
      [{ candidates: ['r', 's'] }, '2 possible runs'],
    ];
    for (const [changes, text] of cases)
      assert.equal(messages.checkText(unknown(check(changes)), now), `${text} · ${time}`);
    assert.equal(messages.checkText(unknown(), now), undefined);
  });

  it('a submission is named by its label without the marker, or by its file', () => {
    for (const [label, marker, name] of [
      ['My run ft-7k3m9qpx', 'ft-7k3m9qpx', 'My run'],
      ['ft-7k3m9qpx My long run', 'ft-7k3m9qpx', 'My long run'],
      ['ft-7k3m9qpx', 'ft-7k3m9qpx', 'train.jsonl'],
      ['My run ft-7k3m9qpx', undefined, 'My run ft-7k3m9qpx'],
      [undefined, undefined, 'train.jsonl'],
    ] as const)
      assert.equal(
        messages.submissionName(
          intentOf({ ...(label !== undefined && { label }), ...(marker !== undefined && { marker }) }),
        ),
        name,
      );
  });

  it('a screen reader and the tooltip get everything', () => {
    const submission = unknown({ label: 'My run' });
    assert.equal(
      messages.submissionAccessibleLabel(submission, now, 'Home'),
      'My run, train.jsonl, May be charged, no answer, Home, 2 h 5 min ago',
    );
    assert.deepEqual(
      messages.submissionTooltip(submission, 'Qwen 3 8B', now, 'Home').split('\n').slice(0, 6),
      [
        'train.jsonl',
        'May be charged · no answer · 2 h 5 min ago',
        'Account: Home',
        'Model: Qwen 3 8B',
        'Label: My run',
        'Size: 600.0 MB',
      ],
    );
  });

  it('the dialog has the facts that the user decides with', () => {
    const submission = unknown({
      label: 'My run ft-7k3m9qpx',
      attempts: [{ started: { localMs: minutesAgo(130) } }, wholeAttempt(minutesAgo(125))],
      ...check({ balance_cents: 1_000 }),
    });
    const known = {
      submission,
      account: { id: 'account-1', kind: 'service', name: 'Work', baseUrl: 'https://service.test' },
      modelName: 'Qwen 3 8B',
      uncertainty: 'too-early',
      againAtMs: now + 15 * 60_000,
      failure: undefined,
    } as const;
    const rowsOf = (changes: Partial<Parameters<typeof messages.factRows>[0]>) =>
      Object.fromEntries(
        messages.factRows({ ...known, ...changes }, now).map(({ name, value }) => [name, value]),
      );
    const time = (ms: number) => formatMoment(ms, now);
    assert.deepEqual(rowsOf({}), {
      'Last check': `No charge found · ${time(minutesAgo(25))}`,
      Why: messages.uncertaintySentence('too-early'),
      'Next check': `Check again after ${time(now + 15 * 60_000)}`,
      Balance: '10.00 USD before, 10.00 USD at the last check',
      'Fully uploaded': time(minutesAgo(124)),
      Attempts: `2, first at ${time(minutesAgo(130))}`,
      Dataset: 'train.jsonl, 600.0 MB, 7,473 rows',
      Model: 'Qwen 3 8B',
      Label: 'My run ft-7k3m9qpx',
      Queue: 'standard',
      Account: 'Work',
      'Idempotency-Key': submission.id,
    });
    assert.equal(rowsOf({ failure: 'Offline.' })['Last check'], 'Offline.');
    const unsent = rowsOf({ submission: pendingOf('unsent'), uncertainty: undefined, againAtMs: undefined });
    assert.equal(unsent['Fully uploaded'], 'never');
    for (const name of ['Last check', 'Why', 'Next check', 'Balance', 'Idempotency-Key'])
      assert.equal(name in unsent, false, name);
  });

  it('a record that can’t be read is named, with its folder and what it may mean', () => {
    for (const name of ['x.json', 'x.json.unreadable-1']) {
      const text = messages.unreadableRecordSentence(`/storage/submissions/intents/${name}`);
      assert.ok(text.includes(name) && text.endsWith('/storage/submissions/intents'));
      assert.match(text, /You may have been charged for it: compare your balance and runs/);
    }
  });

  describe('earlier submissions of the same dataset', () => {
    const hour = 60 * 60_000;
    const prior = (ageMs: number, changes: object = {}): Prior & { modelName: string } => ({
      runId: 'run-1',
      modelId: 'm',
      modelName: 'Model M',
      priority: false,
      submittedAtMs: now - ageMs,
      ...changes,
    });
    const rowsOf = (priors: ReturnType<typeof prior>[], chosen = { modelId: 'm', priority: false }) =>
      priorRows(priors, chosen, now).map(({ icon, value }) => `${icon}: ${value}`);

    it('warn within a day of the same model and queue', () => {
      const again = 'warning: You already submitted this dataset with this model';
      assert.deepEqual(rowsOf([prior(3 * hour)]), [`${again} 3 h ago: run run-1`]);
      assert.deepEqual(rowsOf([prior(3 * hour, { runId: undefined })]), [
        `${again} 3 h ago and discarded it. You may have been charged.`,
      ]);
      for (const [ageMs, chosen] of [
        [24 * hour, { modelId: 'm', priority: false }],
        [hour, { modelId: 'other', priority: false }],
        [hour, { modelId: 'm', priority: true }],
      ] as const)
        assert.match(
          rowsOf([prior(ageMs)], chosen)[0] ?? '',
          /^history: You trained it on .* run-1 \(Model M\)$/,
        );
    });

    it('are newest first, those of the same choices before all others, and counted from the fourth on', () => {
      const list = [
        prior(40 * hour, { runId: 'old' }),
        prior(hour, { runId: 'other', modelId: 'x' }),
        prior(5 * hour, { runId: 'same' }),
        ...[50, 60].map((age) => prior(age * hour, { runId: 'older' })),
      ];
      const rows = rowsOf(list);
      assert.deepEqual(
        rows.slice(0, 3).map((row) => /run (\w+)/.exec(row)?.[1]),
        ['same', 'other', 'old'],
      );
      assert.equal(rows[3], 'history: and 2 more times');
      assert.equal(rowsOf(list.slice(0, 4))[3], 'history: and once more');
    });
  });
});
