import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import { DatasetChangedError, NetworkError, ServiceError } from '../../../../src/core/api/errors.ts';
import { CancelledError, ExpectedError } from '../../../../src/core/base/errors.ts';
import { WindowClosedError } from '../../../../src/core/submission/nextStep.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';

type Submission = typeof import('../../../../src/ui/submission/submissionOutcome.ts');
type Outcome = Parameters<Submission['tellOutcome']>[0];
type Submitted = Parameters<Submission['tellOutcome']>[1];

describe('outcomes of submissions, told', () => {
  let hooks: ModuleHooks;
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');
  let module: Submission;
  let explain: typeof import('../../../../src/ui/shared/serviceErrors.ts').explain;
  let logged: string[];

  before(async () => {
    hooks = standInForVscode();
    standIn = await import('../../../helpers/vscodeStandIn.ts');
    module = await import('../../../../src/ui/submission/submissionOutcome.ts');
    ({ explain } = await import('../../../../src/ui/shared/serviceErrors.ts'));
  });
  after(() => hooks.deregister());
  beforeEach(() => {
    standIn.forget();
    logged = [];
  });

  const submitted: Submitted = {
    id: 'id-1',
    path: '/data/train.jsonl',
    filename: 'train.jsonl',
    preset: { modelId: 'm', label: 'My run', priority: true },
    account: { id: 'account-1', name: 'Work', kind: 'service' },
    readBalance: () => Promise.resolve({ balance_cents: 150, currency: 'USD' }),
  };

  /** The sentence, its buttons, and what pressing one of them executes. */
  async function tell(outcome: Outcome, press?: string, changes: Partial<Submitted> = {}, isActive = true) {
    standIn.forget();
    standIn.told.answer = (buttons) => buttons.find((button) => button === press);
    const log = { error: (what: string) => void logged.push(what) };
    await module.tellOutcome(outcome, { ...submitted, ...changes }, () => Promise.resolve(isActive), log);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(standIn.told.sentences.length, outcome.kind === 'open' ? 0 : 1);
    return {
      sentence: standIn.told.sentences[0] ?? '',
      buttons: standIn.told.buttons[0] ?? [],
      executed: standIn.executed,
    };
  }
  const tooLow = new ServiceError('insufficient_balance', 402);
  const broken = new NetworkError('reset');

  it('say in their first words whether it was charged: yes, no, or not known yet', async () => {
    const run = { run_id: 'r', price_cents: 517, currency: 'USD' };
    const charged = await tell({ kind: 'charged', run });
    assert.match(charged.sentence, /^train\.jsonl was submitted and charged\. Price: 5\.17 USD\./);
    for (const error of [
      tooLow,
      broken,
      new DatasetChangedError('grew'),
      Object.assign(new Error('x'), { code: 'ENOSPC', syscall: 'write' }),
      new Error('x'),
    ])
      for (const kept of [true, false])
        assert.match(
          (await tell({ kind: 'not-charged', error, kept })).sentence,
          /^train\.jsonl was not submitted; nothing was charged\. /,
        );
    assert.match(
      (await tell({ kind: 'not-charged', error: new CancelledError(), kept: false })).sentence,
      /^train\.jsonl was not submitted; nothing was charged\.$/,
    );
    for (const error of [broken, tooLow, new CancelledError(), new Error('x')])
      assert.match(
        (await tell({ kind: 'unknown', error })).sentence,
        /^train\.jsonl may have been charged: the service didn’t confirm it\. /,
      );
    assert.match((await tell({ kind: 'elsewhere' })).sentence, /^Nothing was sent: /);
  });

  it('name the account that paid, and its balance, read where the answer had none', async () => {
    const run = { run_id: 'r', price_cents: 517, currency: 'EUR', plan_name: 'pro', balance_after_cents: 2 };
    assert.equal(
      (await tell({ kind: 'charged', run })).sentence,
      'train.jsonl was submitted and charged. Price: 5.17 EUR. Plan: pro. New balance of Work: 0.02 EUR.',
    );
    assert.equal(
      (await tell({ kind: 'charged', run: { run_id: 'r' } })).sentence,
      'train.jsonl was submitted and charged. Price: not provided. Plan: not provided. New balance of Work: 1.50 USD.',
    );
    assert.match(
      (await tell({ kind: 'charged', run: { run_id: 'r' }, found: true })).sentence,
      /: its run was found\. Price: not provided\. Balance of Work: 1\.50 USD\.$/,
    );
    const unread = { readBalance: () => Promise.reject(broken) };
    assert.match(
      (await tell({ kind: 'charged', run: { run_id: 'r' } }, undefined, unread)).sentence,
      / New balance of Work: unknown\.$/,
    );
  });

  it('say to whoever keeps it that a charge was told, once it was', async () => {
    const seen: number[] = [];
    const onTold = () => void seen.push(standIn.told.sentences.length);
    for (const found of [{}, { found: true }] as const)
      await tell({ kind: 'charged', run: { run_id: 'r' }, ...found, onTold });
    assert.deepEqual(seen, [1, 1]);
  });

  it('lead on where a balance was too low, with what it is now', async () => {
    const { sentence, buttons, executed } = await tell(
      { kind: 'not-charged', error: tooLow, kept: true },
      'Continue…',
    );
    assert.match(sentence, /The balance is 1\.50 USD\. The submission is kept in the Runs view\.$/);
    assert.deepEqual(buttons, ['Continue…', 'Refresh Balance']);
    assert.deepEqual(executed, [['fineTuning.continueSubmission', 'id-1']]);
    const unread = await tell({ kind: 'not-charged', error: tooLow, kept: true }, 'Refresh Balance', {
      readBalance: () => Promise.reject(broken),
    });
    assert.doesNotMatch(unread.sentence, /The balance is \d/);
    assert.deepEqual(unread.executed, [['fineTuning.refreshBalance']]);
  });

  it('offer to check a dataset that the service found invalid', async () => {
    const error = new ServiceError('validation_failed', 422, 'row 7');
    const { sentence, buttons, executed } = await tell(
      { kind: 'not-charged', error, kept: false },
      'Check Dataset',
    );
    assert.match(
      sentence,
      /The service rejected the dataset or a setting as invalid\. The service says: “row 7”$/,
    );
    assert.deepEqual(buttons, ['Check Dataset']);
    const [command, uri] = executed[0] ?? [];
    assert.deepEqual(
      [command, (uri as { fsPath: string }).fsPath],
      ['fineTuning.checkDataset', '/data/train.jsonl'],
    );
    // What is read is no dataset.
    assert.equal(explain(error).action?.title, 'Show Log');
  });

  it('say how long to wait as a person would', () => {
    const after = (ms?: number) => explain(new ServiceError('rate_limited', 429, '', ms)).sentence;
    assert.equal(after(), 'Too many requests. Wait a moment, then try again.');
    for (const [ms, wait] of [
      [1, '1 s'],
      [7_001, '8 s'],
      [61_000, '2 min'],
      [5_400_000, '1 h 30 min'],
      [86_400_000, '24 h'],
      [7 * 86_400_000, '7 d'],
    ] as const)
      assert.equal(after(ms), `Too many requests. Try again in ${wait}.`);
  });

  it('let what is kept be continued, and only what is not be begun anew', async () => {
    const kept = await tell({ kind: 'not-charged', error: broken, kept: true }, 'Continue…');
    assert.deepEqual(kept.buttons, ['Continue…']);
    assert.deepEqual(kept.executed, [['fineTuning.continueSubmission', 'id-1']]);
    const dropped = await tell(
      { kind: 'not-charged', error: new DatasetChangedError('grew'), kept: false },
      'Submit Again…',
    );
    assert.deepEqual(dropped.buttons, ['Submit Again…']);
    assert.doesNotMatch(dropped.sentence, /kept/);
    const [command, uri, , preset] = dropped.executed[0] ?? [];
    assert.deepEqual(
      [command, (uri as { fsPath: string }).fsPath, preset],
      ['fineTuning.submitDataset', '/data/train.jsonl', submitted.preset],
    );
  });

  it('offer a look and what is known where the outcome is not known, and nothing that sends', async () => {
    const { buttons, executed } = await tell({ kind: 'unknown', error: broken }, 'Check Now');
    assert.deepEqual(buttons, ['Check Now', 'Show']);
    assert.deepEqual(executed, [['fineTuning.checkSubmission', 'id-1']]);
    assert.deepEqual((await tell({ kind: 'unknown', error: broken }, 'Show')).executed, [
      ['fineTuning.resolveSubmission', 'id-1'],
    ]);
    assert.deepEqual(logged, ['outcome-unknown', 'outcome-unknown']);
  });

  it('promise to keep checking only where that is done', async () => {
    const end = async (error: Error) => (await tell({ kind: 'unknown', error })).sentence;
    assert.match(await end(broken), /We’ll keep checking\.$/);
    assert.doesNotMatch(await end(new WindowClosedError()), /keep checking/);
  });

  it('open the submission that is open already', async () => {
    assert.deepEqual((await tell({ kind: 'open', id: 'id-2' })).executed, [
      ['fineTuning.resolveSubmission', 'id-2'],
    ]);
  });

  it('act on their own account or not at all', async () => {
    const { executed } = await tell({ kind: 'charged', run: { run_id: 'r' } }, 'Show Run', {}, false);
    assert.deepEqual(executed, []);
  });

  it('say that it is the sandbox', async () => {
    const changes = { account: { id: 's', name: 'Sandbox', kind: 'sandbox' } } as const;
    for (const outcome of [
      { kind: 'charged', run: { run_id: 'r' } },
      { kind: 'not-charged', error: tooLow, kept: true },
      { kind: 'unknown', error: broken },
    ] satisfies Outcome[])
      assert.match((await tell(outcome, undefined, changes)).sentence, /Sandbox: no training/);
  });

  it('have a sentence of its own for each reason of the journal', () => {
    class Odd extends ExpectedError {
      readonly code: string;
      constructor(code: string) {
        super(code);
        this.code = code;
      }
    }
    const codes = [
      'lease-unavailable',
      'journal-busy',
      'journal-unreadable',
      'later-version',
      'not-owner',
      'key-replaced',
      'window-closed',
      'clocks-disagree',
      'too-early',
      'digest-failed',
    ];
    const sentences = codes.map((code) => explain(new Odd(code)).sentence);
    assert.equal(new Set(sentences).size, codes.length);
    for (const [index, sentence] of sentences.entries())
      assert.doesNotMatch(sentence, /This did not work/, codes[index] ?? '');
    assert.equal(explain(new Odd('lease-lost')).sentence, explain(new Odd('not-owner')).sentence);
    const unreadable = Object.assign(new Odd('journal-unreadable'), { file: '/some/folder/x.json' });
    assert.match(explain(unreadable).sentence, /submission record x\.json/);
    const early = Object.assign(new Odd('too-early'), { retryAfterMs: 90_000 });
    assert.equal(explain(early).sentence, 'The service asked to wait. Try again in 2 min.');
  });

  it('name what is wrong with the disk', async () => {
    const disk = async (code: string) => {
      const error = Object.assign(new Error('x'), { code, syscall: 'open' });
      return (await tell({ kind: 'not-charged', error, kept: false })).sentence;
    };
    for (const code of ['ENOSPC', 'EDQUOT']) assert.match(await disk(code), /disk is full/);
    for (const code of ['EACCES', 'EPERM', 'EROFS']) assert.match(await disk(code), /no permission/);
    assert.match(await disk('EIO'), /could not be read or written/);
    const inside = await tell({ kind: 'not-charged', error: new Error('ENOSPC'), kept: false });
    assert.match(inside.sentence, /Something went wrong inside the extension/);
  });
});
