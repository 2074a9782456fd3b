import type { Archive, Member } from './archive.ts';
import { baseOf, CONFIG_NAME, folderOf, kindOf } from './entryKind.ts';
import { BrokenArchiveError } from './faults.ts';
import { MAX_CONFIG_BYTES, MAX_TENSORS } from './limits.ts';
import type { AdapterEntry } from './report.ts';
import { readSafetensorsHeader, type SafetensorsHeader } from './safetensors.ts';

const WEIGHTS_NAME = 'adapter_model.safetensors';
const PART_NAME = /^(.+)-\d{5}-of-\d{5}\.safetensors$/i;

/** What is in an archive, its configs and the headers of its weights read. */
export interface Contents {
  entries: readonly AdapterEntry[];
  /** By name; undefined where it is too large. */
  configs: ReadonlyMap<string, string | undefined>;
  weights: ReadonlyMap<string, SafetensorsHeader | BrokenArchiveError>;
}

/** Goes through an archive once. @throws BrokenArchiveError, CancelledError */
export async function readContents(archive: Archive, signal: AbortSignal | undefined): Promise<Contents> {
  const entries: AdapterEntry[] = [];
  const configs = new Map<string, string | undefined>();
  const weights = new Map<string, SafetensorsHeader | BrokenArchiveError>();
  let tensors = 0;
  for await (const member of archive.members()) {
    const { name, sizeBytes } = member;
    const kind = kindOf(name);
    entries.push({ name, sizeBytes, kind });
    if (kind === 'config') configs.set(name, await textOf(member));
    if (kind !== 'weights') continue;
    try {
      const header = await readSafetensorsHeader(member.open(), sizeBytes, signal);
      weights.set(name, header);
      tensors += header.tensors.length;
    } catch (error) {
      if (!(error instanceof BrokenArchiveError)) throw error;
      // Which file it is counts only if it is one of the adapter's.
      weights.set(name, new BrokenArchiveError(error.code, error.entry ?? name));
    }
    if (tensors > MAX_TENSORS) throw new BrokenArchiveError('header-too-large', name);
  }
  return { entries, configs, weights };
}

async function textOf(member: Member): Promise<string | undefined> {
  if (member.sizeBytes > MAX_CONFIG_BYTES) return undefined;
  const pieces: Buffer[] = [];
  for await (const piece of member.open()) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString('utf8');
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
  const folders = new Set([...configs.keys(), ...weights.keys()].map(folderOf));
  const ranked = [...folders]
    .map((folder) => {
      const config = configs.has(join(folder, CONFIG_NAME)) ? join(folder, CONFIG_NAME) : undefined;
      const files = [...weights.keys()].filter((name) => folderOf(name) === folder).sort();
      return { folder, config, files, depth: folder === '' ? 0 : folder.split('/').length };
    })
    .sort((a, b) => rankOf(b) - rankOf(a) || a.depth - b.depth || (a.folder < b.folder ? -1 : 1));
  const [best] = ranked;
  if (best === undefined) return undefined;
  const chosen = chooseWeights(best.files);
  return {
    root: best.folder,
    config: best.config,
    weights: chosen,
    otherConfigs: [...configs.keys()].filter((name) => name !== best.config),
    otherWeights: [...weights.keys()].filter((name) => !chosen.includes(name)),
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
