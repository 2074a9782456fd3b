import { BrokenArchiveError, type ArchiveFault } from '../faults.ts';
import type { Archive, Member } from './archive.ts';
import { MAX_CONFIG_BYTES, MAX_CONFIGS_BYTES, MAX_HEADER_BYTES, MAX_TENSORS } from '../limits.ts';
import type { AdapterEntry } from '../report.ts';
import { readSafetensorsHeader, type SafetensorsHeader } from '../safetensors.ts';

const PICKLE = /\.(?:bin|pt|pth|pkl|pickle|ckpt|joblib|mar)$/i;

export const CONFIG_NAME = 'adapter_config.json';
export const WEIGHTS_NAME = 'adapter_model.safetensors';
/** Faults after which nothing more of a packed archive can be read. */
const OF_STREAM: readonly ArchiveFault[] = ['gzip', 'bomb', 'too-large'];

/** What is in an archive, its configs and the headers of its weights read. */
export interface Contents {
  entries: readonly AdapterEntry[];
  /** By name; undefined where it is too large. */
  configs: ReadonlyMap<string, string | undefined>;
  weights: ReadonlyMap<string, SafetensorsHeader | BrokenArchiveError>;
}

/** Goes through an archive once. @throws BrokenArchiveError, CancelledError */
export async function readContents(archive: Archive): Promise<Contents> {
  const entries: AdapterEntry[] = [];
  const configs = new Map<string, string | undefined>();
  const weights = new Map<string, SafetensorsHeader | BrokenArchiveError>();
  let tensors = 0;
  let headerBytes = 0;
  let configBytes = 0;
  for await (const member of archive.members()) {
    const { name, sizeBytes } = member;
    const kind = kindOf(name);
    entries.push({ name, sizeBytes, kind });
    if (kind === 'config') {
      const text = await textOf(member);
      configs.set(name, text);
      if (text !== undefined) configBytes += sizeBytes;
      if (configBytes > MAX_CONFIGS_BYTES) throw new BrokenArchiveError('too-large', name);
    }
    if (kind !== 'weights') continue;
    try {
      const header = await readSafetensorsHeader(member.open(), sizeBytes);
      weights.set(name, header);
      tensors += header.tensors.length;
      headerBytes += header.dataAt;
    } catch (error) {
      if (!(error instanceof BrokenArchiveError) || OF_STREAM.includes(error.code)) throw error;
      // Which file it is counts only if it is one of the adapter's.
      weights.set(name, new BrokenArchiveError(error.code, error.verdict.entry ?? name));
    }
    // Together they may be no more than one of the greatest length.
    if (tensors > MAX_TENSORS || headerBytes > MAX_HEADER_BYTES + 8)
      throw new BrokenArchiveError('too-large', name);
  }
  return { entries, configs, weights };
}

async function textOf(member: Member): Promise<string | undefined> {
  if (member.sizeBytes > MAX_CONFIG_BYTES) return undefined;
  const pieces: Buffer[] = [];
  for await (const piece of member.open()) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString('utf8');
}

/** What a file of an archive is, by the name by which tools find it. */
export function kindOf(name: string): AdapterEntry['kind'] {
  const base = baseOf(name);
  // What macOS adds beside each file.
  if (base.startsWith('._') || name.startsWith('__MACOSX/')) return 'other';
  if (base === CONFIG_NAME) return 'config';
  if (/\.safetensors$/i.test(base)) return 'weights';
  // `data.pkl` is what PyTorch's own files are inside.
  return PICKLE.test(base) ? 'pickle' : 'other';
}

export function baseOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** The folder that a file is in, '' at the top. */
function folderOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf('/')));
}

/** Which files of an archive are the adapter. */
export interface Choice {
  root: string;
  config: string | undefined;
  weights: string | undefined;
  /** Other configs and weights. */
  others: readonly string[];
}

/** The outermost folder that has config and weights, else weights, else a config; undefined where there is neither. */
export function chooseAdapter({ configs, weights }: Contents): Choice | undefined {
  const names = [...weights.keys(), ...configs.keys()];
  const [best] = [...Map.groupBy(names, folderOf)]
    .map(([root, its]) => {
      const files = its.filter((name) => weights.has(name)).sort();
      const own = files.find((name) => baseOf(name) === WEIGHTS_NAME);
      return { root, config: its.find((name) => configs.has(name)), weights: own ?? files[0] };
    })
    .sort((a, b) => rankOf(b) - rankOf(a) || depthOf(a.root) - depthOf(b.root) || (a.root < b.root ? -1 : 1));
  return best && { ...best, others: names.filter((name) => name !== best.config && name !== best.weights) };
}

function rankOf({ config, weights }: Pick<Choice, 'config' | 'weights'>): number {
  return (weights === undefined ? 0 : 2) + (config === undefined ? 0 : 1);
}

function depthOf(folder: string): number {
  return folder === '' ? 0 : folder.split('/').length;
}
