import assert from 'node:assert/strict';
import { withVscode } from '../../../helpers/standInForVscode.ts';
const { submissionName } = await withVscode(() => import('../../../../src/ui/submission/rowMessages.ts'));
describe('x', () => {
  it('y', () => {
    assert.ok(submissionName);
  });
});
