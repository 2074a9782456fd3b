import { lstat, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { AdapterReport } from '../../core/adapters/report.ts';

const MAX_NUMBERS = 1_000;

/** Where an adapter is, or would be, unpacked. */
export interface UnpackedPlace {
  /** The folder with the contents of the archive. */
  folder: string;
  exists: boolean;
}

/** What is inspected: of weights beside their config, the folder of both. */
export async function subjectOf(file: string): Promise<string> {
  const folder = path.dirname(file);
  const isPart = /^adapter_model.*\.safetensors$/i.test(path.basename(file));
  return isPart && (await exists(path.join(folder, 'adapter_config.json'))) ? folder : path.normalize(file);
}

/** Whether tools need it unpacked. */
export function isPacked({ container }: AdapterReport): boolean {
  return container === 'zip' || container === 'tar' || container === 'tar.gz';
}

/** The folder that tools load an adapter from. @param unpacked the folder of the archive's contents, if it is one */
export function adapterFolder(report: AdapterReport, unpacked: string): string {
  if (report.container === 'safetensors') return path.dirname(report.file);
  return path.join(isPacked(report) ? unpacked : report.file, ...report.root.split('/').filter(Boolean));
}

/**
 * Where an archive is, or can be, unpacked: in a folder of its name beside it, or in `parent`. A folder that holds the same
 * files was unpacked before; any other is never written to.
 */
export async function unpackedPlace(
  report: AdapterReport,
  inspect: (folder: string) => Promise<AdapterReport>,
  parent = path.dirname(report.file),
): Promise<UnpackedPlace> {
  const name = folderName(path.basename(report.file));
  for (let number = 1; number < MAX_NUMBERS; number++) {
    const folder = path.join(parent, number === 1 ? name : `${name}-${number}`);
    if (!(await exists(folder))) return { folder, exists: false };
    if (await holds(folder, report, inspect)) return { folder, exists: true };
  }
  return { folder: path.join(parent, `${name}-${MAX_NUMBERS}`), exists: false };
}

/** Changes when a file or a folder's files change; undefined where nothing exists. */
export async function fingerprintOf(file: string): Promise<string | undefined> {
  try {
    const found = await stat(file);
    if (!found.isDirectory()) return partOf(found);
    const names = (await readdir(file)).sort();
    const parts = await Promise.all(
      names.map(async (name) => {
        const entry = await stat(path.join(file, name)).catch(() => undefined);
        // Not of subfolders: an unpacked archive beside it changes nothing.
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

/** The name without the extensions of archives; another where it has none. */
function folderName(fileName: string): string {
  const name = fileName.replace(/\.(zip|tar|tgz|tar\.gz|gz)$/i, '');
  return name === '' || name === fileName ? `${fileName}-unpacked` : name;
}

async function exists(folder: string): Promise<boolean> {
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
  // Adapters of the same base and rank all have the same sizes.
  const found = await inspect(adapterFolder(report, folder));
  return sample !== undefined && found.sample === sample;
}
