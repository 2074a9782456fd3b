import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import type { ArchiveFault } from '../../../../src/core/adapters/problems.ts';
import { readSafetensorsHeader } from '../../../../src/core/adapters/safetensors.ts';
import { encode, withHeader, writeTensors } from '../../../helpers/adapters/safetensorsWriter.ts';
import { Place } from '../../../helpers/adapters/support.ts';

const NAME = 'base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight';
const GOOD = tensor({});

/** The header of one tensor of four bytes. */
function tensor(changes: Record<string, unknown>, name = NAME): string {
  return JSON.stringify({ [name]: { dtype: 'F32', shape: [1], data_offsets: [0, 4], ...changes } });
}

function read(file: Buffer, pieceBytes = 1 << 20) {
  const count = Math.ceil(file.length / pieceBytes);
  const pieces = Array.from({ length: count }, (_, index) =>
    file.subarray(index * pieceBytes, (index + 1) * pieceBytes),
  );
  return readSafetensorsHeader(Readable.from(pieces).iterator(), file.length);
}

describe('readSafetensorsHeader', () => {
  const place = new Place();

  it('reads a header in pieces of any size', async () => {
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

  it('reads the examples of the format', async () => {
    // From the tests of tensor.rs in huggingface/safetensors: empty, only metadata, a tensor.
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
  const two = (one: string, other: string) => `{${one.slice(1, -1)},${other.slice(1)}`;
  const refused: [ArchiveFault, Record<string, string | Buffer>][] = [
    [
      'safetensors',
      {
        'no JSON': '{'.repeat(8),
        'a list': '[]      ',
        'blanks before it': ` ${GOOD}`,
        'other blanks after it': `${GOOD}\0`,
        'something after it': `${GOOD}{}`,
        'bytes that are not UTF-8': Buffer.from(GOOD.replace('q_proj', '\xff'), 'latin1'),
        'a name twice': two(GOOD, GOOD),
        'a name twice, escaped': two(tensor({}, 'a'), tensor({}, 'a').replace('"a"', '"\\u0061"')),
        'a field twice': GOOD.replace('"dtype"', '"dtype":"F32","dtype"'),
        'an unknown field': tensor({ more: [] }),
        'a missing field': tensor({ shape: undefined }),
        'a negative side': tensor({ shape: [-1] }),
        'a fraction': GOOD.replace('[1]', '[1.0]'),
        'a leading zero': GOOD.replace('[1]', '[01]'),
        'three offsets': tensor({ data_offsets: [0, 4, 4] }),
        'a comma at the end': GOOD.replace('}}', '},}'),
        'a dtype that is no text': tensor({ dtype: 7 }),
        'a shape that is no list': tensor({ shape: 1 }),
        'a tensor that is no object': '{"a":null}  ',
        'a control character': GOOD.replace('q_proj', '\u0001'),
        'an unknown escape': GOOD.replace('q_proj', '\\x'),
        'metadata that are numbers': '{"__metadata__":{"a":1}}',
        'metadata that are lists': '{"__metadata__":{"a":[1]}}',
        'metadata twice': '{"__metadata__":{"a":"1","a":"1"}}',
      },
    ],
    [
      'safetensors',
      {
        'a shape of other bytes': tensor({ shape: [2] }),
        'a shape beyond numbers': tensor({ shape: [2 ** 30, 2 ** 30] }),
        'offsets in the wrong order': tensor({ data_offsets: [4, 0] }),
        'a gap before it': tensor({ data_offsets: [4, 8] }),
        'overlapping tensors': two(tensor({}, 'a'), tensor({}, 'b')),
      },
    ],
    [
      'dtype',
      Object.fromEntries(
        ['F7', 'F33', 'f32', 'F8_X', 'F32 ', '', 'toString'].map((dtype) => [dtype, tensor({ dtype })]),
      ),
    ],
  ];
  it('rejects a header that violates the format', async () => {
    const files = refused.flatMap(([fault, headers]) =>
      Object.entries(headers).map(([name, text]) => [name, fault, withHeader(text, four)] as const),
    );
    for (const [name, fault, file] of [
      ...files,
      ['bytes after the data', 'length', withHeader(GOOD, Buffer.alloc(5))],
      ['data that are cut', 'length', withHeader(GOOD, Buffer.alloc(3))],
      ['a length beyond the file', 'length', withHeader(GOOD, four, 10_000n)],
    ] as const) {
      await assert.rejects(read(file), { code: fault }, name);
      assert.notEqual((await place.inspect(file)).verdict.code, 'adapter', name);
    }
  });

  it('says which type is unknown, and knows those of the newest safetensors', async () => {
    const report = await place.inspect(withHeader(tensor({ dtype: 'F7' }, 'a.b'), four));
    assert.deepEqual(report.verdict, { code: 'unsupported', fault: 'dtype', entry: 'a.b', detail: 'F7' });
    for (const dtype of ['F8_E4M3FNUZ', 'F8_E5M2FNUZ'])
      assert.equal((await read(withHeader(tensor({ dtype, shape: [4] }), four))).tensors[0]?.dtype, dtype);
  });

  it('rejects a header above the format’s size limit', async () => {
    for (const length of [100_000_001n, 2n ** 40n, 2n ** 63n])
      await assert.rejects(read(withHeader(GOOD, four, length)), { code: 'header-too-large' });
  });
});
