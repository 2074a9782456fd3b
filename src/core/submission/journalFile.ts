import { isUtf8 } from 'node:buffer';
import { lstat, readFile } from 'node:fs/promises';
import path from 'node:path';
import * as v from 'valibot';
import { isMissing } from '../base/diskError.ts';
import { intentSchema, type Intent, type Wish } from './intent.ts';

/** An intent is a few kilobytes: what is larger is not ours. */
const MAX_BYTES = 1024 * 1024;

const versionSchema = v.object({ version: v.pipe(v.number(), v.integer(), v.minValue(2)) });
const openWishSchema = v.object({
  origin: v.string(),
  model_id: v.string(),
  dataset: v.object({ sha256: v.string() }),
  refused: v.optional(v.undefined()),
  settled: v.optional(v.undefined()),
});

/** What a file of the journal turned out to be. `later`: written by a later version of the extension. */
type JournalFile =
  | { kind: 'intent'; intent: Intent }
  | { kind: 'gone' }
  | { kind: 'foreign' }
  | { kind: 'later'; wish: Wish | undefined };

/**
 * Reads one file of the journal, whose name must be its intent's.
 * @throws what the file system says where it could not be read: then nothing is known of what it holds
 */
export async function readJournalFile(file: string): Promise<JournalFile> {
  let bytes: Buffer;
  try {
    const stats = await lstat(file);
    // Whoever opens a pipe waits for its other end.
    if (!stats.isFile() || stats.size > MAX_BYTES) return { kind: 'foreign' };
    bytes = await readFile(file);
  } catch (error) {
    if (isMissing(error)) return { kind: 'gone' };
    throw error;
  }
  let value: unknown;
  try {
    value = isUtf8(bytes) ? JSON.parse(bytes.toString()) : undefined;
  } catch {
    return { kind: 'foreign' };
  }
  if (v.is(versionSchema, value)) {
    const wish = v.safeParse(openWishSchema, value);
    return { kind: 'later', wish: wish.success ? wish.output : undefined };
  }
  const intent = v.safeParse(intentSchema, value);
  if (!intent.success || `${intent.output.id}.json` !== path.basename(file)) return { kind: 'foreign' };
  return { kind: 'intent', intent: intent.output };
}

/**
 * The text of an intent's file, and the intent as it will be read from it.
 * @throws ValiError, RangeError where it could not be read again
 */
export function intentText(intent: Intent): { text: string; intent: Intent } {
  // What the service sent beside the fields of the contract could be anything: it is not stored.
  const asRead = v.parse(intentSchema, JSON.parse(JSON.stringify(intent)));
  const text = `${JSON.stringify(asRead, null, 2)}\n`;
  if (Buffer.byteLength(text) > MAX_BYTES) throw new RangeError('the intent is too large for its file');
  return { text, intent: asRead };
}
