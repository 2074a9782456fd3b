import assert from 'node:assert/strict';
import { UploadQueue } from '../../../../src/core/submission/uploadQueue.ts';
import { silent } from '../../../helpers/runs/support.ts';

describe('UploadQueue', () => {
  let queue: UploadQueue;
  let began: string[];
  const work =
    (name: string, gate: Promise<unknown> = Promise.resolve()) =>
    async () => {
      began.push(name);
      await gate;
      return name;
    };
  const turns = () => new Promise((resolve) => setImmediate(resolve));
  beforeEach(() => {
    queue = new UploadQueue();
    began = [];
  });

  it('runs one at a time, in the order of asking, and gives what each gives', async () => {
    const gates = [Promise.withResolvers(), Promise.withResolvers()];
    const ends = [
      queue.run(work('one', gates[0]?.promise), silent()),
      queue.run(work('two', gates[1]?.promise), silent()),
      queue.run(work('three'), silent()),
    ];
    await turns();
    assert.deepEqual(began, ['one']);
    gates[0]?.resolve(undefined);
    await turns();
    assert.deepEqual(began, ['one', 'two']);
    gates[1]?.resolve(undefined);
    assert.deepEqual(await Promise.all(ends), ['one', 'two', 'three']);
  });

  it('goes on after a failure, which is told to the one it belongs to', async () => {
    const failing = queue.run(() => Promise.reject(new Error('no')), silent());
    const throwing = queue.run(() => {
      throw new Error('at once');
    }, silent());
    const next = queue.run(work('next'), silent());
    await assert.rejects(failing, /no/);
    await assert.rejects(throwing, /at once/);
    assert.equal(await next, 'next');
  });

  it('leaves at once who is cancelled while waiting, and keeps the others in line behind the one that runs', async () => {
    const gate = Promise.withResolvers();
    const stop = new AbortController();
    const first = queue.run(work('first', gate.promise), silent());
    const second = queue.run(work('second'), stop.signal);
    const third = queue.run(work('third'), silent());
    stop.abort();
    assert.equal(await second, undefined);
    await turns();
    assert.deepEqual(began, ['first']);
    gate.resolve(undefined);
    assert.deepEqual([await first, await third], ['first', 'third']);
    assert.deepEqual(began, ['first', 'third']);
  });

  it('never begins what was cancelled before', async () => {
    assert.equal(await queue.run(work('never'), AbortSignal.abort()), undefined);
    const stop = new AbortController();
    const ended = queue.run(work('nor this'), stop.signal);
    stop.abort();
    assert.equal(await ended, undefined);
    assert.equal(await queue.run(work('this'), silent()), 'this');
    assert.deepEqual(began, ['this']);
  });

  it('does not make wait who was cancelled before', async () => {
    const gate = Promise.withResolvers();
    const first = queue.run(work('first', gate.promise), silent());
    assert.equal(await queue.run(work('never'), AbortSignal.abort()), undefined);
    gate.resolve(undefined);
    assert.equal(await first, 'first');
    assert.deepEqual(began, ['first']);
  });

  it('does not stop what has begun: that hears its own signal', async () => {
    const gate = Promise.withResolvers();
    const stop = new AbortController();
    const first = queue.run(work('first', gate.promise), stop.signal);
    const second = queue.run(work('second'), silent());
    await turns();
    stop.abort();
    await turns();
    assert.deepEqual(began, ['first']);
    gate.resolve(undefined);
    assert.deepEqual([await first, await second], ['first', 'second']);
  });
});
