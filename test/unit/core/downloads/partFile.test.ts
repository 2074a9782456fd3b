import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { link, open, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PartFile, partStateOf, type PartPaths } from '../../../../src/core/downloads/partFile.ts';
import { sha256Of } from '../../../helpers/api/support.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { silent } from '../../../helpers/runs/support.ts';

const MIB = 1024 * 1024;
const TOTAL = 12 * MIB;

describe('PartFile', () => {
  const folder = useFolder();
  let place: PartPaths;
  const bytes = randomBytes(TOTAL);

  beforeEach(() => {
    const part = path.join(folder(), '.x.part');
    place = { id: 'x', part, sidecar: `${part}.json`, target: path.join(folder(), 'a.zip') };
  });

  /** Fills a part and leaves it open, as a killed process does. */
  async function fill(upTo: number, pieceBytes = 64 * 1024): Promise<PartFile> {
    const part = await PartFile.open(place, silent());
    if (part.kept === undefined) await part.begin('"e"', TOTAL);
    while (part.receivedBytes < upTo)
      await part.add(copyOf(part.receivedBytes, Math.min(upTo, part.receivedBytes + pieceBytes)));
    return part;
  }

  function copyOf(start: number, end: number): Buffer {
    const piece = Buffer.allocUnsafeSlow(end - start);
    bytes.copy(piece, 0, start, end);
    return piece;
  }

  async function openedAt(): Promise<number> {
    const part = await PartFile.open(place, silent());
    const { receivedBytes } = part;
    await part.close();
    return receivedBytes;
  }

  it('writes and hashes the received bytes and frees their memory', async () => {
    const part = await PartFile.open(place, silent());
    await part.begin('"e"', TOTAL);
    const pieces: Buffer[] = [];
    const pool = Buffer.alloc(200_000, 'x');
    for (let start = 0; start < TOTAL; start += 100_000) {
      const piece = copyOf(start, Math.min(TOTAL, start + 100_000));
      pieces.push(piece);
      await part.add(piece);
    }
    await part.sync();
    assert.ok(part.isComplete);
    assert.equal(part.digest(), sha256Of(bytes));
    assert.ok(pieces.every(({ byteLength }) => byteLength === 0));
    await part.begin();
    await part.add(pool.subarray(10, 20));
    await part.sync();
    assert.equal(pool.byteLength, 200_000); // a slice of a shared buffer is not freed
    await part.close();
    assert.equal(await readFile(place.part, 'utf8'), 'x'.repeat(10));
  });

  it('resumes from the last byte that was synced, and not at all without an ETag', async () => {
    let part = await fill(1234);
    await part.sync();
    await part.close();
    part = await PartFile.open(place, silent());
    assert.deepEqual(part.kept, { startByte: 1234, etag: '"e"', totalBytes: TOTAL });
    await part.begin(undefined, TOTAL);
    await part.add(copyOf(0, 1000));
    assert.equal(part.kept, undefined);
    await part.sync();
    await part.close();
    assert.equal(await openedAt(), 0);
  });

  describe('resumes', () => {
    let text: string;
    let upTo: number;
    let marks: number[];

    beforeEach(async () => {
      await (await fill(7 * MIB)).close();
      text = await readFile(place.sidecar, 'utf8');
      marks = (await partStateOf(place))?.marks.map((mark) => mark.bytes) ?? [];
      upTo = marks.at(-1) ?? 0;
      assert.ok(marks.length >= 3);
    });

    it('not after bytes that never reached the disk or were changed there', async () => {
      const handle = await open(place.part, 'r+');
      await handle.write(Buffer.alloc(4096), 0, 4096, (marks[1] ?? 0) + 100);
      await handle.close();
      assert.equal(await openedAt(), marks[1]);
      assert.equal((await readFile(place.part)).length, marks[1]);
      const part = await fill(TOTAL);
      await part.sync();
      assert.equal(part.digest(), sha256Of(bytes));
      await part.close();
    });

    it('not after missing bytes', async () => {
      await truncate(place.part, upTo - 1);
      assert.equal(await openedAt(), marks.at(-2));
      await rm(place.part);
      assert.equal(await openedAt(), 0);
    });

    it('not after a mark torn by a crash', async () => {
      await writeFile(place.sidecar, text.slice(0, -3));
      assert.equal(await openedAt(), marks.at(-2));
    });

    it('nothing if the first line is torn, or of another download or version', async () => {
      for (const spoilt of [
        text.slice(0, 20),
        text.replace('"id":"x"', '"id":"y"'),
        text.replace('"version":1', '"version":2'),
        '',
      ]) {
        await writeFile(place.sidecar, spoilt);
        assert.equal(await openedAt(), 0, spoilt.slice(0, 20));
        await writeFile(place.part, bytes.subarray(0, 7 * MIB));
      }
    });

    it('never a part that got another name and is not complete', async () => {
      const other = path.join(folder(), 'mine.zip');
      await link(place.part, other);
      const mine = await readFile(other);
      await (await fill(MIB)).close();
      assert.ok(mine.equals(await readFile(other)));
    });
  });
});
