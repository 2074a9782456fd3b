import { isUtf8 } from 'node:buffer';
import { LongTask } from '../base/longTask.ts';
import { BrokenArchiveError, type ArchiveFault } from './faults.ts';
import { MAX_HEADER_BYTES, MAX_TENSORS } from './limits.ts';

/** Bits of a value, by the type names of the format. */
const DTYPE_BITS: Readonly<Record<string, number>> = {
  BOOL: 8,
  F4: 4,
  F6_E2M3: 6,
  F6_E3M2: 6,
  U8: 8,
  I8: 8,
  F8_E5M2: 8,
  F8_E4M3: 8,
  F8_E8M0: 8,
  I16: 16,
  U16: 16,
  F16: 16,
  BF16: 16,
  I32: 32,
  U32: 32,
  F32: 32,
  C64: 64,
  F64: 64,
  I64: 64,
  U64: 64,
};
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const LENGTH_BYTES = 8;
const METADATA = '__metadata__';
/** As many as arrays have in the tools that make them. */
const MAX_DIMENSIONS = 64;

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
 * Reads the header of a safetensors file and leaves the rest unread. The header is what the format demands: no name twice,
 * the data without gaps up to the end of the file, each tensor as long as its dtype and shape.
 * @param next the next piece of the file; undefined at its end
 * @throws BrokenArchiveError, CancelledError
 */
export async function readSafetensorsHeader(
  next: () => Promise<Buffer | undefined>,
  sizeBytes: number,
  signal?: AbortSignal,
): Promise<SafetensorsHeader> {
  const header = await headerBytes(next, sizeBytes);
  // It begins with the object and may end with spaces, but not with other blanks.
  let end = header.length;
  while (end > 0 && header[end - 1] === 0x20) end--;
  if (header[0] !== 0x7b || !isUtf8(header)) throw new BrokenArchiveError('safetensors-header');
  const tensors = await parse(header.subarray(0, end), signal);
  // As a rule they are in order, and sorting many takes its time.
  if (tensors.some(({ from }, index) => from < (tensors[index - 1]?.to ?? 0)))
    tensors.sort((a, b) => a.from - b.from || a.to - b.to);
  const dataAt = LENGTH_BYTES + header.length;
  let at = 0;
  for (const { from, to, name } of tensors) {
    if (from !== at) throw new BrokenArchiveError('safetensors-offsets', name);
    at = to;
  }
  if (dataAt + at !== sizeBytes) throw new BrokenArchiveError('safetensors-length');
  return { tensors, dataAt };
}

async function headerBytes(next: () => Promise<Buffer | undefined>, sizeBytes: number): Promise<Buffer> {
  if (sizeBytes < LENGTH_BYTES) throw new BrokenArchiveError('safetensors-header');
  let piece: Buffer = Buffer.alloc(0);
  const read = async (length: number) => {
    const bytes = Buffer.allocUnsafe(length);
    for (let filled = 0; filled < length;) {
      if (piece.length === 0) piece = (await next()) ?? fail('truncated');
      const copied = piece.copy(bytes, filled);
      filled += copied;
      piece = piece.subarray(copied);
    }
    return bytes;
  };
  return await read(headerLength(await read(LENGTH_BYTES), sizeBytes));
}

function headerLength(bytes: Buffer, sizeBytes: number): number {
  const length = bytes.readBigUInt64LE(0);
  if (length > BigInt(MAX_HEADER_BYTES)) throw new BrokenArchiveError('header-too-large');
  if (Number(length) + LENGTH_BYTES > sizeBytes) throw new BrokenArchiveError('safetensors-length');
  if (length === 0n) throw new BrokenArchiveError('safetensors-header');
  return Number(length);
}

async function parse(header: Buffer, signal: AbortSignal | undefined): Promise<Tensor[]> {
  const text = new HeaderReader(header);
  const task = new LongTask(signal);
  const tensors: Tensor[] = [];
  const names = new Set<string>();
  for (const name of text.keys()) {
    if (names.has(name)) throw new BrokenArchiveError('safetensors-header', name);
    names.add(name);
    if (names.size > MAX_TENSORS) throw new BrokenArchiveError('header-too-large');
    if (name === METADATA) readMetadata(text);
    else tensors.push(readTensor(text, name));
    if (task.isDue) await task.yieldToEventLoop();
  }
  text.end();
  return tensors;
}

function readMetadata(text: HeaderReader): void {
  const keys = new Set<string>();
  for (const key of text.keys()) {
    if (keys.has(key) || keys.size >= MAX_TENSORS)
      throw new BrokenArchiveError('safetensors-header', METADATA);
    keys.add(key);
    text.string();
  }
}

function readTensor(text: HeaderReader, name: string): Tensor {
  let dtype: string | undefined;
  let shape: number[] | undefined;
  let offsets: number[] | undefined;
  for (const key of text.keys()) {
    if (key === 'dtype' && dtype === undefined) dtype = text.string();
    else if (key === 'shape' && shape === undefined) shape = text.integers(MAX_DIMENSIONS);
    else if (key === 'data_offsets' && offsets === undefined) offsets = text.integers(2);
    else throw new BrokenArchiveError('safetensors-header', name);
  }
  const [from, to] = offsets ?? [];
  if (
    dtype === undefined ||
    shape === undefined ||
    from === undefined ||
    to === undefined ||
    offsets?.length !== 2
  )
    throw new BrokenArchiveError('safetensors-header', name);
  const bits = DTYPE_BITS[dtype];
  if (bits === undefined) throw new BrokenArchiveError('method', name);
  const parameters = shape.reduce((product, side) => product * side, 1);
  // Beyond exact numbers, the product is still larger than any offset.
  if (to - from !== (parameters * bits) / 8) throw new BrokenArchiveError('safetensors-offsets', name);
  return { name, dtype, shape, parameters, from, to };
}

/**
 * Reads the JSON of a safetensors header, which has only objects, strings and lists of natural numbers. Unlike `JSON.parse`
 * it yields duplicate names, and lets others work in between.
 */
class HeaderReader {
  readonly #bytes: Buffer;
  #at = 0;

  /** @param bytes UTF-8 */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The keys of the object that comes next; after each its value has to be read. @throws BrokenArchiveError */
  *keys(): Generator<string, undefined> {
    this.#take(0x7b);
    if (this.#takes(0x7d)) return;
    do {
      this.#blanks();
      const key = this.string();
      this.#take(0x3a);
      yield key;
    } while (this.#takes(COMMA));
    this.#take(0x7d);
  }

  /** @throws BrokenArchiveError */
  string(): string {
    this.#take(QUOTE);
    const from = this.#at;
    let isEscaped = false;
    for (;;) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined || byte < 0x20) fail();
      if (byte === QUOTE) break;
      if (byte !== BACKSLASH) continue;
      isEscaped = true;
      this.#at++;
    }
    const text = this.#bytes.toString('utf8', from, this.#at - 1);
    if (!isEscaped) return text;
    try {
      return JSON.parse(`"${text}"`) as string;
    } catch {
      fail();
    }
  }

  /** A list of at most so many natural numbers. @throws BrokenArchiveError */
  integers(most: number): number[] {
    const numbers: number[] = [];
    this.#take(0x5b);
    if (this.#takes(0x5d)) return numbers;
    do {
      if (numbers.length === most) fail();
      numbers.push(this.#integer());
    } while (this.#takes(COMMA));
    this.#take(0x5d);
    return numbers;
  }

  /** Nothing follows. @throws BrokenArchiveError */
  end(): void {
    this.#blanks();
    if (this.#at !== this.#bytes.length) fail();
  }

  #integer(): number {
    this.#blanks();
    const from = this.#at;
    let value = 0;
    for (;;) {
      const digit = (this.#bytes[this.#at] ?? 0) - 0x30;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
      this.#at++;
    }
    const hasLeadingZero = this.#at - from > 1 && this.#bytes[from] === 0x30;
    if (this.#at === from || hasLeadingZero || !Number.isSafeInteger(value)) fail();
    return value;
  }

  #takes(byte: number): boolean {
    this.#blanks();
    if (this.#bytes[this.#at] !== byte) return false;
    this.#at++;
    return true;
  }

  #take(byte: number): void {
    if (!this.#takes(byte)) fail();
  }

  #blanks(): void {
    for (;;) {
      const byte = this.#bytes[this.#at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.#at++;
    }
  }
}

function fail(code: ArchiveFault = 'safetensors-header', name?: string): never {
  throw new BrokenArchiveError(code, name);
}
