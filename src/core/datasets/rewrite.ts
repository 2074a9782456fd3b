import { open, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { throwIfCancelled, ExpectedError } from '../base/errors.ts';
import { isSameStamp, stampOf } from '../base/fileStamp.ts';
import type { DatasetFile } from './fileKind.ts';
import { CheckError } from './report.ts';

/** What a copy of a dataset changes: converts JSON to rows, or drops the byte order mark at the start. */
export type Rewriting = 'json-to-lines' | 'without-bom';

const CHUNK_BYTES = 1024 * 1024;
const MAX_NAMES = 100;

interface RewriteOptions {
  signal?: AbortSignal;
  /** Called with the fraction done, from 0 to 1. */
  onProgress?: (fraction: number) => void;
}

/**
 * Writes a changed copy of an inspected dataset beside it and returns its path. Never replaces a file or leaves a partial one.
 * @throws NotJsonError; CheckError `changing`; CancelledError; file system errors
 */
export async function rewriteDataset(
  source: DatasetFile,
  rewriting: Rewriting,
  options: RewriteOptions = {},
): Promise<string> {
  const input = await open(source.path, 'r');
  try {
    const { mode } = await sameFile(input, source);
    const { path: target, handle } = await newFileBeside(source.path, rewriting, mode);
    try {
      await copy(input, handle, source.sizeBytes, rewriting, options);
      await sameFile(input, source);
      await handle.close();
      return target;
    } catch (error) {
      await handle.close().catch(() => undefined);
      await rm(target, { force: true }).catch(() => undefined);
      throw error;
    }
  } finally {
    await input.close();
  }
}

/** Returns the file's mode. @throws CheckError `changing` if it isn't the version that was inspected */
async function sameFile(input: FileHandle, source: DatasetFile): Promise<{ mode: number }> {
  const found = await input.stat({ bigint: true });
  if (!isSameStamp(stampOf(found), source)) throw new CheckError('changing');
  return { mode: Number(found.mode) };
}

/** Reads no further than the inspected size, so that a file which never ends can't fill the disk. */
async function copy(
  input: FileHandle,
  output: FileHandle,
  sizeBytes: number,
  rewriting: Rewriting,
  { signal, onProgress }: RewriteOptions,
): Promise<void> {
  const lines = rewriting === 'json-to-lines' ? new JsonToLines() : undefined;
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let position = 0; position < sizeBytes;) {
    throwIfCancelled(signal);
    const wanted = Math.min(CHUNK_BYTES, sizeBytes - position);
    const { bytesRead } = await input.read(buffer, 0, wanted, position);
    if (bytesRead === 0) throw new CheckError('changing');
    const chunk = buffer.subarray(0, bytesRead);
    const changed = lines?.push(chunk) ?? (position === 0 ? withoutBom(chunk) : chunk);
    if (changed.length > 0) await output.writeFile(changed);
    position += bytesRead;
    onProgress?.(position / sizeBytes);
  }
  lines?.end();
}

function withoutBom(start: Buffer): Buffer {
  const hasBom = start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf;
  return hasBom ? start.subarray(3) : start;
}

/** Creates `train.lines.jsonl`, else `train.lines-2.jsonl` and so on, with the dataset's read permissions. */
async function newFileBeside(
  source: string,
  rewriting: Rewriting,
  mode: number,
): Promise<{ path: string; handle: FileHandle }> {
  const { dir, name } = path.parse(source);
  const suffix = rewriting === 'json-to-lines' ? 'lines' : 'no-bom';
  for (let number = 1; ; number++) {
    const file = path.join(dir, `${name}.${suffix}${number === 1 ? '' : `-${number}`}.jsonl`);
    try {
      return { path: file, handle: await open(file, 'wx', (mode & 0o666) | 0o200) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || number >= MAX_NAMES) throw error;
    }
  }
}

/** Thrown unless the file is a complete array of objects, or complete objects, without line breaks in strings. */
export class NotJsonError extends ExpectedError {
  readonly code = 'not-json';

  constructor() {
    super('neither a complete array of objects nor complete objects');
  }
}

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const BOM: readonly number[] = [0xef, 0xbb, 0xbf];
/** Longer white space also becomes one space. */
const MAX_SPACES = 1_000;

/**
 * Converts objects, in an array or consecutive, to one row each, chunk by chunk. Their bytes are unchanged, but white
 * space that is very long or has a line break becomes one space. The grammar is left to the check of the new file.
 */
export class JsonToLines {
  #place: 'start' | 'array' | 'objects' | 'end' = 'start';
  /** Bytes of a byte order mark seen so far. */
  #bomBytes = 0;
  /** Number of open brackets, including the object's own; 0 outside of objects. */
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** Pending white space, written only if more of the object follows. */
  #spaces: number[] = [];
  /** Objects written completely. */
  rows = 0;

  /** Converts a chunk and returns its rows or parts of rows. @throws NotJsonError */
  push(chunk: Uint8Array): Buffer {
    // Each byte becomes at most itself and a line end; white space pending from earlier chunks may precede it.
    const out = Buffer.allocUnsafe(2 * chunk.length + this.#spaces.length);
    let length = 0;
    for (const byte of chunk) {
      const isSpace = byte === SPACE || byte === LF || byte === CR || byte === TAB;
      if (this.#inString) {
        if (byte === LF || byte === CR) throw new NotJsonError();
        this.#inString = this.#escaped || byte !== QUOTE;
        this.#escaped = !this.#escaped && byte === BACKSLASH;
        out[length++] = byte;
      } else if (isSpace && this.#depth > 0) this.#addSpace(byte);
      else if (!isSpace && (this.#depth > 0 || this.#beginsObject(byte)))
        length = this.#write(byte, out, length);
    }
    return out.subarray(0, length);
  }

  /** @throws NotJsonError if something is still open or there was no object */
  end(): void {
    const isClosed = this.#place === 'end' || (this.#place === 'objects' && this.#depth === 0);
    if (!isClosed || this.rows === 0) throw new NotJsonError();
  }

  #addSpace(byte: number): void {
    if (this.#spaces[0] === LF) return;
    if (byte === LF || byte === CR || this.#spaces.length === MAX_SPACES) this.#spaces = [LF];
    else this.#spaces.push(byte);
  }

  /** Handles a byte outside of objects. Returns whether it begins one. */
  #beginsObject(byte: number): boolean {
    const isStart = this.#place === 'start';
    if (isStart && byte === BOM[this.#bomBytes]) this.#bomBytes += 1;
    else if (this.#bomBytes % BOM.length !== 0 || this.#place === 'end') throw new NotJsonError();
    else if (byte === OPEN_OBJECT) {
      if (isStart) this.#place = 'objects';
      return true;
    } else if (isStart && byte === OPEN_ARRAY) this.#place = 'array';
    else if (this.#place === 'array' && byte === CLOSE_ARRAY) this.#place = 'end';
    else if (this.#place !== 'array' || byte !== COMMA) throw new NotJsonError();
    return false;
  }

  #write(byte: number, out: Buffer, start: number): number {
    let length = start;
    for (const space of this.#spaces) out[length++] = space === LF ? SPACE : space;
    this.#spaces = [];
    if (byte === QUOTE) this.#inString = true;
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.#depth -= 1;
    out[length++] = byte;
    if (this.#depth === 0) {
      this.rows += 1;
      out[length++] = LF;
    }
    return length;
  }
}
