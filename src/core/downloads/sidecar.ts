import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, open, readFile } from 'node:fs/promises';
import path from 'node:path';
import * as v from 'valibot';
import { throwIfCancelled } from '../base/errors.ts';
import type { UnfinishedDownload } from './types.ts';

/** Nothing that is read as one is larger: it has one short line for each few megabytes. */
const MAX_BYTES = 4 * 1024 * 1024;

const READ_BYTES = 1024 * 1024;
/** Hexadecimal digits of SHA-256 that a mark holds. */
const DIGEST_LENGTH = 32;

const MARK = /^(\d{1,15}) ([0-9a-f]{32})$/;

const wholeNumber = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const headSchema = v.object({
  version: v.literal(1),
  id: v.string(),
  etag: v.optional(v.string()),
  totalBytes: v.optional(wholeNumber),
});

/** Where the files of an unfinished download are. */
export interface PartPlace {
  part: string;
  sidecar: string;
  /** Of the download: a part of another one is not continued. */
  id: string;
  runId: string;
  artifactType: string;
  targetName: string;
}

export function partPlaceOf({ id, runId, artifactType, target }: UnfinishedDownload): PartPlace {
  const part = path.join(path.dirname(target), `.${id}.part`);
  return { part, sidecar: `${part}.json`, id, runId, artifactType, targetName: path.basename(target) };
}

/** So many bytes from the first on have this SHA-256 (its beginning, in hexadecimal). */
export interface Mark {
  bytes: number;
  digest: string;
}

/** What is known of a part's bytes. */
export interface PartState {
  /** A strong one; undefined where nothing says what the bytes are, so that they cannot be continued. */
  etag: string | undefined;
  totalBytes: number | undefined;
  /** Rising. Whether the bytes are still those, the part itself must show. */
  marks: readonly Mark[];
}

/**
 * The file beside a part that says what its bytes are: a line of JSON, durable before the first byte, then a line for each few
 * megabytes that were written, with the hash of everything up to there. Neither a line that a crash tore nor bytes that never
 * reached the disk can be taken for what they are not. Methods throw what the file system says.
 */
export class Sidecar {
  readonly #handle: FileHandle;
  readonly #place: PartPlace;
  #endByte = 0;

  private constructor(handle: FileHandle, place: PartPlace, endByte: number) {
    this.#handle = handle;
    this.#place = place;
    this.#endByte = endByte;
  }

  static async open(place: PartPlace, openFile: typeof open = open): Promise<Sidecar> {
    const handle = await openFile(place.sidecar, OPEN_OR_MAKE, 0o600);
    try {
      return new Sidecar(handle, place, (await handle.stat()).size);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Other bytes follow: what is known of those before no longer counts. */
  async begin(etag: string | undefined, totalBytes: number | undefined): Promise<void> {
    const { id, runId, artifactType, targetName } = this.#place;
    const head = { version: 1, id, runId, artifactType, targetName, etag, totalBytes };
    await this.#handle.truncate(0);
    this.#endByte = 0;
    await this.#append(JSON.stringify(head));
    await this.#handle.sync();
  }

  async mark({ bytes, digest }: Mark): Promise<void> {
    // After a line that a crash tore this one needs a new line; an empty line says nothing.
    await this.#append(`\n${bytes} ${digest}`);
  }

  /** Makes durable what was marked. */
  async sync(): Promise<void> {
    await this.#handle.datasync();
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #append(line: string): Promise<void> {
    const { bytesWritten } = await this.#handle.write(`${line}\n`, this.#endByte);
    this.#endByte += bytesWritten;
  }
}

/** Opened to be read and written, made where it is missing; never through a link that somebody put there. */
export const OPEN_OR_MAKE = constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW || 0);

/** What the sidecar says; undefined where there is none that is ours. Never throws. */
export async function readSidecar({ sidecar, id }: PartPlace): Promise<PartState | undefined> {
  try {
    const stats = await lstat(sidecar);
    if (!stats.isFile() || stats.size > MAX_BYTES) return undefined;
    // What follows the last line end was torn.
    const [first = '', ...marks] = (await readFile(sidecar, 'utf8')).split('\n').slice(0, -1);
    const head = v.parse(headSchema, JSON.parse(first));
    if (head.id !== id) return undefined;
    return { etag: head.etag, totalBytes: head.totalBytes, marks: rising(marks) };
  } catch {
    return undefined;
  }
}

function rising(lines: readonly string[]): Mark[] {
  const marks: Mark[] = [];
  for (const line of lines) {
    const [, bytes, digest] = MARK.exec(line) ?? [];
    if (digest === undefined || Number(bytes) <= (marks.at(-1)?.bytes ?? 0)) continue;
    marks.push({ bytes: Number(bytes), digest });
  }
  return marks;
}

/** The bytes of a file from the first on that are known, and their hash, to be continued. */
export interface Prefix {
  bytes: number;
  hash: Hash;
}

/** The mark behind what was hashed so far. */
export function markOf(hash: Hash, bytes: number): Mark {
  return { bytes, digest: hash.copy().digest('hex').slice(0, DIGEST_LENGTH) };
}

/**
 * Reads a file up to the last mark that it holds, with all those before it. Undefined where it does not hold the first.
 * @throws CancelledError, and what the file system says
 */
export async function readPrefix(
  handle: FileHandle,
  marks: readonly Mark[],
  signal: AbortSignal,
): Promise<Prefix | undefined> {
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  const hash = createHash('sha256');
  let known: Prefix | undefined = marks.length === 0 ? { bytes: 0, hash: hash.copy() } : undefined;
  let position = 0;
  for (const mark of marks) {
    while (position < mark.bytes) {
      throwIfCancelled(signal);
      const length = Math.min(READ_BYTES, mark.bytes - position);
      const { bytesRead } = await handle.read(buffer, 0, length, position);
      if (bytesRead === 0) return known;
      hash.update(buffer.subarray(0, bytesRead));
      position += bytesRead;
    }
    if (markOf(hash, position).digest !== mark.digest) return known;
    known = { bytes: position, hash: hash.copy() };
  }
  return known;
}
