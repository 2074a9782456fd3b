import type { BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';

/** Which bytes a file had: as long as these are the same, nothing was written to it. */
export interface FileStamp {
  sizeBytes: number;
  /** When it was last written, in integer milliseconds since the epoch: another reader may round a fraction to another one. */
  mtimeMs: number;
  /** When anything of it changed, its times too: a copy that keeps the first time has another here. */
  ctimeMs: number;
}

export function stampOf({ size, mtimeMs, ctimeMs }: BigIntStats): FileStamp {
  return { sizeBytes: Number(size), mtimeMs: Number(mtimeMs), ctimeMs: Number(ctimeMs) };
}

/** @param one of which an earlier version may have known less */
export function isSameStamp(one: Partial<FileStamp>, other: FileStamp): boolean {
  return one.sizeBytes === other.sizeBytes && one.mtimeMs === other.mtimeMs && one.ctimeMs === other.ctimeMs;
}

/** Whether the file at a path is still the one of a stamp. Never throws. */
export async function isStill(path: string, stamp: FileStamp): Promise<boolean> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found !== undefined && isSameStamp(stampOf(found), stamp);
}
