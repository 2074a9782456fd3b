import assert from 'node:assert/strict';
import { Emitter } from '../../../../src/core/base/event.ts';

describe('Emitter', () => {
  it('calls every listener in the order of subscription until it is disposed', () => {
    const emitter = new Emitter<number>();
    const heard: string[] = [];
    const first = emitter.event((value) => heard.push(`a${value}`));
    emitter.event((value) => heard.push(`b${value}`));
    emitter.fire(1);
    first.dispose();
    first.dispose();
    emitter.fire(2);
    emitter.dispose();
    emitter.fire(3);
    assert.deepEqual(heard, ['a1', 'b1', 'b2']);
  });

  it('distinguishes two subscriptions of one listener', () => {
    const emitter = new Emitter<void>();
    let heard = 0;
    const listener = () => (heard += 1);
    const one = emitter.event(listener);
    emitter.event(listener);
    emitter.fire();
    one.dispose();
    emitter.fire();
    assert.equal(heard, 3);
  });

  it('allows subscriptions and disposals while it fires', () => {
    const emitter = new Emitter<void>();
    const heard: string[] = [];
    const self = emitter.event(() => {
      heard.push('self');
      self.dispose();
      emitter.event(() => heard.push('late'));
    });
    emitter.event(() => heard.push('other'));
    emitter.fire();
    assert.deepEqual(heard, ['self', 'other']);
    emitter.fire();
    assert.deepEqual(heard, ['self', 'other', 'other', 'late']);
  });

  it('calls the other listeners if one throws, and its error surfaces as uncaught', async () => {
    const emitter = new Emitter<void>();
    const broken = new Error('broken listener');
    let heard = 0;
    emitter.event(() => {
      throw broken;
    });
    emitter.event(() => (heard += 1));
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    try {
      const surfaced = new Promise((resolve) => process.once('uncaughtException', resolve));
      emitter.fire();
      assert.equal(heard, 1);
      assert.equal(await surfaced, broken);
    } finally {
      for (const listener of others) process.on('uncaughtException', listener);
    }
  });
});
