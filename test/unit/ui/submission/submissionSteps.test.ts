import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { accountMoneyOf, type MoneyFacts } from '../../../../src/core/money/accountMoney.ts';
import { ended, type Submission } from '../../../../src/core/submission/submission.ts';
import type { ShownEarlier } from '../../../../src/ui/shared/datasetTexts.ts';
import { Proposal } from '../../../../src/ui/shared/proposal.ts';
import { changedLines, golden } from '../../../helpers/golden.ts';
import { finding, shownReading } from '../../../helpers/reading.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';
import { groupOf, reportOf } from '../../../helpers/report.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { submissionOf, pendingOf, uploadedAttempt } from '../../../helpers/submissions.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';
import type { InputStandIn } from '../../../helpers/vscodeStandIn.ts';

const HOLD_OUT = '/data/train.holdout.jsonl';
const heldOut = (rows: number) => ({ path: HOLD_OUT, source: HOLD_OUT, rows });
const { reviewSubmission } = await withVscode(
  () => import('../../../../src/ui/submission/submissionSteps.ts'),
);
const { confirmSubmission } = await withVscode(
  () => import('../../../../src/ui/submission/confirmSubmission.ts'),
);
type Review = Parameters<typeof reviewSubmission>[0];
type SubmissionContext = ReturnType<Review['context']>;

const CANCELLED = { outcome: 'cancelled' };
const NOW_MS = new Date(2026, 4, 10, 14, 30).getTime();

describe('reviewSubmission', () => {
  beforeEach(() => {
    standIn.forget();
    press('Submit and Pay');
  });
  afterEach(() => mock.timers.reset());

  const model = {
    model_id: 'm',
    name: 'Model M',
    provider: 'Maker',
    available: true,
    terms_url: 'https://maker.test/terms',
    use_policy_url: 'http://maker.test/policy',
  };
  const marker = 'ft-7k3m9qpx';
  const account = { id: 'account-1', name: 'Work', kind: 'service', baseUrl: 'https://api.test/v1' } as const;
  const moneyOf = (facts: Partial<MoneyFacts>) =>
    accountMoneyOf({
      ...{ account, receipts: [], runs: undefined, pending: [], balance: undefined, nowMs: NOW_MS },
      ...facts,
    });
  const context: SubmissionContext = {
    account,
    dataset: {
      filename: 'train.jsonl',
      place: { file: 'data/train.jsonl', folder: 'data', isLink: false },
      size: { bytes: 1_000, rows: 10 },
    },
    money: moneyOf({}),
    check: reportOf(),
    models: [model],
    balance: undefined,
    marker,
    earlierOf: () => [],
    trainedBefore: () => undefined,
  };
  type Changes = Partial<SubmissionContext & Review>;
  const reviewOf = (changes: Changes): Review => ({
    nowMs: () => Date.now(),
    sha256: Promise.resolve('digest'),
    late: [],
    ready: () => Promise.resolve(),
    restart: () => Promise.resolve(undefined),
    open: { confirm: () => Promise.resolve([]) },
    ...changes,
    context: () => ({ ...context, ...changes }),
  });
  const usd = (balance_cents: number) => ({ balance_cents, currency: 'USD' });
  const hoursAgo = (hours: number) => NOW_MS - hours * 3_600_000;
  /** A receipt of a dataset of some size, whose price grows with it. */
  const charged = (sizeBytes: number, index: number) =>
    chargedReceipt({
      accountId: 'account-1',
      atMs: hoursAgo(72 - index),
      dataset: { sizeBytes, rows: sizeBytes / 100, sha256: `digest-${index}` },
      run: { price_cents: 300 + sizeBytes / 10, currency: 'USD' },
    });
  const receipts = [1_000, 2_000, 4_000].map(charged);
  /** An earlier submission of the same bytes. */
  const prior = (ageHours: number, changes: Partial<ShownEarlier> = {}): ShownEarlier => ({
    ...{ kind: 'charged', id: 'one', accountId: 'account-1', runId: 'run-1', modelId: 'm' },
    ...{ priority: false, rows: 10, submittedAtMs: hoursAgo(ageHours), priceCents: 517, currency: 'USD' },
    ...{ modelName: 'Model M', otherAccount: undefined, isCompleted: true, status: 'completed' },
    ...changes,
  });
  const ACCEPTING = ['Continue', 'Accept and Continue'];
  const chosen = { model, label: 'My run', priority: false };

  /** Answers each box in turn, with a part of a row's label or with a text. */
  function answering(...answers: (string | undefined)[]): (input: InputStandIn) => string | undefined {
    return () => answers.shift();
  }
  const press = (wanted: string | undefined) =>
    (standIn.shown.answer = (buttons) => buttons.find((button) => button === wanted));
  const walk = (answers: (string | undefined)[], changes: Changes = {}, choices = {}) => {
    standIn.shown.pick = answering(...answers);
    return reviewSubmission(reviewOf(changes), { ...chosen, ...choices });
  };
  const confirmed = async (...args: Parameters<typeof walk>) => {
    const result = await walk(...args);
    assert.ok('consents' in result);
    return result;
  };
  /** Maps the names of a summary's rows to their descriptions. */
  const rowsOf = (input: InputStandIn | undefined) =>
    new Map(input?.items.map(({ label, description }) => [label.replace(/^\S+ /, ''), description]));

  it('shows and sends no marker of another submission that was typed or pasted', async () => {
    for (const [typed, label] of [
      ['l01 ft-y0a3a2cs', 'l01'],
      ['FT-Y0A3A2CS\tl01', 'l01'],
      ['draft-research x', 'draft-research x'],
    ] as const)
      for (const ours of [marker, undefined]) {
        const answers = ['Label', typed, ...ACCEPTING];
        const { label: sent } = await confirmed(answers, { marker: ours });
        assert.equal(sent, ours === undefined ? label : `${label} ${ours}`);
        assert.equal(rowsOf(standIn.shown.inputs.at(-2)).get('Label'), label);
      }
  });

  it('records the time of each consent and the links that could be opened', async () => {
    let nowMs = 0;
    const answers = [...ACCEPTING];
    standIn.shown.pick = () => ((nowMs += 1_000), answers.shift());
    standIn.shown.answer = (buttons) => ((nowMs += 1_000), buttons.at(-1));
    const result = await reviewSubmission(reviewOf({ nowMs: () => nowMs }), chosen);
    assert.ok('consents' in result);
    // The use policy was shown but could not be opened, since it is not https.
    assert.deepEqual(result.consents, {
      model_terms: { accepted_at: '1970-01-01T00:00:02.000Z', urls: ['https://maker.test/terms'] },
      data_policy: { accepted_at: '1970-01-01T00:00:03.000Z' },
    });
  });

  it('lets Enter accept only links that were accepted before with this account', async () => {
    const links = ['https://maker.test/terms', 'https://maker.test/policy'];
    const [terms_url = '', use_policy_url = ''] = links;
    const at = { accepted_at: '2026-05-01T10:00:00.000Z' };
    const active = async (urls: string[], accountId = 'account-1', changes = {}) => {
      const accepted = { ...charged(1_000, 0), accountId };
      accepted.consents = { model_terms: { ...at, urls }, data_policy: at };
      standIn.forget();
      const money = moneyOf({ receipts: [accepted] });
      await walk(
        ['Continue', undefined],
        { money },
        { model: { ...model, terms_url, use_policy_url, ...changes } },
      );
      const [first, ...others] = standIn.shown.inputs.at(-1)?.activeItems ?? [];
      assert.deepEqual(others, []);
      return first?.label;
    };
    assert.equal(await active(links), '$(check) Accept and Continue');
    for (const [urls, accountId, changes] of [
      [[terms_url]],
      [[use_policy_url, terms_url]],
      [[]],
      [links, 'account-2'],
      // Nothing was accepted, or one link can't be opened.
      [[], 'account-1', { terms_url: undefined, use_policy_url: undefined }],
      [[terms_url], 'account-1', { use_policy_url: 'http://maker.test/policy' }],
    ] as const)
      assert.equal(await active([...urls], accountId, changes), undefined, JSON.stringify({ urls, changes }));
    assert.equal(standIn.shown.inputs.at(-1)?.items[0]?.label, '$(check) Accept and Continue');
  });

  it('ends without a result if a consent is not given', async () => {
    for (const button of [undefined, 'Cancel', 'Submit']) {
      press(button);
      assert.deepEqual(await walk(ACCEPTING), CANCELLED, button);
    }
    press('Submit and Pay');
    // None of these rows accepts the terms.
    for (const row of [undefined, 'Open License Terms', 'Use policy'])
      assert.deepEqual(await walk(['Continue', row]), CANCELLED, row);
    assert.deepEqual(await walk([undefined]), CANCELLED);
  });

  describe('money', () => {
    it('ask nothing more once a proposal is withdrawn, not even about the budget', async () => {
      const perRun = { perRunCents: 100, currency: 'USD' };
      for (const [when, asked] of [
        ['restart', 0],
        ['open', 1],
      ] as const) {
        standIn.forget();
        let questions = 0;
        const stop = new AbortController();
        const changes = {
          // Over the budget.
          money: moneyOf({ account: { ...account, budget: perRun }, receipts, balance: usd(40_000) }),
          proposal: new Proposal('Ready', stop.signal),
          restart: () => {
            if (when === 'restart') stop.abort();
            return Promise.resolve(undefined);
          },
          open: {
            ...reviewOf({}).open,
            confirm: () => {
              questions++;
              stop.abort();
              return Promise.resolve([]);
            },
          },
        };
        assert.deepEqual(await walk(ACCEPTING, changes), CANCELLED);
        assert.deepEqual([questions, standIn.shown.inputs.length, standIn.shown.sentences], [asked, 1, []]);
      }
    });

    it('over the budget is confirmed again only if the figures changed before the final question', async () => {
      const perRun = { perRunCents: 100, currency: 'USD' };
      const both = { ...perRun, perMonthCents: 1_000 };
      for (const [then, details] of [
        [perRun, ['Budget per run: 1.00 USD']],
        [both, ['Budget per run: 1.00 USD', 'Budget for May (UTC): 10.00 USD']],
      ] as const) {
        standIn.forget();
        standIn.shown.answer = (buttons) => buttons.at(-1);
        let reads = 0;
        await confirmed(ACCEPTING, {
          // Called for the summary, and again when the terms are accepted.
          ready: () => {
            reads++;
            return Promise.resolve();
          },
          get money() {
            const budget = reads > 1 ? then : perRun;
            return moneyOf({ account: { ...account, budget }, receipts, balance: usd(40_000) });
          },
        });
        const asked = standIn.shown.details.slice(0, -1);
        assert.equal(asked.length, details.length);
        for (const [index, line] of details.entries()) assert.ok(asked[index]?.includes(line), line);
        assert.equal(standIn.shown.sentences.at(-1), 'Submit this dataset to Work and pay?');
      }
    });

    it('over the budget asks nothing more if an agent withdraws its proposal meanwhile', async () => {
      const budgets = [100, 200];
      for (const [withdrawnAt, boxes] of [
        [0, 1],
        [1, 2],
      ] as const) {
        standIn.forget();
        const stop = new AbortController();
        let questions = 0;
        standIn.shown.answer = (buttons) => {
          if (questions++ === withdrawnAt) stop.abort();
          return buttons.at(-1);
        };
        let reads = 0;
        const result = await walk(ACCEPTING, {
          proposal: new Proposal('Ready', stop.signal),
          ready: () => {
            reads++;
            return Promise.resolve();
          },
          get money() {
            const budget = { perRunCents: budgets[reads - 1] ?? 100, currency: 'USD' };
            return moneyOf({ account: { ...account, budget }, receipts, balance: usd(40_000) });
          },
        });
        assert.deepEqual(result, CANCELLED);
        assert.deepEqual([standIn.shown.inputs.length, questions], [boxes, withdrawnAt + 1]);
        assert.ok(standIn.shown.sentences.every((text) => text.startsWith('This run may exceed')));
      }
    });
  });

  it('says in the final question if the same run was submitted within a day', async () => {
    mock.timers.enable({ apis: ['Date'], now: NOW_MS });
    for (const changes of [{}, { modelId: 'other' }, { priority: true }, { submittedAtMs: hoursAgo(25) }]) {
      await confirmed([...ACCEPTING], { earlierOf: () => [prior(3, changes)] });
      const isSaid = /^Submitted before: 3 h ago$/m.test(standIn.shown.details.at(-1) ?? '');
      assert.equal(isSaid, Object.keys(changes).length === 0, JSON.stringify(changes));
    }
    const elsewhere = prior(3, { kind: 'elsewhere', priority: undefined });
    await confirmed([...ACCEPTING], { earlierOf: () => [elsewhere] });
    assert.match(standIn.shown.details.at(-1) ?? '', /^Submitted elsewhere: 3 h ago · same label$/m);
    // For these bytes, it is known.
    const discarded = prior(5, { kind: 'discarded', runId: undefined });
    await confirmed([...ACCEPTING], { earlierOf: () => [elsewhere, discarded] });
    assert.match(standIn.shown.details.at(-1) ?? '', /^Submitted before: 5 h ago · May be charged$/m);
  });

  it('shows in the summary what is sent, who pays, the known price, and what the user may not expect', async () => {
    mock.timers.enable({ apis: ['Date'], now: NOW_MS });
    const summaryOf = async ({
      choices = {},
      ...changes
    }: Changes & { choices?: Partial<typeof chosen> }) => {
      standIn.forget();
      await walk([], { sha256: Promise.resolve('digest-1'), ...changes }, choices);
      await turn();
      const { title, placeholder, items = [] } = standIn.shown.inputs[0] ?? {};
      const rows = items.map(({ label, description = '' }) => `${label}: ${description}`);
      return [`${title} | ${placeholder}`, ...rows];
    };
    const { dataset } = context;
    const { place, size } = dataset;
    const sandbox = { id: 's', name: 'Sandbox', kind: 'sandbox' } as const;
    const earlier = (sha256: string, filename = 'train.jsonl') => {
      const dataset = { ...submissionOf().dataset, sha256, filename };
      const over = { at: { localMs: 0 } };
      return ended(submissionOf({ created: { localMs: hoursAgo(48) }, dataset }), 'discarded', over);
    };
    const money = (facts: Partial<MoneyFacts>) => ({ money: moneyOf(facts), balance: facts.balance });
    const budget = (perRunCents: number, currency = 'USD') =>
      money({ account: { ...account, budget: { perRunCents, currency } }, receipts, balance: usd(40_000) });
    const priors = (...past: ReturnType<typeof prior>[]) => ({ earlierOf: () => past });
    const home = { priceCents: 1_250, otherAccount: 'Home' };
    const unfinished = { isCompleted: false, status: undefined };
    const found = (...problems: ReturnType<typeof groupOf>[]) => ({ check: reportOf({ problems }) });
    const row = [{ row: 1 }];
    const cases: Record<string, Parameters<typeof summaryOf>[0]> = {
      'the sandbox': { account: sandbox },
      'the sandbox, nothing left': { account: sandbox, ...money({ balance: usd(0) }) },
      'an account with a website': { account: { ...account, website: 'https://pay.test/' } },
      'shown again': { notice: 'The account is now Home.' },
      'the priority queue': { choices: { priority: true } },
      'no label': { choices: { label: '' } },
      'no label and no marker': { choices: { label: '' }, marker: undefined },
      'a model without a provider': { choices: { model: { ...model, provider: '' } } },
      'the service asks to wait': {
        ...{ balance: usd(3_750), held: { untilMs: NOW_MS + 60_000, balanceReadAtMs: hoursAgo(1) } },
      },
      'unknown rows': { dataset: { ...dataset, size: { bytes: 1_000 } } },
      'a link': { dataset: { ...dataset, place: { ...place, file: '/data/RAW.jsonl', isLink: true } } },
      'a long folder': { dataset: { ...dataset, place: { ...place, folder: 'folder/'.repeat(9) } } },
      'close to the limit': { dataset: { ...dataset, size: { ...size, bytes: 600_000_000 } } },
      'submitted again, unchanged': { earlier: earlier('digest-1') },
      'submitted again, changed': { earlier: earlier('other') },
      'submitted again, another file': { earlier: earlier('other', 'other.jsonl') },
      'a range, nothing left': { ...money({ receipts, balance: usd(0) }), sha256: Promise.resolve('new') },
      'a price, probably too low': money({ receipts, balance: usd(10) }),
      'one run, maybe too low': money({ receipts: receipts.slice(2), balance: usd(400) }),
      'a budget': budget(500),
      'over the budget': budget(499),
      'a budget in another currency': budget(500, 'EUR'),
      'a budget, without a price': money({
        ...{ account: { ...account, budget: { perRunCents: 1, perMonthCents: 900_000, currency: 'USD' } } },
        ...{ receipts: [charged(8_000, 0)], balance: usd(40_000) },
      }),
      'over both budgets': money({
        ...{ account: { ...account, budget: { perRunCents: 1, perMonthCents: 1_600, currency: 'USD' } } },
        ...{ receipts, balance: usd(40_000) },
      }),
      'an open submission': {
        earlierOf: () => [
          {
            ...prior(3, { kind: 'open', otherAccount: 'Home', priceCents: undefined }),
            state: 'May be charged',
          },
        ],
      },
      'another account paid': priors(prior(30, home)),
      'another account paid, and a range': {
        ...{ ...priors(prior(30, home)), money: moneyOf({ receipts }), sha256: Promise.resolve('new') },
      },
      'this account paid, too': { ...priors(prior(30, home)), money: moneyOf({ receipts }) },
      'another account paid in the other queue': priors(prior(30, { ...home, priority: true })),
      'another account paid an unknown price': priors(prior(30, { ...home, priceCents: undefined })),
      'submitted within a day': priors(prior(3)),
      'discarded within a day': priors(prior(3, { kind: 'discarded', runId: undefined, ...unfinished })),
      'a day ago': priors(prior(24)),
      'submitted elsewhere within a day': priors(prior(3, { kind: 'elsewhere', priority: undefined })),
      'often submitted elsewhere, then here': priors(
        ...[1, 2, 3].map((age) => prior(age, { kind: 'elsewhere', priority: undefined })),
        prior(4),
      ),
      'another model': priors(prior(1, { modelId: 'other', modelName: 'Other' })),
      'another queue': priors(prior(1, { priority: true })),
      'queued since two days': priors(prior(48, { isCompleted: false, status: 'queued' })),
      'without a status': priors(prior(48, unfinished)),
      'five times, the repeat first': priors(...[30, 40, 50, 60, 2].map((age) => prior(age))),
      'trained before it changed': {
        trainedBefore: () => ({ kind: 'changed', run: { ...prior(30), runId: 'r', rows: 3 } }),
      },
      'what changed since': {
        trainedBefore: () => ({
          ...{ kind: 'changed', run: { ...prior(30), runId: 'r', rows: 3 } },
          since: '+21 −9 ~17 since May 9',
        }),
      },
      'rows that are in the hold-out': { heldOut: heldOut(1_031) },
      'a row that is in the hold-out': { heldOut: heldOut(1) },
      'no row that is in the hold-out': { heldOut: heldOut(0) },
      'nothing to read in the texts': { reading: shownReading({ findings: [finding('refusals', 3)] }) },
      'a finding': { reading: shownReading({ findings: [finding('columns', 3), finding('refusals', 3)] }) },
      'findings, and few lost characters': {
        reading: shownReading({
          rows: 1_200,
          findings: [finding('replacement', 12), finding('openFences', 3)],
        }),
      },
      'many lost characters': {
        reading: shownReading({ rows: 1_200, findings: [finding('replacement', 13)] }),
      },
      'not checked': { check: 'unchecked' },
      warnings: found(groupOf('blank-line', row, 1_200)),
      errors: found(groupOf('trailing-comma', row, 3), groupOf('private-key', row)),
      'a row that was too long to check': found(groupOf('row-too-long', row)),
      'personal data': found(groupOf('email-address', row, 12), groupOf('card-number', row)),
    };
    const plain = await summaryOf({});
    const shown: Record<string, string[]> = { 'nothing unusual': plain };
    for (const [name, changes] of Object.entries(cases))
      shown[name] = changedLines(await summaryOf(changes), plain);
    golden('summary', shown);
  });

  it('shows choices in boxes, and the addresses of the terms as plain text, and which of them can’t be opened', async () => {
    const boxOf = async (row: string, changes: Changes = {}, choices: Partial<typeof chosen> = {}) => {
      standIn.forget();
      await walk([row], changes, choices);
      const { title, placeholder, prompt, value, items = [] } = standIn.shown.inputs[1] ?? {};
      return [
        [title, placeholder, prompt, value].filter(Boolean).join(' | '),
        ...items.map(({ label, description, detail }) =>
          [label, description ?? [], detail ?? []].flat().join(' | '),
        ),
      ];
    };
    const terms = (changes: object) => boxOf('Continue', {}, { model: { ...model, ...changes } });
    const plain = await terms({});
    const changed = async (changes: object) => changedLines(await terms(changes), plain);
    const models = [
      model,
      { ...model, model_id: 'o', name: 'Other' },
      { ...model, model_id: 'b', provider: '' },
    ];
    golden('submit-boxes', {
      model: await boxOf('Model', { models }),
      label: await boxOf('Label'),
      'label, without a marker': await boxOf('Label', { marker: undefined }),
      queue: await boxOf('Queue'),
      // Addresses are in the labels: a description would have a hover, which lies over the next row.
      'terms, a policy that is not https': plain,
      'terms, both https': await changed({ use_policy_url: 'https://maker.test/policy' }),
      'terms, no policy': await changed({ use_policy_url: undefined }),
      'terms, an empty policy': await changed({ use_policy_url: '' }),
      'no terms': await changed({ terms_url: undefined }),
      'empty terms': await changed({ terms_url: '' }),
      'terms that are not https': await changed({ terms_url: 'http://maker.test/terms' }),
      'terms of an unknown provider': await changed({ provider: '' }),
    });
  });

  it('sanitizes hostile names', async () => {
    const name = 'Free \u202e$(check) [x](command:y)\u200b';
    const shown = 'Free <U+202E>$ (check) [x] (command:y)<U+200B>';
    // A stand-in's separator could be chosen, too.
    const hostile = { ...model, name: `Model ${name}`, provider: name, model_id: name };
    await walk(
      ['Model Free', ...ACCEPTING],
      {
        models: [hostile],
        dataset: { ...context.dataset, filename: name, place: { file: name, folder: name, isLink: true } },
        account: { ...context.account, name },
      },
      { model: undefined },
    );
    const [models] = standIn.shown.inputs;
    assert.deepEqual([models?.items[1]?.label, models?.items[1]?.description], [`Model ${shown}`, shown]);
    const screen = JSON.stringify(
      standIn.shown.inputs.map(({ title, placeholder, prompt, items }) => [
        [title, placeholder, prompt],
        // The extension's own icon comes first.
        items.map(({ label, ...rest }) => [
          label.replace(/^\$\([\w-]+\) /, ''),
          rest.description,
          rest.detail,
        ]),
      ]),
    );
    assert.doesNotMatch(
      screen + standIn.shown.sentences.join() + standIn.shown.details.join(),
      /\$\(|\]\(|\u202e|\u200b/,
    );
  });

  describe('the final question', () => {
    const place = { file: 'data/train.jsonl', folder: 'data', isLink: false };
    const asking = {
      account,
      dataset: { filename: 'train.jsonl', sha256: '1'.repeat(64), place },
      label: 'My run',
      model,
      wanted: { size: { bytes: 629_145_600, rows: 12_345_678 }, priority: true, sha256: undefined },
      balance: undefined,
      money: moneyOf({}),
    };
    type Asked = NonNullable<ReturnType<Parameters<typeof confirmSubmission>[0]>>;
    const detailOf = async (changes: Partial<Asked>) => {
      await confirmSubmission(() => ({ ...asking, ...changes }));
      return standIn.shown.details.at(-1) ?? '';
    };

    it('states the money, the dataset, the consents, and what is unusual; its first button sends nothing', async () => {
      mock.timers.enable({ apis: ['Date'], now: NOW_MS });
      const wanted = { size: context.dataset.size, priority: false, sha256: undefined };
      const questionOf = async (changes: Partial<Asked>) => {
        standIn.forget();
        await confirmSubmission(() => ({ ...asking, wanted, ...changes }));
        const { sentences, details, buttons, isModal } = standIn.shown;
        assert.deepEqual(isModal, [true]);
        return [
          ...sentences,
          ...(details[0] ?? '').split('\n'),
          ...(buttons[0] ?? []).map((one) => `[${one}]`),
        ];
      };
      const money = (facts: Partial<MoneyFacts>) => ({
        money: moneyOf({ receipts, ...facts }),
        balance: facts.balance,
      });
      const budget = (limits: object) =>
        money({ account: { ...account, budget: { currency: 'USD', ...limits } }, balance: usd(40_000) });
      const sandbox = { id: 's', name: 'Sandbox', kind: 'sandbox' } as const;
      const resent = (stage: Submission['stage']) => ({
        resent: pendingOf('idle', submissionOf({ stage, attempts: [uploadedAttempt(0)] })),
      });
      const cases: Record<string, Partial<Asked>> = {
        'the sandbox, with an estimate, nothing left': { account: sandbox, ...money({ balance: usd(0) }) },
        'no label': { label: '' },
        'no provider': { model: { name: 'base-7b' } },
        'a model without a policy': { model: { name: model.name, provider: model.provider } },
        'the priority queue': { wanted: { ...wanted, priority: true } },
        'unknown rows': { wanted: { ...wanted, size: { bytes: 1_000 } } },
        'a name of 40': { account: { ...account, name: 'n'.repeat(40) } },
        'rows changed since': { changed: '21 added, 9 removed, 17 changed since Nov 28' },
        'a link': {
          dataset: { ...asking.dataset, place: { ...place, file: '/data/RAW.jsonl', isLink: true } },
        },
        'a range': money({}),
        'a range, in the priority queue': { ...money({}), wanted: { ...wanted, priority: true } },
        'the same dataset before': { ...money({}), wanted: { ...wanted, sha256: 'digest-1' } },
        'nothing left': money({ balance: usd(0) }),
        'probably too low': money({ balance: usd(10) }),
        'maybe too low': money({ balance: usd(400) }),
        enough: money({ balance: usd(40_000) }),
        'a budget in another currency': budget({ perRunCents: 1, currency: 'EUR' }),
        'a budget, without a price': money({
          ...{ account: { ...account, budget: { perMonthCents: 350, currency: 'USD' } } },
          ...{ receipts: [], balance: usd(40_000) },
        }),
        'submitted within a day': { repeated: [prior(3)] },
        'submitted three times, one may be charged': {
          repeated: [prior(3), prior(4), prior(5, { runId: undefined })],
        },
        'discarded within a day': { repeated: [prior(3, { runId: undefined })] },
        'resent, not charged': resent('cleared'),
        'continued, upload stopped': resent('draft'),
        'continued in the sandbox': { ...resent('draft'), account: sandbox },
      };
      const plain = await questionOf({});
      const shown: Record<string, string[]> = { 'nothing unusual': plain };
      for (const [name, changes] of Object.entries(cases))
        shown[name] = changedLines(await questionOf(changes), plain);
      golden('final-question', {
        ...shown,
        'the sandbox': await questionOf({ account: sandbox }),
        'resent, no answer': await questionOf(resent('sent')),
        'over the budget': await questionOf(budget({ perRunCents: 100 })),
        'over both budgets, continued': await questionOf({
          ...budget({ perRunCents: 100, perMonthCents: 1_500 }),
          ...resent('draft'),
        }),
      });
    });

    it('says which budget it is over, after that was agreed to', async () => {
      const wanted = { size: context.dataset.size, priority: false, sha256: undefined };
      for (const [limits, line] of [
        [{ perRunCents: 100, perMonthCents: 1_500 }, /^Over the monthly budget$/m],
        [{ perMonthCents: 1_800 }, /^May exceed the monthly budget$/m],
        [{ perRunCents: 100 }, /^May exceed the per-run budget$/m],
      ] as const) {
        standIn.shown.answer = (buttons) => buttons.find((one) => one === 'Continue Over Budget');
        const payer = { ...account, budget: { currency: 'USD', ...limits } };
        const money = moneyOf({ receipts, account: payer, balance: usd(40_000) });
        assert.match(await detailOf({ wanted, money, balance: usd(40_000) }), line);
      }
    });

    it('fits into 21 lines of 48 characters with the longest names and every note', async () => {
      const price = { lowCents: 1_234_500, highCents: 9_876_500, runs: 5 };
      const limit = { limit: 'month', limitCents: 9_999_999_00, over: undefined } as const;
      const spending = {
        ...{ month: '2026-11', spentCents: 9_999_998_00, unknownPrices: 1, unknownCurrencies: 0 },
        ...{
          amounts: { sums: [], unknown: 1, runs: 1 },
          isComplete: false,
          pendingCents: 0,
          pendingUnknown: 0,
        },
      };
      const long = 'x'.repeat(300);
      const currency = 'USD';
      for (const [filename, isComplete] of [
        [long.slice(0, 96), true],
        [`${'word'.repeat(6)} `.repeat(12), false],
        ['訓練'.repeat(48), false],
      ] as const)
        for (const [note, kind] of [
          [undefined, 'range'],
          ['empty', 'range'],
          ['probably-too-low', 'range'],
          ['may-be-too-low', 'range'],
          ['may-be-too-low', 'none'],
        ] as const)
          for (const payer of [
            { id: 's', name: long, kind: 'sandbox' },
            { id: 'a', name: long, kind: 'service', baseUrl: `https://${'h'.repeat(60)}.test` },
          ] as const) {
            const worst = {
              account: payer,
              dataset: {
                filename,
                sha256: '1'.repeat(64),
                place: { file: long, folder: long, isLink: false },
              },
              label: long,
              model: { name: long, provider: long, use_policy_url: 'https://x.test' },
              balance: { balance_cents: note === 'empty' ? 0 : 123_456_789_00, currency },
              money: {
                estimate: () => ({ kind, ...price, currency }) as const,
                balanceNote: () => note,
                checkBudget: () =>
                  kind === 'none'
                    ? ({ kind: 'no-price', limits: [limit], spending: { ...spending, currency } } as const)
                    : ({ kind: 'other-currency', budgetCurrency: currency, currency } as const),
              },
            };
            const repeated = {
              ...{ kind: 'discarded' as const, id: 'one', accountId: 'a', runId: undefined },
              ...{ modelId: 'm', priority: true, rows: 1 },
              ...{ submittedAtMs: Date.now() - 3_600_000, priceCents: 9_876_500, currency },
            };
            standIn.forget();
            const first = await detailOf(worst);
            // Repeated within a day, beside a budget that can't be compared, would take one line more.
            const checkBudget = () => ({ kind: 'unset' }) as const;
            await detailOf({ ...worst, money: { ...worst.money, checkBudget }, repeated: [repeated] });
            // A name of 96 characters stays complete.
            if (isComplete) assert.match(first, new RegExp(`^${filename}$`, 'm'));
            const attempts = [uploadedAttempt(0)];
            for (const stage of isComplete ? (['draft', 'cleared', 'sent'] as const) : [])
              await detailOf({
                ...worst,
                resent: pendingOf('idle', submissionOf({ attempts, stage })),
              });
            for (const [index, sentence] of standIn.shown.sentences.entries()) {
              const text = `${sentence}\n${standIn.shown.details[index]}`;
              // A long name may wrap once more at its spaces.
              const most = filename.includes(' ') ? 22 : 21;
              assert.ok(linesOf(text) <= most, `${linesOf(text)} lines:\n${text}`);
              // Only the first one has both.
              if (index > 0) continue;
              if (kind === 'none') {
                assert.match(text, /^Budget: not checked: the price isn’t known$/m);
                continue;
              }
              assert.match(text, /^Price: .*12,345\.00–98,765\.00 /m);
              if (payer.kind === 'service') assert.match(text, /Budget: not checked: it’s in USD$/m);
            }
          }
    });

    it('tells datasets apart whose names differ in the middle, or only in their folder', async () => {
      const linesFor = async (filename: string, folder: string, digit: string) => {
        const dataset = { filename, sha256: digit.repeat(64), place: { ...place, folder } };
        return (await detailOf({ dataset })).split('\n').slice(0, 2).join('\n');
      };
      const [start, end] = ['a'.repeat(60), 'z'.repeat(60)];
      const names = ['anonymized', 'RAW-NOT-ANON'].map((middle) => `${start}${middle}${end}.jsonl`);
      const folders = ['one', 'two'].map((middle) => `${start}/${middle}/${end}`);
      const [short = ''] = names.map((name) => name.slice(30, 126));
      const shown = [
        await linesFor('train.jsonl', 'data', '1'),
        await linesFor('train.jsonl', '/data', '2'),
        // Only these spaces differ.
        await linesFor('train 1.jsonl', 'data', '1'),
        await linesFor('train  1.jsonl', 'data', '2'),
      ];
      for (const [index, folder] of folders.entries())
        shown.push(await linesFor('train.jsonl', folder, `${index}`));
      for (const [index, name] of names.entries()) shown.push(await linesFor(name, 'data', `${index}`));
      assert.equal(new Set(shown).size, shown.length, shown.join('\n'));
      assert.equal(shown[0], 'train.jsonl\nin data');
      assert.match(shown[5] ?? '', /^train\.jsonl\nin a+…z+ \(11111111\)$/);
      assert.match(shown[6] ?? '', /^a+…z+\.jsonl \(00000000\)\nin data$/);
      for (const line of shown.flatMap((text) => text.split('\n'))) assert.ok(line.length <= 96, line);
      assert.equal(await linesFor(short, 'data', '1'), `${short}\nin data`);
    });
  });

  /** Counts the lines of a text wrapped at spaces after 48 columns; a Chinese character takes two. */
  function linesOf(text: string): number {
    let lines = 0;
    for (const line of text.split('\n')) {
      let room = 0;
      if (line === '') lines++;
      for (const { length } of line.replace(/\p{sc=Han}/gu, 'xx').split(' ')) {
        if (length > room) {
          lines += Math.max(1, Math.ceil(length / 48));
          room = 48 - (length % 48 || 48);
        } else room -= length;
        room -= 1;
      }
    }
    return lines;
  }
});
