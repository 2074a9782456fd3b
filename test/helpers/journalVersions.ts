import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { link, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Link } from '../../src/core/base/exclusiveName.ts';
import type { Intent } from '../../src/core/submission/intent.ts';

/** Calls back with the text of each version right before it gets its name. */
export function beforeNaming(look: (text: string) => unknown): Link {
  return async (from, to) => {
    await look(await readFile(from, 'utf8'));
    await link(from, to);
  };
}

/** Reads the highest version of a record from the disk. */
export function highestVersion(folder: string, id: string): { n: number; record: Intent } {
  const numbers = readdirSync(folder).map((name) =>
    name.startsWith(`${id}.`) ? Number(/\.(\d+)\.json$/.exec(name)?.[1] ?? 0) : 0,
  );
  const n = Math.max(0, ...numbers);
  return { n, record: JSON.parse(readFileSync(path.join(folder, `${id}.${n}.json`), 'utf8')) as Intent };
}

/** Appends to a record as another window does. */
export function appendVersion(folder: string, id: string, change: (record: Intent) => Intent): void {
  const { n, record } = highestVersion(folder, id);
  writeVersion(folder, n + 1, change(record));
}

export function writeVersion(folder: string, n: number, record: Intent): void {
  writeFileSync(path.join(folder, `${record.id}.${n}.json`), JSON.stringify(record));
}

/** Keeps the versions of a record. @returns sets the folder back to them */
export function keepVersions(folder: string, id: string): () => void {
  const names = () =>
    readdirSync(folder).filter((name) => name.startsWith(`${id}.`) && name.endsWith('.json'));
  const kept = names().map(
    (name) => [path.join(folder, name), readFileSync(path.join(folder, name))] as const,
  );
  return () => {
    for (const name of names()) rmSync(path.join(folder, name));
    for (const [file, bytes] of kept) writeFileSync(file, bytes);
  };
}
