import assert from 'node:assert/strict';
import { deflateRawSync } from 'node:zlib';
import { openArchive } from '../../../../../src/core/adapters/archive/openArchive.ts';
import type { ArchiveFault, VerdictCode } from '../../../../../src/core/adapters/faults.ts';
import { verifyArchive } from '../../../../../src/core/adapters/archive/verify.ts';
import { sampleAdapter } from '../../../../helpers/adapters/sampleAdapter.ts';
import { writeZip, type ZipOptions, type ZipPart } from '../../../../helpers/adapters/zipWriter.ts';
import { Random } from '../../../../helpers/random.ts';
import { unzip } from '../../../../helpers/unzip.ts';
import { Place, readAll, zipOf } from '../../../../helpers/adapters/support.ts';

const DATA = Buffer.from('some data '.repeat(50));
const ONE: ZipPart = { name: 'a.txt', data: DATA };
const TWO: ZipPart = { name: 'b/c.txt', data: DATA, isDeflated: true };

describe('a ZIP archive', () => {
  const place = new Place();

  describe('is read as by yauzl', () => {
    const forms: Record<string, [ZipPart[], ZipOptions?]> = {
      'stored and deflated': [[ONE, TWO]],
      'with descriptors': [
        [
          { ...ONE, descriptor: 'signed' },
          { ...TWO, descriptor: 'bare' },
        ],
      ],
      'as ZIP64': [
        [
          { ...ONE, isWide: true },
          { ...TWO, isWide: true },
        ],
        { isWide: true },
      ],
      'with a ZIP64 end record though the narrow one is enough, as of PyTorch': [
        [ONE, TWO],
        { wideBeside: {} },
      ],
      'with a ZIP64 end record, descriptors and wide sizes, as of Info-ZIP on a pipe': [
        [
          { ...ONE, descriptor: 'signed' },
          { ...TWO, descriptor: 'signed' },
        ],
        { wideBeside: {}, comment: Buffer.from('by a pipe') },
      ],
      'with a comment': [[ONE, TWO], { comment: Buffer.from('PK by somebody') }],
      'with folders': [[{ name: 'b/' }, TWO]],
      'with the modes of Unix': [
        [
          { ...ONE, mode: 0o100644 },
          { name: 'b/', mode: 0o040755 },
        ],
      ],
      'with an empty file': [[{ name: 'empty' }, { name: 'deflated', isDeflated: true }]],
    };
    for (const [name, [parts, options]] of Object.entries(forms))
      it(name, async () => {
        const bytes = writeZip(parts, options);
        const theirs = [...(await unzip(bytes))].filter(([file]) => !file.endsWith('/'));
        const file = await place.file(bytes);
        assert.deepEqual([...(await readAll(file))], theirs);
        assert.equal(await verifyArchive(file), 'zip');
      });

    it('whatever is in it', async () => {
      const random = new Random(7);
      for (let round = 0; round < 30; round++) {
        const parts = Array.from({ length: random.below(8) }, (_, index): ZipPart => {
          const data = Buffer.from(
            Array.from({ length: random.below(3000) }, () => random.below(random.of([2, 256]))),
          );
          const descriptor = random.of(['signed', 'bare', undefined] as const);
          return {
            name: `${random.of(['', 'd/', 'd/é/'])}${index}`,
            data,
            isDeflated: random.chance(0.5),
            isWide: random.chance(0.3) && descriptor === undefined,
            ...(descriptor === undefined ? {} : { descriptor }),
          };
        });
        const bytes = writeZip(parts, {
          isWide: random.chance(0.3),
          comment: Buffer.alloc(random.below(50)),
        });
        const file = await place.file(bytes);
        assert.deepEqual([...(await readAll(file))], [...(await unzip(bytes))]);
        await verifyArchive(file);
      }
    });
  });

  const named = (...names: string[]) => writeZip(names.map((name) => ({ ...ONE, name })));
  const attacks: [string, VerdictCode, ArchiveFault, Buffer][] = [
    ['a path that leads out', 'unsafe', 'path-outside', named('../x')],
    ['one in the middle', 'unsafe', 'path-outside', named('a/../../x')],
    ['one with backslashes', 'unsafe', 'path-outside', named('..\\x')],
    ['an absolute path', 'unsafe', 'path-absolute', named('/etc/x')],
    ['a path of the network', 'unsafe', 'path-absolute', named('\\\\server\\x')],
    ['a drive', 'unsafe', 'path-absolute', named('C:x')],
    ['a backslash', 'unsafe', 'path-odd', named('a\\x')],
    ['a NUL', 'unsafe', 'path-odd', named('x\0.txt')],
    ['a stream of NTFS', 'unsafe', 'path-odd', named('xx:y')],
    ['a device of Windows', 'unsafe', 'path-odd', named('a/NUL.txt')],
    ['a dot at the end', 'unsafe', 'path-odd', named('a./x')],
    ['no name', 'unsafe', 'path-odd', named('')],
    ['a long name', 'unsafe', 'path-odd', named('x'.repeat(256))],
    ['deep folders', 'unsafe', 'path-odd', named('x/'.repeat(40) + 'x')],
    ['a link', 'unsafe', 'link', writeZip([{ ...ONE, mode: 0o120777 }])],
    ['a device', 'unsafe', 'device', writeZip([{ ...ONE, mode: 0o020666 }])],
    ['a pipe', 'unsafe', 'device', writeZip([{ ...ONE, mode: 0o010666 }])],
    ['a name twice', 'unsafe', 'duplicate', named('a', 'a')],
    ['a file that is a folder', 'unsafe', 'duplicate', named('a', 'a/x')],
    ['names that differ in case', 'unsafe', 'case-collision', named('a.txt', 'A.txt')],
    ['folders that differ in case', 'unsafe', 'case-collision', named('d/x', 'D/y')],
    ['names that differ in normalization', 'unsafe', 'case-collision', named('\u00e9', 'e\u0301')],
    ['entries that share bytes', 'unsafe', 'overlap', overlapping()],
    ['encryption', 'encrypted', 'encrypted', writeZip([{ ...ONE, flags: 1 }])],
    ['another method', 'unsupported', 'method', writeZip([{ ...ONE, method: 12 }])],
    ['a size that deflate cannot have', 'unsafe', 'ratio', writeZip([{ ...TWO, declaredBytes: 10_000_000 }])],
    ['too many entries', 'too-big', 'too-many-entries', writeZip([ONE], { count: 10_001 })],
  ];
  for (const [name, code, fault, bytes] of attacks)
    it(`with ${name} is refused`, () => place.assertVerdict(bytes, { code, fault }));

  const breaks: [string, ArchiveFault, Buffer][] = [
    ['cut', 'zip-no-end', writeZip([ONE]).subarray(0, -30)],
    ['with bytes behind its end', 'data-after-end', writeZip([ONE], { tail: Buffer.from('x') })],
    ['with two ends', 'zip-disagreement', writeZip([ONE], { comment: writeZip([]) })],
    ['of more entries than there are', 'zip-directory', writeZip([ONE], { count: 2 })],
    ['of fewer entries than there are', 'zip-directory', writeZip([ONE, TWO], { count: 1 })],
    ['whose directory is elsewhere', 'zip-directory', writeZip([ONE], { directoryAt: 3 })],
    ['with bytes between directory and end', 'zip-directory', withGap()],
    ...(
      [
        ['counts fewer entries', { count: 1 }, 'zip-disagreement'],
        ['counts more entries', { count: 3 }, 'zip-disagreement'],
        ['names a shorter directory', { directoryBytes: 40 }, 'zip-disagreement'],
        ['names another directory', { directoryAt: 0 }, 'zip-disagreement'],
        ['is beyond every number', { directoryAt: Number.MAX_SAFE_INTEGER }, 'zip-disagreement'],
        ['is elsewhere', { at: 4 }, 'zip-directory'],
        ['is behind the end', { at: 10_000_000 }, 'zip-directory'],
        ['is none', { signature: 0x06064b51 }, 'zip-directory'],
      ] as const
    ).map(([name, wideBeside, fault]): [string, ArchiveFault, Buffer] => [
      `whose ZIP64 end record ${name}`,
      fault,
      writeZip([ONE, TWO], { wideBeside }),
    ]),
    ['with a second directory that only ZIP64 names', 'zip-disagreement', withTwoDirectories()],
    ['of several disks', 'zip-directory', writeZip([{ ...ONE, disk: 1 }])],
    ['whose local header is elsewhere', 'zip-disagreement', writeZip([{ ...ONE, at: 1 }])],
    ['with another name in the local header', 'zip-disagreement', writeZip([{ ...ONE, localName: 'b.txt' }])],
    ['with another CRC there', 'zip-disagreement', writeZip([{ ...ONE, localCrc: 1 }])],
    ['stored, but packed', 'zip-length', writeZip([{ ...TWO, method: 0 }])],
  ];
  for (const [name, fault, bytes] of breaks)
    it(`${name} is broken`, () => place.assertVerdict(bytes, { code: 'broken', fault }));

  const changed: [string, ArchiveFault, ZipPart][] = [
    ['a wrong CRC', 'zip-crc', { ...ONE, crc: 1 }],
    ['a wrong CRC of deflated bytes', 'zip-crc', { ...TWO, crc: 1 }],
    ['more than it tells', 'zip-length', { ...TWO, declaredBytes: 100 }],
    ['less than it tells', 'zip-length', { ...TWO, declaredBytes: 1000 }],
    ['what is not deflated', 'zip-length', { ...TWO, packed: Buffer.from('no deflate'.repeat(9)) }],
    [
      'deflated bytes that do not end',
      'zip-length',
      { ...TWO, packed: deflateRawSync(DATA).subarray(0, -4) },
    ],
    [
      'bytes behind the deflated ones',
      'zip-length',
      { ...TWO, packed: Buffer.concat([deflateRawSync(DATA), Buffer.from('hidden')]) },
    ],
    ['a descriptor that says otherwise', 'zip-disagreement', { ...TWO, descriptor: 'signed', localCrc: 1 }],
  ];
  for (const [name, fault, part] of changed)
    it(`with ${name} does not pass for whole`, async () => {
      await assert.rejects(verifyArchive(await place.file(writeZip([part]))), { code: fault });
    });

  it('is not inflated further than it tells, nor a bomb unpacked', async () => {
    // A gigabyte and a half of zeros.
    const files = sampleAdapter();
    const zeros = deflateRawSync(Buffer.alloc(150_000_000));
    const bomb = Array.from({ length: 10 }, (_, index): ZipPart => {
      return {
        name: `${index}`,
        packed: zeros,
        method: 8,
        isDeflated: true,
        declaredBytes: 150_000_000,
        crc: 0,
      };
    });
    const parts = Object.entries(files).map(([name, data]) => ({ name, data }));
    await place.assertVerdict(writeZip([...parts, ...bomb]), { code: 'unsafe', fault: 'ratio' });
    const lie = writeZip([{ name: 'x', packed: zeros, isDeflated: true, declaredBytes: 200_000, crc: 0 }]);
    let bytes = 0;
    const archive = await openArchive(await place.file(lie));
    await assert.rejects(async () => {
      for await (const member of archive.members())
        for await (const piece of member.open()) bytes += piece.length;
    });
    await archive.close();
    assert.ok(bytes <= 200_000, `${bytes}`);
    const before = process.memoryUsage.rss();
    await assert.rejects(verifyArchive(await place.file(lie)), { code: 'zip-length' });
    assert.ok(process.memoryUsage.rss() - before < 60_000_000);
  });

  it('is told by its content, whatever its name is', async () => {
    const { container, verdict } = await place.inspect(zipOf(sampleAdapter()));
    assert.deepEqual({ container, code: verdict.code }, { container: 'zip', code: 'adapter' });
  });
});

/** Two entries whose data are the same bytes, each with a header of its own inside of the other's. */
function overlapping(): Buffer {
  const inner = { name: 'b.txt', data: DATA };
  const innerLocal = writeZip([inner]).subarray(0, 30 + 5 + DATA.length);
  const at = 30 + 5;
  return writeZip([
    { name: 'a.txt', data: innerLocal },
    { ...inner, at },
  ]);
}

/** Bytes that no entry and no directory is told of. */
function withGap(): Buffer {
  const bytes = writeZip([ONE]);
  return Buffer.concat([bytes.subarray(0, -22), Buffer.from('hidden'), bytes.subarray(-22)]);
}

/** A reader of ZIP64 would find `b.txt` in it, any other one `a.txt`. */
function withTwoDirectories(): Buffer {
  const hidden = writeZip([{ ...ONE, name: 'b.txt' }]);
  const directoryAt = hidden.length - 22 - (46 + 5);
  return writeZip([ONE], { head: hidden.subarray(0, -22), wideBeside: { directoryAt } });
}
