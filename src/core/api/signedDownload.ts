import { BlockList, isIP } from 'node:net';
import { isLoopback, isSecure } from './address.ts';
import type { CallOptions } from './client.ts';
import { SignedUrlRefusedError, UnexpectedAnswerError } from './errors.ts';
import type { HttpAnswer } from './exchange.ts';
import type { Transport } from './transport.ts';

const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const THIS_MACHINE = [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['::', 127],
] as const;
/** Private, shared and link-local addresses (RFC 6890), among them those that clouds give credentials out at. */
const THIS_NETWORK = [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['fc00::', 7],
  ['fe80::', 10],
] as const;
/** Digits that a number holds exactly. */
const LENGTH = /^\d{1,15}$/;

/** What is there already: the bytes before `startByte` of what a strong ETag names. */
export interface KeptBytes {
  startByte: number;
  etag: string;
  /** Undefined where the storage did not tell. */
  totalBytes: number | undefined;
}

/** An artifact on its way. */
interface SignedDownload {
  /**
   * To be read once; unread it is dropped after two minutes. @throws NetworkError when it is cut, broken or stands
   * still, CancelledError
   */
  body: AsyncIterable<Uint8Array>;
  /** Which byte of the artifact is the body's first; 0 also where a range was asked for and is not to be had. */
  startByte: number;
  /** Of the complete artifact; undefined where the storage does not say. */
  totalBytes?: number;
  /** A strong one; others name no bytes. */
  etag?: string;
  /** Whether the body's length is known or it is chunked, so that it cannot be taken for a connection that was cut. */
  endIsKnown: boolean;
}

/**
 * Opens a signed URL (spec: "Artifact") without the API key or any other header that could tell who asks. Redirects are
 * followed, five at most. The URL and each redirect must be https, and may lead to this machine or to an address of its
 * network only from there. No error names the URL.
 * @param serviceUrl where the signed URL comes from
 * @param kept continues behind it if the storage gives exactly the rest of exactly these bytes, and else starts over
 * @throws SignedUrlRefusedError, UnexpectedAnswerError, NetworkError, CancelledError
 */
export async function openSignedUrl(
  transport: Transport,
  url: string,
  serviceUrl: string,
  { kept, ...options }: CallOptions & { kept?: KeptBytes | undefined } = {},
): Promise<SignedDownload> {
  if (kept !== undefined) {
    const answer = await follow(transport, url, serviceUrl, options, {
      range: `bytes=${kept.startByte}-`,
      'if-range': kept.etag,
    });
    if (answer.httpStatus === 200) return toWhole(answer);
    const rest = answer.httpStatus === 206 ? toRest(answer, kept) : undefined;
    if (rest !== undefined) return rest;
    answer.discard();
    if (answer.httpStatus !== 206 && answer.httpStatus !== 416) throw refusal(answer);
  }
  const answer = await follow(transport, url, serviceUrl, options, {});
  if (answer.httpStatus === 200) return toWhole(answer);
  answer.discard();
  throw refusal(answer);
}

/** @throws UnexpectedAnswerError, NetworkError, CancelledError */
async function follow(
  transport: Transport,
  url: string,
  serviceUrl: string,
  { signal }: CallOptions,
  headers: Record<string, string>,
): Promise<HttpAnswer> {
  let target = URL.parse(url);
  if (target === null || !isSecure(target) || leadsInside(new URL(serviceUrl), target))
    throw new UnexpectedAnswerError(200, 'unsafe-link');
  for (let redirects = 0; ; redirects++) {
    const answer = await transport.send({
      method: 'GET',
      url: target,
      headers: { 'accept-encoding': 'identity', ...headers },
      streamed: true,
      ...(signal && { signal }),
    });
    if (!REDIRECTS.has(answer.httpStatus)) return answer;
    answer.discard();
    const next = URL.parse(answer.header('location') ?? '', target.href);
    if (redirects === MAX_REDIRECTS || next === null || !isSecure(next) || leadsInside(target, next))
      throw new UnexpectedAnswerError(answer.httpStatus, 'redirect');
    target = next;
  }
}

/** A stranger's link must not reach what listens on this machine, or in its network, alone. */
function leadsInside(from: URL, to: URL): boolean {
  return nearness(to.hostname) > nearness(from.hostname);
}

/** By the address or name alone: 2 is this machine, 1 its network, 0 anything else. */
function nearness(hostname: string): number {
  const host = hostname.replace(/^\[|\]$|\.$/g, '');
  if (isLoopback(hostname) || host === 'localhost' || host.endsWith('.localhost')) return 2;
  const version = isIP(host);
  if (version === 0) return 0;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const isIn = (networks: readonly (readonly [string, number])[]) => {
    const list = new BlockList();
    for (const [net, prefix] of networks) list.addSubnet(net, prefix, isIP(net) === 4 ? 'ipv4' : 'ipv6');
    // It also finds IPv4 addresses that are written as IPv6.
    return list.check(host, family);
  };
  return isIn(THIS_MACHINE) ? 2 : isIn(THIS_NETWORK) ? 1 : 0;
}

function refusal({ httpStatus }: HttpAnswer): Error {
  return httpStatus >= 400
    ? new SignedUrlRefusedError(httpStatus)
    : new UnexpectedAnswerError(httpStatus, 'wrong-shape');
}

function toWhole(answer: HttpAnswer): SignedDownload {
  if (isPacked(answer)) {
    answer.discard(); // its bytes are not the artifact's
    throw new UnexpectedAnswerError(answer.httpStatus, 'wrong-shape');
  }
  const totalBytes = lengthOf(answer);
  const etag = strongEtagOf(answer);
  return {
    body: answer.body,
    startByte: 0,
    ...(totalBytes !== undefined && { totalBytes }),
    ...(etag !== undefined && { etag }),
    endIsKnown: totalBytes !== undefined || /\bchunked\b/i.test(answer.header('transfer-encoding') ?? ''),
  };
}

/** Undefined unless it is exactly what was asked for, to the end (RFC 9110, 15.3.7). */
function toRest(answer: HttpAnswer, { startByte, etag, totalBytes }: KeptBytes): SignedDownload | undefined {
  const [, first = '', last = '', total = ''] =
    /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/i.exec(answer.header('content-range') ?? '') ?? [];
  const endByte = Number(total);
  const lengthBytes = lengthOf(answer) ?? endByte - startByte;
  const isRest =
    total !== '' &&
    Number(first) === startByte &&
    Number(last) === endByte - 1 &&
    lengthBytes === endByte - startByte &&
    (totalBytes === undefined || totalBytes === endByte) &&
    strongEtagOf(answer) === etag &&
    !isPacked(answer);
  return isRest ? { body: answer.body, startByte, totalBytes: endByte, etag, endIsKnown: true } : undefined;
}

function isPacked(answer: HttpAnswer): boolean {
  return (answer.header('content-encoding') ?? 'identity').toLowerCase() !== 'identity';
}

function lengthOf(answer: HttpAnswer): number | undefined {
  const text = answer.header('content-length') ?? '';
  return LENGTH.test(text) ? Number(text) : undefined;
}

function strongEtagOf(answer: HttpAnswer): string | undefined {
  const etag = answer.header('etag');
  return etag !== undefined && /^"[\x21\x23-\x7e]*"$/.test(etag) ? etag : undefined;
}
