import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { link, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Link } from '../../src/core/base/exclusiveName.ts';
import { bytesKeyOf, type Submission } from '../../src/core/submission/submission.ts';

/** Calls back with the text of each version right before it gets its name. */
export function beforeNaming(look: (text: string) => unknown): Link {
  return async (from, to) => {
    await look(await readFile(from, 'utf8'));
    await link(from, to);
  };
}

/** Reads the highest version of a record from the disk. */
export function highestVersion(folder: string, id: string): { k: number; n: number; record: Submission } {
  const versions = versionsOf(folder, id).map((name) => {
    const [, k, n] = name.split('.').map(Number);
    return { k: k ?? 0, n: n ?? 0, name };
  });
  const { k, n, name } = versions.reduce((one, other) => (other.n > one.n ? other : one));
  return { k, n, record: JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as Submission };
}

/** Appends a version to a record, as another window does. */
export function appendVersion(folder: string, id: string, change: (record: Submission) => Submission): void {
  const { k, n, record } = highestVersion(folder, id);
  writeVersion(folder, n + 1, change(record), k);
}

/** @param k which record of these bytes it is */
export function writeVersion(folder: string, n: number, record: Submission, k = 1): void {
  writeFileSync(path.join(folder, `${bytesKeyOf(record)}.${k}.${n}.json`), JSON.stringify(record));
}

/** Keeps the versions of a record. @returns a function that sets the folder back to them */
export function keepVersions(folder: string, id: string): () => void {
  const kept = versionsOf(folder, id).map(
    (name) => [path.join(folder, name), readFileSync(path.join(folder, name))] as const,
  );
  return () => {
    for (const name of versionsOf(folder, id)) rmSync(path.join(folder, name));
    for (const [file, bytes] of kept) writeFileSync(file, bytes);
  };
}

/** The names of all versions of a record, including emptied ones. */
function versionsOf(folder: string, id: string): string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const one = names.find((name) => readFileSync(path.join(folder, name), 'utf8').includes(id));
  const key = one?.replace(/\.\d+\.json$/, '.') ?? '-';
  return names.filter((name) => name.startsWith(key));
}
