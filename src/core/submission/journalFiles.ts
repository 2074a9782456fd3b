import { isUtf8 } from 'node:buffer';
import { lstat, readdir, readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { isMissing } from '../base/diskError.ts';
import { intentSchema, isSameWish, type Intent } from './intent.ts';

/** An intent is a few kilobytes: what is larger is not ours. */
const MAX_BYTES = 1024 * 1024;
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const ID = new RegExp(`^${UUID}$`, 'i');
const TEMPORARY = new RegExp(`^(${UUID})\\.json\\.${UUID}\\.tmp$`, 'i');
const LOCK = new RegExp(`^(${UUID})\\.lock$`, 'i');

const versionSchema = v.object({ version: v.pipe(v.number(), v.integer(), v.minValue(2)) });
const wishSchema = v.object({
  origin: v.string(),
  model_id: v.string(),
  dataset: v.object({ sha256: v.string() }),
  refused: v.optional(v.undefined()),
  settled: v.optional(v.undefined()),
});
/** What says whether two intents are the same wish, as far as a file of a later version tells it. */
export type LaterWish = v.InferOutput<typeof wishSchema>;

/** What a file of the journal turned out to be. `later`: written by a later version of the extension. */
export type JournalFile =
  | { kind: 'intent'; intent: Intent }
  | { kind: 'gone' }
  | { kind: 'foreign' }
  | { kind: 'later'; wish: LaterWish | undefined };

/** Whether it can be the id of an intent, and with that a part of a file's name. */
export function isIntentId(id: string): boolean {
  return ID.test(id);
}

export function intentFileName(id: string): string {
  return `${id}.json`;
}

/** The id in the name of an intent's file. */
export function idOfIntentFile(name: string): string | undefined {
  const id = name.slice(0, -'.json'.length);
  return name.endsWith('.json') && isIntentId(id) ? id : undefined;
}

/** The id in the name of a file that a durable write leaves when it is killed. */
export function idOfTemporaryFile(name: string): string | undefined {
  return TEMPORARY.exec(name)?.[1];
}

/** The id in the name of an intent's lock file. */
export function idOfLockFile(name: string): string | undefined {
  return LOCK.exec(name)?.[1];
}

/**
 * Reads one file of the journal.
 * @param name its name, which must be its intent's
 * @throws what the file system says where it could not be read: then nothing is known of what it holds
 */
export async function readJournalFile(file: string, name: string): Promise<JournalFile> {
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
    const wish = v.safeParse(wishSchema, value);
    return { kind: 'later', wish: wish.success ? wish.output : undefined };
  }
  const intent = v.safeParse(intentSchema, value);
  if (!intent.success || intentFileName(intent.output.id) !== name) return { kind: 'foreign' };
  return { kind: 'intent', intent: intent.output };
}

/**
 * The text of an intent's file, and the intent as it will be read from it.
 * @throws ValiError, RangeError where it could not be read again
 */
export function intentText(intent: Intent): { text: string; intent: Intent } {
  // What the service told beside the fields of the contract could be anything: it is not kept.
  const asRead = v.parse(intentSchema, JSON.parse(JSON.stringify(intent)));
  const text = `${JSON.stringify(asRead, null, 2)}\n`;
  if (Buffer.byteLength(text) > MAX_BYTES) throw new RangeError('the intent is too large for its file');
  return { text, intent: asRead };
}

/** Whether an intent of a later version is for the same bytes and model of one service. */
export function isSameLaterWish(wish: LaterWish, intent: Intent): boolean {
  const { origin, model_id, dataset } = wish;
  return isSameWish({ ...intent, origin, model_id, dataset: { ...intent.dataset, ...dataset } }, intent);
}

/** The names in a folder; none where there is no folder. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
