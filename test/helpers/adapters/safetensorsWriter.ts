/** A tensor to write; its bytes are not checked. */
export interface WrittenTensor {
  name: string;
  dtype: string;
  shape: readonly number[];
  data: Buffer;
}

/** A tensor with the given values, by default ones. */
export function tensor(
  name: string,
  shape: readonly number[] = [2],
  dtype = 'F32',
  value: (index: number) => number = () => 1,
): WrittenTensor {
  const count = shape.reduce((product, side) => product * side, 1);
  const values = Array.from({ length: count }, (_, index) => value(index));
  return { name, dtype, shape, data: encode(dtype, values) };
}

/** Writes a safetensors file as the official library does. */
export function writeTensors(
  tensors: readonly WrittenTensor[],
  metadata?: Readonly<Record<string, string>>,
): Buffer {
  const header = writeHeader(
    tensors.map(({ data, ...one }) => ({ ...one, sizeBytes: data.length })),
    metadata,
  );
  return Buffer.concat([header, ...tensors.map(({ data }) => data)]);
}

/** The length and header of a file with these tensors. */
export function writeHeader(
  tensors: readonly (Omit<WrittenTensor, 'data'> & { sizeBytes: number })[],
  metadata: Readonly<Record<string, string>> = { format: 'pt' },
): Buffer {
  const header: Record<string, unknown> = { __metadata__: metadata };
  let at = 0;
  for (const { name, sizeBytes, ...one } of tensors)
    header[name] = { ...one, data_offsets: [at, (at += sizeBytes)] };
  const json = Buffer.from(JSON.stringify(header));
  return withHeader(Buffer.concat([json, Buffer.alloc((8 - (json.length % 8)) % 8, 0x20)]));
}

/** A file with this header, valid or not. */
export function withHeader(
  header: Buffer | string,
  data: Buffer = Buffer.alloc(0),
  declaredBytes?: bigint,
): Buffer {
  const bytes = Buffer.from(header);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(declaredBytes ?? BigInt(bytes.length));
  return Buffer.concat([length, bytes, data]);
}

/** Encodes values in a dtype, little-endian. */
export function encode(dtype: string, values: readonly number[]): Buffer {
  const one = { F64: 8, F32: 4, F16: 2, BF16: 2, I64: 8, I8: 1 }[dtype] ?? 1;
  const bytes = Buffer.alloc(values.length * one);
  values.forEach((value, index) => {
    const at = index * one;
    if (dtype === 'F64') bytes.writeDoubleLE(value, at);
    else if (dtype === 'F32') bytes.writeFloatLE(value, at);
    else if (dtype === 'BF16') bytes.writeUInt16LE(bits32(value) >>> 16, at);
    else if (dtype === 'F16') bytes.writeUInt16LE(halfBits(value), at);
    else if (dtype === 'I64') bytes.writeBigInt64LE(BigInt(value), at);
    else bytes.writeInt8(value, at);
  });
  return bytes;
}

function bits32(value: number): number {
  return new Uint32Array(Float32Array.of(value).buffer)[0]!;
}

/** Exact if the value is a half-precision number, otherwise rounded toward zero. */
function halfBits(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (Number.isNaN(value)) return 0x7e00;
  if (size >= 65_520) return sign | 0x7c00;
  if (size < 2 ** -14) return sign | Math.floor(size / 2 ** -24);
  const exponent = Math.floor(Math.log2(size));
  return sign | ((exponent + 15) << 10) | Math.floor((size / 2 ** exponent - 1) * 1024);
}
