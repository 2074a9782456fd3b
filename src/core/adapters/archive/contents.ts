import { createHash } from 'node:crypto';
import { BrokenArchiveError, type ArchiveFault } from '../faults.ts';
import type { Archive, Member } from './archive.ts';
import { MAX_CONFIG_BYTES, MAX_CONFIGS_BYTES, MAX_HEADER_BYTES, MAX_TENSORS } from '../limits.ts';
import type { AdapterEntry } from '../report.ts';
import { readSafetensorsHeader, type SafetensorsHeader } from '../safetensors.ts';

const PICKLE = /\.(?:bin|pt|pth|pkl|pickle|ckpt|joblib|mar)$/i;
const ARCHIVE = /\.(?:zip|tar|gz|tgz|bz2|tbz2?|xz|txz|zst|7z|rar|jar|whl)$/i;

export const CONFIG_NAME = 'adapter_config.json';
export const WEIGHTS_NAME = 'adapter_model.safetensors';
/** Enough for a header and the first modules behind it, and read in no time. */
const SAMPLE_BYTES = 4 * 2 ** 20;
/** Faults after which nothing more of a packed archive can be read. */
const OF_STREAM: readonly ArchiveFault[] = ['gzip-data', 'ratio', 'too-large'];
const PART_NAME = /^(.+)-\d{5}-of-\d{5}\.safetensors$/i;

/** What is in an archive, its configs and the headers of its weights read. */
export interface Contents {
  entries: readonly AdapterEntry[];
  /** By name; undefined where it is too large. */
  configs: ReadonlyMap<string, string | undefined>;
  weights: ReadonlyMap<string, SafetensorsHeader | BrokenArchiveError>;
  /** By name of weights: a digest of their beginning. */
  samples: ReadonlyMap<string, string>;
}

/** Goes through an archive once. @throws BrokenArchiveError, CancelledError */
export async function readContents(archive: Archive, signal: AbortSignal | undefined): Promise<Contents> {
  const entries: AdapterEntry[] = [];
  const configs = new Map<string, string | undefined>();
  const weights = new Map<string, SafetensorsHeader | BrokenArchiveError>();
  const samples = new Map<string, string>();
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
      if (configBytes > MAX_CONFIGS_BYTES) throw new BrokenArchiveError('header-too-large', name);
    }
    if (kind !== 'weights') continue;
    const pieces = member.open();
    const digest = createHash('sha256');
    let unsampled = SAMPLE_BYTES;
    const next = async () => {
      const { value: piece } = await pieces.next();
      if (piece === undefined) return undefined;
      digest.update(piece.subarray(0, unsampled));
      unsampled = Math.max(0, unsampled - piece.length);
      return piece;
    };
    try {
      const header = await readSafetensorsHeader(next, sizeBytes, signal);
      while (unsampled > 0 && (await next()) !== undefined);
      samples.set(name, digest.digest('hex'));
      weights.set(name, header);
      tensors += header.tensors.length;
      headerBytes += header.dataAt;
    } catch (error) {
      if (!(error instanceof BrokenArchiveError) || OF_STREAM.includes(error.code)) throw error;
      // Which file it is counts only if it is one of the adapter's.
      weights.set(name, new BrokenArchiveError(error.code, error.entry ?? name));
    } finally {
      await pieces.return();
    }
    // Together they may be no more than one of the greatest length.
    if (tensors > MAX_TENSORS || headerBytes > MAX_HEADER_BYTES + 8)
      throw new BrokenArchiveError('header-too-large', name);
  }
  return { entries, configs, weights, samples };
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
  if (PICKLE.test(base)) return 'pickle';
  return ARCHIVE.test(base) ? 'archive' : 'other';
}

export function baseOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** The folder that a file is in, '' at the top. */
export function folderOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf('/')));
}

/** Which files of an archive are the adapter. */
export interface Choice {
  root: string;
  config: string | undefined;
  weights: readonly string[];
  otherConfigs: readonly string[];
  otherWeights: readonly string[];
}

/** The outermost folder that has config and weights, else weights, else a config; undefined where there is neither. */
export function chooseAdapter({ configs, weights }: Contents): Choice | undefined {
  const folders = new Map<string, string[]>([...configs.keys()].map((name) => [folderOf(name), []]));
  for (const name of weights.keys()) {
    const its = folders.get(folderOf(name));
    if (its === undefined) folders.set(folderOf(name), [name]);
    else its.push(name);
  }
  const ranked = [...folders]
    .map(([folder, names]) => {
      const config = configs.has(join(folder, CONFIG_NAME)) ? join(folder, CONFIG_NAME) : undefined;
      const files = names.sort();
      return { folder, config, files, depth: folder === '' ? 0 : folder.split('/').length };
    })
    .sort((a, b) => rankOf(b) - rankOf(a) || a.depth - b.depth || (a.folder < b.folder ? -1 : 1));
  const [best] = ranked;
  if (best === undefined) return undefined;
  const chosen = chooseWeights(best.files);
  const isChosen = new Set(chosen);
  return {
    root: best.folder,
    config: best.config,
    weights: chosen,
    otherConfigs: [...configs.keys()].filter((name) => name !== best.config),
    otherWeights: [...weights.keys()].filter((name) => !isChosen.has(name)),
  };
}

function rankOf({ config, files }: { config: string | undefined; files: readonly string[] }): number {
  return (files.length > 0 ? 2 : 0) + (config === undefined ? 0 : 1);
}

/** PEFT's file, else all numbered parts, else the first. */
function chooseWeights(files: readonly string[]): readonly string[] {
  const own = files.find((name) => baseOf(name) === WEIGHTS_NAME);
  if (own !== undefined) return [own];
  const [first] = files;
  if (first === undefined) return [];
  const stem = PART_NAME.exec(baseOf(first))?.[1];
  if (stem === undefined) return [first];
  return files.filter((name) => PART_NAME.exec(baseOf(name))?.[1] === stem);
}

function join(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}
