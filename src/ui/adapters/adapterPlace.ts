import { lstat, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { AdapterReport } from '../../core/adapters/report.ts';

const MAX_NUMBERS = 1_000;

/** Where an adapter is, or would be, unpacked. */
export interface UnpackedFolder {
  /** The folder with the contents of the archive. */
  folder: string;
  exists: boolean;
}

/** Returns the path to inspect: the folder for weights next to their config, otherwise the file itself. */
export async function pathToInspect(file: string): Promise<string> {
  const folder = path.dirname(file);
  const isPart = /^adapter_model.*\.safetensors$/i.test(path.basename(file));
  return isPart && (await exists(path.join(folder, 'adapter_config.json'))) ? folder : path.normalize(file);
}

/** Whether the adapter must be unpacked before tools can load it. */
export function isPacked({ container }: AdapterReport): boolean {
  return container === 'zip' || container === 'tar' || container === 'tar.gz';
}

/** Returns the folder that tools load an adapter from. @param unpacked the folder of an archive's contents */
export function adapterFolder(report: AdapterReport, unpacked: string): string {
  if (report.container === 'safetensors') return path.dirname(report.file);
  return path.join(isPacked(report) ? unpacked : report.file, ...report.root.split('/').filter(Boolean));
}

/**
 * Returns where an archive is or can be unpacked: to a folder with its name in `parent`. An existing folder
 * counts as unpacked if it has the same adapter. Otherwise the next number is tried.
 */
export async function unpackedPlace(
  report: AdapterReport,
  inspect: (folder: string) => Promise<AdapterReport>,
  parent = path.dirname(report.file),
): Promise<UnpackedFolder> {
  const name = folderName(path.basename(report.file));
  for (let number = 1; number < MAX_NUMBERS; number++) {
    const folder = path.join(parent, number === 1 ? name : `${name}-${number}`);
    if (!(await exists(folder))) return { folder, exists: false };
    // Compare samples: adapters of the same base and rank have the same sizes.
    const { container, sample } = await inspect(adapterFolder(report, folder));
    if (container === 'folder' && sample !== undefined && sample === report.sample)
      return { folder, exists: true };
  }
  return { folder: path.join(parent, `${name}-${MAX_NUMBERS}`), exists: false };
}

/** Returns a text that changes with a file, or with the files in a folder; undefined if the path doesn't exist. */
export async function fingerprintOf(file: string): Promise<string | undefined> {
  try {
    const names = (await stat(file)).isDirectory() ? (await readdir(file)).sort() : ['.'];
    const parts = names.map(async (name) => {
      const found = await stat(path.join(file, name)).catch(() => undefined);
      // Ignore subfolders: an archive unpacked there changes nothing.
      return found?.isDirectory() === false ? [`${name} ${found.size} ${found.mtimeMs}`] : [];
    });
    return (await Promise.all(parts)).flat().join('\n');
  } catch {
    return undefined;
  }
}

/** Returns a name without archive extensions, or with a suffix if it has none. Programs obey `.vscode` and the like. */
function folderName(fileName: string): string {
  const name = fileName.replace(/\.(zip|tar|tgz|tar\.gz|gz)$/i, '');
  return name === '' || name === fileName || name.startsWith('.') ? `${fileName}-unpacked` : name;
}

async function exists(folder: string): Promise<boolean> {
  return lstat(folder).then(
    () => true,
    () => false,
  );
}
