import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { cp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { results, root } from '../env/project.ts';
import { weekly } from '../helpers/weekly.ts';
import { smallDataset, writeBigDataset } from './datasets.ts';
import { Service } from './service.ts';
import { signIn } from './signingIn.ts';
import { beginSubmission, walkThroughSteps } from './submission.ts';
import { extensionsFolder, VSCode } from './vscode.ts';
import { succeeds, until } from './waits.ts';
import type { Workbench } from './workbench.ts';

/** The report of test/fixtures/agent. */
interface Report {
  commands: string[];
  /** Number of existing commands. */
  all: number;
}

describe('another extension that imitates the user', () => {
  const extensions = path.join(results, 'ui/extensions-with-agent');
  let service: Service;
  let vscode: VSCode;
  let workbench: Workbench;

  before(async () => {
    await cp(extensionsFolder, extensions, { recursive: true });
    // Without its list of extensions, VS Code scans the folder.
    await rm(path.join(extensions, 'extensions.json'));
    await cp(path.join(root, 'test/fixtures/agent'), path.join(extensions, 'test.agent-1.0.0'), {
      recursive: true,
    });
  });

  async function begin(): Promise<void> {
    vscode = await VSCode.start({ extensions });
    for (const name of ['wanted', 'other']) await writeFile(vscode.file(`${name}.jsonl`), smallDataset(name));
    service = await Service.start('service_agent_test');
    workbench = await vscode.open();
    await workbench.sideBar.open('Fine-Tuning');
    await signIn(workbench, { address: service.baseUrl, name: 'Work', apiKey: 'service_agent_test' });
  }

  async function end(): Promise<void> {
    await vscode.close();
    await service.close();
  }

  /**
   * Lets the agent start a command and then run every other command that may press something.
   * @param steps how many rows the agent moves down in each box before accepting
   * @param isBrief runs only the commands that accept something, not first all that press or move something
   */
  async function play(command: string, args: unknown[], steps: number[], isBrief = false): Promise<Report> {
    const report = vscode.file('agent.report.json');
    await rm(report, { force: true });
    await writeFile(vscode.file('agent.json'), JSON.stringify({ command, args, steps, isBrief }));
    await workbench.runCommand('Agent: Play');
    // It runs some 900 commands, each for up to 100 ms.
    return JSON.parse(await written(report, 240_000)) as Report;
  }

  /** Waits for a file and reads it. */
  async function written(file: string, limitMs?: number): Promise<string> {
    let text: string | undefined;
    const isThere = async () => (text = await readFile(file, 'utf8').catch(() => undefined)) !== undefined;
    await until(`there is ${file}`, isThere, limitMs);
    return text ?? '';
  }

  /** Lets the agent call tools. @returns a function that awaits what they returned, as the agent got it */
  async function callTools(script: object): Promise<() => Promise<string[]>> {
    const report = vscode.file('agent.report.json');
    await rm(report, { force: true });
    await writeFile(vscode.file('agent.json'), JSON.stringify(script));
    await workbench.runCommand('Agent: Call Tools');
    return async () => (JSON.parse(await written(report)) as { results: string[] }).results;
  }

  const propose = (input: object) =>
    callTools({
      tool: 'fineTuning_proposeRun',
      input: { path: 'wanted.jsonl', model: 'qwen3-8b', reason: 'It is ready.', ...input },
    });

  /** Waits for a proposal, and reviews it up to the final question. */
  async function review(fileName: string): Promise<() => Promise<void>> {
    const { dialogs, quickInput } = workbench;
    await dialogs.waitForToast(`An agent proposes training Qwen3 8B on ${fileName}: “It is ready.”`);
    await dialogs.pressInToast(/An agent proposes/, 'Review…');
    await quickInput.waitForTitle(`Submit ${fileName} to Work`);
    await quickInput.item('Proposed by an agent').waitFor();
    await walkThroughSteps(workbench, { fileName, until: 'confirm' });
    return lastQuestion(fileName);
  }

  function assertTried({ commands, all }: Report, least: number): void {
    console.log(`        ${commands.length} commands were run, of the ${all} there are`);
    for (const id of ['quickInput.accept', 'notification.acceptPrimaryAction', 'list.select'])
      assert.ok(commands.includes(id), id);
    assert.ok(commands.length > least, String(commands.length));
  }

  /** Waits for the final confirmation. @returns a function that confirms it, even if the agent has opened something over it */
  async function lastQuestion(fileName: string): Promise<() => Promise<void>> {
    const question = 'Submit this dataset to Work and pay?';
    const dialog = workbench.dialogs.modal.filter({ hasText: question }).filter({ hasText: fileName });
    await dialog.waitFor();
    return () => dialog.getByRole('button', { name: 'Submit and Pay' }).dispatchEvent('click');
  }

  /** Waits for a charge at the service, because the agent may have disabled notifications. */
  async function isCharged(): Promise<void> {
    await until('the service has a run', async () => (await service.runs()).length > 0);
  }

  weekly(() =>
    describe('with every command', () => {
      // It leaves a window in an unknown state.
      beforeEach(begin);
      afterEach(end);

      it('gets to the final confirmation, but charges nothing', async () => {
        const file = vscode.file('wanted.jsonl');
        // Zero steps in the summary; in the terms, where no row is active at first, down to the first one.
        const report = await play(
          'fineTuning.submitDataset',
          [{ file }, null, { modelId: 'qwen3-8b' }],
          [0, 1, 1],
        );
        assertTried(report, 500);
        assert.equal(service.submissions, 0, 'submissions that reached the service');
        assert.equal(await service.balanceCents(), 100_000);
        const submit = await lastQuestion('wanted.jsonl');
        await workbench.screenshot('agent-submit');
        // The user can confirm.
        await submit();
        await isCharged();
        assert.equal(service.submissions, 1);
      });

      it('cannot resend an interrupted submission', async () => {
        await writeBigDataset(vscode.file('big.jsonl'));
        service.holdsUploads = true;
        await workbench.editors.open(vscode.file('big.jsonl'));
        await beginSubmission(workbench, 'big.jsonl');
        await walkThroughSteps(workbench, { fileName: 'big.jsonl', model: 'Qwen3 8B' });
        await until('the upload is held', () => service.held > 0);
        await vscode.killExtensionHosts();
        service.release();
        // The notification's first button is "Continue…".
        await workbench.dialogs.waitForToast(/Not charged: the upload of big\.jsonl was interrupted\./);
        await workbench.sideBar.open('Fine-Tuning');
        await workbench.sideBar
          .view('Runs')
          .row(/^big, big\.jsonl, Not charged, upload stopped/)
          .waitFor();
        const balanceCents = await service.balanceCents();
        assertTried(await play('fineTuning.resolveSubmission', [], [0, 1], true), 100);
        assert.equal(service.submissions, 1, 'submissions that reached the service');
        assert.equal(await service.balanceCents(), balanceCents);
        const submit = await lastQuestion('big.jsonl');
        await workbench.screenshot('agent-continue');
        await submit();
        await isCharged();
        assert.equal(service.submissions, 2);
        assert.equal(new Set(service.idempotencyKeys).size, 1);
      });
    }),
  );

  describe('with the tools', () => {
    before(begin);
    after(end);

    it('reaches the final question with a proposal, which the user confirms and it learns', async () => {
      const results = await propose({ label: 'Proposed', priority: true });
      const submit = await review('wanted.jsonl');
      assert.equal(service.submissions, 0);
      await workbench.screenshot('agent-proposal');
      await submit();
      await workbench.dialogs.waitForToast(/Submitted Proposed to Work/);
      await workbench.dialogs.pressInToast(/Submitted Proposed to Work/, 'Show Run');
      await workbench.webview('panel').getByText('an agent', { exact: true }).waitFor();
      const [result = ''] = await results();
      const [run] = await service.runs();
      const { status, run: runId, price } = JSON.parse(result) as Record<string, string>;
      assert.deepEqual([status, runId, price?.endsWith(' USD')], ['submitted', run?.run_id, true], result);
      assert.equal(service.submissions, 1);
      // The same bytes aren't proposed again.
      assert.match(
        (await (await propose({}))()).join(),
        /Already submitted: run [\w-]+\. Don’t propose it again/,
      );
      await workbench.clearNotifications();
      await workbench.editors.closeAll();
    });

    it('charges what the user confirms after the call was canceled, and then refuses to repeat it', async () => {
      const { submissions } = service;
      const results = await propose({ path: 'other.jsonl' });
      const submit = await review('other.jsonl');
      await writeFile(vscode.file('agent.cancel'), '');
      // The agent proposes it once more, while the question is open.
      const [canceled = '', again = ''] = await results();
      assert.match(canceled, /^rejected: /);
      assert.match(again, /Another proposal is open/);
      await rm(vscode.file('agent.cancel'));
      await submit();
      await workbench.dialogs.waitForToast(/Submitted other to Work/);
      const listed = await (await callTools({ tool: 'fineTuning_listRuns', input: {} }))();
      assert.match(listed.join(), /"proposedBy":"an agent"/);
      assert.match((await (await propose({ path: 'other.jsonl' }))()).join(), /Already submitted: run/);
      assert.equal(service.submissions, submissions + 1);
      await workbench.clearNotifications();
    });

    it('charges nothing with any tool in loops while every command that accepts something is run', async () => {
      await writeFile(vscode.file('looped.jsonl'), smallDataset('looped'));
      await writeFile(vscode.file('twice.jsonl'), ['a', 'b', 'a'].map(smallDataset).join(''));
      const files = async () => {
        const names = (await readdir(vscode.folder)).filter((name) => !/^agent\.|^\.fine-tuning-/.test(name));
        const stats = await Promise.all(names.map((name) => stat(vscode.file(name))));
        return new Map(names.map((name, index) => [name, `${stats[index]?.ino} ${stats[index]?.ctimeMs}`]));
      };
      const before = await files();
      const balanceCents = await service.balanceCents();
      const { submissions } = service;
      const results = await callTools({
        loops: 1,
        inputs: [
          {
            path: 'looped.jsonl',
            model: 'qwen3-8b',
            reason: 'Now.',
            run: 'x',
            priority: true,
            confirmed: true,
          },
          {
            path: vscode.file('looped.jsonl'),
            reason: 'Now.',
            account: 'Work',
            convertToChat: true,
            trialRows: 1,
          },
          { path: 'twice.jsonl', reason: 'Now.' },
          { path: '../../../../../../../../etc/passwd', reason: 'Now.', run: '../balance' },
        ],
      });
      // VS Code asks before a copy is prepared. It could be silenced, so someone agrees to everything.
      const question = workbench.dialogs.modal.filter({ hasText: 'Prepare a copy of a dataset?' });
      const yes = question.getByRole('button', { name: 'Yes' });
      await until(
        'the tools have answered',
        async () => {
          if ((await yes.count()) > 0)
            await succeeds((limit) => yes.first().dispatchEvent('click', {}, limit));
          return existsSync(vscode.file('agent.report.json'));
        },
        180_000,
      );
      const all = await results();
      assert.ok(all.length >= 28);
      // A proposal was open while the commands ran, which may have ended it.
      assert.ok(
        all.some((one) => one === 'waits' || /"status":\s*"(closed|declined)"/.test(one)),
        all.join('\n'),
      );
      assert.equal(service.submissions, submissions, 'submissions that reached the service');
      assert.equal(await service.balanceCents(), balanceCents);
      // No file was changed, replaced or removed; there are only new ones.
      const after = await files();
      for (const [name, identity] of before) assert.equal(after.get(name), identity, name);
      const added = [...after.keys()].filter((name) => !before.has(name));
      assert.ok(added.includes('twice.prepared.jsonl'), added.join());
      // A run of the tests before may complete meanwhile, and the download that its notification offers be accepted. Its part has
      // a sidecar.
      const isExpected =
        /^((twice|looped)\.(prepared|trial)(-\d)?\.jsonl|adapter-[\da-f]{8}(-\d)?\.zip|\.[\da-f]{32}\.part(\.json)?)$/;
      for (const name of added) assert.match(name, isExpected);
      for (const one of all) {
        // Text of the row, the API key, folders outside of the workspace.
        assert.doesNotMatch(one, /2 \+ 2|service_agent_test|root:|globalStorage|https?:/, one);
        assert.ok(one.length < 20_000);
      }
    });
  });
});
