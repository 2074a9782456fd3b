import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { sha256Of } from '../../../helpers/api/support.ts';
import { BlobServer } from '../../../helpers/blobServer.ts';
import type { DownloadTask } from '../../../helpers/downloadChild.ts';
import { Random } from '../../../helpers/random.ts';
import { isFull } from '../../../helpers/weekly.ts';

const KILLS = isFull ? 24 : 8;
const LANES = 4;
const SIZE_BYTES = 12_000_000;
/** Longest life of a process after its last bytes, or, if killed early, after its first output. */
const LONGEST_LIFE_MS = 40;
const KILLED_EARLY = 0.15;
/** Bytes that may be fetched again after a kill: less than twice the distance of two marks, and a batch. */
const LOST_BYTES = 4_000_000;

describe('Downloads whose process is killed', function () {
  let folder: string;
  let child: string;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'download-kills-'));
    child = path.join(folder, 'child.cjs');
    await build({
      entryPoints: [path.join(import.meta.dirname, '../../../helpers/downloadChild.ts')],
      outfile: child,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      logLevel: 'silent',
    });
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it(`${KILLS} times leave no corrupt file and no other files, and fetch little again`, async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const lanes = Array.from({ length: LANES }, (_, index) => runLane(index, new Random(seed + index)));
    const ends = await Promise.allSettled(lanes);
    const counts = ends.map((end) => {
      if (end.status === 'rejected') throw new Error(`with the seed ${seed}: ${String(end.reason)}`);
      return end.value;
    });
    const sum = (which: 'completed' | 'resumed') => counts.reduce((total, count) => total + count[which], 0);
    // Otherwise the test proves nothing.
    assert.ok(sum('completed') >= LANES && sum('resumed') > KILLS / 4, JSON.stringify(counts));
  });

  async function runLane(index: number, random: Random): Promise<{ completed: number; resumed: number }> {
    const server = await BlobServer.start(randomBytes(SIZE_BYTES));
    const [out, runsFolder] = [path.join(folder, `out-${index}`), path.join(folder, `runs-${index}`)];
    const target = path.join(out, 'adapter.zip');
    const counts = { completed: 0, resumed: 0 };
    let isAgain = false;
    await mkdir(out);

    /** Runs a process until it ends or is killed. */
    const live = async (killedAfter?: { bytes?: number; ms: number }): Promise<void> => {
      const writtenBytes = await partBytes(out);
      const task: DownloadTask = { url: server.url, runsFolder, target };
      const running = spawn(process.execPath, [child, JSON.stringify(task)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const kill = () => setTimeout(() => running.kill('SIGKILL'), killedAfter?.ms);
      [server.requests.length, server.faults.length] = [0, 0];
      if (killedAfter?.bytes !== undefined) {
        const beforeEnd = () => Promise.resolve(kill());
        server.faults.push({ stallAfterBytes: killedAfter.bytes, beforeEnd });
      } else if (killedAfter !== undefined) running.stdout.once('data', kill);
      let said = '';
      running.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
      await once(running, 'close');
      const [request] = server.requests;
      // After a complete download, whose part a kill may have left, everything is fetched again.
      if (request !== undefined && !isAgain) {
        const lostBytes = writtenBytes - request.startByte;
        assert.ok(lostBytes <= LOST_BYTES, `${lostBytes} fetched again`);
        if (request.status === 206) counts.resumed += 1;
      }
      if (said.trim() !== '')
        assert.equal((JSON.parse(said) as { sha256?: string }).sha256, sha256Of(server.bytes));
      const bytes = await readFile(target).catch(() => undefined);
      if (bytes !== undefined || request !== undefined) isAgain = bytes !== undefined;
      if (bytes === undefined) return;
      assert.ok(bytes.equals(server.bytes), 'a corrupt file under the final name');
      await rm(target);
      counts.completed += 1;
    };

    try {
      // The bytes that a kill leaves depend on the machine. With too few resumes, the test would prove nothing.
      for (let kills = 0; kills < KILLS / LANES || counts.resumed < 2; kills++) {
        const ms = random.below(LONGEST_LIFE_MS);
        const isEarly = random.chance(KILLED_EARLY);
        await live({ ms, ...(!isEarly && { bytes: 1 + random.below(SIZE_BYTES) }) });
      }
      await live();
      assert.deepEqual(await readdir(out), []);
      return counts;
    } finally {
      await server.close();
    }
  }

  async function partBytes(out: string): Promise<number> {
    const name = (await readdir(out)).find((one) => one.endsWith('.part'));
    return name === undefined ? 0 : (await stat(path.join(out, name))).size;
  }
});
