import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';
import { until } from '../../../helpers/runs/support.ts';
import { DownloadStage, type Window } from '../../../helpers/runs/downloadStage.ts';

const { remindBeforeExpiry: create } = await withVscode(
  () => import('../../../../src/ui/downloads/watchers.ts'),
);
// It is loaded at its first use.
await withVscode(() => import('../../../../src/ui/downloads/reminders.ts'));

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('reminders of adapters', () => {
  let stage: DownloadStage;
  let first: Window;
  let faces: { dispose(): unknown }[];
  let logged: unknown[];

  beforeEach(async () => {
    standIn.forget();
    standIn.settings.clear();
    [faces, logged] = [[], []];
    stage = await DownloadStage.start();
    first = stage.window();
    first.session.budget.open(false);
  });
  afterEach(async () => {
    for (const face of faces) face.dispose();
    await stage.end();
  });

  const log = { error: (_what: string, error: unknown) => void logged.push(error) };
  const watch = (window: Window) =>
    faces.push(create({ ...window, log }, { focused: 5, behind: 5, always: 200 }));
  const said = () => standIn.told.sentences;

  /** It may come late on a machine that is busy. */
  async function saidTimes(count: number): Promise<void> {
    await until(() => said().length >= count);
    assert.equal(said().length, count);
  }

  /** A finished run; the sandbox keeps its adapter for 7 days. */
  async function finished(label: string): Promise<string> {
    const runId = await stage.submit(first, label);
    stage.pass(HOUR);
    return runId;
  }

  /** The window reads the list, and comes to the front. */
  async function look({ session }: Window): Promise<void> {
    await session.runs.refresh();
    standIn.focus.changed.fire({ focused: true });
    await new Promise((resolve) => setTimeout(resolve, 60));
  }

  it('come once at each time, with the time that is left by the clock of the service', async () => {
    watch(first);
    await finished('maths');
    await look(first);
    assert.deepEqual(said(), []);
    stage.pass(6 * DAY);
    await look(first);
    await look(first);
    await saidTimes(1);
    assert.match(said()[0] ?? '', /^The adapter for maths expires in 23 h and isn’t downloaded\.$/);
    stage.pass(22 * HOUR);
    await look(first);
    await look(first);
    await saidTimes(2);
    assert.match(said()[1] ?? '', /expires in 1 h and/);
    stage.pass(2 * HOUR);
    await look(first);
    await saidTimes(2);
  });

  it('that were missed come as one, and several runs in one sentence', async () => {
    await finished('one');
    await finished('two');
    stage.pass(6 * DAY + 21 * HOUR);
    watch(first);
    await look(first);
    await saidTimes(1);
    assert.deepEqual(said(), ['2 adapters expire within 24 h.']);
    assert.deepEqual(standIn.told.buttons, [['Download…', 'Show']]);
  });

  it('come in one window of several, also in one that begins later', async () => {
    const second = stage.window();
    second.session.budget.open(false);
    watch(first);
    watch(second);
    await finished('maths');
    stage.pass(6 * DAY);
    await Promise.all([look(first), look(second)]);
    const third = stage.window();
    third.session.budget.open(false);
    watch(third);
    await look(third);
    await saidTimes(1);
  });

  it('do not come for what is on the disk, and do when it was deleted', async () => {
    const runId = await finished('maths');
    const target = path.join(stage.out, 'a.zip');
    await first.session.runs.refresh();
    await first.downloads.start({ session: first.session, runId, artifact: { type: 'model' }, target });
    watch(first);
    stage.pass(6 * DAY);
    await look(first);
    assert.deepEqual(said(), []);
    await rm(target);
    await look(first);
    await saidTimes(1);
  });

  it('come for a run of which only another artifact is downloaded, or downloading', async () => {
    const runId = await finished('maths');
    stage.sandbox.control.setScenario('several-artifacts');
    const artifact = { type: 'training_log', filename: `training-log-${runId.slice(0, 8)}.jsonl` };
    const log = (name: string) => ({
      session: first.session,
      runId,
      artifact,
      target: path.join(stage.out, name),
    });
    await first.downloads.start(log('a.jsonl'));
    stage.pass(6 * DAY);
    watch(first);
    await look(first);
    await saidTimes(1);
    const active = { ...log('b.jsonl'), accountId: 'account-1', artifactType: artifact.type };
    Object.defineProperty(first.downloads, 'active', { value: [{ ...active, state: 'downloading' }] });
    stage.pass(22 * HOUR);
    await look(first);
    await saidTimes(2);
  });

  it('come if they were claimed when their account is left, and are not claimed after that', async () => {
    await finished('one');
    await finished('two');
    stage.pass(6 * DAY + 21 * HOUR);
    const claims: string[] = [];
    const claim = (_accountId: string, runId: string) => {
      claims.push(runId);
      faces[0]?.dispose();
      return Promise.resolve(true);
    };
    watch({ ...first, claim });
    await look(first);
    await saidTimes(1);
    assert.equal(claims.length, 1);
  });

  it('come after a check that failed', async () => {
    const failure = new Error('no');
    const claim: Window['claim'] = (...args) =>
      logged.length === 0 ? Promise.reject(failure) : first.claim(...args);
    watch({ ...first, claim });
    await finished('maths');
    stage.pass(6 * DAY);
    await look(first);
    await until(() => logged.length > 0);
    await look(first);
    await saidTimes(1);
    assert.deepEqual(logged, [failure]);
  });

  it('do not come before it is known what is downloaded', async () => {
    await finished('maths');
    stage.pass(6 * DAY);
    const opened = Promise.withResolvers<undefined>();
    const downloads = { active: [], records: () => [], open: () => opened.promise };
    watch({ ...first, downloads } as unknown as Window);
    await look(first);
    await look(first);
    assert.deepEqual(said(), []);
    opened.resolve(undefined);
    await saidTimes(1);
  });

  it('lead to the download and to the run', async () => {
    watch(first);
    const runId = await finished('maths');
    stage.pass(6 * DAY);
    standIn.told.answer = () => 'Download';
    await look(first);
    await until(() => standIn.executed.length === 1);
    stage.pass(22 * HOUR);
    standIn.told.answer = () => 'Show';
    await look(first);
    await until(() => standIn.executed.length === 2);
    assert.deepEqual(standIn.executed, [
      ['fineTuning.downloadAdapter', { accountId: 'account-1', id: runId }],
      ['fineTuning.showRun', { accountId: 'account-1', id: runId }],
    ]);
  });

  it('name the run by its label, read where nobody knows it', async () => {
    await finished('maths');
    stage.pass(6 * DAY);
    const second = stage.window();
    second.session.budget.open(false);
    watch(second);
    await look(second);
    await saidTimes(1);
    assert.match(said()[0] ?? '', /^The adapter for maths expires/);
  });

  it('come of themselves when their time comes', async () => {
    stage.sandbox.control.setScenario('short-retention');
    await stage.submit(first, 'maths');
    // Finished after 36 s; from half a minute later on it is kept for two hours more.
    stage.pass(36_500);
    await first.session.runs.refresh();
    stage.pass(28_500);
    await first.session.balance.refresh();
    watch(first);
    await until(() => said().length > 0);
    assert.match(said()[0] ?? '', /expires in (1 h 59 min|2 h) and/);
  });

  it('are not checked after the account is left', async () => {
    watch(first);
    await finished('maths');
    await first.session.runs.refresh();
    stage.pass(6 * DAY);
    faces[0]?.dispose();
    await look(first);
    assert.deepEqual(said(), []);
  });
});
