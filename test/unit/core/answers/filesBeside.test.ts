import assert from 'node:assert/strict';
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  answersBeside,
  expectedRows,
  holdOutBeside,
  isAnswersName,
  lineInHoldOut,
  trainedBeside,
} from '../../../../src/core/answers/filesBeside.ts';
import { useFolder } from '../../../helpers/folder.ts';

describe('files beside', () => {
  const folder = useFolder();
  const file = (name: string) => path.join(folder(), name);
  const age = (names: readonly string[], seconds: number) =>
    Promise.all(names.map((name) => utimes(file(name), seconds, seconds)));
  let written = 0;
  /** Writes files that are newer than those before. */
  const write = async (...names: string[]) => {
    await Promise.all(names.map((name) => writeFile(file(name), '')));
    await age(names, ++written);
  };
  const nameOf = (found: string | undefined) => (found === undefined ? undefined : path.basename(found));

  it('have names of answers', () => {
    for (const name of ['train.answers.jsonl', '/a/b.ANSWERS.JSONL', 'x.holdout.answers.ndjson'])
      assert.ok(isAnswersName(name), name);
    for (const name of ['answers.jsonl', 'train.jsonl', 'train.answers.json', 'train.answers'])
      assert.ok(!isAnswersName(name), name);
  });

  it('are the answers of a dataset, of its copies and of its hold-out', async () => {
    const answers = async (name: string) => nameOf(await answersBeside(file(name)));
    assert.equal(await answers('train.jsonl'), undefined);
    await mkdir(file('train.answers.jsonl'));
    assert.equal(await answers('train.jsonl'), undefined);
    await write('data.answers.jsonl');
    for (const name of [
      'data.jsonl',
      'data.ndjson',
      'data.prepared.jsonl',
      'data.trial-2.jsonl',
      'data.holdout.jsonl',
    ])
      assert.equal(await answers(name), 'data.answers.jsonl', name);
    await write('data.holdout.answers.jsonl', 'data.holdout-2.answers.jsonl');
    assert.equal(await answers('data.prepared.jsonl'), 'data.holdout.answers.jsonl');
    assert.equal(await answers('data.prepared-2.jsonl'), 'data.holdout-2.answers.jsonl');
    await write('data.prepared.answers.jsonl');
    assert.equal(await answers('data.prepared.jsonl'), 'data.prepared.answers.jsonl');
    assert.equal(await answers('other.jsonl'), undefined);
  });

  it('are the files that may have been trained', () => {
    for (const [answers, ...expected] of [
      ['train.answers', 'train.prepared', 'train', 'train.trial'],
      ['train.holdout.answers', 'train.prepared', 'train', 'train.trial'],
      ['train.holdout.qwen3.v2.answers', 'train.prepared', 'train', 'train.trial'],
      ['train.holdout-2.my-run.answers', 'train.prepared-2', 'train', 'train.trial-2'],
      ['a.b.holdout.x.holdout-3.answers', 'a.b.prepared', 'a.b', 'a.b.trial'],
      ['train.holdouts.answers', 'train.holdouts.prepared', 'train.holdouts', 'train.holdouts.trial'],
      ['compared', 'compared.prepared', 'compared', 'compared.trial'],
    ]) {
      const [prepared, trial, source] = trainedBeside(file(`${answers}.jsonl`));
      assert.deepEqual(
        [prepared, source, trial],
        expected.map((name) => file(`${name}.jsonl`)),
      );
    }
  });

  it('are the newest answers, whichever adapter gave them, but not those of another dataset', async () => {
    const answers = async (name: string) => nameOf(await answersBeside(file(name)));
    const own = [
      'data.answers.jsonl',
      'data.holdout.my-run.answers.jsonl',
      'data.holdout.qwen3.v2.answers.jsonl',
      'data.my-run.answers.jsonl',
    ];
    const others = [
      'data.v2.answers.jsonl',
      'data.v2.my-run.answers.jsonl',
      'data.holdout-2.x.answers.jsonl',
    ];
    await write(
      ...own,
      ...others,
      'data.jsonl',
      'data.holdout.jsonl',
      'data.v2.jsonl',
      'data.holdout-2.jsonl',
    );
    await age(others, 1_000);
    for (const [at, newest] of own.entries()) {
      await age([newest], 100 + at);
      for (const dataset of ['data.jsonl', 'data.prepared.jsonl', 'data.holdout.jsonl'])
        assert.equal(await answers(dataset), newest);
    }
    assert.equal(await answers('data.prepared-2.jsonl'), 'data.holdout-2.x.answers.jsonl');
    await age(['data.v2.my-run.answers.jsonl'], 2_000);
    assert.equal(await answers('data.v2.jsonl'), 'data.v2.my-run.answers.jsonl');
  });

  it('are the hold-out of a dataset or of answers', async () => {
    const holdOut = async (name: string) => nameOf(await holdOutBeside(file(name)));
    await write('data.jsonl', 'data.answers.jsonl');
    assert.equal(await holdOut('data.jsonl'), undefined);
    assert.equal(await holdOut('data.answers.jsonl'), 'data.jsonl');
    assert.equal(await holdOut('data.holdout.my-run.answers.jsonl'), undefined);
    await write('data.holdout.jsonl');
    for (const name of [
      'data.jsonl',
      'data.answers.jsonl',
      'data.holdout.answers.jsonl',
      'data.holdout.qwen3.v2.answers.jsonl',
      'data.my-run.answers.jsonl',
      'data.prepared.jsonl',
    ])
      assert.equal(await holdOut(name), 'data.holdout.jsonl', name);
    assert.equal(await holdOut('data.prepared-2.jsonl'), undefined);
    await write('data.holdout-2.jsonl');
    for (const name of [
      'data.trial-2.jsonl',
      'data.holdout-2.answers.jsonl',
      'data.holdout-2.my-run.answers.jsonl',
    ])
      assert.equal(await holdOut(name), 'data.holdout-2.jsonl', name);
  });
});

describe('a hold-out', () => {
  const folder = useFolder();
  const file = () => path.join(folder(), 'train.holdout.jsonl');
  const user = (content: unknown) => ({ role: 'user', content });
  const chat = (...messages: unknown[]) =>
    JSON.stringify({ messages: [...messages, { role: 'assistant', content: 'An answer.' }] });

  it('has the line of a prompt', async () => {
    const system = { role: 'system', content: 'Be brief.' };
    const lines = [
      ...[chat(user('Hi')), '', 'no JSON', chat(system, user('Hi')), chat(user('Hi'), user('there'))],
      ...Array.from({ length: 300 }, (_, index) => chat(user(`Row ${index}`))),
      chat(user([{ type: 'text', text: 'parts' }])),
    ];
    await writeFile(file(), `\uFEFF${lines.join('\r\n')}`);
    const line = (...texts: string[]) =>
      lineInHoldOut(
        file(),
        texts.map((text) => ({ role: text === 'Be brief.' ? 'system' : 'user', text })),
      );
    assert.deepEqual(
      [await line('Hi'), await line('Be brief.', 'Hi'), await line('Hi', 'there'), await line('Row 299')],
      [1, 4, 5, 305],
    );
    assert.equal(await line('parts'), 306);
    assert.equal(await line('Bye'), undefined);
    assert.equal(await line('Be brief.'), undefined);
    assert.equal(await lineInHoldOut(file(), []), undefined);
    assert.equal(await lineInHoldOut(file(), [{ role: 'system', text: 'Hi' }]), undefined);
    assert.equal(await lineInHoldOut(path.join(folder(), 'none'), [{ role: 'user', text: 'Hi' }]), undefined);
  });

  it('finds the prompt of a row in another format', async () => {
    const rows = [
      { instruction: 'Name the capital.', input: '', output: 'France' },
      { instruction: 'Name the capital.', input: 'France', output: 'Paris' },
      {
        conversations: [
          { from: 'human', value: 'Hi' },
          { from: 'gpt', value: 'Hello' },
        ],
        system: 'Be brief.',
      },
      { prompt: 'Hi', completion: 'Hi!' },
    ];
    await writeFile(file(), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const line = (...texts: string[]) =>
      lineInHoldOut(
        file(),
        texts.map((text) => ({ role: 'user', text })),
      );
    assert.deepEqual(
      [await line('Name the capital.\n\nFrance'), await line('Be brief.', 'Hi'), await line('Name')],
      [2, 3, undefined],
    );
    assert.deepEqual([await line('Name the capital.'), await line('Hi')], [1, 3]);
  });

  it('says how many rows are answered, if the recipe answers all', async () => {
    const rows = async (count: number, more = '') => {
      await writeFile(file(), `${chat(user('Hi'))}\n`.repeat(count) + more);
      return expectedRows(file());
    };
    assert.deepEqual(
      [await rows(50), await rows(51), await rows(1), await rows(0)],
      [50, undefined, 1, undefined],
    );
    assert.equal(
      await rows(3, '\n{"prompt":"Q","completion":"A"}\n{"question":"Q","answer":"A"}\nno JSON'),
      5,
    );
    // Whether it is asked isn't certain.
    assert.equal(await rows(3, '{"text":"no chat"}'), undefined);
    assert.equal(await expectedRows(path.join(folder(), 'none')), undefined);
  });
});
