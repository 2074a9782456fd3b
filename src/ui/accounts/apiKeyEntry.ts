import { parseApiKey } from '../../core/api/address.ts';
import type { Client, Connection } from '../../core/api/client.ts';
import { isUnauthorized } from '../../core/api/errors.ts';
import { API_KEY_PREFIX } from '../../core/api/types.ts';
import { CancelledError } from '../../core/base/errors.ts';
import type { CommandId } from '../shared/ids.ts';
import { withCancellableProgress } from '../shared/notifications.ts';
import { ask, type Answer, type Place } from '../shared/steps.ts';
import { UNTRIED_KEY_ID } from './apiKeys.ts';
import {
  apiKeyProblem,
  confirmPrefix,
  confirmUnverifiedKey,
  signInWords,
  notifyKeyRefused,
} from './messages.ts';

export type CreateClient = (connection: Connection) => Pick<Client, 'getBalance'>;

/** Asks for an API key; one without the prefix of the service's keys only after a question. */
export async function askForKey(place: Place, baseUrl: string): Promise<Answer<string>> {
  for (;;) {
    const answer = await ask(place, {
      prompt: signInWords.apiKey(new URL(baseUrl).host),
      placeholder: `${API_KEY_PREFIX}…`,
      password: true,
      validate: (text) => {
        const parsed = parseApiKey(text);
        return parsed.ok ? undefined : apiKeyProblem(parsed.problem);
      },
    });
    if (answer.kind !== 'value') return answer;
    const parsed = parseApiKey(answer.value);
    if (parsed.ok && (parsed.hasPrefix || (await confirmPrefix())))
      return { kind: 'value', value: parsed.apiKey };
  }
}

/**
 * Verifies an API key by reading the balance. Reports a refusal; where the key could not be verified (offline, say), asks
 * whether to save it anyway.
 * @param again the command that asks for another key
 * @returns undefined where it is not to be saved
 * @throws CancelledError
 */
export async function verifyKey(
  createClient: CreateClient,
  connection: { baseUrl: string; apiKey: string },
  again: CommandId,
): Promise<'accepted' | 'unverified' | undefined> {
  const client = createClient({ ...connection, keyId: UNTRIED_KEY_ID });
  try {
    await withCancellableProgress(signInWords.verifying(), (signal) => client.getBalance({ signal }));
    return 'accepted';
  } catch (error) {
    if (error instanceof CancelledError) throw error;
    if (!isUnauthorized(error)) return (await confirmUnverifiedKey(error)) ? 'unverified' : undefined;
    notifyKeyRefused(error, again);
    return undefined;
  }
}
