import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** Recognizes an API key when it is entered again: a random salt, and the scrypt hash (RFC 7914) of both, as hex. */
export interface KeyCheck {
  salt: string;
  hash: string;
}

const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** With Node's default cost: about 50 ms and 16 MB, in a thread of its own. */
const derive = promisify<string, Buffer, number, Buffer>(scrypt);

/** @throws if the machine has no memory for it, or a policy forbids it */
export async function keyCheckOf(apiKey: string): Promise<KeyCheck> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(apiKey, salt, HASH_BYTES);
  return { salt: salt.toString('hex'), hash: hash.toString('hex') };
}

/**
 * Returns the `keyId` of the first check that this API key matches; undefined if none does.
 * @throws if the machine cannot compare
 */
export async function keyIdOf(
  known: readonly { keyId?: string | undefined; keyCheck?: KeyCheck | undefined }[],
  apiKey: string,
): Promise<string | undefined> {
  const others = new Set<string>();
  for (const { keyId, keyCheck } of known) {
    if (keyId === undefined || keyCheck === undefined || others.has(keyId)) continue;
    if (await isKeyOf(keyCheck, apiKey)) return keyId;
    others.add(keyId);
  }
  return undefined;
}

/** Whether this is the API key of a check. @throws like `keyCheckOf` */
async function isKeyOf({ salt, hash }: KeyCheck, apiKey: string): Promise<boolean> {
  const expected = Buffer.from(hash, 'hex');
  if (expected.byteLength !== HASH_BYTES) return false;
  return timingSafeEqual(await derive(apiKey, Buffer.from(salt, 'hex'), HASH_BYTES), expected);
}
