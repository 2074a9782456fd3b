import assert from 'node:assert/strict';
import { NetworkError } from '../../../../src/core/api/errors.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { submissionOf, pendingOf } from '../../../helpers/submissions.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { copySupportInfo, reportIssue } = await withVscode(
  () => import('../../../../src/ui/help/supportInfo.ts'),
);

const CANARY = 'CaNaRy';
const RUN = '11111111-1111-4111-8111-111111111111';

const dataset = { path: `/home/${CANARY}/${CANARY}.jsonl`, filename: `${CANARY}.jsonl` };
const submission = submissionOf({
  accountId: 'w',
  origin: `https://${CANARY}.test`,
  dataset: { ...submissionOf().dataset, ...dataset },
  model_id: CANARY,
  label: CANARY,
  attempts: [{ started: { localMs: 1 }, closed: { localMs: 2 }, code: 'network' }],
});
const account = {
  kind: 'service',
  id: 'w',
  name: CANARY,
  baseUrl: `https://${CANARY}.test`,
  website: CANARY,
};

/** Everything private is a canary, including what the service may send in its fields. */
const parts = {
  accounts: { accounts: [account], isUnreadable: false },
  context: {
    extension: {
      id: 'fine-tuning-tools.fine-tuning',
      packageJSON: {
        version: '1.2.3',
        contributes: {
          configuration: {
            properties: {
              'fineTuning.baseUrl': {},
              'fineTuning.labelMarker': {},
              'fineTuning.notifications': { enum: ['on', 'badge'] },
              'fineTuning.datasetFiles': {},
            },
          },
        },
      },
    },
  },
  downloads: { active: [{ runId: RUN, state: 'interrupted', code: 'network', target: dataset.path }] },
  journal: {
    receipts: () =>
      Promise.resolve([
        chargedReceipt({ accountId: 'w', label: CANARY, dataset, run: { run_id: RUN, plan_name: CANARY } }),
      ]),
  },
  openJournal: () => Promise.resolve(),
  rareCases: { line: () => Promise.resolve('0 sleep, 2 late-run') },
  sessions: {
    active: {
      account,
      state: 'offline',
      runs: {
        rows: [
          { run_id: RUN, status: `${CANARY} https://x.test/?sig=${CANARY}`, model_id: CANARY },
          { run_id: `service_${CANARY}`, status: 'queued', model_id: CANARY },
        ],
      },
    },
  },
  submissions: { pending: [pendingOf('idle', submission)] },
} as unknown as Parameters<typeof copySupportInfo>[0];

describe('Support info', () => {
  beforeEach(() => {
    standIn.forget();
    standIn.settings.set('fineTuning.baseUrl', `https://${CANARY}.test`);
    standIn.settings.set('fineTuning.labelMarker', true);
    standIn.settings.set('fineTuning.notifications', 'badge');
    standIn.settings.set('fineTuning.datasetFiles', { [`**/${CANARY}`]: true });
    standIn.env.remoteName = `${CANARY}.test:8080`;
    standIn.settings.set('http.proxy', `http://${CANARY}:${CANARY}@proxy.test`);
  });
  afterEach(() => {
    standIn.settings.clear();
    standIn.env.remoteName = undefined;
    standIn.env.uiKind = standIn.UIKind.Desktop;
  });

  async function copied(changed: object = {}): Promise<string> {
    await copySupportInfo({ ...parts, ...changed });
    const [what, text] = standIn.executed[0] ?? [];
    assert.equal(what, 'copy');
    return String(text);
  }

  it('contains versions, settings, IDs, codes, and states', async () => {
    const info = JSON.parse(await copied()) as Record<string, unknown>;
    assert.deepEqual([info['extension'], info['contract']], ['1.2.3', '1.0.0']);
    assert.deepEqual(info['accounts'], ['service']);
    const settings = info['settings'] as Record<string, unknown>;
    assert.deepEqual(
      ['baseUrl', 'labelMarker', 'notifications', 'datasetFiles'].map(
        (name) => settings[`fineTuning.${name}`],
      ),
      ['set', true, 'badge', 'set'],
    );
    assert.equal(settings['http.proxy'], 'set');
    assert.deepEqual(info['submissions'], [
      {
        account: 0,
        state: 'idle',
        stage: 'sent',
        created: '2026-05-01T11:00:00.000Z',
        attempts: [{ complete: true, code: 'network' }],
      },
    ]);
    assert.match(JSON.stringify(info['receipts']), new RegExp(`"stage":"charged".*"run":"${RUN}"`));
    assert.deepEqual(info['runs'], [
      { run: RUN, status: '(other)' },
      { run: '(other)', status: 'queued' },
    ]);
    assert.equal(info['rare'], '0 sleep, 2 late-run');
    assert.deepEqual(info['downloads'], [{ run: RUN, state: 'interrupted', code: 'network' }]);
  });

  it('reports that the journal cannot be read', async () => {
    const fail = () => Promise.reject(new Error(CANARY));
    const text = await copied({ openJournal: fail, journal: { receipts: fail } });
    const { submissions, receipts } = JSON.parse(text) as Record<string, unknown>;
    assert.deepEqual([submissions, receipts], ['unreadable', 'unreadable']);
  });

  it('contains nothing private', async () => {
    const text = await copied();
    assert.doesNotMatch(text, new RegExp(CANARY));
    assert.match(standIn.shown.sentences.join(), /^Support info copied\. It contains no API keys/);
  });

  it('goes to VS Code’s issue reporter, or to the clipboard if there is none', async () => {
    await reportIssue(parts);
    const [command, options] = standIn.executed[0] ?? [];
    assert.equal(command, 'workbench.action.openIssueReporter');
    const { extensionId, data } = options as { extensionId: string; data: string };
    assert.deepEqual([extensionId, typeof JSON.parse(data)], ['fine-tuning-tools.fine-tuning', 'object']);

    standIn.forget();
    standIn.env.uiKind = standIn.UIKind.Web;
    await reportIssue(parts);
    assert.deepEqual(
      standIn.executed.map(([what]) => what),
      ['copy', 'workbench.action.openIssueReporter'],
    );
    assert.match(standIn.shown.sentences.join(), /^Support info copied\./);

    standIn.forget();
    standIn.env.uiKind = standIn.UIKind.Desktop;
    const { executeCommand } = standIn.commands;
    standIn.commands.executeCommand = () => Promise.reject(new NetworkError('other'));
    try {
      await reportIssue(parts);
    } finally {
      standIn.commands.executeCommand = executeCommand;
    }
    assert.equal(standIn.executed[0]?.[0], 'copy');
    assert.match(standIn.shown.sentences.join(), /^Issue reporting isn’t available/);
  });
});
