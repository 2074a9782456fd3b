import { createHash, type Hash } from 'node:crypto';
import { BrokenArchiveError, type ArchiveFault } from '../problems.ts';
import type { AdapterEntry } from '../report.ts';
import {
  MAX_HEADER_BYTES,
  MAX_TENSORS,
  WEIGHTS_NAME,
  readSafetensorsHeader,
  type SafetensorsHeader,
} from '../safetensors.ts';
import { bytesOf, type Archive, type Member } from './bytes.ts';

const MAX_CONFIG_BYTES = 2 ** 20;
/** Limit of all configs of an archive together: all are read before one is chosen. */
const MAX_CONFIGS_BYTES = 16 * 2 ** 20;
const PICKLE = /\.(?:bin|pt|pth|pkl|pickle|ckpt|joblib|mar)$/i;
const ARCHIVE = /\.(?:zip|tar|gz|tgz|bz2|tbz2?|xz|txz|zst|7z|rar|jar|whl)$/i;
export const CONFIG_NAME = 'adapter_config.json';
/** Usually enough for the header and the first modules after it, and fast to read. */
const SAMPLE_BYTES = 4 * 2 ** 20;
/** Faults after which the rest of a packed archive can't be read. */
const STREAM_FAULTS: readonly ArchiveFault[] = ['gzip', 'bomb', 'too-large'];

/** A header, and a digest of the start of its file. */
export interface Weights extends SafetensorsHeader {
  sample: string;
}

/** The files of an archive, with the content of its configs and weight headers. */
export interface Contents {
  entries: readonly AdapterEntry[];
  hasExtraBytes: boolean;
  /** By name; undefined if too large. */
  configs: ReadonlyMap<string, string | undefined>;
  weights: ReadonlyMap<string, Weights | BrokenArchiveError>;
}

/** Reads an archive in one pass. @throws BrokenArchiveError, CancelledError */
export async function readContents(archive: Archive): Promise<Contents> {
  const entries: AdapterEntry[] = [];
  const configs = new Map<string, string | undefined>();
  const weights = new Map<string, Weights | BrokenArchiveError>();
  // All headers together may be no longer than the longest allowed header.
  const budget = { bytes: MAX_HEADER_BYTES };
  let tensors = 0;
  let configBytes = 0;
  for await (const member of archive.members()) {
    const { name, sizeBytes } = member;
    const kind = entryKindOf(name);
    entries.push({ name, sizeBytes, kind });
    if (kind === 'config') {
      const isRead = sizeBytes <= MAX_CONFIG_BYTES;
      configs.set(name, isRead ? (await bytesOf(member.open())).toString('utf8') : undefined);
      if (isRead) configBytes += sizeBytes;
    } else if (kind === 'weights')
      try {
        const one = await readWeights(member, budget);
        weights.set(name, one);
        tensors += one.tensors.length;
      } catch (error) {
        if (!(error instanceof BrokenArchiveError) || STREAM_FAULTS.includes(error.code)) throw error;
        // The error only matters if the file turns out to be the adapter's.
        const { entry = name, detail } = error.verdict;
        weights.set(name, new BrokenArchiveError(error.code, entry, detail));
      }
    if (configBytes > MAX_CONFIGS_BYTES || tensors > MAX_TENSORS || budget.bytes < 0)
      throw new BrokenArchiveError('header-too-large', name);
  }
  return { entries, hasExtraBytes: archive.hasExtraBytes === true, configs, weights };
}

async function readWeights(member: Member, budget: { bytes: number }): Promise<Weights> {
  const hash = createHash('sha256');
  const pieces = hashed(member.open(), hash);
  try {
    const header = await readSafetensorsHeader(pieces, member.sizeBytes, budget);
    let read = 0;
    for await (const piece of pieces) if ((read += piece.length) >= SAMPLE_BYTES) break;
    return { ...header, sample: hash.digest('hex') };
  } finally {
    await pieces.return();
  }
}

/** Passes pieces through and hashes the first bytes. */
async function* hashed(pieces: AsyncGenerator<Buffer, void>, hash: Hash): AsyncGenerator<Buffer, void> {
  let left = SAMPLE_BYTES;
  for await (const piece of pieces) {
    hash.update(piece.subarray(0, left));
    left = Math.max(0, left - piece.length);
    yield piece;
  }
}

/** Returns a file's kind, by the names that tools look for. */
export function entryKindOf(name: string): AdapterEntry['kind'] {
  const base = baseOf(name);
  // macOS adds metadata files beside each file.
  if (base.startsWith('._') || name.startsWith('__MACOSX/')) return 'other';
  if (base === CONFIG_NAME) return 'config';
  if (/\.safetensors$/i.test(base)) return 'weights';
  // PyTorch's own files contain `data.pkl`.
  if (PICKLE.test(base)) return 'pickle';
  return ARCHIVE.test(base) ? 'archive' : 'other';
}

export function baseOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** Returns the folder of a file, '' at the top. */
function folderOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf('/')));
}

/** The files of an archive that form the adapter. */
export interface FormingFiles {
  root: string;
  config: string | undefined;
  /** The file with PEFT's name, otherwise the first by name: tools read only one. */
  weights: string | undefined;
  otherWeights: readonly string[];
  /** Whether it is a complete checkpoint. */
  isCheckpoint: boolean;
  /** Folders of other checkpoints, the newest first. */
  checkpoints: readonly string[];
}

/**
 * Chooses the outermost folder with config and weights; without one, a folder with weights, then one with a
 * config. Among checkpoints, the newest complete one wins.
 */
export function chooseAdapter({
  configs,
  weights,
}: Pick<Contents, 'configs' | 'weights'>): FormingFiles | undefined {
  const [best, ...others] = [...Map.groupBy([...configs.keys(), ...weights.keys()], folderOf)]
    .map(([root, names]) => {
      const files = names.filter((name) => weights.has(name)).sort();
      const own = files.find((name) => baseOf(name) === WEIGHTS_NAME) ?? files[0];
      const config = names.find((name) => configs.has(name));
      const number = checkpointOf(root);
      const header = weights.get(own ?? '');
      const isWhole = number === undefined || (header && 'tensors' in header && header.tensors.length > 0);
      // Weights outrank a config, which outranks an incomplete checkpoint's weights. 3: complete.
      const rank = (own === undefined ? 0 : isWhole ? 2 : 0.5) + (config === undefined ? 0 : 1);
      return { root, config, weights: own, rank, number };
    })
    .sort(
      (a, b) =>
        b.rank - a.rank ||
        depthOf(a.root) - depthOf(b.root) ||
        (b.number ?? Infinity) - (a.number ?? Infinity) ||
        (a.root < b.root ? -1 : 1),
    );
  if (best === undefined) return undefined;
  const checkpoints = others
    .filter(({ number }) => number !== undefined)
    .sort((a, b) => (b.number ?? 0) - (a.number ?? 0))
    .map(({ root }) => root);
  const isOther = (name: string) => name !== best.weights && !checkpoints.includes(folderOf(name));
  const isCheckpoint = best.number !== undefined && best.rank === 3;
  return { ...best, isCheckpoint, checkpoints, otherWeights: [...weights.keys()].filter(isOther) };
}

const CHECKPOINT = /(?:^|(?:^|[-_. ])(?:checkpoint|ckpt|epoch|global_?step|step|iter)\D{0,20})(\d{1,12})$/i;

/** Returns the number of a folder that is named as a checkpoint, or is in one. */
export function checkpointOf(folder: string): number | undefined {
  const found = folder.split('/').flatMap((name) => CHECKPOINT.exec(name)?.[1] ?? []);
  return found.length === 0 ? undefined : Number(found.at(-1));
}

function depthOf(folder: string): number {
  return folder === '' ? 0 : folder.split('/').length;
}
