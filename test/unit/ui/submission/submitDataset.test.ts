import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import type { ModuleHooks } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { Emitter } from '../../../../src/core/base/event.ts';
import { CheckError } from '../../../../src/core/datasets/errors.ts';
import type { Draft, Receipt } from '../../../../src/core/submission/intent.ts';
import type { Outcome } from '../../../../src/core/submission/outcome.ts';
import type { PendingSubmission } from '../../../../src/core/submission/pendingSubmission.ts';
import { reportOf } from '../../../helpers/report.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';
import { intentOf, pendingOf } from '../../../helpers/submissions.ts';

type Submit = typeof import('../../../../src/ui/submission/submitDataset.ts').submitDataset;
type Parts = Parameters<Submit>[0];

const TEXT = '{"prompt":"a","completion":"b"}\n';
const SHA256 = createHash('sha256').update(TEXT).digest('hex');
const ACCEPTING = ['Standard queue', 'Continue', 'I accept the license'];
const SUBMIT = 'Submit and Pay';

describe('"Submit Dataset…"', () => {
  let hooks: ModuleHooks;
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');
  let submitDataset: Submit;
  let folder: string;
  let file: string;
  let pending: PendingSubmission[];
  let drafts: Draft[];
  let besides: (readonly string[] | undefined)[];
  let outcome: Outcome;
  let receipts: Receipt[];
  let parts: Parts;

  before(async () => {
    hooks = standInForVscode();
    standIn = await import('../../../helpers/vscodeStandIn.ts');
    ({ submitDataset } = await import('../../../../src/ui/submission/submitDataset.ts'));
  });
  after(() => hooks.deregister());

  beforeEach(async () => {
    standIn.forget();
    standIn.settings.clear();
    folder = await mkdtemp(path.join(tmpdir(), 'submit-dataset-'));
    file = path.join(folder, 'train.jsonl');
    await writeFile(file, TEXT);
    const { mtimeMs } = await stat(file);
    [pending, drafts, besides, receipts] = [[], [], [], []];
    outcome = { kind: 'elsewhere' };
    const model = { model_id: 'm', name: 'Model M', provider: 'Maker', available: true };
    const balance = { balance_cents: 500, currency: 'USD' };
    parts = {
      sessions: {
        active: {
          account: { id: 'account-1', kind: 'service', name: 'Work', baseUrl: 'https://service.test' },
          models: { refresh: () => Promise.resolve([model]), nameOf: () => 'Model M' },
          balance: { refresh: () => Promise.resolve(balance) },
        },
      },
      submitter: {
        get pending() {
          return pending;
        },
        onDidChange: new Emitter<PendingSubmission>().event,
        submit: (_session: unknown, draft: Draft, _signal: unknown, others?: readonly string[]) => {
          drafts.push(draft);
          besides.push(others);
          return Promise.resolve(outcome);
        },
      },
      journal: { receipts: () => Promise.resolve(receipts) },
      openJournal: () => Promise.resolve(),
      reports: {
        fresh: () =>
          Promise.resolve(
            reportOf({
              path: file,
              sizeBytes: TEXT.length,
              mtimeMs: Math.floor(mtimeMs),
              sha256: SHA256,
              rows: 1,
            }),
          ),
      },
      sha256Of: () => Promise.reject(new Error('not asked for')),
      beActive: () => Promise.resolve(true),
      reveal: () => Promise.resolve(),
      log: { error: () => undefined },
    } as unknown as Parts;
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** Goes through the steps with these answers, and presses these buttons. */
  async function submit(
    preset: unknown = { modelId: 'm' },
    answers = ['My run', ...ACCEPTING],
    presses: readonly string[] = [SUBMIT],
  ) {
    const left = [...answers];
    standIn.told.pick = () => left.shift();
    standIn.told.answer = (buttons) => buttons.find((button) => presses.includes(button));
    await submitDataset(parts)(standIn.Uri.file(file), undefined, preset);
    await turn();
  }

  it('submits the bytes that were checked, what the person chose, and when they consented', async () => {
    const before = new Date().toISOString();
    await submit();
    const [draft] = drafts;
    assert.ok(draft?.marker !== undefined && draft.consents.model_terms.accepted_at >= before);
    const { consents, marker, ...rest } = draft;
    assert.deepEqual(rest, {
      dataset: {
        path: file,
        filename: 'train.jsonl',
        sizeBytes: TEXT.length,
        mtimeMs: Number(statSync(file, { bigint: true }).mtimeMs),
        sha256: SHA256,
        rows: 1,
      },
      model_id: 'm',
      label: `My run ${marker}`,
      priority_processing: false,
      balanceBefore: { balance_cents: 500, currency: 'USD' },
    });
    assert.ok(consents.data_policy.accepted_at >= consents.model_terms.accepted_at);
  });

  it('sends no marker where the setting says so', async () => {
    standIn.settings.set('fineTuning.labelMarker', false);
    await submit();
    assert.deepEqual([drafts[0]?.label, drafts[0]?.marker], ['My run', undefined]);
    await submit(undefined, ['Model M', '', ...ACCEPTING]);
    assert.equal('label' in (drafts[1] ?? {}), false);
  });

  it('makes another marker for each submission', async () => {
    await submit();
    await submit();
    assert.notEqual(drafts[0]?.marker, drafts[1]?.marker);
  });

  it('starts with what was chosen for the one before', async () => {
    await submit({ modelId: 'm', label: 'Earlier', priority: true }, []);
    assert.equal(standIn.told.inputs[0]?.value, 'Earlier');
    await submit({ modelId: 'm', label: 'Earlier', priority: true }, ['Earlier', 'Priority', 'Continue']);
    assert.equal(
      standIn.told.inputs
        .at(-2)
        ?.items.find(({ label }) => label.includes('Queue'))
        ?.description?.slice(0, 8),
      'priority',
    );
    assert.deepEqual(drafts, []);
  });

  it('hashes a file that was not checked', async () => {
    parts.reports.fresh = () => Promise.reject(new CheckError('worker-died'));
    parts.sha256Of = () => Promise.resolve('a'.repeat(64));
    await submit(
      { modelId: 'm' },
      ['My run', ...ACCEPTING],
      ['Submit Without Checking…', 'Submit Without Checking', SUBMIT],
    );
    assert.equal(drafts[0]?.dataset.sha256, 'a'.repeat(64));
    assert.equal('rows' in drafts[0].dataset, false);
  });

  it('begins nothing where the journal cannot be opened', async () => {
    parts.openJournal = () =>
      Promise.reject(Object.assign(new Error('x'), { code: 'ENOSPC', syscall: 'mkdir' }));
    await assert.rejects(submit(), { code: 'disk-full', place: 'submissions' });
    assert.deepEqual([drafts, standIn.told.inputs], [[], []]);
  });

  it('leads to a submission of the same bytes that is open, or on to another model', async () => {
    const { dataset } = intentOf();
    const open = [
      pendingOf('unknown', intentOf({ id: 'one', dataset: { ...dataset, sha256: SHA256 } })),
      pendingOf('unsent', intentOf({ id: 'two', dataset: { ...dataset, sha256: SHA256 } })),
    ];
    for (const one of open) {
      pending = [one];
      standIn.forget();
      await submit();
      assert.deepEqual(standIn.told.buttons, [['Open It', 'Go On with Another Model']]);
      assert.deepEqual([drafts, standIn.executed], [[], []]);
      await submit({ modelId: 'm' }, [], ['Open It']);
      assert.deepEqual([drafts, standIn.executed], [[], [['fineTuning.resolveSubmission', one.id]]]);
    }
    await submit({ modelId: 'm' }, ['My run', ...ACCEPTING], ['Go On with Another Model', SUBMIT]);
    assert.equal(drafts.length, 1);
  });

  it('says that another account of the service has one open, and goes on beside it when the person says so', async () => {
    const dataset = { ...intentOf().dataset, sha256: SHA256 };
    pending = [pendingOf('unknown', intentOf({ id: 'theirs', dataset, accountId: 'account-2' }))];
    await submit();
    assert.deepEqual(standIn.told.sentences, [
      'Another account of this service has an open submission of train.jsonl.',
    ]);
    // What Enter presses sends nothing.
    assert.deepEqual(standIn.told.buttons, [['Open It', 'Submit Anyway']]);
    await submit({ modelId: 'm' }, [], ['Open It']);
    assert.deepEqual([drafts, standIn.executed], [[], [['fineTuning.resolveSubmission', 'theirs']]]);
    await submit({ modelId: 'm' }, ['My run', ...ACCEPTING], ['Submit Anyway', SUBMIT]);
    assert.deepEqual([drafts.length, besides], [1, [['theirs']]]);
  });

  it('asks nothing for another file, another service, or a draft that was refused', async () => {
    const dataset = { ...intentOf().dataset, path: file, sha256: SHA256 };
    pending = [
      pendingOf('unknown', intentOf({ dataset: { ...intentOf().dataset, path: file } })),
      pendingOf('unknown', intentOf({ dataset, accountId: 'account-2', origin: 'https://other.test' })),
      pendingOf('refused', intentOf({ dataset })),
    ];
    await submit();
    assert.equal(drafts.length, 1);
  });

  it('opens the submission that turned out to be open for the chosen model', async () => {
    outcome = { kind: 'open', id: 'other' };
    await submit();
    assert.deepEqual(standIn.executed, [['fineTuning.resolveSubmission', 'other']]);
  });

  it('points out what was trained before, and goes on where that cannot be read', async () => {
    const charged = { kind: 'charged', at: { localMs: 0 }, run: { run_id: 'r' }, how: 'answered' } as const;
    const dataset = { ...intentOf().dataset, sha256: SHA256 };
    receipts = [{ ...intentOf({ dataset }), settled: charged }];
    await submit();
    const summary = standIn.told.inputs[2];
    assert.match(summary?.items[1]?.description ?? '', /^You trained this dataset on .*: run r \(Model M\)$/);
    parts.journal.receipts = () => Promise.reject(new Error('x'));
    await submit();
    assert.equal(drafts.length, 2);
  });

  it('continues what is kept under its Idempotency-Key', async () => {
    outcome = { kind: 'not-charged', error: new Error('x'), kept: true };
    parts.submitter.submit = (_session, draft) => {
      // Others of the same bytes are not it.
      pending = [
        pendingOf('refused', intentOf({ id: 'older', dataset: draft.dataset })),
        pendingOf('unsent', intentOf({ id: 'mine', ...draft })),
      ];
      return Promise.resolve(outcome);
    };
    await submit({ modelId: 'm' }, ['My run', ...ACCEPTING], [SUBMIT, 'Continue…']);
    assert.deepEqual(standIn.executed, [['fineTuning.continueSubmission', 'mine']]);
  });

  it('sends nothing unless its last question is answered with its last button', async () => {
    for (const press of [undefined, 'Cancel', 'Back to Summary']) {
      standIn.forget();
      await submit({ modelId: 'm' }, ['My run', ...ACCEPTING], press === undefined ? [] : [press]);
      assert.deepEqual(standIn.told.sentences, ['Submit train.jsonl to Work and pay?'], press);
    }
    assert.deepEqual(drafts, []);
    assert.equal(
      standIn.told.inputs.at(-1)?.placeholder,
      'Review before submitting. Nothing has been sent yet.',
    );
  });

  it('takes only a refused submission of its own account off the list', async () => {
    outcome = { kind: 'charged', run: { run_id: 'r' } };
    const discarded: string[] = [];
    parts.submitter.discard = (id) => Promise.resolve(discarded.push(id) > 0);
    pending = [
      pendingOf('unknown', intentOf({ id: 'unknown' })),
      pendingOf('unsent', intentOf({ id: 'unsent' })),
      pendingOf('refused', intentOf({ id: 'other', accountId: 'account-2' })),
      pendingOf('refused', intentOf({ id: 'refused' })),
    ];
    for (const replaces of ['unknown', 'unsent', 'other', 'gone', 'refused'])
      await submit({ modelId: 'm', replaces });
    assert.equal(drafts.length, 5);
    assert.deepEqual(discarded, ['refused']);
  });
});
