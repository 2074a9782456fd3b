import { crc32, deflateRawSync } from 'node:zlib';

/** An entry of a ZIP archive; every field may be wrong. */
export interface ZipPart {
  name: string | Buffer;
  data?: Buffer;
  isDeflated?: boolean;
  /** Puts sizes and CRC after the data; 'bare' omits the signature. */
  descriptor?: 'signed' | 'bare';
  /** Puts sizes in the ZIP64 extra field. */
  isWide?: boolean;
  flags?: number;
  method?: number;
  crc?: number;
  /** The size in both headers, instead of the data's. */
  declaredBytes?: number;
  /** Values of the local header or the descriptor that differ from the directory's. */
  local?: {
    name?: Buffer;
    flags?: number;
    method?: number;
    crc?: number;
    sizeBytes?: number;
    packedBytes?: number;
  };
  mode?: number;
  /** The offset in the central directory, instead of the real one. */
  at?: number;
  disk?: number;
  /** Instead of the packed data. */
  packed?: Buffer;
}

export interface ZipOptions {
  comment?: Buffer;
  isWide?: boolean;
  /** Adds an unneeded ZIP64 end record, as PyTorch and Info-ZIP on a pipe do, with these wrong values. */
  wideBeside?: Partial<WideEnd>;
  count?: number;
  directoryAt?: number;
  tail?: Buffer;
  head?: Buffer;
}

interface WideEnd {
  count: number;
  directoryBytes: number;
  directoryAt: number;
  /** The record's offset in the locator. */
  at: number;
  signature: number;
}

/** Writes a ZIP archive, which may be invalid. */
export function writeZip(parts: readonly ZipPart[], options: ZipOptions = {}): Buffer {
  const pieces: Buffer[] = [options.head ?? Buffer.alloc(0)];
  const central: Buffer[] = [];
  let at = pieces[0]!.length;
  for (const part of parts) {
    const local = localPart(part);
    central.push(centralHeader(part, part.at ?? at));
    pieces.push(local);
    at += local.length;
  }
  const directory = Buffer.concat(central);
  const directoryAt = options.directoryAt ?? at;
  const count = options.count ?? parts.length;
  pieces.push(directory);
  if (options.isWide || options.wideBeside !== undefined)
    pieces.push(
      wideEnd({
        count,
        directoryBytes: directory.length,
        directoryAt,
        at: at + directory.length,
        signature: 0x06064b50,
        ...options.wideBeside,
      }),
    );
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(options.isWide ? 0xffff : count, 8);
  end.writeUInt16LE(options.isWide ? 0xffff : count, 10);
  end.writeUInt32LE(options.isWide ? 0xffffffff : directory.length, 12);
  end.writeUInt32LE(options.isWide ? 0xffffffff : directoryAt, 16);
  end.writeUInt16LE(options.comment?.length ?? 0, 20);
  return Buffer.concat([...pieces, end, options.comment ?? Buffer.alloc(0), options.tail ?? Buffer.alloc(0)]);
}

function factsOf(part: ZipPart) {
  const data = part.data ?? Buffer.alloc(0);
  const packed = part.packed ?? (part.isDeflated ? deflateRawSync(data) : data);
  return {
    name: Buffer.from(part.name),
    packed,
    sizeBytes: part.declaredBytes ?? data.length,
    packedBytes: part.declaredBytes !== undefined && !part.isDeflated ? part.declaredBytes : packed.length,
    crc: part.crc ?? crc32(data),
    method: part.method ?? (part.isDeflated ? 8 : 0),
    flags: (part.flags ?? 0x800) | (part.descriptor === undefined ? 0 : 8),
  };
}

function localPart(part: ZipPart): Buffer {
  const { packed, sizeBytes, packedBytes, crc, method, flags, name } = { ...factsOf(part), ...part.local };
  const extra = part.isWide ? wideExtra(sizeBytes, packedBytes) : Buffer.alloc(0);
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(20, 4);
  header.writeUInt16LE(flags, 6);
  header.writeUInt16LE(method, 8);
  if (part.descriptor === undefined) {
    header.writeUInt32LE(crc, 14);
    header.writeUInt32LE(part.isWide ? 0xffffffff : packedBytes, 18);
    header.writeUInt32LE(part.isWide ? 0xffffffff : sizeBytes, 22);
  }
  header.writeUInt16LE(name.length, 26);
  header.writeUInt16LE(extra.length, 28);
  return Buffer.concat([header, name, extra, packed, descriptorOf(part)]);
}

function descriptorOf(part: ZipPart): Buffer {
  const { sizeBytes, packedBytes, crc } = { ...factsOf(part), ...part.local };
  if (part.descriptor === undefined) return Buffer.alloc(0);
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32LE(0x08074b50, 0);
  bytes.writeUInt32LE(crc, 4);
  bytes.writeUInt32LE(packedBytes, 8);
  bytes.writeUInt32LE(sizeBytes, 12);
  return part.descriptor === 'signed' ? bytes : bytes.subarray(4);
}

function centralHeader(part: ZipPart, at: number): Buffer {
  const { sizeBytes, packedBytes, crc, method, flags, name } = factsOf(part);
  const isFar = at > 0xffffffff;
  const extra = part.isWide ? wideExtra(sizeBytes, packedBytes, ...(isFar ? [at] : [])) : Buffer.alloc(0);
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x02014b50, 0);
  header.writeUInt16LE(part.mode === undefined ? 20 : (3 << 8) | 20, 4);
  header.writeUInt16LE(20, 6);
  header.writeUInt16LE(flags, 8);
  header.writeUInt16LE(method, 10);
  header.writeUInt32LE(crc, 16);
  header.writeUInt32LE(part.isWide ? 0xffffffff : packedBytes, 20);
  header.writeUInt32LE(part.isWide ? 0xffffffff : sizeBytes, 24);
  header.writeUInt16LE(name.length, 28);
  header.writeUInt16LE(extra.length, 30);
  header.writeUInt16LE(part.disk ?? 0, 34);
  header.writeUInt32LE(((part.mode ?? 0) << 16) >>> 0, 38);
  header.writeUInt32LE(isFar ? 0xffffffff : at, 42);
  return Buffer.concat([header, name, extra]);
}

function wideExtra(...values: number[]): Buffer {
  const extra = Buffer.alloc(4 + 8 * values.length);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(8 * values.length, 2);
  values.forEach((value, index) => extra.writeBigUInt64LE(BigInt(value), 4 + 8 * index));
  return extra;
}

function wideEnd({ count, directoryBytes, directoryAt, at, signature }: WideEnd): Buffer {
  const end = Buffer.alloc(56 + 20);
  end.writeUInt32LE(signature, 0);
  end.writeBigUInt64LE(44n, 4);
  end.writeUInt16LE(45, 12);
  end.writeUInt16LE(45, 14);
  end.writeBigUInt64LE(BigInt(count), 24);
  end.writeBigUInt64LE(BigInt(count), 32);
  end.writeBigUInt64LE(BigInt(directoryBytes), 40);
  end.writeBigUInt64LE(BigInt(directoryAt), 48);
  end.writeUInt32LE(0x07064b50, 56);
  end.writeBigUInt64LE(BigInt(at), 64);
  end.writeUInt32LE(1, 72);
  return end;
}
