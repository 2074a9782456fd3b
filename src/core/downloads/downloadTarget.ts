import { existsSync } from 'node:fs';
import path from 'node:path';
import { DEVICE_NAME } from '../adapters/archive/entryNames.ts';
import { withoutMarker } from '../runs/marker.ts';
import { isAdapter } from './localFiles.ts';
import type { ActiveDownload, ArtifactName } from './types.ts';

/** Longest name of common file systems, in UTF-8 bytes, less room for ` (99)`. */
const MAX_NAME_BYTES = 240;
/** As much of the start and of the end of a name as can matter: normalizing a megabyte of accents takes minutes. */
const KEPT_UNITS = 1024;
/** Longest part of a run's folder that its label gives, in characters. */
const MAX_LABEL_LENGTH = 60;

/** The name of a run's own folder in the download directory: for people its label, and what keeps runs apart. */
export function runFolderName(label: string | undefined, runId: string): string {
  const given = withoutMarker(label ?? '').replace(/[/\\]/g, '-');
  const start = Array.from(given).slice(0, MAX_LABEL_LENGTH).join('');
  return `${safeFileName(start, 'run')} ${safeFileName(runId.slice(0, 8), 'run')}`;
}

/** The adapter first, the others as the service has them. */
export function adapterFirst(artifacts: readonly ArtifactName[]): ArtifactName[] {
  return artifacts.toSorted((one, other) => Number(isAdapter(other.type)) - Number(isAdapter(one.type)));
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
  const safeStem = DEVICE_NAME.test(cleaned) ? `${fallback}-${stem}` : stem;
  const keptExtension = Buffer.byteLength(extension) <= 32 ? extension : '';
  const cutStem = cutToBytes(safeStem, MAX_NAME_BYTES - Buffer.byteLength(keptExtension));
  return cutStem.replace(/(?<![.\s])[.\s]+$/u, '') + keptExtension;
}

/** `adapter.zip` → `adapter (2).zip`. */
export function numberedFileName(name: string, number: number): string {
  const extension = path.extname(name);
  return `${name.slice(0, name.length - extension.length)} (${number})${extension}`;
}

/** At a whole character. */
function cutToBytes(text: string, maxBytes: number): string {
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(maxBytes)).read);
}
