import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DiskError } from '../../../../src/core/base/diskError.ts';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import type { DatasetChecker } from '../../../../src/core/datasets/checker.ts';
import { PrepareError, type PrepareFailure } from '../../../../src/core/datasets/copyTypes.ts';
import { Fingerprints } from '../../../../src/core/datasets/fingerprints.ts';
import { readFacts, type Reading } from '../../../../src/core/datasets/readFacts.ts';
import { CheckError } from '../../../../src/core/datasets/report.ts';
import { Reports } from '../../../../src/core/datasets/reports.ts';
import type { Log } from '../../../../src/ui/shared/log.ts';
import { useChecker } from '../../../helpers/checker.ts';
import { golden } from '../../../helpers/golden.ts';
import { until } from '../../../helpers/runs/support.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { notWritten, prepareDatasetCopy } = await withVscode(
  () => import('../../../../src/ui/datasets/prepareCopy.ts'),
);
const { parsedAmount } = await withVscode(() => import('../../../../src/ui/datasets/copyOffers.ts'));

const KEY = 'sk-aB3dE5gH7jK9mN1pQ2rS4tU6vW8x';
const chat = (prompt: string) => ({
  messages: [
    { role: 'user', content: prompt },
    { role: 'assistant', content: 'ok' },
  ],
});

describe('Prepare Copy', () => {
  const { checker, folder } = useChecker();
  let logged: string[];
  const log = { error: (what: string) => void logged.push(what) } as unknown as Log;
  let made = 0;
  /** Counts the rows that are also in the hold-out. */
  let alsoIn: Fingerprints['alsoIn'];
  const readings = new Reports<Reading>({ check: readFacts });
  const fingerprints: { alsoIn: typeof alsoIn } = { alsoIn: (...args) => alsoIn(...args) };

  beforeEach(() => {
    standIn.forget();
    logged = [];
    const real = new Fingerprints(path.join(folder(), 'fingerprints'), () => Promise.resolve(checker()));
    alsoIn = (...args) => real.alsoIn(...args);
  });

  /** Runs the command on a file. @param answers what is chosen or typed, in order; undefined is Esc */
  const run = async (
    content: string,
    answers: readonly (readonly string[] | string | undefined)[],
    preset?: string,
    heldOut?: string,
    copier: Pick<DatasetChecker, 'prepareCopy' | 'mendableIn'> = checker(),
  ) => {
    const dir = path.join(folder(), `ui-${++made}`);
    await mkdir(dir);
    const file = path.join(dir, 'train.jsonl');
    await writeFile(file, content);
    if (heldOut !== undefined) await writeFile(path.join(dir, 'train.holdout.jsonl'), heldOut);
    standIn.forget();
    const left = [...answers];
    standIn.shown.pick = (input) => {
      const answer = left.shift();
      if (answer === undefined) return undefined;
      if (typeof answer === 'string') return answer;
      if (answer[0] !== 'as it is')
        input.selectedItems = input.items.filter(({ label }) => answer.includes(label));
      return '';
    };
    const reports = new Reports(checker());
    const result = await prepareDatasetCopy(
      { reports, checker: copier, readings, fingerprints, log },
      standIn.Uri.file(file),
      undefined,
      preset,
    );
    reports.dispose();
    return { dir, result, files: (await readdir(dir)).sort() };
  };
  const rows = (all: readonly (object | string)[]) =>
    all.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join('');
  /** The rows of the dialog; those that are chosen at first have a mark. */
  const dialog = () => {
    const [input] = standIn.shown.inputs;
    if (input === undefined) return ['no dialog'];
    const chosen = new Set(input.selectedItems);
    return [
      `${input.title} · ${input.placeholder}`,
      ...input.items.map((item) =>
        item.description === undefined
          ? `— ${item.label}`
          : `${chosen.has(item) ? '●' : '○'} ${item.label} · ${item.description}`,
      ),
    ];
  };

  it('asks to save the file first, and copies nothing otherwise', async () => {
    const uri = standIn.Uri.file(path.join(folder(), `ui-${made + 1}`, 'train.jsonl'));
    const tab = { input: new standIn.TabInputText(uri), isDirty: true };
    Object.assign(standIn.window.tabGroups, { all: [{ tabs: [tab] }] });
    try {
      const { result, files } = await run(rows([chat('a'), '']), [], 'clean');
      assert.deepEqual([result, files], [{ outcome: 'cancelled' }, ['train.jsonl']]);
      assert.deepEqual(standIn.shown.sentences, ['train.jsonl has unsaved changes.']);
    } finally {
      Object.assign(standIn.window.tabGroups, { all: [] });
    }
  });

  it('offers only what applies, with counts, and says what was done', async () => {
    const faulty = rows([
      ...[
        chat('a'),
        chat('a'),
        chat('b'),
        chat(`my key is ${KEY}`),
        chat('mail me@corp.org and you@corp.org'),
      ],
      ...['{"messages":[}', ''],
    ]);
    const said = (prompt: string, answer: string, system = true) => ({
      messages: [
        ...(system ? [{ role: 'system', content: 'Be $(zap) brief.\n'.repeat(9) }] : []),
        { role: 'user', content: prompt },
        { role: 'assistant', content: answer },
      ],
    });
    const usual = Array.from({ length: 30 }, (_, at) => said(`q${at}`, `a${at}`));
    const texts = rows([
      ...usual,
      ...[said('b', 'b', false), said('c', 'c', false), said('d', 'nan'), said('e', ' #N/A')],
      ...[said('f', 'I cannot help.'), said('g', '[INST] g'), said('h', '<|im_start|>'), said('i', '[INST]')],
    ]);
    const one = rows([
      ...usual,
      ...[said('b', 'b', false), said('d', 'nan'), said('f', 'I cannot help.'), said('g', 'x</s>')],
    ]);
    const mixed = rows([
      ...[chat('a'), chat('b'), { instruction: 'c', output: 'd', id: 1, source: 'x', y: 1, z: 2 }],
      ...[{ prompt: 'p', completion: `q ${KEY}` }],
    ]);
    const others = rows([
      { text: 'one' },
      { text: 'two' },
      { prompt: 'p', chosen: 'c', rejected: 'r' },
      { instruction: 'i', output: 'o' },
    ]);
    const untrainable = [
      { other: 1 },
      { messages: [{ role: 'Writer', content: 'a' }] },
      { prompt: 'a', completion: ' ' },
      { messages: [{ role: 'user', content: 'a' }] },
      { messages: [{ role: 'assistant', content: 'a', weight: 0 }] },
    ];
    const many = rows(Array.from({ length: 2_000 }, (_, at) => chat(`question ${at}`)));
    const fewer = many.split('\n').slice(0, 300).join('\n');
    const cases: Record<string, readonly string[]> = {};
    for (const [name, content, answers] of [
      ['faulty', faulty, [['as it is']]],
      [
        'rows to repair',
        rows([chat('a'), '{"text":"b",}', "{'text':'c'},", '// d', '{"text":"e",']),
        [['as it is']],
      ],
      ['rows to repair, not chosen', rows(['{"text":"b"}', "{'text':'c'}"]), [['Rows with errors']]],
      ['only rows to repair', rows(["{'text':'b'}", "{'text':'c'}"]), [['as it is']]],
      ['texts to mend', texts, [['as it is']]],
      [
        'texts to mend, chosen',
        texts,
        [['Rows with empty-cell placeholders', '1 answer that begins like a refusal']],
      ],
      ['one row of each', one, [['Add the usual system message to 1 row']]],
      ['mixed formats, chat most common', mixed, [['as it is']]],
      [
        'mostly chat, but not all other rows can be converted',
        mixed + rows([{ instruction: '[INST] x', output: 'y' }]),
        [['as it is']],
      ],
      ['mostly other formats', others, [['Convert to chat messages']]],
      [
        'rows unusable for training',
        rows([...[1, 2, 3, 4, 5, 6].map((at) => chat(`q${at}`)), ...untrainable]),
        [['as it is']],
      ],
      ['mostly rows unusable for training', rows([chat('a'), chat('b'), ...untrainable]), [['as it is']]],
      ['only rows unusable for training', rows(untrainable.slice(2)), [['as it is']]],
      ['one row', rows([chat('a')]), [['as it is']]],
      ['a hold-out', many, [['Hold out rows for evaluation…'], '10%']],
      ['a trial of few rows', fewer, [['Only some rows, for a trial run…'], '10%']],
      [
        'a hold-out and a trial',
        many,
        [['Hold out rows for evaluation…', 'Only some rows, for a trial run…'], '250', '5%'],
      ],
      ['all rows have one prompt', rows([chat('a'), chat('a')]), [['Hold out rows for evaluation…'], '1']],
      ['nothing chosen, but blank rows', rows([chat('a'), '', chat('b')]), [[]]],
      ['personal data', faulty, [['Mask email addresses and card numbers']]],
      ['no row left', rows(['{"a":}', '{"b":}']), [['Rows with errors']]],
    ] as const) {
      const { result } = await run(content, answers);
      cases[name] = [
        ...dialog(),
        `${result.outcome}: ${standIn.shown.sentences.join(' | ')} [${standIn.shown.buttons.flat().join('] [')}]`,
        ...standIn.executed.map(([command, uri]) => `${String(command)} ${path.basename(String(uri))}`),
      ];
    }
    golden('prepare-copy', cases);
  });

  it('says on which side of a split rows come, also if they name no prompt', async () => {
    const [user, assistant] = ['user', 'assistant'].map((role) => (content: string) => ({ role, content }));
    const pair = (at: number) => ({ chosen: `Hi ${at}`, rejected: `Ho ${at}` });
    const list = (at: number) => ({
      chosen: [user!(`q${at}`), assistant!('x')],
      rejected: [user!(`q${at}`), assistant!('y')],
    });
    const unnamed = 'These rows have no prompt, so rows that start alike can end up on both sides.';
    const named = 'Rows with the same prompt stay together, ignoring white space, A–Z case and JSON escapes.';
    for (const [content, expected] of [
      [[pair(1), pair(2), pair(3)], unnamed],
      [[pair(1), pair(2), list(3)], unnamed],
      [[pair(1), list(2), list(3)], named],
      [[list(1), list(2)], named],
      [
        [
          { ...pair(1), prompt: 'p' },
          { ...pair(2), prompt: 'q' },
        ],
        named,
      ],
      [[{ text: 'a' }, { text: 'b' }], named],
      [[chat('a'), chat('b')], named],
    ] as const) {
      await run(rows(content), [['Hold out rows for evaluation…'], undefined]);
      const said = `Rows for evaluation: a percentage or a number. ${expected}`;
      assert.equal(standIn.shown.inputs[1]?.prompt, said, JSON.stringify(content));
    }
  });

  it('masks what only a conversion makes readable, unless the user chose not to mask', async () => {
    const hidden = `{"instruction":"\\u0073k-${KEY.slice(3)}","output":"ok"}\n`;
    const convert = 'Convert to chat messages';
    const copied = async (content: string, chosen: readonly string[]) => {
      const { dir } = await run(content, [chosen]);
      const [sentence] = standIn.shown.sentences;
      return [
        sentence,
        (await readFile(path.join(dir, 'train.prepared.jsonl'), 'utf8')).includes(KEY),
      ] as const;
    };
    assert.deepEqual(await copied(hidden, [convert]), [
      'Created train.prepared.jsonl: 1 of 1 row. 1 secret masked; 1 row converted.',
      false,
    ]);
    const both = hidden + rows([chat(KEY)]);
    assert.deepEqual(await copied(both, [convert]), [
      'Created train.prepared.jsonl: 2 of 2 rows. 1 row converted.',
      true,
    ]);
    assert.equal((await copied(both, [convert, 'Mask secrets']))[1], false);
    // Nothing is to be done, so nothing is masked.
    assert.deepEqual((await run(hidden, [[]])).files, ['train.jsonl']);
  });

  describe('with a hold-out beside', () => {
    const three = rows([chat('a'), chat('b'), chat('c')]);
    const oneHeldOut = rows([chat(' A ')]);
    const LEAVE = 'Rows that are in the hold-out';

    it('offers first to leave its rows out, and says how many were', async () => {
      const { dir } = await run(three, [['as it is']], undefined, oneHeldOut);
      assert.deepEqual(dialog().slice(1, 3), [
        '— Leave Out',
        `● ${LEAVE} · 1 row also in train.holdout.jsonl`,
      ]);
      assert.deepEqual(standIn.shown.sentences, [
        'Created train.prepared.jsonl: 2 of 3 rows. Left out: 1 in the hold-out.',
      ]);
      assert.equal(
        await readFile(path.join(dir, 'train.prepared.jsonl'), 'utf8'),
        rows([chat('b'), chat('c')]),
      );
    });

    it('leaves nothing out if the user chose that, or a new hold-out', async () => {
      const kept = await run(three, [[]], undefined, oneHeldOut);
      assert.deepEqual(kept.files, ['train.holdout.jsonl', 'train.jsonl']);
      const split = [LEAVE, 'Hold out rows for evaluation…'];
      await run(three, [split, '1'], undefined, oneHeldOut);
      assert.deepEqual(standIn.shown.sentences, [
        'Created train.prepared-2.jsonl: 2 of 3 rows, and train.holdout-2.jsonl (1 row for evaluation).',
      ]);
      const trial = await run(
        three,
        [[LEAVE, 'Only some rows, for a trial run…'], '1'],
        undefined,
        oneHeldOut,
      );
      assert.deepEqual(standIn.shown.sentences, [
        'Created train.trial.jsonl: 1 of 3 rows. Left out: 1 in the hold-out, 1 not in the trial.',
      ]);
      assert.deepEqual(trial.files, ['train.holdout.jsonl', 'train.jsonl', 'train.trial.jsonl']);
    });

    it('has no such row if nothing is held out, or it can’t be counted; then says why only in the log', async () => {
      for (const [result, inLog] of [
        [() => Promise.resolve(0), []],
        [() => Promise.reject(new CheckError('changing')), ['hold-out']],
        [() => Promise.reject(new TypeError('x')), ['hold-out']],
      ] as const) {
        [alsoIn, logged] = [result, []];
        const { result: end } = await run(
          three,
          [['Hold out rows for evaluation…'], '1'],
          undefined,
          oneHeldOut,
        );
        assert.deepEqual([end.outcome, logged], ['done', inLog]);
        assert.doesNotMatch(dialog().join(), /in the hold-out/);
      }
      alsoIn = () => Promise.reject(new CancelledError());
      await assert.rejects(run(three, [['as it is']], undefined, oneHeldOut), CancelledError);
    });

    it('doesn’t count without a dialog, nor for the hold-out itself', async () => {
      alsoIn = () => assert.fail('counted');
      const { files } = await run(rows([chat('a'), '']), [], 'clean', oneHeldOut);
      assert.deepEqual(files, ['train.holdout.jsonl', 'train.jsonl', 'train.prepared.jsonl']);
      const { dir } = await run(three, [undefined], undefined, undefined);
      const holdOut = path.join(dir, 'train.holdout.jsonl');
      await writeFile(holdOut, three);
      const reports = new Reports(checker());
      const parts = { reports, checker: checker(), readings, fingerprints, log };
      standIn.shown.pick = () => undefined;
      assert.equal((await prepareDatasetCopy(parts, standIn.Uri.file(holdOut))).outcome, 'cancelled');
      assert.deepEqual(logged, []);
      reports.dispose();
    });

    it('writes nothing if the hold-out is gone once the user has chosen', async () => {
      alsoIn = async (holdOut) => (await rm(holdOut as string), 1);
      const { files } = await run(three, [['as it is']], undefined, oneHeldOut);
      assert.deepEqual(files, ['train.jsonl']);
      assert.deepEqual(standIn.shown.sentences, [
        'Nothing was written: train.jsonl or train.holdout.jsonl changed in the meantime.',
      ]);
    });
  });

  it('has a sentence for each reason why nothing was written', () => {
    const failures: PrepareFailure[] = [
      'empty',
      'too-large',
      'too-many-rows',
      'too-few-rows',
      'one-prompt',
      'large-prompts',
    ];
    const disk = (code: string) => new DiskError({ name: 'Error', message: '', code });
    golden('prepare-copy-failures', {
      ...Object.fromEntries(
        failures.map((code) => [code, notWritten(new PrepareError(code), 'train.jsonl', 'data')]),
      ),
      changed: notWritten(new CheckError('changing'), 'train.jsonl', 'data'),
      'changed, or its hold-out': notWritten(
        ...([new CheckError('changing'), 'train.jsonl', 'data', 'train.holdout.jsonl'] as const),
      ),
      ...Object.fromEntries(
        ['ENOSPC', 'EACCES', 'ENAMETOOLONG', 'EIO'].map((code) => [
          code,
          notWritten(disk(code), 'train.jsonl', 'data'),
        ]),
      ),
    });
    assert.equal(notWritten(new TypeError('x'), 'train.jsonl', 'data'), undefined);
  });

  it('writes nothing after Esc, and lets the user go back from an amount', async () => {
    const content = rows([chat('a'), chat('b')]);
    for (const answers of [[undefined], [['Hold out rows for evaluation…'], undefined]]) {
      const { result, files } = await run(content, answers);
      assert.deepEqual([result, files], [{ outcome: 'cancelled' }, ['train.jsonl']]);
    }
  });

  it('ends when canceled in its progress, and says nothing', async () => {
    const slow = Object.create(checker()) as DatasetChecker;
    slow.prepareCopy = async (_source, _choices, { signal }) => {
      await until(() => standIn.shown.titles.includes('Preparing a copy of train.jsonl'));
      standIn.cancelled.fire();
      await until(() => signal?.aborted === true);
      throw new CancelledError();
    };
    const work = run(rows([chat('a'), chat('a')]), [''], undefined, undefined, slow);
    await assert.rejects(work, CancelledError);
    assert.deepEqual([standIn.shown.sentences, logged], [[], []]);
  });

  it('writes nothing if the file changed while the user chose', async () => {
    const dir = path.join(folder(), `ui-${++made}`);
    await mkdir(dir);
    const file = path.join(dir, 'train.jsonl');
    await writeFile(file, rows([chat('a'), chat('a')]));
    standIn.forget();
    standIn.shown.pick = () => {
      writeFileSync(file, rows([chat(KEY), chat('b'), chat('c')]));
      return '';
    };
    const reports = new Reports(checker());
    const result = await prepareDatasetCopy(
      { reports, checker: checker(), readings, fingerprints, log },
      standIn.Uri.file(file),
    );
    reports.dispose();
    assert.deepEqual(
      [result.outcome, standIn.shown.sentences, await readdir(dir)],
      ['failed', ['Nothing was written: train.jsonl changed in the meantime.'], ['train.jsonl']],
    );
  });

  it('copies without a byte order mark and without a dialog by a preset', async () => {
    const { dir, files } = await run(`\uFEFF${rows([chat('a'), chat('a')])}`, [], 'clean');
    assert.deepEqual([standIn.shown.inputs.length, files], [0, ['train.jsonl', 'train.prepared.jsonl']]);
    assert.equal(
      await readFile(path.join(dir, 'train.prepared.jsonl'), 'utf8'),
      rows([chat('a'), chat('a')]),
    );
    const same = await run(rows([chat('a')]), [], 'clean');
    assert.deepEqual([same.files, standIn.shown.sentences], [['train.jsonl'], ['Nothing to change.']]);
  });

  it('offers to convert what has no rows', async () => {
    const { result, files } = await run('[{"a":1},\n{"a":2}]', []);
    assert.deepEqual([result.outcome, files], ['failed', ['train.jsonl']]);
    assert.deepEqual(standIn.shown.sentences, [
      'train.jsonl is a JSON array, not JSONL. Convert it to JSONL.',
    ]);
    assert.deepEqual(standIn.shown.buttons, [['Convert to JSONL']]);
  });
});

describe('an amount of rows', () => {
  it('is a percentage or a number that leaves a row', () => {
    for (const [text, rows, expected] of [
      ['10%', 100, { share: 0.1 }],
      [' 2,5 % ', 100, { share: 0.025 }],
      ['0.1%', 100, { share: 0.001 }],
      ['99%', 100, { share: 0.99 }],
      ['99', 100, { rows: 99 }],
      ['1', 2, { rows: 1 }],
    ] as const)
      assert.deepEqual(parsedAmount(text, rows), expected, text);
    for (const text of ['', '0', '0%', '100%', '100', '-1', '1.5', '1e3', '10 rows', '0x10', 'NaN', '٣'])
      assert.equal(parsedAmount(text, 100), undefined, text);
  });
});
