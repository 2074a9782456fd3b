import { randomUUID } from 'node:crypto';
import { lstat, readdir, rm } from 'node:fs/promises';
import path from 'node:path';

/** Nothing is unpacked for so long: whoever began is gone. */
const ABANDONED_MS = 24 * 60 * 60 * 1000;

/** A new name beside a folder, under which it grows until it is whole. */
export function partOf(folder: string): string {
  return path.join(path.dirname(folder), `${beginOf(folder)}${randomUUID()}.part`);
}

/** Removes what grew for a folder and was left when the program ended in between, a day ago or more. Never throws. */
export async function removeLeftovers(folder: string, nowMs = Date.now()): Promise<void> {
  const [parent, begin] = [path.dirname(folder), beginOf(folder)];
  const names = await readdir(parent).catch(() => []);
  for (const name of names) {
    if (
      !name.startsWith(begin) ||
      !/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.part$/.test(name.slice(begin.length))
    )
      continue;
    const part = path.join(parent, name);
    try {
      if (nowMs - (await lastChangeMs(part)) > ABANDONED_MS) await rm(part, { recursive: true });
    } catch {
      // It is of no harm where it is.
    }
  }
}

function beginOf(folder: string): string {
  return `.${path.basename(folder).slice(0, 100)}.`;
}

async function lastChangeMs(part: string): Promise<number> {
  const found = await lstat(part);
  if (!found.isDirectory()) return Infinity;
  const inside = await readdir(part, { recursive: true });
  const times = await Promise.all(inside.map(async (name) => (await lstat(path.join(part, name))).mtimeMs));
  return times.reduce((latest, one) => Math.max(latest, one), found.mtimeMs);
}
