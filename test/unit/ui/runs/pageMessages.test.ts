import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import type { DownloadRecord } from '../../../../src/core/downloads/types.ts';
import type { ChargedReceipt } from '../../../../src/core/submission/runFacts.ts';
import type { MoneyView, TimelineView } from '../../../../src/ui/runs/pageMessages.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';
import { intentOf } from '../../../helpers/submissions.ts';

const NOON_MS = Date.UTC(2026, 4, 3, 12);

describe('messages of the run page', () => {
  let hooks: ModuleHooks;
  let words: typeof import('../../../../src/ui/runs/pageMessages.ts');

  before(async () => {
    hooks = standInForVscode();
    words = await import('../../../../src/ui/runs/pageMessages.ts');
  });
  after(() => hooks.deregister());

  describe('timeline', () => {
    const view = (changes: Partial<TimelineView> = {}): TimelineView => ({
      phase: 'finished',
      details: 'loaded',
      times: { createdAtMs: NOON_MS, startedAtMs: NOON_MS + 60_000, completedAtMs: NOON_MS + 360_000 },
      queueMs: 60_000,
      trainingMs: 300_000,
      usualQueue: undefined,
      usualTraining: undefined,
      receipt: undefined,
      receiptLoading: 'loaded',
      artifacts: { kind: 'available', expiresAtMs: NOON_MS + 86_400_000 },
      nowMs: NOON_MS + 600_000,
      ...changes,
    });
    const only = (createdAtMs: number | undefined) => ({
      times: { createdAtMs, startedAtMs: undefined, completedAtMs: undefined },
      queueMs: undefined,
      trainingMs: undefined,
    });
    const artifacts = (kind: TimelineView['artifacts']['kind']) => ({ kind, expiresAtMs: undefined });
    const lines = (changes: Partial<TimelineView> = {}) =>
      words
        .timelineEntries(view(changes))
        .map(({ state, when, notes }) => [state, when.includes('2026') ? 'time' : when, ...notes].join(', '));

    it('has every event, "not yet" only where that is certain', () => {
      assert.deepEqual(lines(), [
        'unknown, no receipt on this machine',
        'done, time',
        'done, time, after 1 min in the queue',
        'done, time, after 5 min of training',
        'next, time, 23 h 50 min left',
      ]);
      const waiting = { phase: 'waiting' as const, ...only(NOON_MS), artifacts: artifacts('not-yet') };
      assert.deepEqual(lines(waiting).slice(1), [
        'now, time, 10 min so far',
        'next, not yet',
        'next, not yet',
        'next, not yet',
      ]);
      const active = { phase: 'active' as const, ...only(NOON_MS), artifacts: artifacts('not-known') };
      assert.deepEqual(lines(active).slice(2), Array(3).fill('unknown, not provided yet'));
      const bare = { ...only(undefined), artifacts: artifacts('unknown') };
      assert.deepEqual(lines(bare).slice(1), Array(4).fill('unknown, not provided'));
      assert.equal(lines({ artifacts: { kind: 'expired', expiresAtMs: NOON_MS } })[4], 'over, time');
    });

    it('distinguishes what is loading, failed and not provided', () => {
      for (const [details, text] of [
        ['loading', 'unknown, loading…'],
        ['failed', 'unknown, could not be loaded'],
      ] as const)
        assert.equal(lines({ ...only(NOON_MS), details })[3], text);
      assert.equal(lines({ receiptLoading: 'loading' })[0], 'unknown, loading…');
    });

    it('says how long other runs took', () => {
      const usual = (fromMs: number, toMs: number) => ({ usualTraining: { fromMs, toMs } });
      for (const [fromMs, toMs, text] of [
        [720_000, 1_080_000, 'usually 12–18 min'],
        [300_000, 301_000, 'usually 5 min'],
        [20_000, 90_000, 'usually 20 s to 2 min'],
      ] as const) {
        assert.equal(lines(usual(fromMs, toMs))[3], `done, time, after 5 min of training (${text})`);
        assert.equal(
          lines({ phase: 'waiting', ...only(NOON_MS), ...usual(fromMs, toMs) })[3],
          `next, not yet, ${text}`,
        );
      }
    });

    it('says how it was submitted', () => {
      const intent = intentOf();
      const [attempt] = intent.attempts;
      const receipt = {
        ...intent,
        attempts: [attempt, attempt, attempt],
        settled: { kind: 'charged', how: 'found', at: { localMs: 1 }, run: { run_id: 'r' } },
      } as ChargedReceipt;
      const notes = words.timelineEntries(view({ receipt }))[0]?.notes ?? [];
      assert.equal(notes.length, 3);
      assert.match(notes[1] ?? '', /^3 attempts, charged once$/);
    });
  });

  describe('money', () => {
    const values = (changes: Partial<MoneyView> = {}) =>
      words
        .moneyFacts({
          priceCents: 250,
          currency: undefined,
          balanceCurrency: 'USD',
          plan: 'Pro',
          effect: undefined,
          details: 'loaded',
          ...changes,
        })
        .map(({ value }) => value);

    it('says where a currency is assumed', () => {
      assert.match(values()[0] ?? '', /^2\.50 USD \(.*assumed/);
      assert.equal(values({ currency: 'EUR' })[0], '2.50 EUR');
      assert.match(values({ balanceCurrency: undefined })[0] ?? '', /^2\.50 \(/);
    });

    it('invents nothing', () => {
      const missing = { priceCents: undefined, plan: undefined, effect: 'unknown' as const };
      assert.deepEqual(values(missing), Array(3).fill('not provided'));
      assert.equal(values({ priceCents: undefined, details: 'loading' })[0], 'loading…');
    });

    it('shows the effect on the balance, and what the price does not explain', () => {
      const effect = { beforeCents: 1_000, afterCents: 700, currency: 'USD', otherCents: -50 };
      assert.deepEqual(values({ effect }).slice(2), ['10.00 USD before, 7.00 USD after', '-0.50 USD']);
      assert.equal(values({ effect: { ...effect, otherCents: 0 } }).length, 3);
    });
  });

  it('distinguishes links that were shown where it is known which is which', () => {
    const names = (urls: string[]) =>
      words
        .consentFacts({ model_terms: { accepted_at: '', urls }, data_policy: { accepted_at: '' } })
        .filter(({ key }) => key.startsWith('link'))
        .map(({ name }) => name);
    assert.equal(new Set(names(['https://a.test', 'https://b.test'])).size, 2);
    assert.deepEqual(names(['https://a.test']), names([]));
  });

  it('says by what each file was verified, and promises no adapter for an unknown status', () => {
    const kinds = ['zip', 'gzip', 'tar', 'safetensors', 'unread', 'length', 'html', 'damaged'] as const;
    const lines = kinds.map((verified) => {
      const record = { sizeBytes: 1, sha256: 'ab', verified, completedAtMs: NOON_MS } as DownloadRecord;
      return words.fileLines(record, false)[1] ?? '';
    });
    assert.equal(new Set(lines).size, kinds.length);
    assert.equal(lines.filter((line) => line.startsWith('Verified')).length, 4);
    const text = words.adapterText({ kind: 'not-known', expiresAtMs: undefined }, 'failed\n\u202e', NOON_MS);
    assert.match(text, /“failed <U\+202E>”\. If the run completes, /);
  });
});
