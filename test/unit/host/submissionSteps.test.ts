import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import { newMarker, withMarker } from '../../../src/runs/submission/marker.ts';
import { summaryOf } from '../../../src/dataset/summary.ts';
import { reportOf } from '../../helpers/report.ts';
import { standInForVscode } from '../../helpers/standInForVscode.ts';
import type { InputStandIn } from '../../helpers/vscodeStandIn.ts';

type Ask = typeof import('../../../src/host/dialogs/submissionDialogs.ts').askToSubmit;
type Context = Parameters<Ask>[0];

describe('the steps of a submission', () => {
  let hooks: ModuleHooks;
  let standIn: typeof import('../../helpers/vscodeStandIn.ts');
  let askToSubmit: Ask;

  before(async () => {
    hooks = standInForVscode();
    standIn = await import('../../helpers/vscodeStandIn.ts');
    ({ askToSubmit } = await import('../../../src/host/dialogs/submissionDialogs.ts'));
  });
  after(() => hooks.deregister());
  beforeEach(() => standIn.forget());

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
    accountName: 'Work',
    isSandbox: false,
    fileName: 'train.jsonl',
    sizeBytes: 1_000,
    check: summaryOf(reportOf()),
    models: [model],
    balance: undefined,
    marker: { text: marker, join: (label) => withMarker(label, marker) },
    priors: [],
  };

  /** Answers each step in turn, by a part of the label of its row or the text of its box. */
  function answering(...answers: string[]): (input: InputStandIn) => string | undefined {
    return () => answers.shift();
  }
  const ACCEPTING = ['Standard queue', 'Continue', 'I accept the license', 'I accept all three'];
  const walk = (label: string, changes: Partial<Context> = {}) => {
    standIn.told.pick = answering(label, ...ACCEPTING);
    return askToSubmit({ ...context, ...changes }, { model, label: 'ignored', priority: false });
  };

  it('add the marker to the label, say why, and show it as it will be sent', async () => {
    const choices = await walk('  My run ');
    assert.equal(choices?.label, `My run ${marker}`);
    const [labelBox, , summary] = standIn.told.inputs;
    const prompt = labelBox?.prompt ?? '';
    assert.ok(prompt.includes(`“${marker}” is added, so that this very run can be recognised`));
    assert.match(prompt, /at most 255 characters together/);
    const row = summary?.items.find(({ label }) => label.includes('Label'));
    assert.equal(row?.description, `My run ${marker}`);
    assert.equal((await walk('x'.repeat(300)))?.label, `${marker} ${'x'.repeat(255 - marker.length - 1)}`);
    assert.equal((await walk(''))?.label, marker);
  });

  it('name the model by what the service tells of it, though that is its id alone', async () => {
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
  });

  it('add none where the setting says so', async () => {
    const choices = await walk('My run', { marker: undefined });
    assert.equal(choices?.label, 'My run');
    assert.doesNotMatch(standIn.told.inputs[0]?.prompt ?? '', /ft-/);
    assert.equal((await walk('x'.repeat(300), { marker: undefined }))?.label.length, 255);
  });

  it('warn of a label from the length on at which its end is cut', () => {
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

  it('keep the moment of each consent, and the addresses that could be opened', async () => {
    const before = new Date().toISOString();
    const moments: string[] = [];
    const answers = ['My run', ...ACCEPTING];
    standIn.told.pick = () => {
      moments.push(new Date().toISOString());
      return answers.shift();
    };
    const choices = await askToSubmit(context, { model, label: '', priority: false });
    const { model_terms, data_policy } = choices?.consents ?? {};
    // The use policy is not https: it was shown as no link.
    assert.deepEqual(model_terms?.urls, ['https://maker.test/terms']);
    const terms = model_terms.accepted_at;
    const policy = data_policy?.accepted_at ?? '';
    assert.ok(before <= (moments[3] ?? '') && (moments[3] ?? '') <= terms && terms <= policy);
    assert.ok(terms <= (moments[4] ?? ''), 'the first one when it was given, not at the end');
    assert.ok(policy <= new Date().toISOString());
  });

  it('end without anything where a consent is declined', async () => {
    for (const answers of [
      ['Standard queue', 'Continue', 'I do not accept'],
      ['Standard queue', 'Continue', 'I accept the license', 'I do not accept'],
    ]) {
      standIn.told.pick = answering('My run', ...answers);
      assert.equal(await askToSubmit(context, { model, label: '', priority: false }), undefined);
    }
  });

  it('show whole what the second consent accepts, in rows that send nothing', async () => {
    await walk('My run');
    const { items = [] } = standIn.told.inputs.at(-1) ?? {};
    assert.deepEqual(
      items.map(({ label, description, detail }) => [label.replace(/^\S+ /, ''), description, detail]),
      [
        ['I do not accept', 'nothing is sent', undefined],
        ['Data policy', 'I accept the data policy of the service', undefined],
        ['Dataset', 'I have the rights to this dataset', undefined],
        ['Results', 'I know that results are not guaranteed', undefined],
        [
          'I accept all three, and submit',
          undefined,
          'The data policy, my rights to this dataset, and results without a guarantee',
        ],
      ],
    );
    for (const row of ['Data policy', 'Dataset', 'Results']) {
      standIn.told.pick = answering('My run', ...ACCEPTING.slice(0, -1), row);
      assert.equal(await askToSubmit(context, { model, label: '', priority: false }), undefined, row);
    }
  });

  it('point out an earlier submission of the same before the consents, by what was chosen', async () => {
    const prior = {
      runId: 'r',
      modelId: 'm',
      modelName: 'Model M',
      priority: false,
      submittedAtMs: Date.now(),
    };
    const shown = async (queue: string) => {
      standIn.forget();
      standIn.told.pick = answering('My run', queue);
      await askToSubmit({ ...context, priors: [prior] }, { model, label: '', priority: false });
      return standIn.told.inputs[2]?.items[1]?.label;
    };
    assert.equal(await shown('Standard queue'), '$(warning) The same again');
    assert.equal(await shown('Priority queue'), '$(history) Trained before');
  });
});
