import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { verifyArchive } from '../../../../../src/core/adapters/archive.ts';
import { openArchive } from '../../../../../src/core/adapters/archive/openArchive.ts';
import { inspectionReport } from '../../../../../src/core/adapters/inspect.ts';
import { sampleAdapter } from '../../../../helpers/adapters/sampleAdapter.ts';
import { Place, readAll, tarGzOf, tarOf, zipOf, type Refusal } from '../../../../helpers/adapters/support.ts';
import { pax, writeTar, type TarPart } from '../../../../helpers/adapters/tarWriter.ts';
import { writeZip, type ZipOptions, type ZipPart } from '../../../../helpers/adapters/zipWriter.ts';
import { Random } from '../../../../helpers/random.ts';
import { unzip } from '../../../../helpers/unzip.ts';

const DATA = Buffer.from('some data '.repeat(150));
const ONE = { name: 'a.txt', data: DATA };
const TWO = { name: 'b/c.txt', data: DATA, isDeflated: true };
const LAST = { name: 'last', data: Buffer.from('!') };
const LONG = `${'folder/'.repeat(20)}${'n'.repeat(120)}.txt`;

describe('openArchive', () => {
  const place = new Place();

  describe('reads a ZIP', () => {
    const both = (more: Partial<ZipPart> = {}): ZipPart[] => [ONE, TWO].map((part) => ({ ...part, ...more }));
    const forms: Record<string, [ZipPart[], ZipOptions?]> = {
      'with stored and deflated entries': [both()],
      'with descriptors': [both({ descriptor: 'signed' })],
      'with descriptors that have no signature': [both({ descriptor: 'bare' })],
      'as ZIP64': [both({ isWide: true }), { isWide: true }],
      'with an unneeded ZIP64 end record, as from PyTorch': [both(), { wideBeside: {} }],
      'with an unneeded ZIP64 end record and descriptors, as from Info-ZIP on a pipe': [
        both({ descriptor: 'signed' }),
        { wideBeside: {}, comment: Buffer.from('by a pipe') },
      ],
      'with a comment': [both(), { comment: Buffer.from('PK by somebody') }],
      'with folders and Unix modes': [
        ['b/', 'c'].map((name, at) => ({ name, mode: [0o040755, 0o100644][at]! })),
      ],
      'with empty files': [['empty', 'deflated'].map((name, at) => ({ name, isDeflated: at === 1 }))],
    };
    const assertAsYauzl = async (bytes: Buffer): Promise<void> => {
      const file = await place.file(bytes);
      const expected = [...(await unzip(bytes))].filter(([name]) => !name.endsWith('/'));
      assert.deepEqual([...(await readAll(file))], expected);
      assert.equal(await verifyArchive(file), 'zip');
    };
    for (const [name, [parts, options]] of Object.entries(forms))
      it(name, () => assertAsYauzl(writeZip(parts, options)));

    // As Python 3.11 and unzip 6.0 do.
    it('with bytes before or after it, and a warning', async () => {
      const files = sampleAdapter();
      const plain = zipOf(files);
      const wide = writeZip(
        Object.entries(files).map(([name, data]) => ({ name, data })),
        { wideBeside: {}, comment: Buffer.from('by a pipe') },
      );
      const head = Buffer.from('#!/bin/sh\n');
      const moved = writeZip(
        Object.entries(files).map(([name, data]) => ({ name, data })),
        { head },
      );
      const [line, zeros] = [Buffer.from('\r\n'), Buffer.alloc(65_535)];
      for (const [name, ...pieces] of [
        ['a line after it', plain, line],
        ['zeros after it', plain, zeros],
        ['a line after its comment', wide, line],
        ['bytes before it', head, plain],
        ['bytes before it and after it', head, wide, line],
        ['bytes before it that its offsets count', moved],
      ] as const) {
        const bytes = Buffer.concat(pieces);
        const file = await place.file(bytes);
        assert.equal(await verifyArchive(file), 'zip', name);
        assert.deepEqual(Object.fromEntries(await readAll(file)), files, name);
        const { verdict, problems, sizeBytes } = await inspectionReport(file);
        assert.deepEqual([verdict.code, sizeBytes], ['adapter', bytes.length], name);
        assert.deepEqual(
          problems.map(({ code, severity }) => [code, severity]),
          [['extra-bytes', 'warning']],
          name,
        );
      }
    });

    it('with random entries', async () => {
      const random = new Random(7);
      for (let round = 0; round < 30; round++) {
        const parts = random.several(7, (): ZipPart => {
          const data = random.several(3000, () => random.below(random.of([2, 256])));
          const descriptor = random.of(['signed', 'bare', undefined] as const);
          return {
            name: `${random.of(['', 'd/', 'd/é/'])}${random.fraction()}`,
            data: Buffer.from(data),
            isDeflated: random.chance(0.5),
            ...(descriptor === undefined ? { isWide: random.chance(0.3) } : { descriptor }),
          };
        });
        const comment = Buffer.alloc(random.below(50));
        await assertAsYauzl(writeZip(parts, { isWide: random.chance(0.3), comment }));
      }
    });
  });

  describe('reads a tar, packed or not,', () => {
    const forms: Record<string, [TarPart[], string?]> = {
      'in ustar format': [[ONE]],
      'in pre-ustar format': [[{ ...ONE, isOld: true, type: '\0' }]],
      'with a prefix': [[{ ...ONE, prefix: 'some/folder' }], 'some/folder/a.txt'],
      'with names that start with ./': [
        [{ name: './adapter/', type: '5' }].concat({ ...ONE, name: './a.txt', type: '0' }),
      ],
      'with a long pax name': [[pax({ path: LONG }), ONE], LONG],
      'with a pax size': [[pax({ size: String(DATA.length) }), { ...ONE, declaredBytes: 0 }]],
      'with a global header': [[pax({ comment: 'x' }, 'g'), ONE]],
      'with a long GNU name': [[{ name: 'l', type: 'L', data: Buffer.from(`${LONG}\0`) }, ONE], LONG],
      'with a base-256 size': [[{ ...ONE, isBase256: true }]],
    };
    for (const [title, [parts, name = 'a.txt']] of Object.entries(forms))
      it(title, async () => {
        const bytes = writeTar([...parts, LAST]);
        const expected = { [name]: DATA, last: LAST.data };
        for (const [kind, one] of Object.entries({ tar: bytes, gzip: gzipSync(bytes) })) {
          const file = await place.file(one);
          assert.deepEqual(Object.fromEntries(await readAll(file)), expected);
          assert.equal(await verifyArchive(file), kind);
        }
      });

    it('in several gzip members', async () => {
      const bytes = tarOf(sampleAdapter());
      const members = Buffer.concat([gzipSync(bytes.subarray(0, 1000)), gzipSync(bytes.subarray(1000))]);
      assert.equal((await place.inspect(members)).verdict.code, 'adapter');
      assert.equal(await verifyArchive(await place.file(members)), 'gzip');
    });
  });

  describe('refuses a ZIP', () => {
    const named = (...names: string[]) => writeZip(names.map((name) => ({ ...ONE, name })));
    const one = (more: Partial<ZipPart>) => writeZip([{ ...ONE, ...more }]);
    const wide = (wideBeside: NonNullable<ZipOptions['wideBeside']>) => writeZip([ONE, TWO], { wideBeside });
    const odd = ['a\\x', 'x\0.txt', 'xx:y', 'a/NUL.txt', 'a./x', ''];
    const cases: Partial<Record<Refusal, Record<string, Buffer>>> = {
      'unsafe path': {
        'a path that leads out': named('../x'),
        'one that does so later': named('a/../../x'),
        'one with backslashes': named('..\\x'),
        'an absolute path': named('/etc/x'),
        'a path of UNC': named('\\\\server\\x'),
        'a drive': named('C:x'),
      },
      'unsafe name': {
        ...Object.fromEntries(odd.map((name) => [name, named(name)])),
        'a long name': named('x'.repeat(256)),
        'deep folders': named(`${'x/'.repeat(40)}x`),
      },
      'unsafe link': {
        'a link': one({ mode: 0o120777 }),
        'a device': one({ mode: 0o020666 }),
        'a pipe': one({ mode: 0o010666 }),
      },
      'unsafe duplicate': {
        'a name twice': named('a', 'a'),
        'a file that is a folder': named('a', 'a/x'),
        'names that differ in case': named('a.txt', 'A.txt'),
        'folders that differ in case': named('d/x', 'D/y'),
        'names that differ in normalization': named('\u00e9', 'e\u0301'),
      },
      'unsafe bomb': {
        'entries that share bytes': overlapping(),
        'an entry that reaches into the directory': one({ declaredBytes: DATA.length + 40 }),
        'a size deflate cannot have': writeZip([{ ...TWO, declaredBytes: 10_000_000 }]),
      },
      'encrypted encrypted': { encryption: one({ flags: 1 }) },
      'unsupported method': { 'another method': one({ method: 12 }) },
      'too-big too-large': { 'too many entries': writeZip([ONE], { count: 10_001 }) },
      'broken truncated': { 'its end missing': writeZip([ONE]).subarray(0, -30) },
      'broken data-after-end': {
        'many bytes after its end': writeZip([ONE], { tail: Buffer.alloc(65_536) }),
        'another archive after its end': Buffer.concat([writeZip([ONE]), writeZip([TWO]), Buffer.from('x')]),
        // Python and unzip would read the inner one.
        'an archive in it, and its own end missing': writeZip([
          { name: 'a.zip', data: writeZip([ONE]) },
        ]).subarray(0, -30),
        'an end after its end': Buffer.concat([writeZip([ONE]), writeZip([]), Buffer.from('x')]),
      },
      'broken length': { 'deflated bytes called stored': writeZip([{ ...TWO, method: 0 }]) },
      'broken zip': {
        'more entries counted than there are': writeZip([ONE], { count: 2 }),
        'fewer entries counted than there are': writeZip([ONE, TWO], { count: 1 }),
        'its directory elsewhere': writeZip([ONE], { directoryAt: 3 }),
        'bytes between directory and end': withGap(),
        'another archive before it': Buffer.concat([writeZip([ONE]), writeZip([TWO])]),
        'several disks': one({ disk: 1 }),
        'a ZIP64 end record elsewhere': wide({ at: 4 }),
        'a ZIP64 end record after the end': wide({ at: 10_000_000 }),
        'a ZIP64 end record that is none': wide({ signature: 0x06064b51 }),
        'a ZIP64 end record beyond exact numbers': wide({ at: 2 ** 60 }),
        'a ZIP64 end record beyond signed numbers': wide({ at: 2 ** 63 }),
        'two ends': writeZip([ONE], { comment: writeZip([]) }),
        'two archives, one the comment of the other': nested(),
        'fewer entries by ZIP64': wide({ count: 1 }),
        'more entries by ZIP64': wide({ count: 3 }),
        'a shorter directory by ZIP64': wide({ directoryBytes: 40 }),
        'another directory by ZIP64': wide({ directoryAt: 0 }),
        'a place beyond every number': wide({ directoryAt: Number.MAX_SAFE_INTEGER }),
        'a second directory that only ZIP64 names': withTwoDirectories(),
        'its local header elsewhere': one({ at: 1 }),
        'its local header beyond exact numbers': one({ isWide: true, at: 2 ** 60 }),
        'another name in the local header': one({ local: { name: Buffer.from('b.txt') } }),
        'another CRC in the local header': one({ local: { crc: 1 } }),
        'other flags in the local header': one({ local: { flags: 0 } }),
        'another method in the local header': one({ local: { method: 8 } }),
        'another size in the local header': one({ local: { sizeBytes: 1 } }),
        'another packed size in the local header': one({ local: { packedBytes: 1 } }),
        'another size in its ZIP64 field': one({ isWide: true, local: { sizeBytes: 1 } }),
        'another packed size in its ZIP64 field': one({ isWide: true, local: { packedBytes: 1 } }),
        'two ends that say the same': writeZip([ONE], { comment: writeZip([ONE]).subarray(-22) }),
        // Offsets of disks, counts, and the directory's location.
        ...changedAt(writeZip([ONE]), -22, [4, 6, 8, 10, 12, 16]),
        ...changedAt(writeZip([ONE], { wideBeside: {} }), -98, [0, 4, 16, 20, 24, 32, 40, 48, 56, 60, 64]),
      },
    };
    for (const [refusal, files] of Object.entries(cases))
      it(`as ${refusal}`, async () => {
        for (const [name, bytes] of Object.entries(files))
          await place.assertRefused(bytes, refusal as Refusal, name);
      });

    it('as no archive if there are bytes before it, and others are too many or form another archive', async () => {
      const two = writeZip([ONE], { comment: Buffer.concat([writeZip([TWO]), Buffer.from('x')]) });
      for (const bytes of [two, writeZip([ONE], { tail: Buffer.alloc(65_536) })]) {
        const file = await place.file(Buffer.concat([Buffer.from('x'), bytes]));
        assert.equal((await inspectionReport(file)).verdict.code, 'not-an-archive');
        assert.equal(await verifyArchive(file), 'unknown');
      }
    });

    it('by verification if its contents do not match its headers', async () => {
      const packed = deflateRawSync(DATA);
      const parts: [string, Partial<ZipPart>][] = [
        ['checksum', { isDeflated: false, crc: 1 }],
        ['checksum', { crc: 1 }],
        ['zip', { descriptor: 'signed', local: { crc: 1 } }],
        ['zip', { descriptor: 'bare', local: { packedBytes: 1 } }],
        ['zip', { descriptor: 'signed', local: { sizeBytes: 1 } }],
        ['length', { declaredBytes: 100 }],
        ['length', { declaredBytes: 2000 }],
        ['length', { packed: Buffer.from('no deflate'.repeat(9)) }],
        ['length', { packed: packed.subarray(0, -4) }],
        ['length', { packed: Buffer.concat([packed, Buffer.from('hidden')]) }],
      ];
      for (const [code, changes] of parts) {
        const file = await place.file(writeZip([{ ...TWO, ...changes }]));
        await assert.rejects(verifyArchive(file), { code }, JSON.stringify(changes));
      }
    });

    it('by verification if bytes follow deflated data that ends with a chunk', async () => {
      const block = Buffer.concat([Buffer.from([0, 0xfb, 0xff, 4, 0]), Buffer.alloc(65_531, 7)]);
      const blocks = Buffer.concat(Array.from({ length: 8 }, () => block));
      blocks[7 * block.length] = 1; // the last one
      const data = Buffer.alloc(8 * 65_531, 7);
      const zip = (packed: Buffer) => place.file(writeZip([{ name: 'x', data, packed, isDeflated: true }]));
      assert.equal(await verifyArchive(await zip(blocks)), 'zip');
      const more = await zip(Buffer.concat([blocks, Buffer.from('more')]));
      await assert.rejects(verifyArchive(more), { code: 'length' });
    });

    it('as a bomb, without inflating more than declared', async () => {
      const zeros = deflateRawSync(Buffer.alloc(20_000_000), { level: 1 });
      const bomb = (name: string, declaredBytes: number): ZipPart => ({
        name,
        packed: zeros,
        isDeflated: true,
        declaredBytes,
        crc: 0,
      });
      const parts = Array.from({ length: 60 }, (_, index) => bomb(String(index), 20_000_000));
      await place.assertRefused(writeZip(parts), 'unsafe bomb');
      const lie = await place.file(writeZip([bomb('x', 200_000)]));
      let bytes = 0;
      const archive = await openArchive(lie);
      await assert.rejects(async () => {
        for await (const member of archive.members())
          for await (const piece of member.open()) bytes += piece.length;
      });
      await archive.close();
      assert.ok(bytes <= 200_000, `${bytes}`);
      const before = process.memoryUsage.rss();
      await assert.rejects(verifyArchive(lie), { code: 'length' });
      assert.ok(process.memoryUsage.rss() - before < 60_000_000);
    });
  });

  describe('refuses a tar, packed or not,', () => {
    const one = (more: Partial<TarPart>): TarPart[] => [{ ...ONE, ...more }];
    const typed = (type: string, more: Partial<TarPart> = {}): TarPart[] => [{ name: 'a', type, ...more }];
    const cases: Partial<Record<Refusal, Record<string, TarPart[]>>> = {
      'unsafe path': {
        'a path that leads out': one({ name: '../x' }),
        'one in its prefix': one({ prefix: '../../../..' }),
        'one of pax': [pax({ path: 'a/../../x' }), ONE],
        'one of GNU': [...typed('L', { data: Buffer.from('../x\0') }), ONE],
        'an absolute path': one({ name: '/etc/x' }),
      },
      'unsafe link': {
        'a symbolic link': typed('2', { linkName: '/etc' }),
        'a hard link': [ONE, ...typed('1', { linkName: 'a.txt' })],
        'a device of characters': typed('3'),
        'a device of blocks': typed('4'),
        'a pipe': typed('6'),
      },
      'unsafe duplicate': {
        'a name twice': [ONE, ...one({})],
        'names that differ in case': [ONE, ...one({ name: 'A.TXT' })],
      },
      'unsupported method': {
        'a sparse file': one({ type: 'S' }),
        'a sparse file of pax': [pax({ 'GNU.sparse.major': '1' }), ONE],
        'something unknown': one({ type: 'Z' }),
      },
      'too-big too-large': { petabytes: one({ declaredBytes: 2 ** 50, isBase256: true }) },
      'too-big header-too-large': { 'a long extended header': typed('x', { declaredBytes: 2 ** 30 }) },
      'broken tar': {
        'a size beyond numbers': one({ declaredBytes: 2 ** 60, isBase256: true }),
        'records that are none': typed('x', { data: Buffer.from('7 a\nb') }),
        'a record that is longer than all': typed('x', { data: Buffer.from('999 a=b\n') }),
        'a record of no length': typed('x', { data: Buffer.from('1 a=b\n') }),
        'a folder with content': one({ type: '5' }),
        'a wrong checksum': [ONE, ...one({ name: 'b', checksum: 1 })],
      },
    };
    for (const [refusal, files] of Object.entries(cases))
      it(`as ${refusal}`, async () => {
        for (const [name, parts] of Object.entries(files)) {
          // A valid first entry makes the file recognizable as a tar.
          const bytes = writeTar([{ ...LAST, name: 'first' }, ...parts]);
          for (const each of [bytes, gzipSync(bytes)])
            await place.assertRefused(each, refusal as Refusal, name);
        }
      });

    it('as too large with too many files or extended headers', async () => {
      const files = Array.from({ length: 10_001 }, (_, index) => ({ name: `${index}` }));
      const headers = Array.from({ length: 20_001 }, () => pax({}));
      for (const parts of [files, headers]) await place.assertRefused(writeTar(parts), 'too-big too-large');
    });

    it('if it is cut or changed, or if data other than zeros follows its end', async () => {
      const [bytes, packed] = [tarOf(sampleAdapter()), tarGzOf(sampleAdapter())];
      for (const length of [bytes.length - 512, bytes.length - 1024, 5000, 1024, 700, 513])
        await place.assertRefused(bytes.subarray(0, length), 'broken truncated');
      await verifyArchive(await place.file(Buffer.concat([bytes, Buffer.alloc(10_240)])));
      const more = Buffer.concat([bytes, Buffer.alloc(600), Buffer.from('x')]);
      await place.assertRefused(more, 'broken data-after-end');
      for (const length of [packed.length - 1, packed.length - 8, packed.length >> 1, 30])
        await place.assertRefused(packed.subarray(0, length), 'broken gzip');
      for (const at of [packed.length - 1, packed.length - 5]) {
        const changed = Buffer.from(packed);
        changed[at]! ^= 1;
        await place.assertRefused(changed, 'broken gzip');
      }
    });

    it('as a bomb, using little memory', async function () {
      // More than 1 GiB, from which the ratio is checked.
      const [sizeBytes, pieces] = [100_000_256, 11];
      const zeros = gzipSync(Buffer.alloc(sizeBytes), { level: 1 });
      const header = (name: string) =>
        gzipSync(writeTar([{ name, declaredBytes: sizeBytes }], Buffer.alloc(0)));
      const parts = Array.from({ length: pieces }, (_, index) => [header(String(index)), zeros]);
      const file = await place.file(Buffer.concat([...parts.flat(), gzipSync(Buffer.alloc(1024))]));
      assert.ok((await readFile(file)).length < 10_000_000);
      const before = process.memoryUsage.rss();
      assert.equal((await inspectionReport(file)).verdict.fault, 'bomb');
      assert.ok(process.memoryUsage.rss() - before < 80_000_000);
    });
  });
});

/** Two entries that share bytes: the second one's header and data are the first one's data. */
function overlapping(): Buffer {
  const at = 30 + 5;
  const inner = { name: 'b.txt', data: DATA };
  const data = writeZip([inner]).subarray(0, at + DATA.length);
  return writeZip([ONE, inner].map((part, index) => (index === 0 ? { ...part, data } : { ...part, at })));
}

/** Copies of an archive, each with one byte near its end changed. */
function changedAt(bytes: Buffer, end: number, fields: readonly number[]): Record<string, Buffer> {
  const files = fields.map((field) => {
    const changed = Buffer.from(bytes);
    changed[bytes.length + end + field]! ^= 2;
    return [`another byte at ${end + field}`, changed] as const;
  });
  return Object.fromEntries(files);
}

/** An archive with bytes that belong to no entry and no directory. */
function withGap(): Buffer {
  const bytes = writeZip([ONE]);
  return Buffer.concat([bytes.subarray(0, -22), Buffer.from('hidden'), bytes.subarray(-22)]);
}

/** Searching from the end finds `b.txt`; respecting the comment's length finds `a.txt`. */
function nested(): Buffer {
  const head = writeZip([ONE]);
  const comment = writeZip([{ ...ONE, name: 'b.txt' }], { head }).subarray(head.length);
  return writeZip([ONE], { comment });
}

/** A ZIP64 reader finds `b.txt`, any other one `a.txt`. */
function withTwoDirectories(): Buffer {
  const hidden = writeZip([{ ...ONE, name: 'b.txt' }]);
  const directoryAt = hidden.length - 22 - (46 + 5);
  return writeZip([ONE], { head: hidden.subarray(0, -22), wideBeside: { directoryAt } });
}
