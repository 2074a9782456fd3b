import assert from 'node:assert/strict';
import { newMarker } from '../../../../src/core/runs/marker.ts';
import { summaryOf } from '../../../../src/core/datasets/report.ts';
import { reportOf } from '../../../helpers/report.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { intentOf, pendingOf, wholeAttempt } from '../../../helpers/submissions.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';
import type { InputStandIn } from '../../../helpers/vscodeStandIn.ts';

const { askToSubmit } = await withVscode(() => import('../../../../src/ui/submission/submissionSteps.ts'));
const { confirmSubmission } = await withVscode(
  () => import('../../../../src/ui/submission/confirmSubmission.ts'),
);
type Context = Parameters<typeof askToSubmit>[0];

describe('the steps of a submission', () => {
  beforeEach(() => {
    standIn.forget();
    press('Submit and Pay');
  });

  const model = {
    model_id: 'm',
    name: 'Model M',
    provider: 'Maker',
    available: true,
    terms_url: 'https://maker.test/terms',
    use_policy_url: 'http://maker.test/policy',
  };
  const marker = newMarker();
  const context: Context = {
    account: { id: 'account-1', name: 'Work', kind: 'service', baseUrl: 'https://api.test/v1' },
    fileName: 'train.jsonl',
    sizeBytes: 1_000,
    check: summaryOf(reportOf()),
    models: [model],
    balance: undefined,
    marker,
    priors: [],
  };

  /** Answers each step in turn, by a part of the label of its row or the text of its box. */
  function answering(...answers: string[]): (input: InputStandIn) => string | undefined {
    return () => answers.shift();
  }
  const ACCEPTING = ['Standard queue', 'Continue', 'I accept the license'];
  const press = (wanted: string | undefined) =>
    (standIn.told.answer = (buttons) => buttons.find((button) => button === wanted));
  const walk = (label: string, changes: Partial<Context> = {}) => {
    standIn.told.pick = answering(label, ...ACCEPTING);
    return askToSubmit({ ...context, ...changes }, { model, label: 'ignored', priority: false });
  };

  it('add the marker to the label, and show it as it will be sent', async () => {
    const choices = await walk('  My run ');
    assert.equal(choices?.label, `My run ${marker}`);
    const [labelBox, , summary] = standIn.told.inputs;
    const prompt = labelBox?.prompt ?? '';
    assert.ok(prompt.includes(`“${marker}” is added`));
    assert.match(prompt, /Up to 255 characters/);
    const row = summary?.items.find(({ label }) => label.includes('Label'));
    assert.equal(row?.description, `My run ${marker}`);
    assert.equal((await walk('x'.repeat(300)))?.label, `${marker} ${'x'.repeat(255 - marker.length - 1)}`);
    assert.equal((await walk(''))?.label, marker);
  });

  it('name a model by its ID if the service provides no more', async () => {
    const bare = { model_id: 'base-7b', name: 'base-7b', provider: '', available: true };
    standIn.told.pick = answering('base-7b', '', ...ACCEPTING);
    const choices = await askToSubmit(
      { ...context, models: [bare] },
      { model: undefined, label: '', priority: false },
    );
    assert.equal(choices?.model, bare);
    const rows = standIn.told.inputs.flatMap(({ items }) => items);
    assert.equal(rows.find(({ label }) => label.includes('Model'))?.description, 'base-7b');
    assert.ok(
      rows.some(({ label }) => label.includes('I accept the license terms of its provider for base-7b')),
    );
    const detail = standIn.told.details.at(-1) ?? '';
    assert.match(detail, /^Model: base-7b · standard queue$/m);
    assert.match(detail, /^• accept the license terms of its provider$/m);
  });

  it('add no marker if there is none', async () => {
    const choices = await walk('My run', { marker: undefined });
    assert.equal(choices?.label, 'My run');
    assert.doesNotMatch(standIn.told.inputs[0]?.prompt ?? '', /ft-/);
    assert.equal((await walk('x'.repeat(300), { marker: undefined }))?.label.length, 255);
  });

  it('warn if the end of the label will be cut', () => {
    const room = 255 - marker.length - 1;
    standIn.told.pick = answering();
    for (const [length, isWarned] of [
      [room, false],
      [room + 1, true],
    ] as const) {
      standIn.told.inputs.length = 0;
      void askToSubmit(context, { model, label: 'x'.repeat(length), priority: false });
      assert.equal(standIn.told.inputs[0]?.validationMessage !== undefined, isWarned, String(length));
    }
  });

  it('record the time of each consent, and the links that could be opened', async () => {
    const before = new Date().toISOString();
    const moments: string[] = [];
    const answers = ['My run', ...ACCEPTING];
    const note = () => moments.push(new Date().toISOString());
    standIn.told.pick = () => (note(), answers.shift());
    standIn.told.answer = (buttons) => (note(), buttons.at(-1));
    const choices = await askToSubmit(context, { model, label: '', priority: false });
    const { model_terms, data_policy } = choices?.consents ?? {};
    // The use policy is not https: it was shown, and could not be opened.
    assert.deepEqual(model_terms?.urls, ['https://maker.test/terms']);
    const terms = model_terms.accepted_at;
    const policy = data_policy?.accepted_at ?? '';
    assert.ok(before <= (moments[3] ?? '') && (moments[3] ?? '') <= terms && terms <= policy);
    assert.ok(terms <= (moments[4] ?? ''), 'the first one when it was given, not at the end');
    assert.ok(policy <= new Date().toISOString());
  });

  it('end without anything if a consent is declined', async () => {
    for (const [consent, button] of [
      ['I do not accept', 'Submit and Pay'],
      ['I accept the license', undefined],
      ['I accept the license', 'Cancel'],
      // In the sandbox it is called so.
      ['I accept the license', 'Submit'],
    ] as const) {
      press(button);
      standIn.told.pick = answering('My run', 'Standard queue', 'Continue', consent);
      assert.equal(await askToSubmit(context, { model, label: '', priority: false }), undefined);
    }
  });

  it('end in a modal question that repeats both consents and goes back with Enter', async () => {
    await walk('My run');
    assert.deepEqual(standIn.told.sentences, ['Submit train.jsonl to Work and pay?']);
    assert.deepEqual(standIn.told.isModal, [true]);
    assert.deepEqual(standIn.told.buttons, [['Back to Summary', 'Submit and Pay']]);
    assert.deepEqual(standIn.told.details[0]?.split('\n'), [
      'Account: Work (api.test)',
      'Model: Model M (Maker) · standard queue',
      'Dataset: train.jsonl · 1.0 kB · 10 rows',
      'Price: not known until charged',
      'Balance: unknown',
      'You’re charged when the service accepts the dataset.',
      'A run can’t be canceled or refunded.',
      'By submitting you:',
      '• accept the license terms and use policy of Maker',
      '• accept the service’s data policy',
      '• confirm that you have the rights to this dataset',
      '• understand that results aren’t guaranteed',
    ]);
  });

  it('lead back from the last question to the summary, and through the terms again', async () => {
    const buttons = ['Back to Summary', 'Submit and Pay'];
    standIn.told.answer = () => buttons.shift();
    standIn.told.pick = answering('My run', ...ACCEPTING, 'Continue', 'I accept the license');
    const choices = await askToSubmit(context, { model, label: '', priority: false });
    assert.equal(choices?.label, `My run ${marker}`);
    assert.equal(standIn.told.inputs.length, 6);
    assert.equal(standIn.told.sentences.length, 2);
  });

  it('do not speak of paying in the sandbox', async () => {
    press('Submit');
    assert.ok(
      (await walk('My run', { account: { id: 's', name: 'Sandbox', kind: 'sandbox' } })) !== undefined,
    );
    assert.deepEqual(standIn.told.sentences, ['Submit train.jsonl to the sandbox?']);
    assert.match(standIn.told.details[0] ?? '', /^Sandbox: no training, no charges\.\nModel: /);
    assert.doesNotMatch(standIn.told.details[0] ?? '', /pay|charged/);
  });

  it('name the links of the terms, and what is not opened', async () => {
    const rowsOf = async (changes: object) => {
      standIn.forget();
      const changed = { ...model, ...changes };
      standIn.told.pick = answering('My run', 'Standard queue', 'Continue');
      await askToSubmit(context, { model: changed, label: '', priority: false });
      const rows = standIn.told.inputs.at(-1)?.items.slice(1) ?? [];
      return rows.map(({ label, description }) => [label.replace(/^\S+ /, ''), description]);
    };
    const terms = ['Open license terms', 'https://maker.test/terms'];
    const both = ['I accept the license terms and the use policy of Maker for Model M', undefined];
    const one = ['I accept the license terms of Maker for Model M', undefined];
    assert.deepEqual(await rowsOf({}), [
      both,
      terms,
      ['Use policy', 'http://maker.test/policy (not opened: not https)'],
    ]);
    assert.deepEqual(await rowsOf({ use_policy_url: 'https://maker.test/policy' }), [
      both,
      terms,
      ['Open use policy', 'https://maker.test/policy'],
    ]);
    for (const use_policy_url of [undefined, ''])
      assert.deepEqual(await rowsOf({ use_policy_url }), [one, terms]);
    for (const terms_url of [undefined, ''])
      assert.deepEqual(await rowsOf({ terms_url, use_policy_url: '' }), [
        one,
        ['The service provides no license link for this model', undefined],
      ]);
    assert.deepEqual(await rowsOf({ terms_url: 'http://maker.test/terms', use_policy_url: '' }), [
      one,
      ['License terms', 'http://maker.test/terms (not opened: not https)'],
    ]);
  });

  it('show a model whose name is an attempt to distort them as it is', async () => {
    const name = 'Free \u202e$(check) [x](command:y)\u200b';
    const shown = 'Free <U+202E>$ (check) [x] (command:y)<U+200B>';
    const hostile = { ...model, name, provider: name, model_id: name };
    standIn.told.pick = answering('Free', 'My run', 'Standard queue', 'Continue', 'I accept the license');
    await askToSubmit(
      { ...context, models: [hostile], fileName: name, account: { ...context.account, name } },
      { model: undefined, label: '', priority: false },
    );
    const [models] = standIn.told.inputs;
    assert.deepEqual([models?.items[1]?.label, models?.items[1]?.description], [shown, shown]);
    const screen = JSON.stringify(
      standIn.told.inputs.map(({ title, placeholder, prompt, items }) => [
        [title, placeholder, prompt],
        // Our own icon comes first.
        items.map(({ label, ...rest }) => [
          label.replace(/^\$\([\w-]+\) /, ''),
          rest.description,
          rest.detail,
        ]),
      ]),
    );
    assert.doesNotMatch(
      screen + standIn.told.sentences.join() + standIn.told.details.join(),
      /\$\(|\]\(|\u202e|\u200b/,
    );
  });

  it('have a last question of at most 20 lines of 48 characters, with the longest names', async () => {
    const long = 'x'.repeat(300);
    for (const kind of ['service', 'sandbox'] as const) {
      const asked = {
        account:
          kind === 'sandbox'
            ? { id: 's', name: long, kind }
            : { id: 'a', name: long, kind, baseUrl: `https://${'h'.repeat(60)}.test` },
        dataset: { filename: long, sizeBytes: 629_145_600, rows: 12_345_678 },
        model: { name: long, provider: long, use_policy_url: 'https://x.test' },
        priority: true,
        balance: { balance_cents: 123_456_789_00, currency: long },
      };
      standIn.forget();
      await confirmSubmission(asked);
      const attempts = [wholeAttempt(0)];
      for (const state of ['unsent', 'not-charged', 'unknown'] as const)
        await confirmSubmission({ ...asked, resent: pendingOf(state, intentOf({ attempts })) });
      for (const [index, sentence] of standIn.told.sentences.entries()) {
        const text = `${sentence}\n${standIn.told.details[index]}`;
        assert.ok(linesOf(text) <= 20, `${linesOf(text)} lines:\n${text}`);
      }
    }
  });

  /** How many lines of 48 characters a text has, broken at blanks. */
  function linesOf(text: string): number {
    let lines = 0;
    for (const line of text.split('\n')) {
      let room = 0;
      for (const word of line.split(' ')) {
        if (word.length > room) {
          lines += Math.max(1, Math.ceil(word.length / 48));
          room = 48 - (word.length % 48 || 48);
        } else room -= word.length;
        room -= 1;
      }
    }
    return lines;
  }
});
