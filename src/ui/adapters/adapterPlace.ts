import { lstat, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { AdapterReport } from '../../core/adapters/report.ts';

const MOST_NUMBERS = 1_000;

/** Where an adapter stands, or would stand, unpacked. */
export interface UnpackedPlace {
  /** The folder that holds what was in the archive. */
  folder: string;
  exists: boolean;
}

/** What is inspected: of weights that lie beside their config, the folder of both. */
export async function subjectOf(file: string): Promise<string> {
  const folder = path.dirname(file);
  const isPart = /^adapter_model.*\.safetensors$/i.test(path.basename(file));
  return isPart && (await isThere(path.join(folder, 'adapter_config.json'))) ? folder : path.normalize(file);
}

/** Whether tools have to wait for it to be unpacked. */
export function isPacked({ container }: AdapterReport): boolean {
  return container === 'zip' || container === 'tar' || container === 'tar.gz';
}

/** The folder that tools load an adapter from. @param unpacked where the archive's contents stand, if it is one */
export function adapterFolder(report: AdapterReport, unpacked: string): string {
  if (report.container === 'safetensors') return path.dirname(report.file);
  return path.join(isPacked(report) ? unpacked : report.file, ...report.root.split('/').filter(Boolean));
}

/**
 * Where an archive is, or can be, unpacked: into a folder of its own name beside it, or in `parent`. One that holds the same
 * files already is that of an earlier time; any other stays as it is.
 */
export async function unpackedPlace(
  report: AdapterReport,
  inspect: (folder: string) => Promise<AdapterReport>,
  parent = path.dirname(report.file),
): Promise<UnpackedPlace> {
  const name = folderName(path.basename(report.file));
  for (let number = 1; number < MOST_NUMBERS; number++) {
    const folder = path.join(parent, number === 1 ? name : `${name}-${number}`);
    if (!(await isThere(folder))) return { folder, exists: false };
    if (await holds(folder, report, inspect)) return { folder, exists: true };
  }
  return { folder: path.join(parent, `${name}-${MOST_NUMBERS}`), exists: false };
}

/** What changes when a file or a folder's files change; undefined where nothing is there. */
export async function fingerprintOf(file: string): Promise<string | undefined> {
  try {
    const found = await stat(file);
    if (!found.isDirectory()) return partOf(found);
    const names = (await readdir(file)).sort();
    const parts = await Promise.all(
      names.map(async (name) => {
        const entry = await stat(path.join(file, name)).catch(() => undefined);
        // Of folders below only that they are there: an unpacked archive beside it changes nothing.
        return entry === undefined || entry.isDirectory() ? '' : `${name} ${partOf(entry)}`;
      }),
    );
    return parts.filter((part) => part !== '').join('\n');
  } catch {
    return undefined;
  }
}

function partOf({ size, mtimeMs }: { size: number; mtimeMs: number }): string {
  return `${size} ${mtimeMs}`;
}

/** The name without the endings of archives; another where it has none. */
function folderName(fileName: string): string {
  const name = fileName.replace(/\.(zip|tar|tgz|tar\.gz|gz)$/i, '');
  return name === '' || name === fileName ? `${fileName}-unpacked` : name;
}

async function isThere(folder: string): Promise<boolean> {
  return lstat(folder).then(
    () => true,
    () => false,
  );
}

async function holds(
  folder: string,
  report: AdapterReport,
  inspect: (folder: string) => Promise<AdapterReport>,
): Promise<boolean> {
  const { entries, sample } = report;
  const wanted = entries.filter(({ kind }) => kind === 'config' || kind === 'weights');
  const sizes = await Promise.all(
    wanted.map(({ name }) =>
      stat(path.join(folder, ...name.split('/'))).then(
        (found) => found.size,
        () => undefined,
      ),
    ),
  );
  if (wanted.length === 0 || !wanted.every(({ sizeBytes }, index) => sizes[index] === sizeBytes))
    return false;
  // Adapters of one base and rank all have the same sizes, whatever they were trained on.
  const there = await inspect(adapterFolder(report, folder));
  return sample !== undefined && there.sample === sample;
}
