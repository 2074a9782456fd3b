// `npm run bench` compares parts of the extension with other programs and writes RESULTS.md; `npm run bench -- dataset` measures
// one part.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { DatasetChecker } from '../../src/core/datasets/checker.ts';
import { NO_CHANGES, type PrepareChoices } from '../../src/core/datasets/copyTypes.ts';
import { inspectDataset } from '../../src/core/datasets/fileKind.ts';
import { Fingerprints } from '../../src/core/datasets/fingerprints.ts';
import { checkerFiles } from '../helpers/checker.ts';
import { adapterFiles, chatFile, instructionFile, randomFile, shortFile, worstCases } from './files.ts';
import { bundled, inFolder, measure, say, type Job, type Row } from './measure.ts';
import { memory } from './memory.ts';
import { startup } from './startup.ts';

const PARTS = { startup, memory, adapter, dataset, prepare, compare, download, upload, append };
const MB = 1_000_000;
const PYTHON_ROWS = 'import json, sys\nfor row in open(sys.argv[1], "rb"): json.loads(row)';
const PYTHON_PREPARE = `import json, re, sys
seen = set()
with open(sys.argv[2], "wb") as out:
    for row in open(sys.argv[1], "rb"):
        try:
            json.loads(row)
        except ValueError:
            continue
        if row in seen:
            continue
        seen.add(row)
        out.write(re.sub(rb"sk-[A-Za-z0-9_-]{20,}", b"[API_KEY]", row))`;
const JQ_CHAT =
  '{messages: [{role: "user", content: (.instruction + (if .input == "" then "" else "\\n\\n" + .input end))}, {role: "assistant", content: .output}]}';
/** The speed of a server that is as slow as a network. */
const PACE_BYTES_PER_SECOND = 60 * MB;

const names = process.argv.slice(2);
for (const [name, part] of Object.entries(PARTS))
  if (names.length === 0 || names.includes(name)) await inFolder((folder) => part(folder));

async function adapter(folder: string): Promise<void> {
  const worker = path.join(import.meta.dirname, '../../src/core/adapters/worker.ts');
  const jobOf = await bundled(folder, { worker });
  say('writing adapters');
  const { small, large, packed } = await adapterFiles(folder);
  const job = (kind: 'inspect' | 'verify' | 'measure', file: string): Job =>
    jobOf({ kind, file, worker: path.join(folder, 'worker.mjs') });
  const beside = { peer: 'sha256sum' };
  await measure(
    'Adapters',
    `500 MB in brain floats, beside \`sha256sum\` of the same file, and packed as tar.gz beside \`gzip -t\`. Inspecting reads headers
only, of a packed archive everything; verifying reads everything once, with CRC-32; measuring reads each value, in a thread.`,
    {
      sha256sum: { command: 'sha256sum', args: [large] },
      'gzip -t': { command: 'gzip', args: ['-t', packed] },
      ...Object.fromEntries(
        (['inspect', 'verify', 'measure'] as const).flatMap((kind) => [
          [`${kind} ZIP`, job(kind, large)],
          [`${kind} 50 MB`, job(kind, small)],
        ]),
      ),
      'inspect tar.gz': job('inspect', packed),
      'measure tar.gz': job('measure', packed),
    },
    [
      { what: 'sha256sum' },
      { what: 'gzip -t' },
      { what: 'inspect ZIP', ...beside, less: 'inspect 50 MB' },
      { what: 'verify ZIP', ...beside, less: 'verify 50 MB' },
      { what: 'measure ZIP', ...beside, less: 'measure 50 MB' },
      { what: 'inspect tar.gz', peer: 'gzip -t' },
      { what: 'measure tar.gz', peer: 'gzip -t' },
    ],
  );
}

async function dataset(folder: string): Promise<void> {
  const { worker, scanner } = await checkerFiles();
  const factsWorker = path.join(import.meta.dirname, '../../src/core/datasets/factsWorker.ts');
  const jobOf = await bundled(folder, { worker, factsWorker });
  const job = (
    kind: 'floor' | 'check' | 'facts',
    file: string,
    more: { workers?: number; isAgain?: boolean } = {},
  ): Job => jobOf({ kind, file, worker: path.join(folder, 'worker.mjs'), scanner, ...more });
  say('writing datasets');
  const jobs: Record<string, Job> = {};
  const rows: Row[] = [];
  for (const [name, faulty] of Object.entries({ clean: 0, faulty: 0.01 })) {
    const [small, large] = [
      await chatFile(folder, 60 * MB, faulty),
      await chatFile(folder, 600 * MB, faulty),
    ] as const;
    const [floor, check, floor60, check60] = ['floor', 'check', 'floor, 60 MB', 'check, 60 MB'].map(
      (what) => `${what}, ${name}`,
    ) as [string, string, string, string];
    Object.assign(jobs, {
      [floor]: job('floor', large),
      [check]: job('check', large),
      [floor60]: job('floor', small),
      [check60]: job('check', small),
      [`${floor60}, again`]: job('floor', small, { isAgain: true }),
      [`${check60}, again`]: job('check', small, { isAgain: true }),
    });
    rows.push(
      { what: floor },
      {
        what: check,
        peer: floor,
        less: check60,
        limits: { ratio: 0.45, growthMb: 32, delayP99Ms: 5, delayMaxMs: 20 },
      },
      { what: check60, peer: floor60 },
      { what: `${check60}, again`, peer: `${floor60}, again`, limits: { ratio: 1 } },
    );
    if (name !== 'clean') continue;
    for (const workers of [1, 4]) jobs[`check, workers: ${workers}`] = job('check', large, { workers });
    const mb50 = await chatFile(folder, 50 * MB, 0);
    Object.assign(jobs, { facts: job('facts', large), 'facts, 50 MB': job('facts', mb50) });
    rows.push(
      {
        what: 'facts',
        peer: floor,
        less: 'facts, 50 MB',
        limits: { ratio: 3, growthMb: 64, delayP99Ms: 5 },
      },
      { what: 'facts, 50 MB', peer: floor60 },
    );
    jobs['jq'] = { command: 'jq', args: ['-c', '.', large] };
    jobs['python3'] = { command: 'python3', args: ['-c', PYTHON_ROWS, large] };
    for (const what of ['check, workers: 1', 'check, workers: 4', 'jq', 'python3'])
      rows.push({ what, peer: floor });
  }
  for (const [name, { file, hasTarget }] of Object.entries(await worstCases(folder, 60 * MB))) {
    jobs[name] = job('check', file);
    rows.push({ what: name, peer: 'floor, 60 MB, clean', ...(hasTarget && { limits: { ratio: 4 } }) });
  }
  await measure(
    'Check of a dataset',
    `Chat rows, 600 MB where nothing else is said; of the faulty ones, one in a hundred is broken. **The floor** is one thread that
splits at LF, decodes and calls \`JSON.parse\`, and checks nothing else. **Check** is everything that users get; **again** is the second
time in a process, of both. **Facts** is the second reading, in two threads. \`jq -c .\` and \`python3\` with \`json\` read the clean file. The worst cases are files of 60 MB, beside the floor
of that size.`,
    jobs,
    rows,
  );
}

async function prepare(folder: string): Promise<void> {
  const { worker, scanner } = await checkerFiles();
  const jobOf = await bundled(folder, { worker });
  const none: PrepareChoices = {
    ...{ ...NO_CHANGES, withoutErrors: true, withoutUntrainable: true, withoutDuplicates: true },
    mask: { secrets: true, personal: false },
  };
  const job = (file: string, choices: Partial<PrepareChoices>): Job =>
    jobOf({
      kind: 'prepare',
      file,
      worker: path.join(folder, 'worker.mjs'),
      scanner,
      choices: { ...none, ...choices },
    });
  say('writing datasets');
  const [small, large] = [await chatFile(folder, 60 * MB, 0.01), await chatFile(folder, 600 * MB, 0.01)];
  const [small2, large2] = [await instructionFile(folder, 60 * MB), await instructionFile(folder, 600 * MB)];
  const floor = (file: string): Job =>
    jobOf({ kind: 'floor', file, worker: path.join(folder, 'worker.mjs'), scanner });
  const out = path.join(folder, 'out.jsonl');
  const holdOut = { share: 0.1 };
  // Nothing to mask is offered for rows without secrets.
  const convert = { toChat: true, mask: { secrets: false, personal: false } };
  await measure(
    'Prepared copy of a dataset',
    `Chat rows of 600 MB, of which one in a hundred is broken, beside the floor of the check: rows with errors and duplicates are left
out, and secrets masked; then a tenth is held out as well. Instruction rows of 600 MB, converted to chat, as is offered for
rows without secrets, and masked as well, beside their floor.
\`python3\` leaves out the same rows and masks one kind of key; \`jq\` converts the same rows. Ours are durable at the end.`,
    {
      'floor, chat': floor(large),
      mend: job(large, {}),
      'mend, 60 MB': job(small, {}),
      'mend and split': job(large, { holdOut }),
      'mend and split, 60 MB': job(small, { holdOut }),
      'floor, instruction': floor(large2),
      convert: job(large2, convert),
      'convert, 60 MB': job(small2, convert),
      'convert and mask': job(large2, { toChat: true }),
      python3: { command: 'python3', args: ['-c', PYTHON_PREPARE, large, out] },
      jq: { command: 'sh', args: ['-c', 'jq -c "$1" "$2" > "$3"', 'jq', JQ_CHAT, large2, out] },
    },
    [
      { what: 'floor, chat' },
      {
        what: 'mend',
        peer: 'floor, chat',
        less: 'mend, 60 MB',
        limits: { ratio: 1, growthMb: 32, delayP99Ms: 5 },
      },
      {
        what: 'mend and split',
        peer: 'floor, chat',
        less: 'mend and split, 60 MB',
        limits: { ratio: 1.5, growthMb: 32, delayP99Ms: 5 },
      },
      { what: 'python3', peer: 'floor, chat' },
      { what: 'floor, instruction' },
      {
        what: 'convert',
        peer: 'floor, instruction',
        less: 'convert, 60 MB',
        limits: { ratio: 3.5, growthMb: 32, delayP99Ms: 5 },
      },
      { what: 'convert and mask', peer: 'floor, instruction' },
      { what: 'jq', peer: 'floor, instruction' },
    ],
  );
}

async function compare(folder: string): Promise<void> {
  const { worker, scanner } = await checkerFiles();
  const jobOf = await bundled(folder, { worker });
  say('writing datasets');
  const [small, large] = [await chatFile(folder, 60 * MB, 0), await chatFile(folder, 600 * MB, 0)];
  const holdOut = await shortFile(folder, 0, 100_000);
  const kept = path.join(folder, 'kept');
  const checker = new DatasetChecker({ worker, scanner });
  const fingerprints = new Fingerprints(kept, () => Promise.resolve(checker));
  for (const [id, first, rows] of [
    ['first', 0, 1_000_000],
    ['second', 100_000, 1_000_000],
    ['first, 100,000', 0, 100_000],
    ['second, 100,000', 10_000, 100_000],
  ] as const) {
    const dataset = await inspectDataset(await shortFile(folder, first, rows), Infinity);
    if (typeof dataset !== 'string') await fingerprints.keep({ id, dataset, submittedAtMs: 0 }, []);
  }
  await checker.dispose();
  const files = { worker: path.join(folder, 'worker.mjs'), scanner };
  const check = (file: string): Job => jobOf({ kind: 'check', file, workers: 1, ...files });
  const job = (kind: 'also in' | 'find' | 'keep' | 'between', file: string, other = ''): Job =>
    jobOf({ kind, file, other, kept, ...files });
  const peer = 'check, one thread';
  await measure(
    'Rows compared with other data',
    `Chat rows, 600 MB, beside their check with one thread: which are also among 100,000 held-out rows; and their fingerprints, made and
stored; and which of some hundred answers are in it. The difference of two stored submissions of 1,000,000 rows has a limit of one second.`,
    {
      [peer]: check(large),
      'also in the hold-out': job('also in', large, holdOut),
      'also in the hold-out, 60 MB': job('also in', small, holdOut),
      'answers in a dataset': job('find', large, holdOut),
      fingerprints: job('keep', large),
      'fingerprints, 60 MB': job('keep', small),
      difference: job('between', 'first', 'second'),
      'difference, 100,000 rows': job('between', 'first, 100,000', 'second, 100,000'),
    },
    [
      { what: peer },
      {
        ...{ what: 'also in the hold-out', peer, less: 'also in the hold-out, 60 MB' },
        limits: { ratio: 1.6, growthMb: 16, delayP99Ms: 5 },
      },
      { what: 'answers in a dataset', peer, limits: { ratio: 1.6, delayP99Ms: 5 } },
      { what: 'fingerprints', peer, less: 'fingerprints, 60 MB', limits: { ratio: 2, delayP99Ms: 5 } },
      {
        ...{ what: 'difference', peer: 1_000, less: 'difference, 100,000 rows' },
        limits: { ratio: 1, growthMb: 48, delayP99Ms: 5 },
      },
    ],
  );
}

async function download(folder: string): Promise<void> {
  await withServers(async (address) => {
    const jobOf = await bundled(folder);
    const baseUrl = await address();
    const job = (bytes: number): Job => jobOf({ kind: 'download', folder, baseUrl, bytes });
    const args = ['-sS', '-f', '-o', path.join(folder, 'curl.zip'), `${baseUrl}/blob/${600 * MB}`];
    await measure(
      'Download of an adapter',
      `600 MB on loopback, with its SHA-256, beside \`curl -o\` to the same disk. Ours is durable at the end; curl leaves that to the
system, so the peer is \`curl -o\` and then \`sync\` of its file.`,
      {
        curl: { command: 'curl', args },
        // It writes to the same file, so that what curl left to the system is dropped: it isn't written meanwhile.
        'curl, sync': { command: 'sh', args: ['-c', 'curl "$@" && sync "$4"', 'curl', ...args] },
        ours: job(600 * MB),
        'ours, 60 MB': job(60 * MB),
      },
      [
        { what: 'curl' },
        { what: 'curl, sync', peer: 'curl' },
        { what: 'ours', peer: 'curl, sync', less: 'ours, 60 MB', limits: { ratio: 1.2, growthMb: 8 } },
      ],
    );
  });
}

async function upload(folder: string): Promise<void> {
  await withServers(async (address) => {
    const jobOf = await bundled(folder);
    const [fast, paced] = [await address(), await address(PACE_BYTES_PER_SECOND)] as const;
    say('writing datasets');
    const [tiny, small, middle, large] = [
      await randomFile(folder, 1_000),
      await randomFile(folder, 60 * MB),
      await randomFile(folder, 120 * MB),
      await randomFile(folder, 600 * MB),
    ] as const;
    const job = (baseUrl: string, dataset: typeof tiny): Job => jobOf({ kind: 'upload', baseUrl, dataset });
    const fields = ['-F', 'model_id=m', '-F', `dataset=@${large.path}`];
    await measure(
      'Upload of a dataset',
      `600 MB on loopback beside \`curl -F\`, with the SHA-256 of the very bytes that are sent, for which the
closing boundary waits. What takes 60 MB/s has its tokens in a bucket of 1 MB that is empty at the first byte, so that a pause of
ours is lost for good; its peer is the time that 120 MB take at that pace.`,
      {
        curl: { command: 'curl', args: ['-sS', '-f', '-H', 'Expect:', ...fields, `${fast}/api/v1/runs`] },
        ours: job(fast, large),
        'ours, 60 MB': job(fast, small),
        '120 MB at 60 MB/s': job(paced, middle),
        '1 kB': job(fast, tiny),
      },
      [
        { what: 'curl' },
        {
          what: 'ours',
          peer: 'curl',
          less: 'ours, 60 MB',
          limits: { ratio: 3.5, growthMb: 8, delayP99Ms: 10 },
        },
        {
          what: '120 MB at 60 MB/s',
          peer: (120 * MB * 1000) / PACE_BYTES_PER_SECOND,
          limits: { ratio: 1.02, delayP99Ms: 10 },
        },
        { what: '1 kB' },
      ],
    );
  });
}

async function append(folder: string): Promise<void> {
  const jobOf = await bundled(folder);
  const times = 200;
  await measure(
    'Durable append',
    `${times} versions of a record of 2 kB, each durable before the next one, beside as many rewrites of one file by
\`writeFileDurably\`, which compare it with what was last written before, and right before it is replaced.`,
    { rewrite: jobOf({ kind: 'rewrite', folder, times }), append: jobOf({ kind: 'append', folder, times }) },
    [{ what: 'rewrite' }, { what: 'append', peer: 'rewrite', limits: { ratio: 1 } }],
  );
}

/** Starts servers in separate processes, so their work affects all figures equally. */
async function withServers(
  work: (start: (bytesPerSecond?: number) => Promise<string>) => Promise<void>,
): Promise<void> {
  const servers: ChildProcess[] = [];
  try {
    await work(async (bytesPerSecond = Infinity) => {
      const server = fork(path.join(import.meta.dirname, 'server.ts'), [String(bytesPerSecond)]);
      servers.push(server);
      const [port] = (await once(server, 'message')) as [number];
      return `http://127.0.0.1:${port}`;
    });
  } finally {
    for (const server of servers) server.kill();
  }
}
