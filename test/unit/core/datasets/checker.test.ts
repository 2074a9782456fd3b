import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatasetChecker } from '../../../../src/core/datasets/checker.ts';
import { verdictOf } from '../../../../src/core/datasets/report.ts';
import { SHARED } from '../../../../src/core/datasets/segments.ts';
import { chatRows, type ChatRow } from '../../../helpers/chatRows.ts';
import { checkerFiles, codesOf, problemsOf, useChecker } from '../../../helpers/checker.ts';

const CANCELLED = { code: 'cancelled' };
const DIED = { code: 'worker-died' };

describe('DatasetChecker', () => {
  const { check, checker, folder } = useChecker();
  const CLEAN = '{"question":"1+1?","answer":"2"}\n{"question":"1+2?","answer":"3"}\n';
  const big = Buffer.alloc(16_000_000, '{"text":"It is of no matter what is in here."}\n');
  let bigFile: string;
  let smallFile: string;

  before(async () => {
    bigFile = path.join(folder(), 'big.jsonl');
    smallFile = path.join(folder(), 'small.jsonl');
    await Promise.all([writeFile(bigFile, big), writeFile(smallFile, CLEAN)]);
  });

  it('reports a clean file, and progress that never decreases', async () => {
    const report = await check(CLEAN);
    assert.deepEqual([report.problems, report.rows, report.format], [[], 2, 'question-answer']);
    assert.deepEqual([verdictOf(report), report.sizeBytes], ['clean', CLEAN.length]);
    const fractions: number[] = [];
    await checker().check(bigFile, { onProgress: (fraction) => fractions.push(fraction) });
    assert.ok(fractions.length > 0 && fractions.every((fraction) => fraction > 0 && fraction <= 1));
    assert.deepEqual(
      fractions,
      fractions.toSorted((one, other) => one - other),
    );
  });

  it('reports the verdict "errors" for errors and secrets, "warnings" for other problems', async () => {
    for (const [row, verdict] of [
      ['{"text":"a"} x', 'errors'],
      [`{"text":"service_${'a1'.repeat(12)}"}`, 'errors'],
      [`{"text":"-----BEGIN PRIVATE KEY-----\\n${'a1'.repeat(16)}"}`, 'errors'],
      ['{"text":"-----BEGIN PRIVATE KEY-----"}', 'clean'],
      ['{"text":"AKIAIOSFODNN7EXAMPLE"}', 'clean'],
      ['{"text":"me@home.test"}', 'warnings'],
      ['{"text":""}\n{"text":"a"}', 'warnings'],
      // No row can be trained on.
      ['{"text":""}', 'errors'],
      ['\n{"a":1}\n{"prompt":"a"}', 'errors'],
      ['{"a":1}\n{"text":"a"}', 'warnings'],
      ['{"text":"a"}\r', 'warnings'],
      ['{"text":"a"}', 'clean'],
    ] as const)
      assert.equal(verdictOf(await check(`${row}\n`)), verdict, row);
  });

  for (const eol of ['\n', '\r\n'])
    it(`finds each injected fault and no other error, with ${JSON.stringify(eol)} as line end`, async () => {
      const pieces: Buffer[] = [];
      const faults: (NonNullable<ChatRow['fault']> & { row: number; offset: number })[] = [];
      let offset = 0;
      for (const { bytes, fault } of chatRows(eol.length, 0.08)) {
        if (offset > 3_000_000) break;
        pieces.push(bytes, Buffer.from(eol));
        if (fault !== undefined) faults.push({ ...fault, row: pieces.length / 2, offset });
        offset += bytes.length + eol.length;
      }
      // With CRLF, the last line has no line end.
      if (eol.length > 1) pieces.pop();
      const report = await check(Buffer.concat(pieces));
      assert.equal(report.rows, Math.ceil(pieces.length / 2));
      assert.ok(faults.length > 100);
      const problems = problemsOf(report);
      const wrong = new Set(problems.flatMap(({ severity, row }) => (severity === 'error' ? [row] : [])));
      const shapes = new Set(problems.flatMap((problem) => (problem.class === 'shape' ? [problem.row] : [])));
      for (const { row, kind, expected, offset } of faults) {
        const codes = codesOf(report, row);
        const isError = wrong.delete(row);
        const isFound = {
          json: isError,
          utf8: isError,
          shape: shapes.has(row),
          blank: problems.some((problem) => problem.code === 'blank-line' && problem.offset === offset),
          warning: codes.includes(kind),
        }[expected];
        assert.ok(isFound, `row ${row}, ${kind}: ${codes.join(' ')}`);
      }
      assert.deepEqual([...wrong], []);
    });

  it('stops when canceled, and does not open the file if it was canceled before', async () => {
    const stop = new AbortController();
    const options = { signal: stop.signal, onProgress: () => stop.abort() };
    await assert.rejects(checker().check(bigFile, options), CANCELLED);
    const none = checker().check(path.join(folder(), 'none.jsonl'), { signal: AbortSignal.abort() });
    await assert.rejects(none, CANCELLED);
  });

  it('checks one file at a time', async () => {
    const ends: string[] = [];
    const [first, second] = await Promise.all([
      checker()
        .check(bigFile)
        .finally(() => ends.push('big')),
      check(CLEAN).finally(() => ends.push('small')),
    ]);
    assert.deepEqual(ends, ['big', 'small']);
    assert.deepEqual([first.format, second.format], ['text', 'question-answer']);
  });

  it('cancels running and waiting checks when disposed, and every later one', async () => {
    const own = new DatasetChecker(await checkerFiles());
    const { promise: begun, resolve: begin } = Promise.withResolvers<undefined>();
    const running = own.check(bigFile, { onProgress: () => begin(undefined) });
    const ends = [assert.rejects(running, CANCELLED), assert.rejects(own.check(bigFile), CANCELLED)];
    await begun;
    await own.dispose();
    await Promise.all(ends);
    await assert.rejects(own.check(bigFile), CANCELLED);
  });

  describe('when its worker', () => {
    let files = 0;

    /** Runs a test with a checker whose worker script is generated from the path of the intact worker. */
    async function withWorker(
      script: (worker: string) => string,
      use: (own: DatasetChecker, file: string) => Promise<void>,
      idleMs?: number,
    ): Promise<void> {
      const { worker, scanner } = await checkerFiles();
      const file = path.join(folder(), `worker-${++files}.mjs`);
      await writeFile(file, script(worker));
      const own = new DatasetChecker({ worker: file, scanner }, idleMs);
      try {
        await use(own, file);
      } finally {
        await own.dispose();
      }
    }
    const intact = (worker: string): string => `await import(${JSON.stringify(worker)});`;
    /** The intact worker, except that `code` runs instead of each postMessage; the original one is `post`. */
    const atAnswers =
      (code: string) =>
      (worker: string): string =>
        `
      import { appendFileSync } from 'node:fs';
      import { parentPort } from 'node:worker_threads';
      const pause = new Int32Array(new SharedArrayBuffer(4));
      const post = parentPort.postMessage.bind(parentPort);
      let shared;
      let answers = 0;
      parentPort.on('message', (request) => (shared = request.shared));
      parentPort.postMessage = (answer, transfer) => { answers++; ${code} };
      ${intact(worker)}`;
    const onMessage = (code: string) => (): string =>
      `import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => { ${code} });`;

    for (const [what, script] of Object.entries({
      ends: onMessage('process.exit(3)'),
      throws: onMessage("throw new Error('broken')"),
      'does not start': (): string => 'this is no program',
    }))
      it(`${what}: rejects the check, and starts a new worker for the next one`, () =>
        withWorker(script, async (own, file) => {
          await assert.rejects(own.check(smallFile), DIED);
          await writeFile(file, intact((await checkerFiles()).worker));
          assert.equal((await own.check(smallFile)).rows, 2);
        }));

    it('ends in the middle of a large file: stops the other worker and rejects the check', () =>
      withWorker(atAnswers('answers === 3 ? process.exit(1) : post(answer, transfer);'), (own) =>
        assert.rejects(own.check(bigFile), DIED),
      ));

    it('is canceled: stops after the current segment, so the next check need not wait', () => {
      const log = path.join(folder(), 'answers');
      // After its first answer, the worker waits for the stop flag.
      const wait = `
        appendFileSync(${JSON.stringify(log)}, answer.kind + ' ');
        post(answer, transfer);
        if (answers > 1) return;
        for (let ms = 0; ms < 5000 && Atomics.load(shared, ${SHARED.stopped}) === 0; ms++) Atomics.wait(pause, 0, 0, 1);`;
      return withWorker(atAnswers(wait), async (own) => {
        const stop = new AbortController();
        const options = { workers: 1, signal: stop.signal, onProgress: () => stop.abort() };
        await writeFile(path.join(folder(), 'long.jsonl'), Buffer.concat([big, big]));
        await assert.rejects(own.check(path.join(folder(), 'long.jsonl'), options), CANCELLED);
        assert.equal((await own.check(smallFile)).rows, 2);
        assert.equal(await readFile(log, 'utf8'), 'segment done segment done done ');
      });
    });
  });
});
