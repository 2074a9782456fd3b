import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { Session, SessionState } from '../../../src/runs/session.ts';
import { Watcher } from '../../../src/runs/watcher.ts';
import { Emitter } from '../../../src/base/event.ts';

/** The part of a session that is watched; `refresh` ends when the test says so. */
class Watched {
  readonly changed = new Emitter<void>();
  readonly looks: PromiseWithResolvers<undefined>[] = [];
  readonly runs = {
    activeCount: 1,
    onDidChange: this.changed.event,
    refresh: () => {
      const look = Promise.withResolvers<undefined>();
      this.looks.push(look);
      return look.promise;
    },
  };
  state: SessionState = 'ready';
}

describe('Watcher', () => {
  let watched: Watched;
  let watcher: Watcher;
  let focused: boolean;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout', 'Date'] });
    watched = new Watched();
    focused = true;
    watcher = new Watcher(watched as unknown as Session, () => focused);
  });
  afterEach(() => {
    watcher.dispose();
    mock.timers.reset();
  });

  const turns = async () => {
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  };
  async function endLook(error?: Error): Promise<void> {
    const look = watched.looks.at(-1);
    if (error) look?.reject(error);
    else look?.resolve(undefined);
    await turns();
  }
  async function pass(ms: number): Promise<void> {
    mock.timers.tick(ms);
    await turns();
  }

  it('plans the next look after the last one ended, never during it', async () => {
    void watcher.look();
    await pass(60_000);
    assert.equal(watched.looks.length, 1);
    await endLook();
    await pass(4999);
    assert.equal(watched.looks.length, 1);
    await pass(1);
    assert.equal(watched.looks.length, 2);
    await pass(600_000);
    assert.equal(watched.looks.length, 2);
  });

  it('slows down when nothing changed for three minutes, and is fast again after a change', async () => {
    void watcher.look();
    await pass(180_000);
    await endLook();
    await pass(29_999);
    assert.equal(watched.looks.length, 1);
    await pass(1);
    assert.equal(watched.looks.length, 2);
    watched.changed.fire();
    await endLook();
    await pass(5000);
    assert.equal(watched.looks.length, 3);
  });

  it('sleeps when nothing is active, until something is', async () => {
    watched.runs.activeCount = 0;
    void watcher.look();
    await endLook();
    await pass(3_600_000);
    assert.equal(watched.looks.length, 1);
    watched.runs.activeCount = 1;
    watched.changed.fire();
    await pass(5000);
    assert.equal(watched.looks.length, 2);
  });

  it('stops when the last run ends', async () => {
    void watcher.look();
    watched.runs.activeCount = 0;
    watched.changed.fire();
    await endLook();
    await pass(3_600_000);
    assert.equal(watched.looks.length, 1);
  });

  it('looks once a minute from the back, and after a failure even with nothing active', async () => {
    focused = false;
    void watcher.look();
    await endLook();
    await pass(59_999);
    assert.equal(watched.looks.length, 1);
    await pass(1);
    watched.runs.activeCount = 0;
    await endLook(new Error('offline'));
    await pass(59_999);
    assert.equal(watched.looks.length, 2);
    await pass(1);
    assert.equal(watched.looks.length, 3);
  });

  for (const state of ['key-rejected', 'key-missing'] as const) {
    it(`asks nothing while the session is ${state}`, async () => {
      void watcher.look();
      watched.state = state;
      await endLook(new Error('401'));
      watched.changed.fire();
      await pass(3_600_000);
      assert.equal(watched.looks.length, 1);
    });
  }

  it('has one plan, however many changes and looks there are', async () => {
    void watcher.look();
    await endLook();
    for (let turn = 0; turn < 10; turn++) watched.changed.fire();
    await pass(5000);
    assert.equal(watched.looks.length, 2);
  });

  it('plans nothing after it was disposed, also during a look', async () => {
    void watcher.look();
    watcher.dispose();
    await endLook();
    watched.changed.fire();
    await pass(3_600_000);
    assert.equal(watched.looks.length, 1);
  });

  it('plans nothing when a look that fails ends after its disposal', async () => {
    void watcher.look();
    watcher.dispose();
    await endLook(new Error('offline'));
    await pass(3_600_000);
    assert.equal(watched.looks.length, 1);
  });
});
