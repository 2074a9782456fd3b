import assert from 'node:assert/strict';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { extractAdapter } from '../../../../src/core/adapters/archive.ts';
import { verifyArchive } from '../../../../src/core/adapters/archive.ts';
import { inspectionReport } from '../../../../src/core/adapters/inspect.ts';
import { measurePass } from '../../../../src/core/adapters/measurePass.ts';
import { BrokenArchiveError } from '../../../../src/core/adapters/problems.ts';
import { recipesOf } from '../../../../src/core/adapters/recipes.ts';
import { ExpectedError } from '../../../../src/core/base/errors.ts';
import { sampleAdapter } from '../../../helpers/adapters/sampleAdapter.ts';
import { Place, tarGzOf, tarOf, zipOf } from '../../../helpers/adapters/support.ts';
import { Random } from '../../../helpers/random.ts';

const ROUNDS = 30;

describe('an archive with random changes', () => {
  const place = new Place();
  const files = sampleAdapter();
  const seeds: Record<string, Buffer> = {
    'stored ZIP': zipOf(files),
    'deflated ZIP with descriptors': zipOf(files, { isDeflated: true, descriptor: 'signed' }),
    'wide ZIP': zipOf(files, { isWide: true }),
    tar: tarOf(files),
    'packed tar': tarGzOf(files),
    safetensors: files['adapter_model.safetensors']!,
  };

  for (const [name, seed] of Object.entries(seeds))
    it(`never crashes or hangs the reader, or escapes its folder: ${name}`, async function () {
      const random = new Random(name.length);
      const room = path.join(place.folder, name.replaceAll(' ', '-'));
      await mkdir(room);
      for (let round = 0; round < ROUNDS; round++) {
        const file = await place.file(changed(seed, random));
        const report = await inspectionReport(file);
        assert.ok(report.verdict.code);
        recipesOf(report, { folder: '/x', platform: 'linux' });
        const expected = (error: unknown) => assert.ok(error instanceof ExpectedError, String(error));
        await measurePass(file, () => undefined).catch(expected);
        await verifyArchive(file).catch((error: unknown) => assert.ok(error instanceof BrokenArchiveError));
        const out = path.join(room, 'out');
        await extractAdapter(file, out).catch(expected);
        assert.ok((await readdir(room)).every((entry) => entry === 'out'));
        await rm(out, { recursive: true, force: true });
        await rm(file);
      }
      const rooms = Object.keys(seeds).map((one) => one.replaceAll(' ', '-'));
      assert.ok((await readdir(place.folder)).every((entry) => rooms.includes(entry)));
    });

  it('fails verification if one protected bit differs', async function () {
    // The data of a gzip file, the contents of a ZIP, and the headers of a tar are protected.
    for (const [seed, from, to] of [
      [seeds['packed tar']!, 10, Infinity],
      [seeds['stored ZIP']!, 60, files['adapter_config.json']!.length],
      [seeds['tar']!, 0, 500],
    ] as const)
      for (let at = from; at < Math.min(seed.length, to); at += 7) {
        const bytes = Buffer.from(seed);
        bytes[at] = bytes[at]! ^ (1 << (at % 8));
        const file = await place.file(bytes);
        const kind = await verifyArchive(file).catch((error: unknown) =>
          error instanceof BrokenArchiveError ? 'broken' : assert.fail(String(error)),
        );
        assert.ok(kind === 'broken' || kind === 'unknown', `${at} ${kind}`);
        await rm(file);
      }
  });
});

function changed(seed: Buffer, random: Random): Buffer {
  let bytes = Buffer.from(seed);
  if (random.chance(0.3)) bytes = bytes.subarray(0, random.below(bytes.length));
  for (let count = random.below(6); count > 0 && bytes.length > 0; count--) {
    // Prefer headers, at the start and the end, to values.
    const at = random.chance(0.5)
      ? random.below(Math.min(600, bytes.length))
      : bytes.length - 1 - random.below(Math.min(400, bytes.length));
    bytes[at] = random.chance(0.5)
      ? bytes[at]! ^ (1 << random.below(8))
      : random.of([0, 0xff, 0x2f, 0x2e, random.below(256)]);
  }
  if (random.chance(0.1)) bytes = Buffer.concat([bytes, bytes.subarray(random.below(bytes.length + 1))]);
  return bytes;
}
