import assert from 'node:assert/strict';
import { cutLabel, defaultLabel } from '../../../../src/ui/shared/label.ts';

describe('label', () => {
  it('keeps what fits: 255 UTF-16 units', () => {
    for (const text of ['', 'a'.repeat(255), '😀'.repeat(127) + 'a']) assert.equal(cutLabel(text), text);
  });

  it('is cut at whole characters as a person sees them', () => {
    const family = '👨‍👩‍👧‍👦';
    assert.equal(cutLabel('a'.repeat(300)), 'a'.repeat(255));
    assert.equal(cutLabel('a' + '😀'.repeat(200)), 'a' + '😀'.repeat(127));
    assert.equal(cutLabel('a'.repeat(254) + '😀'), 'a'.repeat(254));
    assert.equal(cutLabel('a'.repeat(250) + family + 'b'), 'a'.repeat(250));
    assert.equal(cutLabel('a'.repeat(254) + 'e\u0301'), 'a'.repeat(254));
    assert.equal(cutLabel('🇩🇪'.repeat(100)), '🇩🇪'.repeat(63));
  });

  it('is offered from the file name, without folder and extension', () => {
    assert.equal(defaultLabel('/data/müsli 2.train.jsonl'), 'müsli 2.train');
    assert.equal(defaultLabel('.jsonl'), '.jsonl');
    assert.equal(defaultLabel('noextension'), 'noextension');
    assert.equal(defaultLabel(`${'x'.repeat(300)}.jsonl`), 'x'.repeat(255));
  });
});
