import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AnswersError, readAnswers, type AnswersFile } from '../../../../src/core/answers/answersFile.ts';
import { openAnswers, type OpenOptions } from '../../../../src/core/answers/openAnswers.ts';
import { scoreRow } from '../../../../src/core/answers/scores.ts';
import { writtenAnswer } from '../../../helpers/answers.ts';
import { useFolder } from '../../../helpers/folder.ts';

const WORKER = path.join(import.meta.dirname, '../../../../src/core/answers/worker.ts');

describe('openAnswers', function () {
  this.timeout(20_000);
  const folder = useFolder();
  const file = () => path.join(folder(), 'train.answers.jsonl');
  const open = async (options: Partial<OpenOptions> = {}) => {
    const read: AnswersFile[] = [];
    const opening = openAnswers(file(), { worker: WORKER, onRead: (one) => read.push(one), ...options });
    return { scores: await opening, read };
  };

  it('has the rows before their scores, in order', async () => {
    const rows = Array.from({ length: 300 }, (_, index) =>
      writtenAnswer({ base: `${'x'.repeat(20_000)}${index}`, adapter: String(index) }),
    );
    await writeFile(file(), `${rows.join('\n')}\nno JSON\n`);
    const events: (number | 'read')[] = [];
    const read: AnswersFile[] = [];
    const { scores } = await open({
      onRead: (one) => {
        read.push(one);
        events.push('read');
      },
      onProgress: (fraction) => events.push(fraction),
    });
    const expected = await readAnswers(file());
    assert.deepEqual(read, [expected]);
    assert.deepEqual(scores, expected.rows.map(scoreRow));
    const [first, ...fractions] = events;
    assert.ok(first === 'read' && fractions.length > 0);
    assert.ok(fractions.every((one) => typeof one === 'number' && one >= 0 && one < 1));
  });

  it('does not block while texts are long, and ends when it is canceled', async () => {
    const accents = `a${'\u0301\u0316'.repeat(50_000)}`;
    const words = Array.from({ length: 3_000 }, (_, index) => `w${index}`).join(' ');
    const row = writtenAnswer({ expected: words, base: `${words}!`, adapter: accents });
    await writeFile(file(), `${row}\n`.repeat(100));
    const stop = new AbortController();
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    await assert.rejects(open({ signal: stop.signal, onProgress: () => turns > 20 && stop.abort() }), {
      code: 'cancelled',
    });
    clearInterval(timer);
    await assert.rejects(open({ signal: AbortSignal.abort() }), { code: 'cancelled' });
  });

  it('scores texts with stacked accents at once', async () => {
    // To order them takes minutes.
    const stacked = (marks: string) => `a${marks.repeat(400_000)}`;
    const texts = { base: stacked('\u0301\u0316'), adapter: stacked('\u0316\u0301') };
    await writeFile(file(), `${writtenAnswer(texts)}\n`);
    assert.equal((await open()).scores.length, 1);
  });

  it('says nothing after it was canceled', async () => {
    await writeFile(file(), `${writtenAnswer({ base: 'x'.repeat(20_000) })}\n`.repeat(100));
    const stop = new AbortController();
    let said = 0;
    const onRead = () => {
      stop.abort();
      // Meanwhile the thread has scores.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    };
    await assert.rejects(open({ signal: stop.signal, onRead, onProgress: () => said++ }), {
      code: 'cancelled',
    });
    await delay(300);
    assert.equal(said, 0);
  });

  it('rejects what is no file', async () => {
    await assert.rejects(open(), (error) => error instanceof AnswersError && error.code === 'missing');
  });
});
