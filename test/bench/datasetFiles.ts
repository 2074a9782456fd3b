import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const GENERATOR = path.join(import.meta.dirname, 'gen-jsonl.mjs');
const SEED = 1;
const BLOCK_BYTES = 1_000_000;

export interface DatasetFile {
  path: string;
  sizeBytes: number;
  rows: number;
}

/** Chat rows; of the faulty ones, one in a hundred is broken in some way. The same bytes each time. */
export async function chatRows(folder: string, sizeBytes: number, isFaulty: boolean): Promise<DatasetFile> {
  const file = path.join(folder, `${isFaulty ? 'faulty' : 'clean'}-${sizeBytes}.jsonl`);
  const args = ['--out', file, '--bytes', String(sizeBytes), '--seed', String(SEED)];
  if (isFaulty) args.push('--bad', '0.01');
  const { stdout } = await promisify(execFile)(process.execPath, [GENERATOR, ...args]);
  const made = JSON.parse(stdout) as { bytes: number; rows: number };
  await readThrough(file);
  return { path: file, sizeBytes: made.bytes, rows: made.rows };
}

/** What a worst case repeats, and what stands around it. */
const WORST_CASES: Readonly<Record<string, readonly [text: string, before?: string, after?: string]>> = {
  'only newlines': ['\n'],
  'only `[`': ['['],
  'only `"`': ['"'],
  'only digits': ['4012888888881881'],
  'only `@`': ['@'],
  'one row': ['All of it is one value. ', '{"text":"', '"}\n'],
  // Beyond what has a target: as many rows as there can be, and a secret in each row.
  'rows of `{}`, no target': ['{}\n'],
  'e-mail addresses, no target': ['{"text":"write to someone@host.test"}\n'],
};

/** Whether a worst case has to keep to the target. */
export function hasTarget(name: string): boolean {
  return !name.endsWith('no target');
}

/** Files of repeated bytes that are hard on some part of a check, by what they hold. */
export async function worstCases(folder: string, sizeBytes: number): Promise<Record<string, DatasetFile>> {
  const files: Record<string, DatasetFile> = {};
  for (const [name, [text, before = '', after = '']] of Object.entries(WORST_CASES)) {
    const file = path.join(folder, `worst-${Object.keys(files).length}.jsonl`);
    const handle = await open(file, 'w');
    const count = Math.floor((sizeBytes - before.length - after.length) / text.length);
    const perBlock = Math.floor(BLOCK_BYTES / text.length);
    await handle.write(before);
    for (let left = count; left > 0; left -= perBlock)
      await handle.write(text.repeat(Math.min(left, perBlock)));
    await handle.write(after);
    await handle.close();
    files[name] = {
      path: file,
      sizeBytes: before.length + count * text.length + after.length,
      rows: text.endsWith('\n') ? count : 1,
    };
  }
  return files;
}

/** So that all find it in the system's file cache. */
async function readThrough(file: string): Promise<void> {
  const stream = createReadStream(file, { highWaterMark: 4 * BLOCK_BYTES }).resume();
  await once(stream, 'close');
}
