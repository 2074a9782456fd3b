import type { BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';

/** Identifies the content of a file: it is unchanged as long as these are the same. */
export interface FileStamp {
  sizeBytes: number;
  /** The modification time in whole milliseconds since the epoch; fractions may be rounded differently. */
  mtimeMs: number;
  /** The change time: a copy can preserve `mtimeMs`, but not this. */
  ctimeMs: number;
}

export function stampOf({ size, mtimeMs, ctimeMs }: BigIntStats): FileStamp {
  return { sizeBytes: Number(size), mtimeMs: Number(mtimeMs), ctimeMs: Number(ctimeMs) };
}

export function isSameStamp(one: FileStamp, other: FileStamp): boolean {
  return one.sizeBytes === other.sizeBytes && one.mtimeMs === other.mtimeMs && one.ctimeMs === other.ctimeMs;
}

/** Whether the file at a path still matches a stamp. Never throws. */
export async function isStill(path: string, stamp: FileStamp): Promise<boolean> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found !== undefined && isSameStamp(stamp, stampOf(found));
}
