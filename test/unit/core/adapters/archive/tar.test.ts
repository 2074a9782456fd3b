import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { inspectAdapter } from '../../../../../src/core/adapters/inspect.ts';
import type { ArchiveFault, VerdictCode } from '../../../../../src/core/adapters/faults.ts';
import { verifyArchive } from '../../../../../src/core/adapters/archive/verify.ts';
import { sampleAdapter } from '../../../../helpers/adapters/sampleAdapter.ts';
import { pax, writeTar, type TarPart } from '../../../../helpers/adapters/tarWriter.ts';
import { Place, readAll, tarGzOf, tarOf } from '../../../../helpers/adapters/support.ts';

const DATA = Buffer.from('some data '.repeat(150));
const ONE: TarPart = { name: 'a.txt', data: DATA };

describe('a tar archive', () => {
  const place = new Place();

  const long = `${'folder/'.repeat(20)}${'n'.repeat(120)}.txt`;
  const forms: Record<string, [TarPart[], string]> = {
    ustar: [[ONE], 'a.txt'],
    'of before ustar': [[{ ...ONE, isOld: true, type: '\0' }], 'a.txt'],
    'with a prefix': [[{ ...ONE, prefix: 'some/folder' }], 'some/folder/a.txt'],
    'with ./ before its names': [
      [
        { name: './adapter/', type: '5' },
        { ...ONE, name: './a.txt' },
      ],
      'a.txt',
    ],
    'with a long name of pax': [[pax({ path: long }), ONE], long],
    'with a size of pax': [[pax({ size: String(DATA.length) }), { ...ONE, declaredBytes: 0 }], 'a.txt'],
    'with a header for all': [[pax({ comment: 'x' }, 'g'), ONE], 'a.txt'],
    'with a long name of GNU': [
      [{ name: '././@LongLink', type: 'L', data: Buffer.from(`${long}\0`) }, ONE],
      long,
    ],
    'with a size in base 256': [[{ ...ONE, isBase256: true }], 'a.txt'],
    'with the sum of signed bytes': [[signedSum()], 'é.txt'],
  };
  for (const [name, [parts, expected]] of Object.entries(forms))
    it(`${name} is read, also packed`, async () => {
      const bytes = writeTar([...parts, { name: 'last', data: Buffer.from('!') }]);
      for (const [whole, kind] of [
        [bytes, 'tar'],
        [gzipSync(bytes), 'gzip'],
      ] as const) {
        const file = await place.file(whole);
        assert.deepEqual(
          [...(await readAll(file))],
          [
            [expected, DATA],
            ['last', Buffer.from('!')],
          ],
        );
        assert.equal(await verifyArchive(file), kind);
      }
    });

  it('of the tar of this system is read, in each of its formats', async function () {
    const folder = path.join(place.folder, 'tarred');
    await mkdir(path.join(folder, 'sub'), { recursive: true });
    await writeFile(path.join(folder, 'sub', `${'é'.repeat(70)}.txt`), DATA);
    await writeFile(path.join(folder, 'adapter.safetensors'), Buffer.alloc(100_000, 7));
    for (const format of ['v7', 'ustar', 'pax', 'gnu', 'oldgnu'])
      for (const packs of [[], ['-z']]) {
        const file = place.name();
        const { status } = spawnSync('tar', [
          '-c',
          ...packs,
          `--format=${format}`,
          '-f',
          file,
          '-C',
          folder,
          '.',
        ]);
        // Another tar than GNU's, or names that the format has no room for.
        if (status !== 0) continue;
        const files = await readAll(file);
        assert.deepEqual(files.get('adapter.safetensors'), Buffer.alloc(100_000, 7), format);
        assert.equal(files.size, 2);
        assert.equal(await verifyArchive(file), packs.length === 0 ? 'tar' : 'gzip');
      }
  });

  const attacks: [string, VerdictCode, ArchiveFault, TarPart[]][] = [
    ['a path that leads out', 'unsafe', 'path-outside', [{ ...ONE, name: '../x' }]],
    ['one in its prefix', 'unsafe', 'path-outside', [{ ...ONE, prefix: '../../../..' }]],
    ['one of pax', 'unsafe', 'path-outside', [pax({ path: 'a/../../x' }), ONE]],
    ['one of GNU', 'unsafe', 'path-outside', [{ name: 'l', type: 'L', data: Buffer.from('../x\0') }, ONE]],
    ['an absolute path', 'unsafe', 'path-absolute', [{ ...ONE, name: '/etc/x' }]],
    ['a symbolic link', 'unsafe', 'link', [{ name: 'a', type: '2', linkName: '/etc' }]],
    ['a hard link', 'unsafe', 'link', [ONE, { name: 'b', type: '1', linkName: 'a.txt' }]],
    ['a character device', 'unsafe', 'device', [{ name: 'a', type: '3' }]],
    ['a block device', 'unsafe', 'device', [{ name: 'a', type: '4' }]],
    ['a pipe', 'unsafe', 'device', [{ name: 'a', type: '6' }]],
    ['a name twice', 'unsafe', 'duplicate', [ONE, ONE]],
    ['names that differ in case', 'unsafe', 'case-collision', [ONE, { ...ONE, name: 'A.TXT' }]],
    ['a sparse file', 'unsupported', 'method', [{ ...ONE, type: 'S' }]],
    ['a sparse file of pax', 'unsupported', 'method', [pax({ 'GNU.sparse.major': '1' }), ONE]],
    ['something unknown', 'unsupported', 'method', [{ ...ONE, type: 'Z' }]],
    ['a file of petabytes', 'too-big', 'too-large', [{ ...ONE, declaredBytes: 2 ** 50, isBase256: true }]],
    ['a size beyond numbers', 'broken', 'tar-header', [{ ...ONE, declaredBytes: 2 ** 60, isBase256: true }]],
    [
      'a long extended header',
      'too-big',
      'header-too-large',
      [{ name: 'x', type: 'x', declaredBytes: 2 ** 30 }],
    ],
    [
      'records that are none',
      'broken',
      'tar-header',
      [{ name: 'x', type: 'x', data: Buffer.from('7 a\nb') }],
    ],
    ['a folder with content', 'broken', 'tar-header', [{ ...ONE, type: '5' }]],
    ['a wrong checksum', 'broken', 'tar-header', [ONE, { ...ONE, name: 'b', checksum: 1 }]],
  ];
  for (const [name, code, fault, parts] of attacks)
    it(`with ${name} is refused, also packed`, async () => {
      // A first entry that is in order: what it is, is told by it.
      const bytes = writeTar([{ name: 'first', data: DATA }, ...parts]);
      for (const whole of [bytes, gzipSync(bytes)]) await place.assertVerdict(whole, { code, fault });
    });

  it('with too many entries is refused', async () => {
    const bytes = writeTar(Array.from({ length: 10_001 }, (_, index) => ({ name: `${index}` })));
    await place.assertVerdict(bytes, { code: 'too-big', fault: 'too-many-entries' });
  });

  it('that is cut anywhere is broken', async () => {
    const bytes = tarOf(sampleAdapter());
    for (const length of [bytes.length - 512, bytes.length - 1024, 5000, 1024, 700, 513])
      await place.assertVerdict(bytes.subarray(0, length), { code: 'broken', fault: 'truncated' });
  });

  it('with something behind its end is broken, zeros are none', async () => {
    const bytes = tarOf(sampleAdapter());
    await verifyArchive(await place.file(Buffer.concat([bytes, Buffer.alloc(10_240)])));
    const more = Buffer.concat([bytes, Buffer.alloc(600), Buffer.from('x')]);
    await place.assertVerdict(more, { code: 'broken', fault: 'data-after-end' });
  });

  describe('that is packed', () => {
    it('and cut or changed is broken', async () => {
      const bytes = tarGzOf(sampleAdapter());
      const broken = { code: 'broken', fault: 'gzip-data' } as const;
      for (const length of [bytes.length - 1, bytes.length - 8, bytes.length >> 1, 30])
        await place.assertVerdict(bytes.subarray(0, length), broken);
      for (const at of [bytes.length - 1, bytes.length - 5]) {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ 1;
        await place.assertVerdict(changed, broken);
      }
    });

    it('in several members is read', async () => {
      const bytes = tarOf(sampleAdapter());
      const whole = Buffer.concat([gzipSync(bytes.subarray(0, 1000)), gzipSync(bytes.subarray(1000))]);
      assert.equal((await place.inspect(whole)).verdict.code, 'adapter');
      assert.equal(await verifyArchive(await place.file(whole)), 'gzip');
    });

    it('without being a tar is verified, but no adapter', async () => {
      const whole = gzipSync(DATA);
      assert.equal(await verifyArchive(await place.file(whole)), 'gzip');
      assert.equal((await place.inspect(whole)).verdict.code, 'not-an-archive');
      await assert.rejects(verifyArchive(await place.file(whole.subarray(0, -1))), { code: 'gzip-data' });
    });

    it('is read in little memory, and no bomb', async function () {
      this.timeout(30_000);
      const zeros = Buffer.alloc(300_000_000);
      const parts = Array.from({ length: 5 }, (_, index) => ({
        name: `${index}`,
        declaredBytes: zeros.length,
      }));
      const blocks = parts.map((part) => gzipSync(writeTar([part], Buffer.alloc(0)), { level: 1 }));
      const packed = gzipSync(Buffer.concat([zeros, Buffer.alloc((512 - (zeros.length % 512)) % 512)]));
      const bomb = Buffer.concat([
        ...blocks.flatMap((block) => [block, packed]),
        gzipSync(Buffer.alloc(1024)),
      ]);
      assert.ok(gunzipSync(blocks[0]!).length === 512);
      const file = await place.file(bomb);
      const before = process.memoryUsage.rss();
      assert.equal((await inspectAdapter(file)).verdict.fault, 'ratio');
      assert.ok(process.memoryUsage.rss() - before < 80_000_000);
      assert.ok((await readFile(file)).length < 3_000_000);
    });
  });
});

/** As old writers summed it up: bytes from 128 on count as negative. */
function signedSum(): TarPart {
  const part: TarPart = { name: 'é.txt', data: DATA };
  const block = writeTar([part]).subarray(0, 512);
  const told = parseInt(block.toString('latin1', 148, 154), 8);
  const high = Buffer.from('é').length;
  return { ...part, checksum: told - 256 * high };
}
