import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { BrokenArchiveError } from '../../../../src/core/adapters/faults.ts';
import type { ArchiveFault } from '../../../../src/core/adapters/report.ts';
import { readSafetensorsHeader } from '../../../../src/core/adapters/safetensors.ts';
import { verifyArchive } from '../../../../src/core/adapters/archive/verify.ts';
import { encode, withHeader, writeTensors } from '../../../helpers/adapters/safetensorsWriter.ts';
import { Place } from '../../../helpers/adapters/support.ts';

const NAME = 'base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight';
const GOOD = tensor({});

/** A header of one tensor of four bytes. */
function tensor(changes: Record<string, unknown>, name = NAME): string {
  return JSON.stringify({ [name]: { dtype: 'F32', shape: [1], data_offsets: [0, 4], ...changes } });
}

async function read(file: Buffer, pieceBytes = 1 << 20) {
  async function* pieces() {
    for (let at = 0; at < file.length; at += pieceBytes)
      yield await Promise.resolve(file.subarray(at, at + pieceBytes));
  }
  return await readSafetensorsHeader(pieces(), file.length);
}

describe('a safetensors header', () => {
  const place = new Place();

  it('is read, whatever the pieces are', async () => {
    const file = writeTensors(
      [
        { name: 'b', dtype: 'F32', shape: [2, 3], data: encode('F32', [1, 2, 3, 4, 5, 6]) },
        { name: 'a"\\\u00e9\u{1f600}', dtype: 'BF16', shape: [], data: encode('BF16', [1]) },
        { name: 'none', dtype: 'I64', shape: [0, 5], data: Buffer.alloc(0) },
      ],
      { format: 'pt', more: 'say "x"' },
    );
    for (const pieceBytes of [1, 3, 7, 64, 1 << 20]) {
      const { tensors, dataAt } = await read(file, pieceBytes);
      assert.deepEqual(tensors, [
        { name: 'b', dtype: 'F32', shape: [2, 3], parameters: 6, from: 0, to: 24 },
        { name: 'a"\\\u00e9\u{1f600}', dtype: 'BF16', shape: [], parameters: 1, from: 24, to: 26 },
        { name: 'none', dtype: 'I64', shape: [0, 5], parameters: 0, from: 26, to: 26 },
      ]);
      assert.equal(dataAt, file.length - 26);
    }
  });

  it('is that of the examples of the format', async () => {
    // huggingface/safetensors, tests of tensor.rs: nothing, metadata alone, a tensor.
    for (const [header, data] of [
      ['{}      ', 0],
      ['{"__metadata__":{"framework":"pt"}}     ', 0],
      ['{"attn.0":{"dtype":"F32","shape":[1,2,3],"data_offsets":[0,24]}}', 24],
      ['{ "a" :\n{ "shape" : [ 1 , 2 ] ,\t"dtype":"I8", "data_offsets":[0,2] } }', 2],
    ] as const)
      await read(withHeader(header, Buffer.alloc(data)));
  });

  it('lists tensors in the order of their data', async () => {
    const header = {
      late: { dtype: 'I8', shape: [2], data_offsets: [3, 5] },
      early: { dtype: 'I8', shape: [3], data_offsets: [0, 3] },
    };
    const { tensors } = await read(withHeader(JSON.stringify(header), Buffer.alloc(5)));
    assert.deepEqual(
      tensors.map(({ name }) => name),
      ['early', 'late'],
    );
  });

  const four = Buffer.alloc(4);
  const broken: [string, ArchiveFault, Buffer][] = [
    ['no JSON', 'safetensors-header', withHeader('{'.repeat(8), four)],
    ['a list', 'safetensors-header', withHeader('[]      ', four)],
    ['blanks before it', 'safetensors-header', withHeader(` ${GOOD}`, four)],
    ['other blanks behind it', 'safetensors-header', withHeader(`${GOOD}\0`, four)],
    ['something behind it', 'safetensors-header', withHeader(`${GOOD}{}`, four)],
    [
      'bytes that are no UTF-8',
      'safetensors-header',
      withHeader(Buffer.from(GOOD.replace('q_proj', '\xff'), 'latin1'), four),
    ],
    [
      'a name twice',
      'safetensors-header',
      withHeader(`{${tensor({}).slice(1, -1)},${tensor({}).slice(1)}`, four),
    ],
    [
      'a name twice, written in two ways',
      'safetensors-header',
      withHeader(
        `{${tensor({}, 'a').slice(1, -1)},${tensor({}, 'a').slice(1).replace('"a"', '"\\u0061"')}`,
        four,
      ),
    ],
    [
      'a field twice',
      'safetensors-header',
      withHeader(GOOD.replace('"dtype"', '"dtype":"F32","dtype"'), four),
    ],
    ['an unknown field', 'safetensors-header', withHeader(tensor({ more: [] }), four)],
    ['a missing field', 'safetensors-header', withHeader(tensor({ shape: undefined }), four)],
    ['a negative side', 'safetensors-header', withHeader(tensor({ shape: [-1] }), four)],
    ['a fraction', 'safetensors-header', withHeader(GOOD.replace('[1]', '[1.0]'), four)],
    ['a leading zero', 'safetensors-header', withHeader(GOOD.replace('[1]', '[01]'), four)],
    ['three offsets', 'safetensors-header', withHeader(tensor({ data_offsets: [0, 4, 4] }), four)],
    ['a comma at the end', 'safetensors-header', withHeader(GOOD.replace('}}', '},}'), four)],
    ['a control character', 'safetensors-header', withHeader(GOOD.replace('q_proj', '\u0001'), four)],
    ['an escape that is none', 'safetensors-header', withHeader(GOOD.replace('q_proj', '\\x'), four)],
    ['metadata that are no strings', 'safetensors-header', withHeader('{"__metadata__":{"a":1}}')],
    ['metadata twice', 'safetensors-header', withHeader('{"__metadata__":{"a":"1","a":"1"}}')],
    ['a shape of other bytes', 'safetensors-offsets', withHeader(tensor({ shape: [2] }), four)],
    [
      'a shape beyond numbers',
      'safetensors-offsets',
      withHeader(tensor({ shape: [2 ** 30, 2 ** 30] }), four),
    ],
    ['offsets turned round', 'safetensors-offsets', withHeader(tensor({ data_offsets: [4, 0] }), four)],
    ['a gap before it', 'safetensors-offsets', withHeader(tensor({ data_offsets: [4, 8] }), Buffer.alloc(8))],
    [
      'overlapping tensors',
      'safetensors-offsets',
      withHeader(`{${tensor({}, 'a').slice(1, -1)},${tensor({}, 'b').slice(1)}`, four),
    ],
    ['bytes behind the data', 'safetensors-length', withHeader(GOOD, Buffer.alloc(5))],
    ['data that are cut', 'safetensors-length', withHeader(GOOD, Buffer.alloc(3))],
    ['a length beyond the file', 'safetensors-length', withHeader(GOOD, four, 10_000n)],
    ['an unknown dtype', 'method', withHeader(tensor({ dtype: 'F7' }), four)],
  ];
  for (const [name, fault, file] of broken)
    it(`with ${name} is refused`, async () => {
      await assert.rejects(
        read(file),
        (error) => error instanceof BrokenArchiveError && error.code === fault,
      );
      const found = await place.inspect(Buffer.concat([file]));
      assert.notEqual(found.verdict.code, 'adapter');
    });

  it('is not taken beyond the format’s own limit', async () => {
    for (const length of [100_000_001n, 2n ** 40n, 2n ** 63n])
      await assert.rejects(read(withHeader(GOOD, four, length)), { code: 'header-too-large' });
  });

  it('of many tensors lets others work, and has a limit', async () => {
    const entries = Array.from(
      { length: 150_000 },
      (_, index) => `"t${index}":{"dtype":"I8","shape":[0],"data_offsets":[0,0]}`,
    );
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const { tensors } = await read(withHeader(`{${entries.join()}}`));
    clearInterval(timer);
    assert.equal(tensors.length, 150_000);
    assert.ok(turns > 5, `${turns} turns`);
    const more = Array.from(
      { length: 200_001 },
      (_, index) => `"t${index}":{"dtype":"I8","shape":[0],"data_offsets":[0,0]}`,
    );
    await assert.rejects(read(withHeader(`{${more.join()}}`)), { code: 'header-too-large' });
  });

  it('and lengths are what is verified of a bare file', async () => {
    const file = await place.file(withHeader(GOOD, four));
    assert.equal(await verifyArchive(file), 'safetensors');
    const bytes = await readFile(file);
    await assert.rejects(verifyArchive(await place.file(bytes.subarray(0, -1))), {
      code: 'safetensors-length',
    });
  });
});
