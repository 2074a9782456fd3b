import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { withoutMarker } from '../runs/marker.ts';
import type { ActiveDownload, ArtifactName, DownloadRecord } from './types.ts';

/** What the kind of artifact is called that is the trained adapter (spec: "Artifact"). */
const ADAPTER = 'model';
/** Names that Windows keeps for devices, with or without an extension. */
const DEVICE_NAME = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])$/i;
/** Longest name of common file systems, in UTF-8 bytes, less room for ` (99)`. */
const MAX_NAME_BYTES = 240;
/** As much of the start and of the end of a name as can matter: normalizing a megabyte of accents takes minutes. */
const KEPT_UNITS = 1024;
/** Longest part of a run's folder that its label gives, in characters. */
const MAX_LABEL_LENGTH = 60;

/** The download folder as the user set it; `asked`: none is set. */
export type Directory =
  | { kind: 'asked' }
  /** Not an absolute path, or something that is no folder. */
  | { kind: 'unusable'; text: string }
  /** It does not exist: perhaps a drive that is not mounted. */
  | { kind: 'missing'; path: string }
  | { kind: 'there'; path: string };

/** What the text of the setting means on this machine. @param home what `~` means */
export function directoryOf(text: string, home: string): Directory {
  const trimmed = text.trim();
  if (trimmed === '') return { kind: 'asked' };
  const directory = /^~(?=$|[/\\])/.test(trimmed) ? path.join(home, trimmed.slice(1)) : trimmed;
  if (!path.isAbsolute(directory)) return { kind: 'unusable', text: trimmed };
  const normal = path.normalize(directory);
  try {
    const stats = statSync(normal, { throwIfNoEntry: false });
    if (stats === undefined) return { kind: 'missing', path: normal };
    return stats.isDirectory() ? { kind: 'there', path: normal } : { kind: 'unusable', text: trimmed };
  } catch (error) {
    // Without permission to check it, writing there says more; otherwise a file is in its way.
    return ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')
      ? { kind: 'there', path: normal }
      : { kind: 'unusable', text: trimmed };
  }
}

/** The name of a run's own folder in the download directory: for people its label, and what keeps runs apart. */
export function runFolderName(label: string | undefined, runId: string): string {
  const given = withoutMarker(label ?? '').replace(/[/\\]/g, '-');
  const start = Array.from(given).slice(0, MAX_LABEL_LENGTH).join('');
  return `${safeFileName(start, 'run')} ${safeFileName(runId.slice(0, 8), 'run')}`;
}

/** Whether a kind of artifact is the trained adapter. */
export function isAdapter(artifactType: string): boolean {
  return artifactType === ADAPTER;
}

/** The adapter first, the others as the service has them. */
export function adapterFirst(artifacts: readonly ArtifactName[]): ArtifactName[] {
  return [
    ...artifacts.filter(({ type }) => isAdapter(type)),
    ...artifacts.filter(({ type }) => !isAdapter(type)),
  ];
}

/** The file name that an artifact gets: what the service calls it, made safe, or a name of its own. */
export function artifactFileName({ type, filename }: ArtifactName, runId: string): string {
  const kind = isAdapter(type) ? 'adapter' : safeFileName(type, 'artifact');
  return safeFileName(filename, safeFileName(`${kind}-${runId.slice(0, 8)}`, 'adapter'));
}

/** Whether a download that has not ended is one of this artifact. */
export function isDownloadOf(download: Destined, runId: string, { type, filename }: ArtifactName): boolean {
  return download.runId === runId && download.artifactType === type && download.filename === filename;
}

/** What is to have a name, and does not yet. */
type Destined = Pick<ActiveDownload, 'runId' | 'artifactType' | 'filename' | 'target'>;

/** A place for an artifact: `name`, or, where something has or gets that name already, `other`. */
export interface Place {
  name: string;
  other?: string;
  /** Whether it is a file that has the name. */
  isFile: boolean;
}

/**
 * Where in a folder an artifact may go without a file being replaced.
 * @param destined what others are to be called is taken, too
 */
export function placeIn(
  folder: string,
  artifact: ArtifactName,
  runId: string,
  destined: readonly Destined[],
): Place {
  const isFile = (name: string) => existsSync(path.join(folder, name));
  const isTaken = (name: string) => {
    // Many file systems ignore case.
    const target = path.join(folder, name).toLowerCase();
    const isMeant = (one: Destined) =>
      one.target.toLowerCase() === target && !isDownloadOf(one, runId, artifact);
    return isFile(name) || destined.some(isMeant);
  };
  const name = artifactFileName(artifact, runId);
  if (!isTaken(name)) return { name, isFile: false };
  let number = 2;
  while (isTaken(numberedFileName(name, number))) number += 1;
  return { name, other: numberedFileName(name, number), isFile: isFile(name) };
}

/** Whether a downloaded file is an adapter that is not known to be broken: an archive or safetensors. */
export function isSoundAdapter({
  artifactType,
  verified,
}: Pick<DownloadRecord, 'artifactType' | 'verified'>): boolean {
  return isAdapter(artifactType) && !['length', 'html', 'damaged'].includes(verified);
}

/** The sound adapter of a run that was downloaded and is still there, by its length: another artifact is none. */
export function localAdapter(records: readonly DownloadRecord[], runId: string): DownloadRecord | undefined {
  return records.find(
    (record) => record.runId === runId && isSoundAdapter(record) && sizeOf(record.path) === record.sizeBytes,
  );
}

/** Undefined where there is no such file, or it cannot be checked. */
function sizeOf(file: string): number | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false })?.size;
  } catch {
    return undefined;
  }
}

/**
 * A file name that somebody else chose, reduced to a safe base name: no folder, nothing hidden, no device, no characters
 * that a platform refuses, at most 240 UTF-8 bytes with the extension kept.
 */
export function safeFileName(text: string | undefined, fallback: string): string {
  const base = (text ?? '').split(/[/\\]/).at(-1) ?? '';
  const cut = base.length > 2 * KEPT_UNITS ? base.slice(0, KEPT_UNITS) + base.slice(-KEPT_UNITS) : base;
  const cleaned = cut
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}<>:"|?*]/gu, '')
    .replace(/^[.\s]+|(?<![.\s])[.\s]+$/gu, '');
  if (cleaned === '') return fallback;
  const extension = path.extname(cleaned);
  const stem = cleaned.slice(0, cleaned.length - extension.length);
  // Windows ignores blanks before the dot.
  const safeStem = DEVICE_NAME.test((cleaned.split('.', 1)[0] ?? '').trimEnd())
    ? `${fallback}-${stem}`
    : stem;
  const keptExtension = Buffer.byteLength(extension) <= 32 ? extension : '';
  const cutStem = cutToBytes(safeStem, MAX_NAME_BYTES - Buffer.byteLength(keptExtension));
  return cutStem.replace(/(?<![.\s])[.\s]+$/u, '') + keptExtension;
}

/** `adapter.zip` → `adapter (2).zip`. */
export function numberedFileName(name: string, number: number): string {
  const extension = path.extname(name);
  return `${name.slice(0, name.length - extension.length)} (${number})${extension}`;
}

function cutToBytes(text: string, maxBytes: number): string {
  let cut = '';
  let bytes = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > maxBytes) break;
    cut += character;
  }
  return cut;
}
