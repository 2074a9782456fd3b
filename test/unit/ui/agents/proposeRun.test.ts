import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { mock } from 'node:test';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { Emitter } from '../../../../src/core/base/event.ts';
import { stampOf } from '../../../../src/core/base/fileStamp.ts';
import type { Report } from '../../../../src/core/datasets/report.ts';
import { Lease } from '../../../../src/core/storage/lease.ts';
import type { PendingSubmission } from '../../../../src/core/submission/pendingSubmission.ts';
import {
  ended as endedWith,
  type Submission,
  type Receipt,
} from '../../../../src/core/submission/submission.ts';
import type { CommandResult } from '../../../../src/ui/shared/commands.ts';
import { Proposal } from '../../../../src/ui/shared/proposal.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { golden } from '../../../helpers/golden.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';
import { groupOf, reportOf } from '../../../helpers/report.ts';
import { servicesOf, sessionOf } from '../../../helpers/services.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { submissionOf, pendingOf } from '../../../helpers/submissions.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { proposeRun } = await withVscode(() => import('../../../../src/ui/agents/proposeRun.ts'));
const { Refusal } = await withVscode(() => import('../../../../src/ui/agents/answer.ts'));

const TEXT = '{"prompt":"a","completion":"b"}\n';

describe('proposeRun', () => {
  const folder = useFolder();
  let workspace: string;
  let storage: string;
  let receipts: Receipt[];
  let pending: PendingSubmission[];
  let open: Submission[];
  let end: CommandResult;
  let longWaitUntilMs: number | undefined;
  let ran: unknown[][];
  let meetsOpen: boolean;
  let report: Partial<Report>;

  beforeEach(async () => {
    standIn.forget();
    workspace = path.join(folder(), 'workspace');
    storage = path.join(folder(), 'storage');
    await mkdir(workspace);
    await writeFile(path.join(workspace, 'train.jsonl'), TEXT);
    standIn.workspace.workspaceFolders = [{ name: 'w', uri: standIn.Uri.file(workspace) }];
    [receipts, open, pending, ran, end, meetsOpen] = [[], [], [], [], { outcome: 'cancelled' }, false];
    report = {};
    press('Review…');
  });
  afterEach(() => {
    mock.timers.reset();
    standIn.workspace.workspaceFolders = undefined;
  });

  const press = (button: string) => {
    standIn.shown.answer = (buttons) => buttons.find((one) => one === button);
  };

  let kind: string | undefined;
  beforeEach(() => (kind = undefined));
  const journalChanged = new Emitter<void>();
  async function propose(input: object = {}, signal = new AbortController().signal): Promise<unknown> {
    const model = { model_id: 'm', name: 'Model M', provider: 'Maker', available: true };
    const parts = servicesOf({
      context: { globalStorageUri: { fsPath: storage } },
      sessions: {
        active: sessionOf({
          account: { kind },
          longWaitUntilMs,
          models: { models: [model, { ...model, model_id: 'gone', available: false }] },
        }),
      },
      journal: {
        onDidChange: journalChanged.event,
        receipts: () => Promise.resolve(receipts),
        records: () => Promise.resolve([...receipts, ...open]),
      },
      submissions: {
        get pending() {
          return pending;
        },
      },
      reports: () =>
        Promise.resolve({
          currentReport: async (file: string) =>
            reportOf({ path: file, ...stampOf(await stat(file, { bigint: true })), rows: 1, ...report }),
        }),
      commands: {
        run: (...args: unknown[]) => {
          ran.push(args);
          const [, [, , { proposal }]] = args as [string, [unknown, unknown, { proposal: Proposal }]];
          proposal.metOpen = meetsOpen;
          return Promise.resolve(end);
        },
      },
    });
    try {
      return await proposeRun(parts, { path: 'train.jsonl', model: 'm', reason: 'Ready', ...input }, signal);
    } catch (error) {
      if (error instanceof Refusal) return { error: error.message, ...error.more };
      throw error;
    }
  }

  const dataset = () => ({
    sizeBytes: TEXT.length,
    sha256: createHash('sha256').update(TEXT).digest('hex'),
  });

  it('runs the command of the user’s submission, with the choices and an object that only it can make', async () => {
    await propose({ label: 'My run', priority: true });
    const [[command, [uri, , preset]]] = ran as [[string, [standIn.Uri, undefined, Record<string, unknown>]]];
    assert.deepEqual(
      [command, uri.fsPath],
      ['fineTuning.submitDataset', path.join(workspace, 'train.jsonl')],
    );
    const { proposal, ...choices } = preset;
    assert.ok(proposal instanceof Proposal);
    assert.deepEqual(choices, { modelId: 'm', label: 'My run', priority: true, accountId: 'account-1' });
  });

  /** Sets when the marks of this kind were written, in milliseconds from now. */
  async function mark(kind: string, fromNowMs: number): Promise<void> {
    const folderOfMarks = path.join(storage, 'proposals');
    const time = new Date(Date.now() + fromNowMs);
    for (const name of await readdir(folderOfMarks))
      if (name.endsWith(kind)) await utimes(path.join(folderOfMarks, name), time, time);
  }

  it('asks in a notification, and returns what became of the submission', async () => {
    const charged = chargedReceipt({ run: { run_id: 'run-1', price_cents: 517, currency: 'USD' } });
    receipts = [charged, endedWith(submissionOf({ id: 'j' }), 'not-charged', { at: { localMs: 0 } })];
    const cases: Record<string, string[]> = {};
    for (const [name, ended] of Object.entries<CommandResult>({
      charged: { outcome: 'charged', id: 'run-1' },
      'charged, without a receipt': { outcome: 'charged', id: 'run-2' },
      'not charged': { outcome: 'not-charged', id: 'j' },
      unknown: { outcome: 'unknown', id: 'i' },
      canceled: { outcome: 'cancelled' },
      failed: { outcome: 'failed' },
      unavailable: { outcome: 'unavailable' },
    })) {
      end = ended;
      cases[name] = [JSON.stringify(await propose())];
    }
    // The user looked into the open one, which was charged.
    [end, meetsOpen] = [{ outcome: 'charged', id: 'run-1' }, true];
    cases['an open submission comes first'] = [JSON.stringify(await propose())];
    end = { outcome: 'cancelled' };
    cases['an open submission comes first, closed'] = [JSON.stringify(await propose())];
    meetsOpen = false;
    const unusable = { untrainable: { format: 1, content: 0, answer: 0, weight: 0 } };
    const secret = { problems: [groupOf('api-key', [{ row: 1 }])] };
    for (const [name, found] of Object.entries<Partial<Report>>({
      'a secret': secret,
      'no usable row': unusable,
      'no usable row, and a secret': { ...unusable, ...secret },
      'not JSONL': { kind: 'csv' },
    })) {
      report = found;
      cases[`not ready: ${name}`] = [JSON.stringify(await propose())];
    }
    report = {};
    const untilMs = Date.UTC(2131, 0, 1, 12);
    mock.timers.enable({ apis: ['Date'], now: untilMs - 60_000 });
    const attempts = [{ started: { localMs: 0 }, ended: { localMs: 0 }, notBefore: { localMs: untilMs } }];
    pending = [pendingOf('idle', submissionOf({ id: 'k', attempts }))];
    end = { outcome: 'not-charged', id: 'k' };
    cases['the service asked you to wait, after the consent'] = [JSON.stringify(await propose())];
    end = { outcome: 'unavailable' };
    longWaitUntilMs = untilMs;
    cases['the service asked you to wait, before the summary'] = [JSON.stringify(await propose())];
    mock.timers.reset();
    [pending, longWaitUntilMs] = [[], undefined];
    const ask = async (input: object) => {
      standIn.forget();
      await propose(input);
      return [`${standIn.shown.sentences.join()} [${standIn.shown.buttons.flat().join('] [')}]`];
    };
    golden('agent-proposals', {
      ...cases,
      'the notification': await ask({}),
      'without a model': await ask({ model: undefined }),
      'a reason that is a link': await ask({ reason: `[Free](command:x)\n${'x'.repeat(900)}` }),
      'an unknown model': [JSON.stringify(await propose({ model: 'gone' }))],
    });
  });

  it('isn’t shown again for 10 minutes once declined, under any name of the file and in any window', async () => {
    press('Decline');
    assert.equal(((await propose()) as { status: string }).status, 'declined');
    await symlink('train.jsonl', path.join(workspace, 'link.jsonl'));
    standIn.forget();
    for (const one of ['train.jsonl', 'link.jsonl'])
      assert.match(
        JSON.stringify(await propose({ path: one })),
        /The user declined\. Don’t propose it again; ask/,
      );
    assert.deepEqual(standIn.shown.sentences, []);
    // So is a copy of it, but not another file.
    await writeFile(path.join(workspace, 'copy.jsonl'), TEXT);
    assert.match(JSON.stringify(await propose({ path: 'copy.jsonl' })), /The user declined/);
    assert.deepEqual(standIn.shown.sentences, []);
    await writeFile(path.join(workspace, 'other.jsonl'), TEXT + TEXT);
    press('');
    await propose({ path: 'other.jsonl' });
    assert.equal(standIn.shown.sentences.length, 1);
    standIn.forget();
    await mark('.declined', -11 * 60_000);
    await propose();
    assert.equal(standIn.shown.sentences.length, 1);
    // Declined by a clock that was set back since.
    await mark('.declined', 60_000);
    await propose();
    assert.equal(standIn.shown.sentences.length, 2);
  });

  it('is refused for a minute after three of a minute were canceled, in any window', async () => {
    const cancel = async () => {
      const stop = new AbortController();
      standIn.shown.answer = () => {
        // Not before the proposal follows the signal: its timer would keep this process for five minutes.
        queueMicrotask(() => stop.abort());
        return undefined;
      };
      await assert.rejects(propose({}, stop.signal), { code: 'cancelled' });
    };
    const isShown = async () => {
      standIn.forget();
      const answer = JSON.stringify(await propose());
      if (standIn.shown.sentences.length > 0) return true;
      assert.equal(answer, '{"error":"Too many proposals were canceled. Wait a minute."}');
      return false;
    };
    await cancel();
    await cancel();
    assert.equal(await isShown(), true);
    await cancel();
    assert.equal(await isShown(), false);
    await mark('.canceled', -70_000);
    assert.equal(await isShown(), true);
    // The last three were not within a minute.
    await cancel();
    await cancel();
    assert.equal(await isShown(), true);
  });

  it('is refused at once while another one is open in any window', async () => {
    const lease = await Lease.take(path.join(storage, 'proposals', 'open.lock'));
    assert.match(JSON.stringify(await propose()), /Another proposal is open/);
    assert.deepEqual(standIn.shown.sentences, []);
    lease?.release();
    await propose();
    await propose();
    assert.equal(ran.length, 2);
  });

  it('is refused if the same bytes were submitted within a day, or are open', async () => {
    const hour = 3_600_000;
    const submitted = (atMs: number) =>
      chargedReceipt({ atMs, dataset: dataset(), run: { run_id: 'run-1' } });
    receipts = [submitted(Date.now() - 23 * hour)];
    assert.match(JSON.stringify(await propose()), /Already submitted: run run-1\. Don’t propose it again/);
    // A later one that was discarded has no run.
    const at = { localMs: Date.now() - hour };
    receipts.push(endedWith(submitted(at.localMs), 'discarded', { at }));
    assert.match(JSON.stringify(await propose()), /Already submitted: run run-1/);
    receipts = [submitted(Date.now() - 25 * hour)];
    await propose();
    assert.equal(ran.length, 1);
    open = [submissionOf({ dataset: { ...submissionOf().dataset, ...dataset() } })];
    assert.match(JSON.stringify(await propose()), /Already submitted, and the outcome isn’t known yet/);
    assert.equal(ran.length, 1);
  });

  it('closes if its bytes are submitted while it is open', async () => {
    standIn.shown.answer = () => new Promise<string>(() => undefined) as unknown as string;
    const ended = propose();
    while (standIn.shown.sentences.length === 0) await turn();
    journalChanged.fire();
    await turn();
    open = [submissionOf({ dataset: { ...submissionOf().dataset, ...dataset() } })];
    journalChanged.fire();
    assert.match(JSON.stringify(await ended), /Already submitted, and the outcome isn’t known yet/);
    assert.equal(ran.length, 0);
  });

  it('says that it was in the sandbox, however it ended', async () => {
    kind = 'sandbox';
    assert.match(JSON.stringify(await propose()), /"sandbox":true/);
    standIn.shown.answer = () => undefined;
    assert.match(JSON.stringify(await propose()), /"sandbox":true/);
  });

  it('ends with the call or after 5 minutes without an answer, and its buttons do nothing then', async () => {
    for (const isCanceled of [true, false]) {
      standIn.forget();
      const button = Promise.withResolvers<string>();
      standIn.shown.answer = () => button.promise as unknown as string;
      mock.timers.enable({ apis: ['setTimeout'] });
      const stop = new AbortController();
      const ended = propose({}, stop.signal).catch((error: unknown) => (error as { code: string }).code);
      while (standIn.shown.sentences.length === 0) await turn();
      await turn();
      if (isCanceled) stop.abort();
      else mock.timers.tick(5 * 60_000);
      const answer = await ended;
      mock.timers.reset();
      assert.equal(
        isCanceled ? answer : (answer as { status: string }).status,
        isCanceled ? 'cancelled' : 'closed',
      );
      button.resolve('Review…');
      await sleep(10);
      assert.equal(standIn.shown.sentences.at(-1), 'This proposal has ended. Nothing was sent.');
      assert.equal(ran.length, 0);
      // The lock is free.
      const lease = await Lease.take(path.join(storage, 'proposals', 'open.lock'), 1);
      assert.ok(lease);
      lease.release();
    }
  });

  it('opens the file where its editors have it, and refuses one with unsaved changes', async () => {
    const link = path.join(folder(), 'link');
    await symlink(workspace, link);
    standIn.workspace.workspaceFolders = [{ name: 'w', uri: standIn.Uri.file(link) }];
    const opened = path.join(link, 'train.jsonl');
    await propose();
    const [[, [uri, , { proposal }]]] = ran as [[string, [standIn.Uri, undefined, { proposal: Proposal }]]];
    // A later question, from a Retry button, isn't a proposal anymore.
    assert.deepEqual([uri.fsPath, proposal.isOver], [opened, true]);
    const tab = { input: new standIn.TabInputText(standIn.Uri.file(opened)), isDirty: true };
    const { tabGroups } = standIn.window;
    const all = tabGroups.all;
    Object.assign(tabGroups, { all: [{ tabs: [tab] }] });
    assert.match(JSON.stringify(await propose()), /changes that aren’t on the disk/);
    Object.assign(tabGroups, { all });
    assert.equal(ran.length, 1);
  });

  it('takes a label as plain text', async () => {
    for (const label of ['a\n\u202eb', '\u200b \n']) await propose({ label });
    const labels = (ran as [string, [unknown, unknown, { label?: string }]][]).map(
      ([, [, , { label }]]) => label,
    );
    assert.deepEqual(labels, ['a b', undefined]);
  });

  it('doesn’t choose between two folders that have such a file', async () => {
    const other = path.join(folder(), 'other');
    await mkdir(other);
    await writeFile(path.join(other, 'train.jsonl'), TEXT);
    standIn.workspace.workspaceFolders = [workspace, other].map((one) => ({
      name: path.basename(one),
      uri: standIn.Uri.file(one),
    }));
    assert.match(JSON.stringify(await propose()), /Several open folders have a file with this path/);
    await propose({ path: path.join(other, 'train.jsonl') });
    assert.equal(ran.length, 1);
  });

  /** Puts a link to a file in the place of the dataset once the user is asked, who then wants to review it. */
  function replaceBy(file: string): void {
    const moved = (async () => {
      while (standIn.shown.sentences.length === 0) await turn();
      await rename(path.join(workspace, 'train.jsonl'), path.join(workspace, 'moved.jsonl'));
      await symlink(file, path.join(workspace, 'train.jsonl'));
      return 'Review…';
    })();
    standIn.shown.answer = () => moved as unknown as string;
  }

  it('checks again that the dataset is inside the workspace after the user wants to review it', async () => {
    const outside = path.join(folder(), 'outside.jsonl');
    await writeFile(outside, TEXT);
    replaceBy(outside);
    assert.match(JSON.stringify(await propose()), /There is no such file inside a folder/);
    assert.equal(ran.length, 0);
  });

  it('checks again that the dataset is the same file after the user wants to review it', async () => {
    await writeFile(path.join(workspace, 'other.jsonl'), TEXT);
    replaceBy('other.jsonl');
    assert.match(JSON.stringify(await propose()), /The file was replaced while the user decided/);
    assert.equal(ran.length, 0);
  });
});
