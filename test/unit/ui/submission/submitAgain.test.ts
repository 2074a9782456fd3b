import assert from 'node:assert/strict';
import type { Session } from '../../../../src/core/runs/session.ts';
import type { Receipt } from '../../../../src/core/submission/submission.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';
import { Bench, row } from '../../../helpers/runs/support.ts';
import { servicesOf } from '../../../helpers/services.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { submitAgain } = await withVscode(() => import('../../../../src/ui/submission/submitAgain.ts'));

describe('submitAgain', () => {
  let bench: Bench;
  let session: Session;
  let receipts: Receipt[];
  let parts: Parameters<typeof submitAgain>[0];

  beforeEach(async () => {
    standIn.forget();
    bench = await Bench.start();
    const details: Record<string, unknown> = {
      old: { run_id: 'old', status: 'completed', model_id: 'm-old', label: 'Läbel' },
      marked: { run_id: 'marked', status: 'completed', model_id: 'm-old', label: 'Läbel ft-7k3m9qpx' },
      bare: { run_id: 'bare', status: 'completed', model_id: 'm-bare' },
      odd: { run_id: 7 },
    };
    const server = await bench.serve((request, response) => {
      const id = String(request.url).split('?')[0]?.split('/').at(-1) ?? '';
      if (id === 'runs') sendJson(response, 200, { data: [row('odd', 1)], has_more: false });
      else if (id in details) sendJson(response, 200, { run: details[id] });
      else sendJson(response, 404, { error: { code: 'not_found', message: '' } });
    });
    session = bench.session({ baseUrl: server.url, apiKey: 'service_test', keyId: 'key-1' });
    receipts = [];
    standIn.shown.folder = () => '/chosen.jsonl';
    parts = servicesOf({
      sessions: { active: session },
      journal: { receipts: () => Promise.resolve(receipts) },
    });
  });
  afterEach(() => bench.end());

  /** The submitted files and their presets; each preset must name the account. */
  const submitted = () =>
    standIn.executed.map(([command, uri, , preset]) => {
      assert.equal(command, 'fineTuning.submitDataset');
      const { accountId, ...rest } = JSON.parse(JSON.stringify(preset)) as Record<string, unknown>;
      assert.equal(accountId, session.account.id);
      return [String(uri), rest];
    });
  const CHOSEN = 'file:///chosen.jsonl';

  it('reads an unloaded run, and asks for a dataset to train with its model and label', async () => {
    await submitAgain(parts, 'old');
    await submitAgain(parts, { kind: 'run', runId: 'bare' });
    assert.deepEqual(submitted(), [
      [CHOSEN, { modelId: 'm-old', label: 'Läbel' }],
      [CHOSEN, { modelId: 'm-bare' }],
    ]);
  });

  it('drops the marker of the earlier run', async () => {
    await submitAgain(parts, 'marked');
    session.runs.insertCreated({ run_id: 'new' }, 'm-old', 'Läbel ft-7k3m9qpx');
    await submitAgain(parts, 'new');
    const preset = [CHOSEN, { modelId: 'm-old', label: 'Läbel' }];
    assert.deepEqual(submitted(), [preset, preset]);
  });

  it('fails with the service’s error for an unknown run', async () => {
    await assert.rejects(submitAgain(parts, 'nobody'), { code: 'not_found' });
    assert.deepEqual(submitted(), []);
  });

  it('uses the model of a listed run whose detail cannot be read', async () => {
    await session.runs.refresh();
    await submitAgain(parts, 'odd');
    assert.deepEqual(submitted(), [[CHOSEN, { modelId: 'm' }]]);
  });

  it('reuses dataset, model, label, and queue of the receipt, and asks for a missing dataset', async () => {
    const accountId = session.account.id;
    const receiptAt = (path: string) =>
      chargedReceipt({
        ...{ accountId, label: 'Läbel ft-7k3m9qpx', model_id: 'm', priority_processing: true },
        dataset: { path, filename: 'train.jsonl' },
        run: { run_id: 'paid' },
      });
    const preset = { modelId: 'm', label: 'Läbel', priority: true };
    const again = async (path: string) => {
      standIn.executed.length = 0;
      receipts = [{ ...receiptAt('/theirs.jsonl'), accountId: 'other' }, receiptAt(path)];
      await submitAgain(parts, 'paid');
      return submitted();
    };
    assert.deepEqual(await again(import.meta.filename), [
      [`file://${import.meta.filename}`, { ...preset, runToRepeat: 'paid' }],
    ]);
    standIn.shown.folder = () => undefined;
    assert.deepEqual(await again('/nowhere/train.jsonl'), []);
    assert.deepEqual(standIn.shown.sentences, [
      'train.jsonl was moved or deleted. Choose the dataset to submit.',
    ]);
    const { account } = session;
    session.account = { ...account, kind: 'sandbox' };
    await again('/nowhere/train.jsonl');
    assert.match(standIn.shown.sentences.at(-1) ?? '', /^Sandbox: train\.jsonl was moved or deleted\. /);
    session.account = account;
    standIn.shown.folder = () => '/elsewhere/train.jsonl';
    assert.deepEqual(await again('/nowhere/train.jsonl'), [
      ['file:///elsewhere/train.jsonl', { ...preset, runToRepeat: 'paid' }],
    ]);
  });
});
