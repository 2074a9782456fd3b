import { BrokenArchiveError } from './faults.ts';
import { MAX_HEADER_BYTES, MAX_TENSORS } from './limits.ts';

const LENGTH_BYTES = 8;
const METADATA = '__metadata__';

/** A tensor as the header has it. */
export interface Tensor {
  name: string;
  dtype: string;
  shape: readonly number[];
  /** Number of its values. */
  parameters: number;
  /** From the beginning of the data. */
  from: number;
  to: number;
}

export interface SafetensorsHeader {
  /** In the order of their data. */
  tensors: readonly Tensor[];
  /** Where the data begins in the file. */
  dataAt: number;
}

/**
 * Reads the header of a safetensors file and leaves the rest unread. The header is what the format demands: the data without
 * gaps up to the end of the file, each tensor as long as its dtype and shape.
 * @throws BrokenArchiveError
 */
export async function readSafetensorsHeader(
  pieces: AsyncIterator<Buffer, void>,
  sizeBytes: number,
): Promise<SafetensorsHeader> {
  const header = await headerBytes(pieces, sizeBytes).finally(() => pieces.return?.());
  // Of a name that is there twice the last counts, as in the format's own reader.
  const named = Object.entries(objectIn(header)).filter(([name]) => name !== METADATA);
  if (named.length > MAX_TENSORS) throw new BrokenArchiveError('too-large');
  const tensors = named
    .map(([name, value]) => tensorOf(name, value))
    .sort((a, b) => a.from - b.from || a.to - b.to);
  const dataAt = LENGTH_BYTES + header.length;
  let at = 0;
  for (const { from, to, name } of tensors) {
    if (from !== at) throw new BrokenArchiveError('safetensors', name);
    at = to;
  }
  if (dataAt + at !== sizeBytes) throw new BrokenArchiveError('length');
  return { tensors, dataAt };
}

async function headerBytes(pieces: AsyncIterator<Buffer, void>, sizeBytes: number): Promise<Buffer> {
  let bytes: Buffer = Buffer.alloc(0);
  const read = async (length: number) => {
    while (bytes.length < length) {
      const { value: piece } = await pieces.next();
      if (piece === undefined) throw new BrokenArchiveError('truncated');
      bytes = Buffer.concat([bytes, piece]);
    }
    return bytes.subarray(0, length);
  };
  const length = Number((await read(LENGTH_BYTES)).readBigUInt64LE());
  if (length > MAX_HEADER_BYTES) throw new BrokenArchiveError('too-large');
  if (length + LENGTH_BYTES > sizeBytes) throw new BrokenArchiveError('length');
  return (await read(LENGTH_BYTES + length)).subarray(LENGTH_BYTES);
}

function objectIn(header: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(header));
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Neither UTF-8 nor JSON.
  }
  throw new BrokenArchiveError('safetensors');
}

function tensorOf(name: string, value: unknown): Tensor {
  const { dtype, shape, data_offsets: offsets } = (value ?? {}) as Readonly<Record<string, unknown>>;
  // `F32`, `BF16`, `F8_E4M3`: the number is that of its bits.
  const bits = dtype === 'BOOL' ? 8 : Number(/^[A-Z]+(\d+)(?:_\w{1,16})?$/.exec(String(dtype))?.[1]);
  if (!isNaturals(shape) || !isNaturals(offsets)) throw new BrokenArchiveError('safetensors', name);
  const parameters = shape.reduce((product, side) => product * side, 1);
  const [from = 0, to = 0] = offsets;
  // Beyond exact numbers, the product is still larger than any offset.
  if (to - from !== (parameters * bits) / 8) throw new BrokenArchiveError('safetensors', name);
  return { name, dtype: String(dtype), shape, parameters, from, to };
}

function isNaturals(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((one) => Number.isSafeInteger(one) && Number(one) >= 0);
}
