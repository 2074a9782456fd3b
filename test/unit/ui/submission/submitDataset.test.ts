import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { renameSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { mock } from 'node:test';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { Emitter } from '../../../../src/core/base/event.ts';
import { stampOf } from '../../../../src/core/base/fileStamp.ts';
import { CheckError } from '../../../../src/core/datasets/report.ts';
import type { KnownSubmissions } from '../../../../src/core/submission/journal.ts';
import type {
  SubmissionResult,
  PendingSubmission,
} from '../../../../src/core/submission/pendingSubmission.ts';
import { ended, type Draft, type Receipt } from '../../../../src/core/submission/submission.ts';
import { Proposal } from '../../../../src/ui/shared/proposal.ts';
import { useFileReads } from '../../../helpers/fileReads.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { itOnPosix } from '../../../helpers/platform.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';
import { reportOf } from '../../../helpers/report.ts';
import { servicesOf, sessionOf } from '../../../helpers/services.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { submissionOf, pendingOf, refusedWith, uploadedAttempt } from '../../../helpers/submissions.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { submitDataset } = await withVscode(() => import('../../../../src/ui/submission/submitDataset.ts'));
type Parts = Parameters<typeof submitDataset>[0];

const TEXT = '{"prompt":"a","completion":"b"}\n';
const SHA256 = createHash('sha256').update(TEXT).digest('hex');
const REFUSED = refusedWith('insufficient_balance');
const ACCEPTING = ['Continue', 'Accept and Continue'];
const SUBMIT = 'Submit and Pay';

describe('submitDataset', () => {
  const folder = useFolder();
  const beforeReads = useFileReads();
  let file: string;
  let pending: PendingSubmission[];
  let told: KnownSubmissions;
  let drafts: Draft[];
  let besides: KnownSubmissions[];
  let result: SubmissionResult;
  let receipts: Receipt[];
  let parts: Parts;
  let reconnected: Emitter<string>;
  let balance: { current: object | undefined; refresh: () => Promise<unknown> };
  let details: Map<string, object>;
  /** Facts about the texts; mostly not known yet. */
  let reading: Promise<unknown>;
  let reports: { markRequested: () => void; currentReport: (path: string) => Promise<unknown> };

  beforeEach(async () => {
    standIn.forget();
    standIn.settings.clear();
    file = path.join(folder(), 'train.jsonl');
    await writeFile(file, TEXT);
    [pending, told, drafts, besides, receipts] = [[], [], [], [], []];
    result = { kind: 'elsewhere' };
    reconnected = new Emitter();
    const model = { model_id: 'm', name: 'Model M', provider: 'Maker', available: true };
    const usd = { balance_cents: 500, currency: 'USD' };
    balance = { current: undefined, refresh: () => Promise.resolve((balance.current = usd)) };
    details = new Map();
    reading = new Promise(() => undefined);
    reports = {
      markRequested: () => undefined,
      currentReport: async (name: string) =>
        reportOf({ path: name, ...stampOf(await stat(name, { bigint: true })), rows: 1 }),
    };
    const active = sessionOf({
      models: { refresh: () => Promise.resolve({ data: [model] }), nameOf: () => 'Model M' },
      onDidChangeState: reconnected.event,
      runs: { detail: (runId: string) => details.get(runId) },
    });
    // The tests change it.
    Object.assign(active, { balance });
    const services = servicesOf({
      sessions: { find: () => parts.sessions.active, active },
      submissions: {
        get pending() {
          return pending;
        },
        submit: (_session: unknown, draft: Draft, _signal: unknown, now: KnownSubmissions) => {
          drafts.push(draft);
          besides.push(now);
          if (result.kind === 'not-charged' && result.isKept)
            pending = [pendingOf('idle', submissionOf({ id: 'mine' }))];
          const onProgress = new Emitter<PendingSubmission>().event;
          return { id: 'mine', onProgress, result: Promise.resolve(result) };
        },
      },
      journal: {
        knownOf: () => Promise.resolve(told),
        receipts: () => Promise.resolve(receipts),
        records: () => Promise.resolve(receipts),
        get latest() {
          return [...receipts, ...pending.map(({ submission }) => submission)];
        },
      },
      reports: () => Promise.resolve(reports),
      readings: () => Promise.resolve({ currentReport: () => reading }),
    });
    parts = { ...services, following: new Set() };
  });

  /** Submits the file with these answers in the steps, and presses these buttons. */
  async function submit(
    preset: unknown = { modelId: 'm', label: 'My run' },
    answers = ACCEPTING,
    presses: readonly string[] = [SUBMIT],
  ) {
    const left = [...answers];
    standIn.shown.pick = () => left.shift();
    standIn.shown.answer = (buttons) => buttons.find((button) => presses.includes(button));
    await submitDataset(parts, standIn.Uri.file(file), undefined, preset);
    await turn();
  }

  it('submits the checked bytes, the choices, and the times of the consents', async () => {
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
        ctimeMs: Number(statSync(file, { bigint: true }).ctimeMs),
        sha256: SHA256,
        rows: 1,
        characters: reportOf().statistics.characters,
      },
      model_id: 'm',
      label: `My run ${marker}`,
      priority_processing: false,
      balanceBefore: { balance_cents: 500, currency: 'USD' },
    });
    assert.ok(consents.data_policy.accepted_at >= consents.model_terms.accepted_at);
    // The final question has the label without its marker.
    assert.match(standIn.shown.details[0] ?? '', /^Label: My run$/m);
  });

  it('sends a new marker each time, or none if the setting is off', async () => {
    standIn.settings.set('fineTuning.labelMarker', false);
    await submit();
    assert.deepEqual([drafts[0]?.label, drafts[0]?.marker], ['My run', undefined]);
    await submit({ modelId: 'm', label: '' });
    assert.equal('label' in (drafts[1] ?? {}), false);
    standIn.settings.clear();
    await submit();
    await submit();
    assert.notEqual(drafts[2]?.marker, drafts[3]?.marker);
  });

  it('takes the marker of another submission out of a preset and of a file name', async () => {
    await submit({ modelId: 'm', label: 'l01 ft-y0a3a2cs of May' });
    renameSync(file, (file = path.join(path.dirname(file), 'ft-y0a3a2cs l02.jsonl')));
    await submit({ modelId: 'm' });
    assert.deepEqual(
      drafts.map(({ label, marker }) => label?.replace(` ${marker}`, '')),
      ['l01 of May', 'l02'],
    );
  });

  it('starts with a preset’s choices, or else the last used model and the standard queue', async () => {
    const rows = () => {
      const items = standIn.shown.inputs[0]?.items ?? [];
      return ['Model', 'Label', 'Queue'].map((name) => {
        const text = items.find(({ label }) => label.endsWith(name))?.description;
        return text?.replace(/ ft-.*|( ·|,).*/, '');
      });
    };
    await submit({ modelId: 'm', label: 'Earlier', priority: true }, []);
    assert.deepEqual(rows(), ['Model M', 'Earlier', 'Priority']);
    standIn.forget();
    await submit({}, []);
    assert.equal(standIn.shown.inputs[0]?.placeholder, 'Base model (the price doesn’t depend on it)');
    const over = { at: { localMs: 0 } };
    receipts = [ended(submissionOf({ model_id: 'm', priority_processing: true }), 'not-charged', over)];
    standIn.forget();
    await submit({}, []);
    assert.deepEqual(rows(), ['Model M', 'train', 'Standard']);
    for (const changes of [{ model_id: 'gone' }, { model_id: 'm', accountId: 'account-2' }]) {
      receipts = [ended(submissionOf(changes), 'not-charged', over)];
      standIn.forget();
      await submit({}, []);
      assert.match(standIn.shown.inputs.at(0)?.placeholder ?? '', /^Base model/);
    }
  });

  it('begins again, with one notice, if anything changed at any time before the upload', async () => {
    const active = parts.sessions.active as unknown as { account: object };
    const other = { ...active, account: { ...active.account, id: 'account-2', name: 'Home' } };
    const charged = chargedReceipt({ dataset: { sha256: SHA256 } });
    const changes: Record<string, () => unknown> = {
      'train.jsonl changed and was checked again. Nothing has been sent yet.': () =>
        writeFileSync(file, `${TEXT}${TEXT}`),
      'The account is now Home. Nothing has been sent yet.': () =>
        Object.assign(parts.sessions, { active: other }),
      'The connection to Work changed. Nothing has been sent yet.': () => reconnected.fire('connecting'),
      // It was thought to be not charged.
      'train.jsonl was submitted in the meantime. Nothing more has been sent yet.': () =>
        (receipts = [charged]),
    };
    for (const [notice, change] of Object.entries(changes))
      for (const when of ['hash', 'summary', 'last question'] as const) {
        standIn.forget();
        Object.assign(parts.sessions, { active });
        await writeFile(file, TEXT);
        receipts = [ended(charged, 'not-charged', { at: { localMs: 0 } })];
        [drafts, besides] = [[], []];
        let isChanged = false;
        const now = (then: typeof when) => {
          if (then !== when || isChanged) return;
          isChanged = true;
          change();
        };
        beforeReads(() => now('hash'));
        const answers = [...(when === 'last question' ? ACCEPTING : ['Continue']), ...ACCEPTING];
        standIn.shown.pick = () => (now('summary'), answers.shift());
        standIn.shown.answer = (buttons) => (
          now('last question'),
          buttons.find((button) => button === SUBMIT)
        );
        await submitDataset(parts, standIn.Uri.file(file), undefined, { modelId: 'm' });
        const shown = standIn.shown.inputs.map(({ placeholder }) => placeholder);
        assert.deepEqual(
          shown.filter((text) => !text.startsWith('Read the terms')),
          ['Review before submitting. Nothing has been sent yet.', notice],
          when,
        );
        assert.equal(drafts.length, 1);
        assert.equal(drafts[0]?.dataset.sizeBytes, statSync(file).size);
        const questions = standIn.shown.sentences.filter((text) => text.endsWith(' and pay?'));
        const payer = parts.sessions.active?.account.name;
        assert.equal(questions.at(-1), `Submit this dataset to ${payer} and pay?`);
      }
  });

  it('says at the top of the summary that another account pays, or that it begins anew', async () => {
    for (const [preset, notice] of [
      [{ accountId: 'account-2' }, 'The account is now Work. Nothing has been sent yet.'],
      [{ accountId: 'account-1' }, 'Review before submitting. Nothing has been sent yet.'],
      [{ isAnew: true }, 'This starts a new submission. Nothing has been sent yet.'],
    ] as const) {
      standIn.forget();
      await submit({ modelId: 'm', ...preset }, []);
      assert.equal(standIn.shown.inputs[0]?.placeholder, notice);
    }
  });

  itOnPosix('names the real folder behind links, relative to the workspace', async () => {
    const root = path.join(folder(), 'root');
    const data = path.join(root, 'data');
    await mkdir(data, { recursive: true });
    const real = path.join(data, 'train.jsonl');
    await writeFile(real, TEXT);
    const [linkedFolder, linkedRoot, link] = ['folder', 'workspace', 'other.jsonl'].map((name) =>
      path.join(folder(), name),
    ) as [string, string, string];
    await symlink(data, linkedFolder);
    await symlink(root, linkedRoot);
    await symlink(real, link);
    const outside = file;
    const inside = path.join(root, 'train.jsonl');
    await writeFile(inside, TEXT);
    const long = path.join('folder'.repeat(10), 'folder'.repeat(10));
    const deep = path.join(root, long, 'train.jsonl');
    await mkdir(path.dirname(deep), { recursive: true });
    await writeFile(deep, TEXT);
    const workspace = standIn.workspace as { workspaceFolders: object[] | undefined };
    const roots = [linkedRoot, folder()].map((name) => ({ uri: standIn.Uri.file(name) }));
    try {
      for (const [opened, count, lines, row] of [
        [real, 1, 'train.jsonl\nin data', 'data/train.jsonl'],
        [path.join(linkedFolder, 'train.jsonl'), 1, 'train.jsonl\nin data', 'data/train.jsonl'],
        [link, 1, 'other.jsonl\nlink to data/train.jsonl', 'other.jsonl (link to data/train.jsonl)'],
        [inside, 1, `train.jsonl\nin ${root}`, 'train.jsonl'],
        [outside, 1, `train.jsonl\nin ${folder()}`, outside],
        [real, 2, `train.jsonl\nin ${data}`, real],
        [real, 0, `train.jsonl\nin ${data}`, real],
        [deep, 1, `train.jsonl\nin ${long}`, 'train.jsonl'],
      ] as const) {
        standIn.forget();
        workspace.workspaceFolders = count === 0 ? undefined : roots.slice(0, count);
        file = opened;
        await submit(undefined, ACCEPTING, []);
        const shown = (standIn.shown.details[0] ?? '').split('\n').slice(0, 2).join('\n');
        if (opened === deep) assert.match(shown, /^train\.jsonl\nin folder.+….+ \([0-9a-f]{8}\)$/);
        else assert.equal(shown, lines);
        const dataset = standIn.shown.inputs[0]?.items.find(({ label }) => label.endsWith(' Dataset'));
        assert.equal(dataset?.description, `${row} · ${TEXT.length} bytes · 1 row`);
        // The summary shows in full what the final question truncates.
        const whole = standIn.shown.inputs[0]?.items.find(({ label }) => label.endsWith(' Folder'));
        assert.equal(whole?.description, opened === deep ? long : undefined);
      }
    } finally {
      workspace.workspaceFolders = undefined;
    }
  });

  it('waits at most 3 s for the balance, and fills in a late one', async () => {
    const late = Promise.withResolvers<undefined>();
    const asked = Promise.withResolvers<undefined>();
    balance.refresh = () => {
      asked.resolve(undefined);
      return late.promise.then(() => (balance.current = { balance_cents: 700, currency: 'USD' }));
    };
    const shown = Promise.withResolvers<string | undefined>();
    const balanceOf = ({ items }: standIn.InputStandIn) =>
      items.find(({ label }) => label.endsWith('Balance'))?.description;
    standIn.shown.pick = (input) => (shown.resolve(balanceOf(input)), undefined);
    mock.timers.enable({ apis: ['setTimeout'] });
    syncBuiltinESMExports();
    try {
      const submitted = submitDataset(parts, standIn.Uri.file(file), undefined, { modelId: 'm' });
      await asked.promise;
      mock.timers.tick(2_999);
      await turn();
      assert.deepEqual(standIn.shown.inputs, []);
      mock.timers.tick(1);
      await submitted;
    } finally {
      mock.timers.reset();
      syncBuiltinESMExports();
    }
    assert.equal(await shown.promise, 'unknown');
    late.resolve(undefined);
    await turn();
    assert.deepEqual(standIn.shown.inputs.map(balanceOf), ['7.00 USD']);
  });

  describe('what is in the hold-out, and what changed since the run before', () => {
    let found: Record<'alsoIn' | 'since', PromiseWithResolvers<unknown>>;
    let asked: { name: string; of: unknown; path: string; signal: AbortSignal }[];
    let logged: string[];
    let mayContinue: PromiseWithResolvers<unknown>;
    let submitted: Promise<unknown>;
    const UNKNOWN = ['Submitted before: May 1 with Model M, 5.00 USD; changed since'];

    beforeEach(async () => {
      [asked, logged] = [[], []];
      found = { alsoIn: Promise.withResolvers(), since: Promise.withResolvers() };
      const ask =
        (name: keyof typeof found) =>
        (of: unknown, { path }: { path: string }, signal: AbortSignal) => {
          asked.push({ name, of, path, signal });
          return found[name].promise;
        };
      Object.assign(parts, {
        fingerprints: { alsoIn: ask('alsoIn'), since: ask('since') },
        log: { error: (what: string) => void logged.push(what) },
      });
      const dataset = { path: file, sha256: 'b'.repeat(64), rows: 1 };
      const label = 'Tone ft-y0a3a2cs';
      receipts = [{ ...chargedReceipt({ accountId: 'account-1', label, dataset }), id: 'before' }];
      await writeFile(path.join(folder(), 'train.holdout.jsonl'), TEXT);
    });

    /** Presses Continue, and keeps the summary open until the balance is known. */
    const pressContinue = async (...answers: [string[], string[]] | []) => {
      mayContinue = Promise.withResolvers();
      const { refresh } = balance;
      balance.refresh = () => {
        if (standIn.shown.inputs.length === 0) return refresh();
        return mayContinue.promise.then(refresh);
      };
      submitted = submit(undefined, ...answers);
      while (standIn.shown.inputs.length === 0 || asked.length < 2) await turn();
    };
    const rows = (input = 0) => {
      const items = standIn.shown.inputs[input]?.items ?? [];
      return items
        .filter(({ label }) => /Hold-out|before/.test(label))
        .map(({ label, description }) => `${label}: ${description}`)
        .map((text) => text.replace(/^\S+ /, '').replace(/\w+ \d+, \d+/g, 'May 1'));
    };

    it('come late, each for this file, and stop with the review', async () => {
      await pressContinue();
      assert.deepEqual(
        asked.map(({ name, of, path: one, signal }) => [name, of, one, signal.aborted]).sort(),
        [
          ['alsoIn', path.join(folder(), 'train.holdout.jsonl'), file, false],
          ['since', 'before', file, false],
        ],
      );
      assert.deepEqual(rows(), UNKNOWN);
      found.alsoIn.resolve(1);
      await turn();
      const inHoldOut =
        'Hold-out: 1 row is also in train.holdout.jsonl, so its answer wouldn’t show what was learned.';
      assert.deepEqual(rows(), [...UNKNOWN, inHoldOut]);
      found.since.resolve({ added: 1, removed: 0, changed: 2, equal: 5, notCompared: 0, rows: {} });
      await turn();
      assert.deepEqual(rows(), ['Submitted before: +1 ~2 since May 1 · Model M · 5.00 USD', inHoldOut]);
      mayContinue.resolve(undefined);
      await submitted;
      assert.match(standIn.shown.details.join('\n'), /^1 added, 0 removed, 2 changed since \w/m);
      assert.deepEqual(
        [drafts.length, logged, asked.map(({ signal }) => signal.aborted)],
        [1, [], [true, true]],
      );
    });

    it('are in the final question only if all rows were compared', async () => {
      await pressContinue();
      found.since.resolve({ added: 1, removed: 0, changed: 2, equal: 5, notCompared: 3, rows: {} });
      await turn();
      mayContinue.resolve(undefined);
      await submitted;
      assert.doesNotMatch(standIn.shown.details.join('\n'), /changed since/);
    });

    it('hold up nothing: if they never come or fail, the summary says what it always does', async () => {
      await pressContinue();
      mayContinue.resolve(undefined);
      await submitted;
      assert.equal(drafts.length, 1);
      standIn.forget();
      [asked, drafts] = [[], []];
      found = { alsoIn: Promise.withResolvers(), since: Promise.withResolvers() };
      await pressContinue();
      found.alsoIn.reject(new CheckError('changing'));
      found.since.reject(new TypeError('x'));
      await turn();
      assert.deepEqual([rows(), logged], [UNKNOWN, ['hold-out', 'since-the-run']]);
      mayContinue.resolve(undefined);
      await submitted;
      assert.equal(drafts.length, 1);
    });

    it('say nothing of a run without fingerprints, nor of a cancellation', async () => {
      for (const end of [
        () => found.since.resolve(undefined),
        () => found.since.reject(new CancelledError()),
      ]) {
        standIn.forget();
        asked = [];
        found = { alsoIn: Promise.withResolvers(), since: Promise.withResolvers() };
        await pressContinue();
        found.alsoIn.reject(new CancelledError());
        end();
        await turn();
        assert.deepEqual([rows(), logged], [UNKNOWN, []]);
        mayContinue.resolve(undefined);
        await submitted;
      }
    });

    it('say nothing of a later run that was charged meanwhile', async () => {
      await pressContinue(['Continue', 'Accept and Continue'], ['Back to Summary']);
      found.since.resolve({ added: 1, removed: 0, changed: 0, equal: 5, notCompared: 0, rows: {} });
      await turn();
      assert.match(rows().join(), /\+1 since May 1/);
      const [before] = receipts;
      receipts = [...receipts, { ...(before as Receipt), id: 'after', created: { localMs: 1 } }];
      mayContinue.resolve(undefined);
      await submitted;
      assert.equal(standIn.shown.inputs.length, 3);
      assert.deepEqual(rows(2), UNKNOWN);
    });
  });

  it('shows what is known, without a request, while the service asks to wait', async () => {
    const active = parts.sessions.active as unknown as {
      models: { models?: unknown; refresh: () => Promise<{ data: unknown }> };
      submissionsNotBeforeMs?: number;
    };
    const { data } = await active.models.refresh();
    Object.assign(active, { submissionsNotBeforeMs: new Date().setHours(23, 30) });
    Object.assign(active.models, { models: data, refresh: () => assert.fail('models') });
    Object.assign(balance, {
      current: { balance_cents: 3750, currency: 'EUR' },
      readAtMs: new Date().setHours(0, 5),
      refresh: () => assert.fail('balance'),
    });
    await submit(undefined, ['Continue'], []);
    const items = standIn.shown.inputs[0]?.items ?? [];
    const rowOf = (name: string) => items.find(({ label }) => label.endsWith(name))?.description;
    assert.equal(rowOf(' Model'), 'Model M, Maker');
    assert.equal(rowOf(' Balance')?.replace('\u202f', ' '), '37.50 EUR (as of 12:05 AM)');
    assert.equal(rowOf(' Upload')?.replace('\u202f', ' '), 'Waits until 11:30 PM, as the service requested.');
    assert.match(standIn.shown.inputs[1]?.title ?? '', /^Terms/);
    // Without a list of models, there is nothing to choose from.
    Object.assign(active.models, { models: undefined, refresh: () => Promise.reject(new Error('held')) });
    await assert.rejects(submit(), /held/);
  });

  it('asks before the summary whether to wait as long as the service asked submissions to', async () => {
    let ended = 0;
    const untilMs = new Date().setHours(23, 29, 1);
    const active = parts.sessions.active as object;
    Object.assign(active, { longWaitUntilMs: untilMs });
    Object.assign(parts.submissions, {
      endLongWait: () => {
        ended += 1;
        if (ended === 1) return Promise.reject(new Error('held'));
        Object.assign(active, { longWaitUntilMs: undefined });
        return Promise.resolve();
      },
    });
    await submit(undefined, ACCEPTING, ['OK', SUBMIT]);
    assert.deepEqual(
      standIn.shown.sentences.map((sentence) => sentence.replace('\u202f', ' ')),
      ['The service asked you to wait until 11:30 PM.'],
    );
    assert.deepEqual([standIn.shown.isModal, standIn.shown.buttons], [[true], [['OK', 'Try Anyway']]]);
    assert.deepEqual([ended, standIn.shown.inputs, drafts], [0, [], []]);
    await assert.rejects(submit(undefined, ACCEPTING, ['Try Anyway', SUBMIT]), /held/);
    assert.deepEqual([standIn.shown.inputs, drafts], [[], []]);
    await submit(undefined, ACCEPTING, ['Try Anyway', SUBMIT]);
    assert.equal(drafts.length, 1);
  });

  it('asks so, too, while only what this window left unsent has to wait for long', async () => {
    let ended = 0;
    Object.assign(parts.submissions, { endLongWait: () => Promise.resolve(void (ended += 1)) });
    for (const [waitMs, count] of [
      [60_000, 0],
      [86_400_000, 1],
    ] as const) {
      pending = [pendingOf('idle', submissionOf({ notBefore: { localMs: Date.now() + waitMs } }))];
      await submit(undefined, ACCEPTING, ['Try Anyway', SUBMIT]);
      assert.equal(ended, count);
    }
  });

  it('sends and stores nothing after Esc while the dataset is hashed, and stops hashing', async () => {
    await writeFile(file, TEXT.repeat(300_000));
    let reads = 0;
    beforeReads(() => delay(30, reads++));
    standIn.shown.pick = (input) => (setTimeout(() => input.hide(), 50), 'Continue');
    await submitDataset(parts, standIn.Uri.file(file), undefined, { modelId: 'm' });
    assert.equal(standIn.shown.inputs[0]?.busy, true);
    assert.deepEqual([drafts, standIn.shown.inputs.length, standIn.shown.sentences], [[], 1, []]);
    const known = reads;
    await delay(100);
    assert.ok(known > 0 && reads <= known + 1, `${known} reads, then ${reads}`);
  });

  it('skips the check of a refused dataset only if it is unchanged', async () => {
    const dataset = {
      ...{ path: file, filename: 'train.jsonl', ...stampOf(statSync(file, { bigint: true })) },
      ...{ sha256: SHA256, rows: 1, characters: TEXT.length },
    };
    const refused = (changes = {}, rest = {}) => {
      [drafts, checks] = [[], 0];
      pending = [
        pendingOf(
          'idle',
          submissionOf({ id: 'refused', dataset: { ...dataset, ...changes }, ...REFUSED, ...rest }),
        ),
      ];
    };
    let checks = 0;
    // A dataset that needs a check is not submitted: the question about it gets no answer.
    reports.currentReport = () => (checks++, Promise.reject(new CheckError('worker-died')));
    parts.submissions.discard = () => Promise.resolve({ kind: 'not-charged' });
    refused();
    await submit({ modelId: 'm', replacesRefused: 'refused' });
    // It is a new submission, with a new Idempotency-Key.
    assert.deepEqual([checks, drafts.map((draft) => draft.dataset)], [0, [dataset]]);
    for (const [changes, rest] of [
      [{ mtimeMs: dataset.mtimeMs - 1 }],
      [{ ctimeMs: dataset.ctimeMs - 1 }],
      [{ path: '/elsewhere/train.jsonl' }],
      [{ sha256: '1'.repeat(64) }],
      [{}, { accountId: 'account-2' }],
    ]) {
      refused(changes, rest);
      await submit({ modelId: 'm', replacesRefused: 'refused' });
      assert.deepEqual([checks, drafts], [1, []], JSON.stringify(changes));
    }
  });

  it('ends if the journal can’t be opened', async () => {
    parts.openJournal = () =>
      Promise.reject(Object.assign(new Error('x'), { code: 'ENOSPC', syscall: 'mkdir' }));
    await assert.rejects(submit(), { code: 'disk-full', place: 'submissions' });
    assert.deepEqual([drafts, standIn.shown.inputs], [[], []]);
  });

  it('offers an open submission of the same bytes, and a second one only for another model', async () => {
    const dataset = { ...submissionOf().dataset, sha256: SHA256 };
    for (const attempts of [[uploadedAttempt(0)], []]) {
      for (const [model_id, other] of [
        ['m', 'Back to Summary'],
        ['another', 'Submit Anyway'],
      ] as const) {
        standIn.forget();
        drafts = [];
        pending = [pendingOf('idle', submissionOf({ id: 'one', dataset, model_id, attempts }))];
        await submit({ modelId: 'm' }, ['Continue']);
        assert.deepEqual(standIn.shown.buttons, [['Show Submission', other]]);
        assert.deepEqual([drafts, standIn.executed], [[], []]);
        await submit({ modelId: 'm' }, ['Continue'], ['Show Submission']);
        assert.deepEqual([drafts, standIn.executed], [[], [['fineTuning.resolveSubmission', 'one']]]);
        await submit({ modelId: 'm' }, ACCEPTING, [other, SUBMIT]);
        assert.equal(drafts.length, model_id === 'm' ? 0 : 1);
      }
    }
  });

  it('warns first if another account of the service has an open submission', async () => {
    const dataset = { ...submissionOf().dataset, sha256: SHA256 };
    pending = [pendingOf('idle', submissionOf({ id: 'theirs', dataset, accountId: 'account-2' }))];
    await submit();
    assert.deepEqual(standIn.shown.sentences, [
      'Another account on this service has an open submission of train.jsonl.',
    ]);
    // Enter presses the first button, which sends nothing.
    assert.deepEqual(standIn.shown.buttons, [['Show Submission', 'Submit Anyway']]);
    await submit({ modelId: 'm' }, ['Continue'], ['Show Submission']);
    assert.deepEqual([drafts, standIn.executed], [[], [['fineTuning.resolveSubmission', 'theirs']]]);
    await submit({ modelId: 'm' }, ACCEPTING, ['Submit Anyway', SUBMIT]);
    assert.deepEqual([drafts.length, besides], [1, [told]]);
  });

  it('asks before the terms whether to submit beside one of these bytes that can’t be read', async () => {
    told = [{ bytes: 'b', k: 1, n: 2, record: undefined, isOver: false }];
    await submit();
    assert.deepEqual(standIn.shown.sentences, [
      'You may have been charged: the record of an earlier submission of this dataset can’t be read.',
    ]);
    // Enter presses the first button, which sends nothing.
    assert.deepEqual(standIn.shown.buttons[0], ['Back to Summary', 'Continue Anyway']);
    assert.deepEqual([standIn.shown.isModal, drafts], [[true], []]);
    await submit(undefined, ACCEPTING, ['Continue Anyway', SUBMIT]);
    // The claim gets the submissions that the user read about.
    assert.deepEqual(besides, [told]);
    // So is one of a later version, though it is over: it may have been charged.
    told = [{ bytes: 'b', k: 1, n: 2, record: undefined, isOver: true }];
    await submit();
    assert.equal(drafts.length, 1);
  });

  it('shows earlier charges and possible ones, and continues if they can’t be read', async () => {
    const dataset = { ...submissionOf().dataset, sha256: SHA256 };
    const at = { localMs: 0 };
    receipts = [
      chargedReceipt({ dataset, atMs: Date.parse('2026-05-02') }),
      ended(submissionOf({ dataset, accountId: 'account-2' }), 'discarded', { at }),
      ended(submissionOf({ dataset }), 'not-charged', { at }),
      chargedReceipt({ dataset, origin: 'https://other.test' }),
      chargedReceipt(),
    ];
    await submit();
    const notes = (standIn.shown.inputs[0]?.items ?? []).slice(-3);
    assert.equal(notes[0]?.label, 'Notes');
    assert.match(notes[1]?.description ?? '', / with Model M, 5\.00 USD$/);
    assert.match(notes[2]?.description ?? '', /discarded: you may have been charged$/);
    receipts = [chargedReceipt({ dataset: { path: file, rows: 3, sha256: '1'.repeat(64) } })];
    await submit();
    const changed = standIn.shown.inputs.findLast(({ items }) => items[1]?.label.startsWith('Run'));
    assert.match(changed?.items.at(-1)?.description ?? '', / with Model M, 5\.00 USD; changed since$/);
    parts.journal.receipts = () => Promise.reject(new Error('x'));
    await submit();
    assert.equal(drafts.length, 3);
  });

  it('discards only a refused submission of the same account', async () => {
    result = { kind: 'charged', run: { run_id: 'r' } };
    const discarded: string[] = [];
    parts.submissions.discard = (id) => {
      discarded.push(id);
      return Promise.resolve({ kind: 'not-charged' });
    };
    pending = [
      pendingOf('idle', submissionOf({ id: 'unknown', attempts: [uploadedAttempt(0)] })),
      pendingOf('idle', submissionOf({ id: 'unsent' })),
      pendingOf('idle', submissionOf({ id: 'other', accountId: 'account-2', ...REFUSED })),
      pendingOf('idle', submissionOf({ id: 'refused', ...REFUSED })),
    ];
    for (const replacesRefused of ['unknown', 'unsent', 'other', 'gone', 'refused'])
      await submit({ modelId: 'm', replacesRefused });
    assert.equal(drafts.length, 5);
    assert.deepEqual(discarded, ['refused']);
    // Another dataset is another submission.
    const other = path.join(folder(), 'other.jsonl');
    await writeFile(other, TEXT);
    standIn.shown.folder = () => other;
    await submit({ modelId: 'm', replacesRefused: 'refused' }, ['Dataset', ...ACCEPTING]);
    assert.deepEqual([drafts.at(-1)?.dataset.filename, discarded], ['other.jsonl', ['refused']]);
    // So is a file chosen in place of a missing one, unless it has the same bytes.
    file = other;
    await submit({ modelId: 'm', replacesRefused: 'refused' });
    assert.deepEqual([drafts.length, discarded], [7, ['refused']]);
    const dataset = { ...submissionOf().dataset, sha256: SHA256 };
    pending = [pendingOf('idle', submissionOf({ id: 'renamed', dataset, ...REFUSED }))];
    await submit({ modelId: 'm', replacesRefused: 'renamed' });
    assert.deepEqual(discarded, ['refused', 'renamed']);
  });

  describe('proposed by an agent', () => {
    async function propose(answers = ACCEPTING) {
      const proposal = new Proposal('Ready', new AbortController().signal);
      await submit({ modelId: 'm', label: 'The agent’s', priority: true, proposal }, answers);
      return proposal;
    }
    const rowsOfSummary = () =>
      standIn.shown.inputs[0]?.items.map(({ label, description }) => `${label}: ${description}`);

    it('says so in the summary and in the record', async () => {
      await propose();
      assert.ok(rowsOfSummary()?.includes('$(hubot) Proposed by an agent: Ready'), rowsOfSummary()?.join());
      assert.equal(drafts[0]?.proposedBy, 'agent');
    });

    it('can’t be pretended by another extension, since its objects are no proposals', async () => {
      await submit({ modelId: 'm', proposal: { reason: 'Ready', signal: new AbortController().signal } });
      assert.ok(rowsOfSummary()?.every((row) => !row.includes('agent')));
      assert.equal('proposedBy' in (drafts[0] ?? {}), false);
    });

    it('knows that an open submission came first, before or after the final question', async () => {
      result = { kind: 'elsewhere' };
      assert.equal((await propose()).metOpen, false);
      result = { kind: 'open', id: 'other' };
      assert.equal((await propose()).metOpen, true);
      const dataset = { ...submissionOf().dataset, sha256: SHA256 };
      pending = [pendingOf('idle', submissionOf({ dataset, model_id: 'm' }))];
      assert.equal((await propose()).metOpen, true);
    });

    it('asks nothing once its agent withdrew it or has the answer', async () => {
      for (const end of ['abort', 'over']) {
        const stop = new AbortController();
        const proposal = new Proposal('Ready', stop.signal);
        if (end === 'abort') stop.abort();
        else proposal.isOver = true;
        await submit({ modelId: 'm', proposal });
        assert.deepEqual([standIn.shown.inputs, standIn.shown.sentences, drafts], [[], [], []], end);
      }
    });

    it('is the user’s own if they choose another dataset', async () => {
      const other = path.join(folder(), 'other.jsonl');
      await writeFile(other, `${TEXT}${TEXT}`);
      // Without one, the summary comes back.
      standIn.shown.folder = () => undefined;
      assert.equal((await propose(['Dataset', ...ACCEPTING])).isReplaced, false);
      assert.equal(drafts.pop()?.proposedBy, 'agent');
      standIn.shown.folder = () => other;
      assert.equal((await propose(['Dataset', ...ACCEPTING])).isReplaced, true);
      const { dataset, label, priority_processing, proposedBy } = drafts[0]!;
      assert.deepEqual([dataset.path, proposedBy, priority_processing], [other, undefined, false]);
      assert.match(label ?? '', /^other\b/);
    });
  });
});
