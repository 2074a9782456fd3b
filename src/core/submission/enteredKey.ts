import { isKeyOf } from '../api/keyCheck.ts';
import type { Intent } from './intent.ts';

/**
 * Returns the ID of an API key that is entered again, if an open submission to this origin was last sent with it. Of
 * several, the account's own decides, then the newest.
 * @throws if the machine cannot compare
 */
export async function keyIdOfOpen(
  submissions: readonly Intent[],
  { accountId, origin }: Pick<Intent, 'accountId' | 'origin'>,
  apiKey: string,
): Promise<string | undefined> {
  const sent = submissions
    .filter((intent) => intent.origin === origin)
    .sort(
      (one, other) =>
        Number(other.accountId === accountId) - Number(one.accountId === accountId) ||
        other.created.localMs - one.created.localMs,
    );
  const others = new Set<string>();
  for (const { keyId, keyCheck } of sent) {
    if (keyId === undefined || keyCheck === undefined || others.has(keyId)) continue;
    if (await isKeyOf(keyCheck, apiKey)) return keyId;
    others.add(keyId);
  }
  return undefined;
}
