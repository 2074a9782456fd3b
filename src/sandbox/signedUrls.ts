import { createHmac, timingSafeEqual } from 'node:crypto';

/** How long a download address works (spec: "Limits"). */
export const URL_LIFETIME_S = 1800;

/** What a signed address gives access to, and until when (seconds since 1970). */
interface Grant {
  runId: string;
  filename: string;
  expires: number;
}

/** The path and query of a signed address. Whoever has it may download: it is never logged. */
export function signedPath(secret: Uint8Array, grant: Grant): string {
  const query = `expires=${grant.expires}&signature=${signature(secret, grant)}`;
  return `/artifacts/${grant.runId}/${grant.filename}?${query}`;
}

/** Whether the signature is right and its time has not come. */
export function isGranted(secret: Uint8Array, grant: Grant, given: string, now: number): boolean {
  const expected = Buffer.from(signature(secret, grant));
  const actual = Buffer.from(given);
  return actual.length === expected.length && timingSafeEqual(actual, expected) && now < grant.expires * 1000;
}

function signature(secret: Uint8Array, { runId, filename, expires }: Grant): string {
  return createHmac('sha256', secret)
    .update(JSON.stringify([runId, filename, expires]))
    .digest('hex');
}
