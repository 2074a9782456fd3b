import { isLoopback, isSecure } from './address.ts';
import type { CallOptions } from './client.ts';
import { SignedUrlRefusedError, UnexpectedAnswerError } from './errors.ts';
import type { HttpAnswer } from './exchange.ts';
import type { Transport } from './transport.ts';

const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** An artifact on its way. */
interface SignedDownload {
  /**
   * To be read once; unread it is dropped after two minutes. @throws NetworkError when it is cut, broken or stands
   * still, CancelledError
   */
  body: AsyncIterable<Uint8Array>;
  /** Undefined where the storage does not tell. */
  lengthBytes?: number;
  etag?: string;
}

/**
 * Opens a signed URL (spec: "Artifact") without the API key or any other header that could tell who asks. Redirects are
 * followed, five at most, and only over https; to this machine only from this machine. No error names the URL.
 * @throws SignedUrlRefusedError, UnexpectedAnswerError, NetworkError, CancelledError
 */
export async function openSignedUrl(
  transport: Transport,
  url: string,
  options: CallOptions = {},
): Promise<SignedDownload> {
  let target = URL.parse(url);
  if (target === null || !isSecure(target)) throw new UnexpectedAnswerError(200, 'wrong-shape');
  for (let redirects = 0; ; redirects++) {
    const answer = await transport.send({
      method: 'GET',
      url: target,
      headers: { 'accept-encoding': 'identity' },
      streamed: true,
      ...(options.signal && { signal: options.signal }),
    });
    if (answer.httpStatus === 200) return toDownload(answer);
    answer.discard();
    if (answer.httpStatus >= 400) throw new SignedUrlRefusedError(answer.httpStatus);
    if (!REDIRECTS.has(answer.httpStatus)) throw new UnexpectedAnswerError(answer.httpStatus, 'wrong-shape');
    const next = URL.parse(answer.header('location') ?? '', target.href);
    if (redirects === MAX_REDIRECTS || next === null || !isSecure(next) || leadsInside(target, next))
      throw new UnexpectedAnswerError(answer.httpStatus, 'redirect');
    target = next;
  }
}

/** A stranger's redirect must not reach what listens on this machine alone. */
function leadsInside(from: URL, to: URL): boolean {
  return isLoopback(to.hostname) && !isLoopback(from.hostname);
}

function toDownload(answer: HttpAnswer): SignedDownload {
  const encoding = answer.header('content-encoding') ?? 'identity';
  if (encoding !== 'identity') {
    answer.discard(); // its bytes are not the artifact's
    throw new UnexpectedAnswerError(answer.httpStatus, 'wrong-shape');
  }
  const length = answer.header('content-length');
  const etag = answer.header('etag');
  return {
    body: answer.body,
    ...(length !== undefined && { lengthBytes: Number(length) }),
    ...(etag !== undefined && { etag }),
  };
}
