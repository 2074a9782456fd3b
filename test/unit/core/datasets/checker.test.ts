import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { ReportBuilder } from '../../../../src/core/datasets/buildReport.ts';
import { DatasetChecker } from '../../../../src/core/datasets/checker.ts';
import { CheckError, FORMATS, verdictOf, type Report } from '../../../../src/core/datasets/report.ts';
import { PROBLEM_FIELDS, PROBLEMS } from '../../../../src/core/datasets/problems.ts';
import type { Counts } from '../../../../src/core/datasets/scanner.ts';
import { PLACE_CODE_COUNT, ROW_OF_FORMAT } from '../../../../src/core/datasets/scanner/codes.ts';
import type { Segment } from '../../../../src/core/datasets/segments.ts';
import { SHARED } from '../../../../src/core/datasets/workerMessages.ts';
import { checkerFiles, codesOf, problemsOf, rowsWithErrors, useChecker } from '../../../helpers/checker.ts';

const generator = path.join(import.meta.dirname, '../../../bench/gen-jsonl.mjs');
const isCancelled = (error: unknown) => error instanceof CancelledError;
const isDeath = (error: unknown) => error instanceof CheckError && error.code === 'worker-died';

describe('a check of a dataset', () => {
  const { check, checker, folder } = useChecker();
  const CLEAN = '{"question":"1+1?","answer":"2"}\n{"question":"1+2?","answer":"3"}\n';
  let bigFile: string;

  before(async () => {
    bigFile = path.join(folder(), 'big.jsonl');
    await writeFile(bigFile, Buffer.alloc(32_000_000, '{"text":"It is of no matter what stands here."}\n'));
  });

  it('finds nothing in a clean one', async () => {
    const report = await check(CLEAN);
    assert.deepEqual(report.problems, []);
    assert.equal(report.rows, 2);
    assert.equal(report.format, 'question-answer');
    assert.equal(verdictOf(report), 'clean');
  });

  it('says of which bytes its report is', async () => {
    const report = await check(CLEAN);
    assert.equal(report.sha256, createHash('sha256').update(CLEAN).digest('hex'));
    assert.equal(report.sizeBytes, CLEAN.length);
    const big = await checker().check(bigFile);
    assert.equal(
      big.sha256,
      createHash('sha256')
        .update(await readFile(bigFile))
        .digest('hex'),
    );
  });

  it('stops a submission for errors and secrets, not for warnings', async () => {
    const verdicts: [row: string, verdict: string][] = [
      ['{"text":"a"} x', 'errors'],
      [`{"text":"service_${'a1'.repeat(12)}"}`, 'errors'],
      ['{"text":"-----BEGIN PRIVATE KEY-----"}', 'errors'],
      ['{"text":"me@home.test"}', 'warnings'],
      ['{"text":""}', 'warnings'],
      ['{"text":"a"}\r', 'warnings'],
      ['{"text":"a"}', 'clean'],
    ];
    for (const [row, verdict] of verdicts) assert.equal(verdictOf(await check(`${row}\n`)), verdict, row);
  });

  for (const seed of [1, 2, 3, 4]) {
    it(`finds each fault that was put into a file, and no other error (seed ${seed})`, async function () {
      this.timeout(60_000);
      const [file, manifest] = [path.join(folder(), 'faulty.jsonl'), path.join(folder(), 'faulty.ndjson')];
      const crlf = seed === 4 ? ['--crlf', '--no-final-newline'] : [];
      const args = [
        '--out',
        file,
        '--manifest',
        manifest,
        '--bytes',
        '3000000',
        '--bad',
        '0.08',
        '--seed',
        String(seed),
        ...crlf,
      ];
      const { stdout } = await promisify(execFile)(process.execPath, [generator, ...args]);
      const made = JSON.parse(stdout) as { rows: number; bad: number };
      const faults = (await readFile(manifest, 'utf8'))
        .trim()
        .split('\n')
        .map(
          (line) => JSON.parse(line) as { line: number; kind: string; expect: string; byteOffset: number },
        );
      const report = await checker().check(file);
      assert.equal(report.rows, made.rows);
      assert.ok(faults.length > 100 && faults.length === made.bad);
      const wrong = rowsWithErrors(report);
      const shapes = new Set(
        problemsOf(report).flatMap((problem) => (problem.class === 'shape' ? [problem.row] : [])),
      );
      for (const { line, kind, expect } of faults) {
        const codes = codesOf(report, line);
        const hint = `row ${line}, ${kind}: ${codes.join(' ')}`;
        if (expect === 'json' || expect === 'utf8') assert.ok(wrong.delete(line), hint);
        else if (expect === 'shape') {
          assert.ok(shapes.has(line), hint);
          wrong.delete(line);
        } else if (expect === 'blank') assert.ok(codes.includes('blank-line'), hint);
        else assert.ok(codes.includes(kind === 'dup_key' ? 'duplicate-key' : 'lone-surrogate'), hint);
        for (const { row, offset } of problemsOf(report).filter(({ code }) => code === 'blank-line'))
          assert.equal(offset, faults.find((fault) => fault.line === row)?.byteOffset);
      }
      assert.deepEqual([...wrong], []);
    });
  }

  it('reports its progress, never backwards', async () => {
    const told: number[] = [];
    await checker().check(bigFile, { onProgress: (fraction) => told.push(fraction) });
    assert.ok(told.length > 0);
    assert.deepEqual(
      told,
      [...told].sort((one, other) => one - other),
    );
    assert.ok(told.every((fraction) => fraction > 0 && fraction <= 1));
  });

  describe('that is cancelled', () => {
    it('ends at once, in the same turn of the event loop', async () => {
      const stop = new AbortController();
      const events: string[] = [];
      const { promise: begun, resolve: begin } = Promise.withResolvers<undefined>();
      const checked = checker()
        .check(bigFile, { signal: stop.signal, onProgress: () => begin(undefined) })
        .catch((error: unknown) => events.push(isCancelled(error) ? 'cancelled' : 'failed'));
      await begun;
      stop.abort();
      void turn().then(() => events.push('next turn'));
      await checked;
      await turn();
      assert.deepEqual(events, ['cancelled', 'next turn']);
    });

    it('stops the worker, whatever it does: the next check does not wait for its end', async () => {
      const log = path.join(folder(), 'answers');
      const script = path.join(folder(), 'waiting-worker.mjs');
      const files = await checkerFiles();
      // After its first answer, when it has hashed a part, the worker waits for the stop flag.
      await writeFile(
        script,
        `import { appendFileSync } from 'node:fs';
         import { parentPort } from 'node:worker_threads';
         const pause = new Int32Array(new SharedArrayBuffer(4));
         const post = parentPort.postMessage.bind(parentPort);
         let shared;
         let answers = 0;
         parentPort.on('message', (request) => (shared = request.shared));
         parentPort.postMessage = (answer, transfer) => {
           appendFileSync(${JSON.stringify(log)}, answer.kind + ' ');
           post(answer, transfer);
           if (++answers > 1) return;
           for (let ms = 0; ms < 5000 && Atomics.load(shared, ${SHARED.stopped}) === 0; ms++) Atomics.wait(pause, 0, 0, 1);
         };
         await import(${JSON.stringify(files.worker)});`,
      );
      const own = new DatasetChecker({ ...files, worker: script });
      try {
        const stop = new AbortController();
        const options = { workers: 1, signal: stop.signal, onProgress: () => stop.abort() };
        await assert.rejects(own.check(bigFile, options), isCancelled);
        const small = path.join(folder(), 'small.jsonl');
        await writeFile(small, CLEAN);
        assert.equal((await own.check(small)).rows, 2);
        assert.equal(await readFile(log, 'utf8'), 'hashed done hashed segment done done ');
      } finally {
        await own.dispose();
      }
    });

    it('before it begins never opens the file', async () => {
      const checked = checker().check(path.join(folder(), 'none.jsonl'), { signal: AbortSignal.abort() });
      await assert.rejects(checked, isCancelled);
    });
  });

  it('waits for the one before, and both are right', async () => {
    const ends: string[] = [];
    const [big, small] = await Promise.all([
      checker()
        .check(bigFile)
        .finally(() => ends.push('big')),
      check(CLEAN).finally(() => ends.push('small')),
    ]);
    assert.deepEqual(ends, ['big', 'small']);
    assert.equal(big.format, 'text');
    assert.equal(small.format, 'question-answer');
  });

  describe('whose worker', () => {
    const DIES =
      "import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => process.exit(3));";
    const THROWS =
      "import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => { throw new Error('broken'); });";

    /** A checker whose worker is another script. */
    async function withWorker(script: string): Promise<{ own: DatasetChecker; file: string }> {
      const file = path.join(folder(), `worker-${createHash('sha1').update(script).digest('hex')}.mjs`);
      await writeFile(file, script);
      return { own: new DatasetChecker({ ...(await checkerFiles()), worker: file }), file };
    }

    for (const [what, script] of Object.entries({
      ends: DIES,
      throws: THROWS,
      'does not start': 'this is no program',
    })) {
      it(`${what} is rejected, and works again with an intact one`, async () => {
        const { own, file } = await withWorker(script);
        try {
          const dataset = path.join(folder(), 'small.jsonl');
          await writeFile(dataset, CLEAN);
          await assert.rejects(own.check(dataset), isDeath);
          const { worker } = await checkerFiles();
          await writeFile(file, `import ${JSON.stringify(worker)};`);
          assert.equal((await own.check(dataset)).rows, 2);
        } finally {
          await own.dispose();
        }
      });
    }

    it('ends in the middle of a big file rejects, and stops the other worker', async () => {
      const { worker } = await checkerFiles();
      // Of two workers the first dies at its third answer.
      const { own } = await withWorker(
        `import { parentPort, threadId } from 'node:worker_threads';
         let answers = 0;
         const post = parentPort.postMessage.bind(parentPort);
         parentPort.postMessage = (...all) => (++answers === 3 ? process.exit(1) : post(...all));
         await import(${JSON.stringify(worker)});`,
      );
      try {
        await assert.rejects(own.check(bigFile), isDeath);
      } finally {
        await own.dispose();
      }
    });

    it('fails for no reason of the file is rejected with its cause, and not as if the file could not be read', async () => {
      const { worker } = await checkerFiles();
      const { own } = await withWorker(
        `import { Scanner } from ${JSON.stringify(path.join(path.dirname(worker), 'scanner.ts'))};
         Scanner.prototype.scan = () => { throw new RangeError('broken scanner'); };
         await import(${JSON.stringify(worker)});`,
      );
      try {
        const dataset = path.join(folder(), 'small.jsonl');
        await writeFile(dataset, CLEAN);
        await assert.rejects(own.check(dataset), (error: unknown) => {
          assert.ok(isDeath(error) && error instanceof CheckError);
          assert.match(String(error.cause), /broken scanner/);
          return true;
        });
      } finally {
        await own.dispose();
      }
    });

    it('was idle for a while is not stopped in the middle of a check, whatever failed before', async () => {
      const { worker } = await checkerFiles();
      const { file } = await withWorker(
        `import { parentPort } from 'node:worker_threads';
         const pause = new Int32Array(new SharedArrayBuffer(4));
         const post = parentPort.postMessage.bind(parentPort);
         parentPort.postMessage = (answer, transfer) => {
           if (answer.kind === 'done') Atomics.wait(pause, 0, 0, 150);
           post(answer, transfer);
         };
         await import(${JSON.stringify(worker)});`,
      );
      const own = new DatasetChecker({ ...(await checkerFiles()), worker: file }, 100);
      try {
        const dataset = path.join(folder(), 'small.jsonl');
        await writeFile(dataset, CLEAN);
        await own.check(dataset);
        await assert.rejects(own.check(folder()), { code: 'unreadable' });
        assert.equal((await own.check(dataset)).rows, 2);
      } finally {
        await own.dispose();
      }
    });

    it('finds no scanner is rejected, and works once there is one', async () => {
      const files = await checkerFiles();
      const scanner = path.join(folder(), 'late.wasm');
      const own = new DatasetChecker({ ...files, scanner });
      try {
        const dataset = path.join(folder(), 'small.jsonl');
        await writeFile(dataset, CLEAN);
        await assert.rejects(own.check(dataset), isDeath);
        await writeFile(scanner, await readFile(files.scanner));
        assert.equal((await own.check(dataset)).rows, 2);
      } finally {
        await own.dispose();
        await rm(scanner, { force: true });
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
      const { worker } = await checkerFiles();
      const { file } = await withWorker(
        `import { connect } from 'node:net';
         import { once } from 'node:events';
         await once(connect(${(server.address() as AddressInfo).port}, '127.0.0.1').unref(), 'connect');
         await import(${JSON.stringify(worker)});`,
      );
      const own = new DatasetChecker({ ...(await checkerFiles()), worker: file }, 1);
      try {
        await own.check(bigFile);
        const firstStarted = started;
        assert.ok(firstStarted > 0);
        while (alive > 0) await once(events, 'end');
        assert.ok((await own.check(bigFile)).rows > 0);
        assert.equal(started, 2 * firstStarted);
      } finally {
        await own.dispose();
        server.close();
      }
    });
  });

  describe('when all is over', () => {
    it('ends as cancelled, what runs and what waits', async () => {
      const own = new DatasetChecker(await checkerFiles());
      const { promise: begun, resolve: begin } = Promise.withResolvers<undefined>();
      const running = own.check(bigFile, { onProgress: () => begin(undefined) });
      const waiting = own.check(bigFile);
      const ends = Promise.all([assert.rejects(running, isCancelled), assert.rejects(waiting, isCancelled)]);
      await begun;
      await own.dispose();
      await ends;
      await assert.rejects(own.check(bigFile), isCancelled);
    });
  });

  it('keeps the event loop free while the report is made of very many problems', () => {
    const LIMIT = 5000;
    /** Places of all codes, as many as can be located. */
    const segment = (number: number): Segment => ({
      ...{ number, rows: 10_000, blankRows: 0, lineBreaks: 0, characters: 0 },
      places: Array.from({ length: PLACE_CODE_COUNT }, (_, code) => ({
        code,
        fields: new Float64Array(LIMIT * PROBLEM_FIELDS).map((_, index) =>
          Math.floor(index / PROBLEM_FIELDS),
        ),
        details: [],
      })),
      firstOffset: number,
      hashed: { hashes: new Uint32Array(), starts: new Uint32Array(), rows: undefined },
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
    let report: Report | undefined;
    const isFast = () => Math.max(...times) < 20;
    // What else runs on the machine can slow it down for a while.
    for (let round = 0; round < 7 || (round < 200 && !isFast()); round++) {
      const builder = new ReportBuilder(LIMIT);
      // The second comes first: both are numbered through with the first.
      const segments = [segment(1), segment(0)];
      for (const [which, each] of segments.entries()) timed(which, () => builder.addSegment(each));
      builder.addCounts(counts);
      const duplicates = { total: 0, places: new Float64Array(), details: [], lastRow: undefined };
      const file = { path: '', sizeBytes: 1, mtimeMs: 1, ctimeMs: 0 };
      report = timed(2, () => builder.build(file, '', 'rows', duplicates));
    }
    assert.ok(isFast(), times.join(' '));
    // All but the duplicates, which were none.
    assert.equal(report?.problems.length, PROBLEMS.length - 1);
    const different = report.problems.find(({ code }) => code === 'different-format');
    assert.deepEqual([different?.located, different?.total], [LIMIT, 2 * LIMIT * (FORMATS.length - 2)]);
    assert.ok(ROW_OF_FORMAT < PLACE_CODE_COUNT);
    const rows = [...different!].map(({ row }) => row);
    assert.deepEqual(
      rows,
      [...rows].sort((one, other) => one - other),
    );
  });
});
