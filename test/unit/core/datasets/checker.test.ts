import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { ReportBuilder } from '../../../../src/core/datasets/buildReport.ts';
import { DatasetChecker } from '../../../../src/core/datasets/checker.ts';
import { FORMATS, verdictOf, type Report } from '../../../../src/core/datasets/report.ts';
import { PROBLEM_FIELDS, PROBLEMS } from '../../../../src/core/datasets/problems.ts';
import type { Counts } from '../../../../src/core/datasets/scanner.ts';
import { PLACE_CODE_COUNT } from '../../../../src/core/datasets/scanner/codes.ts';
import type { Segment } from '../../../../src/core/datasets/segments.ts';
import { SHARED } from '../../../../src/core/datasets/workerMessages.ts';
import { chatRows, type ChatRow } from '../../../helpers/chatRows.ts';
import { checkerFiles, codesOf, problemsOf, useChecker } from '../../../helpers/checker.ts';

const CANCELLED = { code: 'cancelled' };
const DIED = { code: 'worker-died' };

describe('a check of a dataset', () => {
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

  it('reports a clean file, and progress that never goes back', async () => {
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

  it('stops a submission for errors and secrets, not for warnings', async () => {
    for (const [row, verdict] of [
      ['{"text":"a"} x', 'errors'],
      [`{"text":"service_${'a1'.repeat(12)}"}`, 'errors'],
      ['{"text":"-----BEGIN PRIVATE KEY-----"}', 'errors'],
      ['{"text":"me@home.test"}', 'warnings'],
      ['{"text":""}', 'warnings'],
      ['{"text":"a"}\r', 'warnings'],
      ['{"text":"a"}', 'clean'],
    ] as const)
      assert.equal(verdictOf(await check(`${row}\n`)), verdict, row);
  });

  for (const eol of ['\n', '\r\n'])
    it(`finds each fault that was put into a file, and no other error, lines end with ${JSON.stringify(eol)}`, async () => {
      const pieces: Buffer[] = [];
      const faults: (NonNullable<ChatRow['fault']> & { row: number; offset: number })[] = [];
      let offset = 0;
      for (const { bytes, fault } of chatRows(eol.length, 0.08)) {
        if (offset > 3_000_000) break;
        pieces.push(bytes, Buffer.from(eol));
        if (fault !== undefined) faults.push({ ...fault, row: pieces.length / 2, offset });
        offset += bytes.length + eol.length;
      }
      // CRLF without an end of the last line.
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

  it('ends when it is cancelled, and never opens the file if it was before', async () => {
    const stop = new AbortController();
    const options = { signal: stop.signal, onProgress: () => stop.abort() };
    await assert.rejects(checker().check(bigFile, options), CANCELLED);
    const none = checker().check(path.join(folder(), 'none.jsonl'), { signal: AbortSignal.abort() });
    await assert.rejects(none, CANCELLED);
  });

  it('waits for the one before, and both are right', async () => {
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

  it('ends as cancelled when all is over, what runs and what waits', async () => {
    const own = new DatasetChecker(await checkerFiles());
    const { promise: begun, resolve: begin } = Promise.withResolvers<undefined>();
    const running = own.check(bigFile, { onProgress: () => begin(undefined) });
    const ends = [assert.rejects(running, CANCELLED), assert.rejects(own.check(bigFile), CANCELLED)];
    await begun;
    await own.dispose();
    await Promise.all(ends);
    await assert.rejects(own.check(bigFile), CANCELLED);
  });

  describe('whose worker', () => {
    let files = 0;

    /** Uses a checker with another worker; in its script `worker` is the path of the intact one, `post` its postMessage. */
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
    /** Runs code at each answer of the intact worker, before it is sent. */
    const atAnswers =
      (code: string) =>
      (worker: string): string => `
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
      it(`${what} is rejected, and works again with an intact one`, () =>
        withWorker(script, async (own, file) => {
          await assert.rejects(own.check(smallFile), DIED);
          await writeFile(file, intact((await checkerFiles()).worker));
          assert.equal((await own.check(smallFile)).rows, 2);
        }));

    it('ends in the middle of a big file rejects, and stops the other worker', () =>
      withWorker(atAnswers('answers === 3 ? process.exit(1) : post(answer, transfer);'), (own) =>
        assert.rejects(own.check(bigFile), DIED),
      ));

    it('is cancelled stops, whatever it does: the next check does not wait for its end', () => {
      const log = path.join(folder(), 'answers');
      // After its first answer it waits for the stop flag.
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

    it('fails for no reason of the file is rejected with its cause, and not as if the file could not be read', () =>
      withWorker(
        (worker) => `
          import { Scanner } from ${JSON.stringify(path.join(path.dirname(worker), 'scanner.ts'))};
          Scanner.prototype.scan = () => { throw new RangeError('broken scanner'); };
          ${intact(worker)}`,
        (own) =>
          assert.rejects(own.check(smallFile), (error: Error & { code?: string }) => {
            assert.equal(error.code, 'worker-died');
            assert.match(String(error.cause), /broken scanner/);
            return true;
          }),
      ));

    it('was idle for a while is not stopped in the middle of a check, whatever failed before', () =>
      withWorker(
        atAnswers("if (answer.kind === 'done') Atomics.wait(pause, 0, 0, 150); post(answer, transfer);"),
        async (own) => {
          await own.check(smallFile);
          await assert.rejects(own.check(folder()), { code: 'unreadable' });
          assert.equal((await own.check(smallFile)).rows, 2);
        },
        100,
      ));

    it('finds no scanner is rejected, and works once there is one', async () => {
      const { worker, scanner } = await checkerFiles();
      const late = path.join(folder(), 'late.wasm');
      const own = new DatasetChecker({ worker, scanner: late });
      try {
        await assert.rejects(own.check(smallFile), DIED);
        await writeFile(late, await readFile(scanner));
        assert.equal((await own.check(smallFile)).rows, 2);
      } finally {
        await own.dispose();
        await rm(late, { force: true });
      }
    });

    it('is idle is stopped, and started again when it is needed', async () => {
      // Each worker holds a connection as long as it lives.
      const events = new EventEmitter();
      let alive = 0;
      let started = 0;
      const server = createServer((socket) => {
        started++;
        alive++;
        socket.on('close', () => {
          alive--;
          events.emit('end');
        });
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const connected = (worker: string) => `
        import { connect } from 'node:net';
        import { once } from 'node:events';
        await once(connect(${port}, '127.0.0.1').unref(), 'connect');
        ${intact(worker)}`;
      await withWorker(
        connected,
        async (own) => {
          await own.check(smallFile);
          assert.equal(started, 1);
          while (alive > 0) await once(events, 'end');
          await own.check(smallFile);
          assert.equal(started, 2);
        },
        1,
      );
      server.close();
    });
  });

  it('keeps the event loop free while the report is made of very many problems', () => {
    const LIMIT = 5000;
    /** Places of all codes, as many as can be located. */
    const places = Array.from({ length: PLACE_CODE_COUNT }, (_, code) => ({
      code,
      fields: Float64Array.from({ length: LIMIT * PROBLEM_FIELDS }, (_, at) =>
        Math.floor(at / PROBLEM_FIELDS),
      ),
      details: [],
    }));
    const segment = (number: number): Segment => ({
      ...{ number, rows: 10_000, blankRows: 0, lineBreaks: 0, characters: 0, places },
      hashed: [],
    });
    const counts: Counts = {
      totals: new Uint32Array(PLACE_CODE_COUNT).fill(2 * LIMIT),
      formats: new Uint32Array(FORMATS.length).fill(1),
      roles: new Uint32Array(5),
      lengthBins: new Uint32Array(768).fill(1),
      ...{ maxTurns: 1, maxLength: 1 },
    };
    const times = [Infinity, Infinity, Infinity];
    const timed = <T>(which: number, work: () => T): T => {
      const startMs = performance.now();
      const result = work();
      times[which] = Math.min(times[which]!, performance.now() - startMs);
      return result;
    };
    const isFast = () => Math.max(...times) < 20;
    let report: Report | undefined;
    // What else runs on the machine can slow it down for a while.
    for (let round = 0; round < 100 && !isFast(); round++) {
      const builder = new ReportBuilder(LIMIT);
      // The second comes first: both are numbered through with the first.
      for (const [which, each] of [segment(1), segment(0)].entries())
        timed(which, () => builder.addSegment(each));
      builder.addCounts(counts);
      const file = { path: '', sizeBytes: 1, mtimeMs: 1, ctimeMs: 0 };
      report = timed(2, () => builder.build(file, 'rows'));
    }
    assert.ok(isFast(), times.join(' '));
    // All but the duplicates, which were none.
    assert.equal(report?.problems.length, PROBLEMS.length - 1);
    const different = report.problems.find(({ code }) => code === 'different-format')!;
    assert.deepEqual([different.located, different.total], [LIMIT, 2 * LIMIT * (FORMATS.length - 2)]);
    const rows = [...different].map(({ row }) => row);
    assert.deepEqual(
      rows,
      rows.toSorted((one, other) => one - other),
    );
  });
});
