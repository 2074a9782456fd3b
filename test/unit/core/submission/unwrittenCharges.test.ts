import assert from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { unwrittenCharges } from '../../../../src/core/submission/unwrittenCharges.ts';

describe('unwrittenCharges', () => {
  it('are known to each window, until they are removed, and never fail', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'told-'));
    const [mine, theirs] = [unwrittenCharges(folder), unwrittenCharges(folder)];
    await mine.add('a');
    assert.deepEqual([await theirs.has('a'), await theirs.has('b')], [true, false]);
    await theirs.remove('a');
    await theirs.remove('a');
    assert.equal(await mine.has('a'), false);
    const gone = unwrittenCharges(path.join(folder, 'gone'));
    await gone.add('a');
    assert.equal(await gone.has('a'), false);
  });
});
