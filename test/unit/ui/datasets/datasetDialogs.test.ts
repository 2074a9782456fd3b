import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import { MAX_DATASET_BYTES } from '../../../../src/core/api/types.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';

describe('a file that cannot be submitted', () => {
  let hooks: ModuleHooks;
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');
  let dialogs: typeof import('../../../../src/ui/datasets/datasetDialogs.ts');

  before(async () => {
    hooks = standInForVscode();
    standIn = await import('../../../helpers/vscodeStandIn.ts');
    dialogs = await import('../../../../src/ui/datasets/datasetDialogs.ts');
  });
  after(() => hooks.deregister());
  beforeEach(() => standIn.forget());

  it('is told the limit as the contract names it', () => {
    dialogs.refuseDataset('train.jsonl', 'too-large', MAX_DATASET_BYTES);
    assert.deepEqual(standIn.told.sentences, [
      'train.jsonl is larger than the service’s limit of 600 MB (629,145,600 bytes at most). Split it or leave rows out.',
    ]);
  });
});
