import { isUtf8 } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import { BrokenArchiveError, type ArchiveFault } from './problems.ts';

/** The file name of the weights that tools look for. */
export const WEIGHTS_NAME = 'adapter_model.safetensors';
/** Longest header that the safetensors reader accepts. */
export const MAX_HEADER_BYTES = 100_000_000;
/** No adapter has longer names. */
export const MAX_NAME_LENGTH = 1024;
export const MAX_TENSORS = 200_000;
/** Bits of a value, by the type names of the format. */
const DTYPE_BITS: ReadonlyMap<unknown, number> = new Map(
  Object.entries({
    4: ['F4'],
    6: ['F6_E2M3', 'F6_E3M2'],
    8: ['BOOL', 'U8', 'I8', 'F8_E5M2', 'F8_E4M3', 'F8_E8M0', 'F8_E4M3FNUZ', 'F8_E5M2FNUZ'],
    16: ['I16', 'U16', 'F16', 'BF16'],
    32: ['I32', 'U32', 'F32'],
    64: ['C64', 'F64', 'I64', 'U64'],
  }).flatMap(([bits, names]) => names.map((name) => [name, Number(bits)] as const)),
);
const LENGTH_BYTES = 8;
const METADATA = '__metadata__';
/** The sandbox marks its weights, which aren't trained, by this metadata. */
const SANDBOX = { key: 'trained_by', value: 'fine-tuning-sandbox' } as const;
/** Limit of the tools that write such files. It also limits the text of a list. */
const MAX_DIMENSIONS = 64;
const MAX_LIST_BYTES = 2_000;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACKET = 0x5b;
const END_BRACKET = 0x5d;
/** Yields to the event loop after this long. */
const SLICE_MS = 4;

/** A tensor as described in the header. */
export interface Tensor {
  name: string;
  dtype: string;
  shape: readonly number[];
  /** Number of its values. */
  parameters: number;
  /** Byte offsets from the beginning of the data. */
  from: number;
  to: number;
}

export interface SafetensorsHeader {
  /** In the order of their data. */
  tensors: readonly Tensor[];
  /** Where the data begins in the file. */
  dataAt: number;
  /** Whether the weights say that the sandbox made them. */
  isFromSandbox: boolean;
}

/**
 * Reads and validates the header of a safetensors file, and leaves the rest unread. Names must be unique. The
 * data has no gaps up to the end of the file. Each tensor is as long as its dtype and shape require.
 * @param budget total length allowed for headers; this one's is subtracted
 * @throws BrokenArchiveError, CancelledError
 */
export async function readSafetensorsHeader(
  pieces: AsyncIterator<Buffer, void>,
  sizeBytes: number,
  budget = { bytes: MAX_HEADER_BYTES },
): Promise<SafetensorsHeader> {
  const header = await headerBytes(pieces, sizeBytes, budget);
  // The header starts with the object and may end with spaces, but no other white space.
  let end = header.length;
  while (end > 0 && header[end - 1] === 0x20) end--;
  if (header[0] !== 0x7b || !isUtf8(header)) fail();
  const { tensors, isFromSandbox } = await readTensors(new HeaderReader(header.subarray(0, end)));
  // They are usually in order, and sorting many is slow.
  if (tensors.some(({ from }, index) => from < (tensors[index - 1]?.to ?? 0)))
    tensors.sort((a, b) => a.from - b.from || a.to - b.to);
  const dataAt = LENGTH_BYTES + header.length;
  let at = 0;
  for (const { from, to, name } of tensors) {
    if (from !== at) fail('safetensors', name);
    at = to;
  }
  if (dataAt + at !== sizeBytes) fail('length');
  return { tensors, dataAt, isFromSandbox };
}

async function headerBytes(
  pieces: AsyncIterator<Buffer, void>,
  sizeBytes: number,
  budget: { bytes: number },
): Promise<Buffer> {
  if (sizeBytes < LENGTH_BYTES) fail();
  let piece: Buffer = Buffer.alloc(0);
  const read = async (length: number) => {
    const bytes = Buffer.allocUnsafe(length);
    for (let filled = 0; filled < length;) {
      if (piece.length === 0) piece = (await pieces.next()).value ?? fail('truncated');
      const copied = piece.copy(bytes, filled);
      filled += copied;
      piece = piece.subarray(copied);
    }
    return bytes;
  };
  const length = Number((await read(LENGTH_BYTES)).readBigUInt64LE());
  if (length > MAX_HEADER_BYTES) fail('header-too-large');
  if (length + LENGTH_BYTES > sizeBytes) fail('length');
  budget.bytes -= length;
  if (budget.bytes < 0) fail('header-too-large');
  return await read(length);
}

async function readTensors(json: HeaderReader): Promise<{ tensors: Tensor[]; isFromSandbox: boolean }> {
  const tensors: Tensor[] = [];
  let isFromSandbox = false;
  let sinceMs = performance.now();
  const letOthersWork = async () => {
    if (performance.now() - sinceMs < SLICE_MS) return;
    await setImmediate();
    sinceMs = performance.now();
  };
  for (const name of json.keys()) {
    if (name !== METADATA) tensors.push(readTensor(json, name));
    else
      for (const key of json.keys()) {
        const value = json.value();
        if (typeof value !== 'string') fail(undefined, key);
        isFromSandbox ||= key === SANDBOX.key && value === SANDBOX.value;
        await letOthersWork();
      }
    await letOthersWork();
  }
  json.end();
  return { tensors, isFromSandbox };
}

function readTensor(json: HeaderReader, name: string): Tensor {
  const fields = new Map<string, unknown>();
  for (const key of json.keys()) fields.set(key, json.value());
  const [dtype, shape, offsets] = ['dtype', 'shape', 'data_offsets'].map((key) => fields.get(key));
  const isComplete = fields.size === 3 && typeof dtype === 'string' && isList(shape) && isList(offsets);
  if (!isComplete || shape.length > MAX_DIMENSIONS || offsets.length !== 2) fail(undefined, name);
  const bits = DTYPE_BITS.get(dtype) ?? fail('dtype', name, dtype);
  const parameters = shape.reduce((product, side) => product * side, 1);
  const [from = 0, to = 0] = offsets;
  // Even if the product is inexact, it is still larger than any offset.
  if (to - from !== (parameters * bits) / 8) fail('safetensors', name);
  return { name, dtype, shape, parameters, from, to };
}

function isList(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((one) => Number.isSafeInteger(one));
}

/**
 * Reads the JSON of a safetensors header, which has only objects, strings, and lists of natural numbers.
 * Unlike `JSON.parse`, it rejects duplicate names and lets the caller pause between values.
 */
class HeaderReader {
  readonly #bytes: Buffer;
  #at = 0;

  /** @param bytes UTF-8 */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Yields the keys of the next object; read each value before the next key. @throws BrokenArchiveError */
  *keys(): Generator<string, undefined> {
    const seen = new Set<string>();
    if (this.#token() !== '{') fail();
    // A comma must be followed by another key.
    for (let token = this.#token(); token !== '}' || seen.size > 0; token = this.#token()) {
      const key = parsed(token);
      if (typeof key !== 'string' || seen.has(key) || this.#token() !== ':') fail();
      if (seen.add(key).size > MAX_TENSORS) fail('header-too-large');
      yield key;
      const next = this.#token();
      if (next === '}') return;
      if (next !== ',') fail();
    }
  }

  /** Reads the next string or list. @throws BrokenArchiveError */
  value(): unknown {
    return parsed(this.#token());
  }

  /** Checks that nothing follows. @throws BrokenArchiveError */
  end(): void {
    if (this.#token() !== '') fail();
  }

  /** Reads a string, a list, or one other character; '' at the end. */
  #token(): string {
    const bytes = this.#bytes;
    while (isBlank(bytes[this.#at])) this.#at++;
    const from = this.#at++;
    const first = bytes[from];
    if (first === QUOTE) this.#at = this.#endOfString(from);
    else if (first === BRACKET) this.#at = bytes.indexOf(END_BRACKET, from) + 1;
    else return first === undefined ? '' : String.fromCharCode(first);
    if (this.#at === 0) fail();
    return bytes.toString('utf8', from, this.#at);
  }

  #endOfString(from: number): number {
    for (let at = this.#bytes.indexOf(QUOTE, from + 1); at !== -1; at = this.#bytes.indexOf(QUOTE, at + 1)) {
      let slashes = 0;
      while (this.#bytes[at - slashes - 1] === BACKSLASH) slashes++;
      if (slashes % 2 === 0) return at + 1;
    }
    return 0;
  }
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Parses a string or a list of natural numbers. */
function parsed(token: string): unknown {
  if (!token.startsWith('"') && (token.length > MAX_LIST_BYTES || !/^\[[\d,\s]*\]$/.test(token))) fail();
  try {
    return JSON.parse(token);
  } catch {
    return fail();
  }
}

function fail(code: ArchiveFault = 'safetensors', name?: string, detail?: string): never {
  throw new BrokenArchiveError(code, name, detail);
}
