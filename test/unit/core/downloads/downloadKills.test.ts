import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { BlobServer } from '../../../helpers/blobServer.ts';
import { Random } from '../../../helpers/random.ts';
import type { DownloadTask } from '../../../helpers/downloadChild.ts';
import { sha256Of } from '../../../helpers/runs/downloadBench.ts';

const KILLS = 200;
const LANES = 4;
const SIZE_BYTES = 16_000_000;
const BYTES_PER_SECOND = 100_000_000;
/** How long a process lives at most, of most from their first request for bytes on, of the others from when they begin. */
const LONGEST_LIFE_MS = 200;
const KILLED_LATE = 0.8;
/** What may be fetched again after a kill, less what the process can have in its memory besides: two batches, and undici's buffer. */
const LOST_BYTES = 8_000_000 - 2 * 1_048_576 - 2 * 65_536;

describe('Downloads whose process is killed', function () {
  this.timeout(240_000);
  let folder: string;
  let child: string;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'download-kills-'));
    await build({
      entryPoints: [path.join(import.meta.dirname, '../../../helpers/downloadChild.ts')],
      outfile: path.join(folder, 'child.cjs'),
      bundle: true,
      platform: 'node',
      format: 'cjs',
      logLevel: 'silent',
    });
    child = path.join(folder, 'child.cjs');
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it(`${KILLS} times: no corrupt file, little is fetched again, nothing is left`, async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const lanes = Array.from({ length: LANES }, (_, index) => lane(index, new Random(seed + index)));
    const ends = await Promise.allSettled(lanes);
    const counts = ends.map((end) => {
      if (end.status === 'rejected') throw new Error(`with the seed ${seed}`, { cause: end.reason });
      return end.value;
    });
    const [kills, home, resumed] = [0, 1, 2].map((which) =>
      counts.reduce((sum, count) => sum + (count[which] ?? 0), 0),
    );
    assert.equal(kills, KILLS);
    // Or it would have shown nothing.
    assert.ok((home ?? 0) > 5 && (resumed ?? 0) > 50, `${home} home, ${resumed} resumed`);
  });

  /** How many were killed, came home and went on by range. */
  async function lane(index: number, random: Random): Promise<[number, number, number]> {
    const server = await BlobServer.start(randomBytes(SIZE_BYTES));
    try {
      return await laneOf(server, index, random);
    } finally {
      await server.close();
    }
  }

  async function laneOf(
    server: BlobServer,
    index: number,
    random: Random,
  ): Promise<[number, number, number]> {
    server.bytesPerSecond = BYTES_PER_SECOND;
    const out = path.join(folder, `out-${index}`);
    const target = path.join(out, 'adapter.zip');
    const runsFolder = path.join(folder, `runs-${index}`);
    await mkdir(out);
    let [home, resumed] = [0, 0];
    /** What the process before had written of the same bytes. */
    let writtenBytes = 0;
    const check = async () => {
      const bytes = await readFile(target).catch(() => undefined);
      if (bytes === undefined) return;
      assert.ok(bytes.equals(server.bytes), 'a corrupt file under the final name');
      await rm(target);
      home += 1;
    };
    for (let kills = 0; kills < KILLS / LANES; kills++) {
      server.requests.length = 0;
      server.onRequest = () => undefined;
      const { early, late } = killers(server, random.below(LONGEST_LIFE_MS));
      const kill = random.chance(KILLED_LATE) ? late : early;
      const end = await live({ url: server.url, runsFolder, target }, kill);
      const [request] = server.requests;
      if (request !== undefined) {
        const lostBytes = writtenBytes - request.startByte;
        assert.ok(lostBytes <= LOST_BYTES, `${lostBytes} fetched again`);
        if (request.status === 206) resumed += 1;
      }
      writtenBytes = await partBytes(out);
      if (end !== '') assert.equal((JSON.parse(end) as { sha256?: string }).sha256, sha256Of(server.bytes));
      await check();
    }
    server.onRequest = () => undefined;
    const end = await live({ url: server.url, runsFolder, target }, () => undefined);
    assert.equal((JSON.parse(end) as { sha256?: string }).sha256, sha256Of(server.bytes));
    await check();
    assert.deepEqual(await readdir(out), []);
    assert.deepEqual(await readdir(path.join(runsFolder, 'account-1', 'downloads')), []);
    return [KILLS / LANES, home, resumed];
  }

  async function partBytes(out: string): Promise<number> {
    const name = (await readdir(out)).find((one) => one.endsWith('.part'));
    return name === undefined ? 0 : (await stat(path.join(out, name))).size;
  }

  /** What kills a process so long after it began, or after it first asked for bytes (or if it need not). */
  function killers(server: BlobServer, lifeMs: number) {
    const later = (running: ChildProcess) => setTimeout(() => running.kill('SIGKILL'), lifeMs);
    const late = (running: ChildProcess) => {
      server.onRequest = () => later(running);
    };
    return { early: later, late };
  }

  /** Lets a process live until it ends, and returns what it said. @param began told when it begins to work */
  async function live(task: DownloadTask, began: (running: ChildProcess) => unknown): Promise<string> {
    const running = spawn(process.execPath, [child, JSON.stringify(task)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    running.stdout.once('data', () => began(running));
    running.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await once(running, 'close');
    return said.trim();
  }
});
