/** An entry of a tar archive; every field may be wrong. */
export interface TarPart {
  name: string;
  data?: Buffer;
  type?: string;
  linkName?: string;
  /** Instead of the size of the data. */
  declaredBytes?: number;
  /** GNU's form of sizes too large for octal digits. */
  isBase256?: boolean;
  prefix?: string;
  isOld?: boolean;
  checksum?: number;
}

/** Writes a tar archive that ends with `end`, by default two empty blocks. */
export function writeTar(parts: readonly TarPart[], end = Buffer.alloc(1024)): Buffer {
  return Buffer.concat([
    ...parts.flatMap((part) => [header(part), padded(part.data ?? Buffer.alloc(0))]),
    end,
  ]);
}

/** A pax extended header for the next entry. */
export function pax(records: Readonly<Record<string, string>>, type = 'x'): TarPart {
  const data = Object.entries(records).map(([key, value]) => {
    const body = Buffer.from(` ${key}=${value}\n`);
    let length = body.length + 1;
    while (String(length).length + body.length !== length) length++;
    return Buffer.concat([Buffer.from(String(length)), body]);
  });
  return { name: 'PaxHeaders/x', type, data: Buffer.concat(data) };
}

function header(part: TarPart): Buffer {
  const block = Buffer.alloc(512);
  block.write(part.name, 0, 100, 'utf8');
  block.write('0000644\0', 100);
  block.write('0000000\0', 108);
  block.write('0000000\0', 116);
  const sizeBytes = part.declaredBytes ?? part.data?.length ?? 0;
  if (part.isBase256) {
    block[124] = 0x80;
    block.writeBigUInt64BE(BigInt(sizeBytes), 128);
  } else block.write(`${sizeBytes.toString(8).padStart(11, '0')}\0`, 124);
  block.write('00000000000\0', 136);
  block.write(part.type ?? '0', 156);
  block.write(part.linkName ?? '', 157);
  if (!part.isOld) block.write('ustar\x0000', 257);
  block.write(part.prefix ?? '', 345);
  block.fill(' ', 148, 156);
  const sum = part.checksum ?? block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

function padded(data: Buffer): Buffer {
  return Buffer.concat([data, Buffer.alloc((512 - (data.length % 512)) % 512)]);
}
