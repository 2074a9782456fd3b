/** One tensor of 16-bit brain floats, row by row. */
export interface Tensor {
  name: string;
  shape: readonly [number, number];
  /** Two bytes a value, little-endian. */
  data: Buffer;
}

/**
 * Writes the safetensors format: the header's length (8 bytes, little-endian), the header (JSON, padded with spaces so
 * that the data starts at a multiple of 8), then the tensors in the same order without gaps.
 */
export function writeSafetensors(tensors: readonly Tensor[]): Buffer {
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  let offset = 0;
  for (const { name, shape, data } of tensors) {
    header[name] = { dtype: 'BF16', shape, data_offsets: [offset, offset + data.length] };
    offset += data.length;
  }
  const json = JSON.stringify(header);
  const padded = Buffer.from(json.padEnd(Math.ceil(json.length / 8) * 8));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.length));
  return Buffer.concat([length, padded, ...tensors.map((tensor) => tensor.data)]);
}
