import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';

type Timeline = typeof import('../../../../src/ui/runs/pageTimelineMessages.ts');
type TimelineView = Parameters<Timeline['timelineEntries']>[0];
type Durations = typeof import('../../../../src/ui/runs/pageDurationMessages.ts');
type MoneyView = Parameters<typeof import('../../../../src/ui/runs/pageFactMessages.ts').moneyFacts>[0];

const NOON_MS = Date.UTC(2026, 4, 3, 12);

describe('words of the run page', () => {
  let hooks: ModuleHooks;
  let timelineEntries: Timeline['timelineEntries'];
  let durations: Durations;
  let moneyFacts: typeof import('../../../../src/ui/runs/pageFactMessages.ts').moneyFacts;
  let consentFacts: typeof import('../../../../src/ui/runs/pageFactMessages.ts').consentFacts;
  let countdownText: typeof import('../../../../src/ui/runs/pageMessages.ts').countdownText;
  let artifacts: typeof import('../../../../src/ui/runs/pageArtifactMessages.ts');

  before(async () => {
    hooks = standInForVscode();
    ({ timelineEntries } = await import('../../../../src/ui/runs/pageTimelineMessages.ts'));
    durations = await import('../../../../src/ui/runs/pageDurationMessages.ts');
    ({ consentFacts, moneyFacts } = await import('../../../../src/ui/runs/pageFactMessages.ts'));
    ({ countdownText } = await import('../../../../src/ui/runs/pageMessages.ts'));
    artifacts = await import('../../../../src/ui/runs/pageArtifactMessages.ts');
  });
  after(() => hooks.deregister());

  describe('timeline', () => {
    const view = (changes: Partial<TimelineView> = {}): TimelineView => ({
      phase: 'finished',
      details: 'read',
      createdAtMs: NOON_MS,
      startedAtMs: NOON_MS + 60_000,
      completedAtMs: NOON_MS + 360_000,
      queueMs: 60_000,
      trainingMs: 300_000,
      receipt: 'read',
      submission: undefined,
      artifacts: { kind: 'available', expiresAtMs: NOON_MS + 86_400_000 },
      ...changes,
    });
    const told = (changes: Partial<TimelineView> = {}) =>
      timelineEntries(view(changes)).map(({ state, when, clock }) =>
        [state, when.includes('2026') ? 'time' : when, clock].filter((part) => part !== undefined).join(', '),
      );
    const NONE = {
      startedAtMs: undefined,
      completedAtMs: undefined,
      queueMs: undefined,
      trainingMs: undefined,
    };

    it('has each event of a finished run, with its time', () => {
      assert.deepEqual(told(), [
        'unknown, not from this machine, or without a receipt',
        'done, time',
        'done, time',
        'done, time',
        'next, time, artifacts',
      ]);
      assert.deepEqual(
        timelineEntries(view()).flatMap(({ notes }) => notes),
        ['after 1 min in the queue', 'after 5 min of training'],
      );
    });

    it('says "not yet" only where that is sure, and else that the service has not told', () => {
      const artifactsToCome = { artifacts: { kind: 'not-yet' as const, expiresAtMs: undefined } };
      assert.deepEqual(told({ phase: 'waiting', ...NONE, ...artifactsToCome }).slice(1), [
        'now, time, queue',
        'next, not yet',
        'next, not yet',
        'next, not yet',
      ]);
      const notKnown = { artifacts: { kind: 'not-known' as const, expiresAtMs: undefined } };
      assert.deepEqual(
        told({ phase: 'active', ...NONE, ...notKnown }).slice(2),
        Array.from({ length: 3 }, () => 'unknown, not told by the service so far'),
      );
      assert.deepEqual(
        told({
          ...NONE,
          createdAtMs: undefined,
          artifacts: { kind: 'not-told', expiresAtMs: undefined },
        }).slice(1),
        Array.from({ length: 4 }, () => 'unknown, not told by the service'),
      );
    });

    it('tells what is being read or could not be read from what is not told', () => {
      assert.equal(told({ ...NONE, details: 'being-read' })[3], 'unknown, being read…');
      assert.equal(told({ ...NONE, details: 'failed' })[3], 'unknown, could not be read');
      assert.equal(told({ ...NONE, phase: 'active', details: 'being-read' })[2], 'unknown, being read…');
      assert.equal(told({ receipt: 'being-read' })[0], 'unknown, being read…');
    });

    it('says how long ago a run began whose status may be its last, and nothing of that once it is over', () => {
      const active = told({ phase: 'active', completedAtMs: undefined, trainingMs: undefined });
      assert.equal(active[2], 'done, time, started');
      assert.equal(told({ artifacts: { kind: 'expired', expiresAtMs: NOON_MS } })[4], 'over, time');
    });

    it('says how it was submitted', () => {
      const submission = { atMs: NOON_MS, fileName: 'train.jsonl', attempts: 3, how: 'found' as const };
      assert.deepEqual(timelineEntries(view({ submission }))[0]?.notes, [
        'From this machine, with train.jsonl',
        '3 attempts, one charge',
        'The answer got lost; the run was found by the marker in its label',
      ]);
      const once = { ...submission, attempts: 1, how: 'answered' as const };
      assert.deepEqual(timelineEntries(view({ submission: once }))[0]?.notes, [
        'From this machine, with train.jsonl',
      ]);
    });
  });

  describe('comparison', () => {
    const of = (longer: number, shorter: number, count: number, isSameModel = false) => ({
      othersMs: Array.from({ length: count }, (_, n) => (n + 1) * 1_000),
      medianMs: 40_000,
      longer,
      shorter,
      isSameModel,
    });

    it('says for how many other runs it took longer or shorter', () => {
      const text = (longer: number, shorter: number, count: number, isSameModel?: boolean) =>
        durations.comparisonText(1, of(longer, shorter, count, isSameModel));
      assert.equal(text(8, 2, 10), 'Shorter than 8 of your 10 other runs. Their median is 40 s.');
      assert.equal(
        text(1, 4, 5, true),
        'Longer than 4 of your 5 other runs with this model. Their median is 40 s.',
      );
      assert.equal(text(5, 0, 5), 'Shorter than all 5 of your other runs. Their median is 40 s.');
      assert.equal(text(0, 2, 2), 'Longer than both of your other runs. Their median is 40 s.');
      assert.equal(text(0, 1, 1), 'Longer than your other run. That took 40 s.');
      assert.equal(text(0, 0, 3), 'As long as your 3 other runs.');
      assert.equal(
        durations.comparisonText(undefined, of(0, 0, 3)),
        'To compare: your 3 other runs. Their median is 40 s.',
      );
      assert.equal(durations.comparisonText(1, undefined), 'No other run is loaded to compare it with.');
    });

    it('says its picture', () =>
      assert.equal(
        durations.pictureText('Training', 2_000, of(1, 1, 3)),
        'Training: this run 2 s, 3 other runs from 1 s to 3 s',
      ));
  });

  describe('money', () => {
    const view = (changes: Partial<MoneyView> = {}): MoneyView => ({
      priceCents: 250,
      toldCurrency: undefined,
      balanceCurrency: 'USD',
      plan: 'Pro',
      effect: undefined,
      isFromHere: false,
      details: 'read',
      ...changes,
    });
    const told = (changes: Partial<MoneyView> = {}) => moneyFacts(view(changes)).map(({ value }) => value);

    it('says whether the currency is told or assumed', () => {
      assert.match(told()[0] ?? '', /2\.50 USD \(currency assumed from the balance\)/);
      assert.equal(told({ toldCurrency: 'EUR' })[0], '2.50 EUR');
      assert.equal(told({ balanceCurrency: undefined })[0], '2.50 (currency not told)');
    });

    it('invents nothing that is not told', () => {
      assert.deepEqual(told({ priceCents: undefined, plan: undefined, isFromHere: true }), [
        'not told by the service',
        'not told by the service',
        'not told by the service',
      ]);
      assert.equal(told({ priceCents: undefined, details: 'being-read' })[0], 'being read…');
    });

    it('tells the effect on the balance, and what the price does not explain', () => {
      const effect = { beforeCents: 1_000, afterCents: 700, currency: 'USD', otherCents: -50 };
      assert.deepEqual(told({ effect }).slice(2), [
        '10.00 USD before, 7.00 USD after',
        '-0.50 USD: something else was charged or added between the two',
      ]);
      assert.equal(told({ effect: { ...effect, otherCents: 0 } }).length, 3);
    });
  });

  it('addresses that were shown are told apart where it is known which is which', () => {
    const names = (addresses: string[]) =>
      consentFacts({ terms: { acceptedAt: '', addresses }, dataPolicy: { acceptedAt: '' } })
        .filter(({ key }) => key.startsWith('address'))
        .map(({ name }) => name);
    assert.deepEqual(names(['https://a.test', 'https://b.test']), [
      'Address of the license terms',
      'Address of the use policy',
    ]);
    assert.deepEqual(names(['https://a.test']), ['Address that was shown']);
    assert.deepEqual(names([]), ['Address that was shown']);
  });

  it('a countdown has two units', () => {
    const second = 1_000;
    const [minute, hour] = [60 * second, 3_600 * second];
    for (const [ms, text] of [
      [-5, '0 s'],
      [59.9 * second, '59 s'],
      [12 * minute + 5 * second, '12 min 5 s'],
      [hour, '1 h 0 min'],
      [47 * hour + 59 * minute, '47 h 59 min'],
      [6 * 24 * hour + 4 * hour, '6 d 4 h'],
    ] as const)
      assert.equal(countdownText(ms), text);
  });

  it('a status that the contract does not name promises no adapter', () => {
    const text = artifacts.artifactsText('not-known', undefined, 'failed\n\u202e');
    assert.match(text, /^The service calls this run “failed <U\+202E>”\. If it completes, /);
    assert.match(artifacts.artifactsText('not-yet', undefined, 'queued'), /once the run has completed/);
  });

  it('unknown kinds of artifacts keep their name, and "verified" says by what', () => {
    assert.equal(artifacts.artifactName('model', 'a.zip'), 'Adapter: a.zip');
    assert.equal(
      artifacts.artifactName('gguf', undefined),
      'Artifact of the unknown kind “gguf”: without a name',
    );
    const line = (verified: Parameters<typeof artifacts.fileLines>[0]['verified']) =>
      artifacts.fileLines({ sizeBytes: 1, sha256: 'ab', verified, completedAtMs: NOON_MS, isGone: false })[1];
    assert.equal(
      new Set(
        (['zip', 'gzip', 'tar', 'safetensors', 'unread', 'length', 'html', 'damaged'] as const).map(line),
      ).size,
      8,
    );
    assert.match(line('length') ?? '', /by its length alone/);
    assert.match(line('unread') ?? '', /contents couldn’t be checked/);
  });
});
