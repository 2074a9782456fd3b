import { BlockList, isIP } from 'node:net';
import { isLoopback, isSecure } from './address.ts';
import type { CallOptions } from './client.ts';
import { SignedUrlRefusedError, UnexpectedResponseError } from './errors.ts';
import type { HttpResponse } from './exchange.ts';
import type { Transport } from './transport.ts';

const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const THIS_MACHINE = networks('0.0.0.0/8', '127.0.0.0/8', '::/127');
/** Private, shared, and link-local addresses (RFC 6890), including the credential endpoints of clouds. */
const THIS_NETWORK = networks(
  ...['10.0.0.0/8', '100.64.0.0/10', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'],
  // The last one is NAT64 for local use, which has the IPv4 address in another place (RFC 8215).
  ...['fc00::/7', 'fe80::/10', 'fec0::/10', '64:ff9b:1::/48'],
);
/** As many digits as a number holds exactly. */
const LENGTH = /^\d{1,15}$/;

/** The bytes that are already downloaded: those before `startByte`, of the content with this strong ETag. */
export interface KeptBytes {
  startByte: number;
  etag: string;
  /** Undefined if the storage didn't provide it. */
  totalBytes: number | undefined;
}

/** An open artifact download. */
interface SignedDownload {
  /**
   * Must be read once; dropped after two minutes if unread.
   * @throws NetworkError if it breaks or stalls, CancelledError
   */
  body: AsyncIterable<Uint8Array>;
  /** The position of the body's first byte in the artifact; 0 if a requested range is not available. */
  startByte: number;
  /** The size of the complete artifact; undefined if the storage doesn't provide it. */
  totalBytes: number | undefined;
  /** The strong ETag; undefined for a weak one, which doesn't identify bytes. */
  etag: string | undefined;
  /** Whether the body has a length or is chunked. Otherwise its end looks like a lost connection. */
  isEndKnown: boolean;
}

/**
 * Opens a signed URL (spec: "Artifact") without the API key or any other identifying header. Follows up to five
 * redirects. The URL and each redirect must be https. Only a server on this machine or in its network may lead to
 * an address there. No error contains the URL.
 * @param serviceUrl the service that gave the signed URL
 * @param kept resumes after these bytes if the storage returns exactly the rest; otherwise starts over
 * @throws SignedUrlRefusedError, UnexpectedResponseError, NetworkError, CancelledError
 */
export async function openSignedUrl(
  transport: Transport,
  url: string,
  serviceUrl: string,
  { kept, ...options }: CallOptions & { kept?: KeptBytes | undefined } = {},
): Promise<SignedDownload> {
  if (kept !== undefined) {
    const range = { range: `bytes=${kept.startByte}-`, 'if-range': kept.etag };
    const answer = await follow(transport, url, serviceUrl, options, range);
    const { httpStatus } = answer;
    if (httpStatus !== 206 && httpStatus !== 416) return toWhole(answer);
    const rest = httpStatus === 206 ? toRest(answer, kept) : undefined;
    if (rest !== undefined) return rest;
    answer.discard();
  }
  return toWhole(await follow(transport, url, serviceUrl, options, {}));
}

/** @throws UnexpectedResponseError, NetworkError, CancelledError */
async function follow(
  transport: Transport,
  url: string,
  serviceUrl: string,
  { signal }: CallOptions,
  headers: Record<string, string>,
): Promise<HttpResponse> {
  let target = URL.parse(url);
  if (target === null || !isSecure(target) || leadsInside(new URL(serviceUrl), target))
    throw new UnexpectedResponseError(200, 'unsafe-link');
  for (let redirects = 0; ; redirects++) {
    const answer = await transport.send({
      method: 'GET',
      url: target,
      headers: { 'accept-encoding': 'identity', ...headers },
      isStreamed: true,
      ...(signal && { signal }),
    });
    if (!REDIRECTS.has(answer.httpStatus)) return answer;
    answer.discard();
    const next = URL.parse(answer.header('location') ?? '', target.href);
    if (redirects === MAX_REDIRECTS || next === null || !isSecure(next) || leadsInside(target, next))
      throw new UnexpectedResponseError(answer.httpStatus, 'redirect');
    target = next;
  }
}

/** Whether a link leads closer to this machine than its source is: to a server that only this network can reach. */
function leadsInside(from: URL, to: URL): boolean {
  return nearness(to.hostname) > nearness(from.hostname);
}

/** Rates an address or name: 2 is this machine, 1 its network, 0 anything else. */
function nearness(hostname: string): number {
  const host = hostname.replace(/^\[|\]$|\.$/g, '');
  if (isLoopback(hostname) || host === 'localhost' || host.endsWith('.localhost')) return 2;
  if (isIP(host) === 0) return 0;
  // BlockList also matches IPv4-mapped IPv6 addresses.
  if (THIS_MACHINE.check(host, familyOf(host))) return 2;
  return THIS_NETWORK.check(host, familyOf(host)) ? 1 : 0;
}

/** Returns a list of these subnets, with the IPv6 addresses that lead to their IPv4 addresses. */
function networks(...subnets: string[]): BlockList {
  const list = new BlockList();
  for (const [net = '', prefix] of subnets.map((subnet) => subnet.split('/'))) {
    const bits = Number(prefix);
    list.addSubnet(net, bits, familyOf(net));
    if (familyOf(net) === 'ipv6') continue;
    // Compatible (RFC 4291), translated (RFC 2765), NAT64 (RFC 6052), and 6to4 (RFC 3056).
    for (const start of ['::', '::ffff:0:', '64:ff9b::']) list.addSubnet(start + net, 96 + bits, 'ipv6');
    const [one, two, three, four] = net.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'));
    list.addSubnet(`2002:${one}${two}:${three}${four}::`, 16 + bits, 'ipv6');
  }
  return list;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

/** Accepts a response with the complete file. @throws SignedUrlRefusedError, UnexpectedResponseError */
function toWhole(answer: HttpResponse): SignedDownload {
  const { httpStatus, body } = answer;
  // Compressed bytes are not the artifact's.
  if (httpStatus !== 200 || isCompressed(answer)) {
    answer.discard();
    throw httpStatus >= 400
      ? new SignedUrlRefusedError(httpStatus)
      : new UnexpectedResponseError(httpStatus, httpStatus === 200 ? 'compressed' : 'wrong-shape');
  }
  const totalBytes = lengthOf(answer);
  const isEndKnown =
    totalBytes !== undefined || /\bchunked\b/i.test(answer.header('transfer-encoding') ?? '');
  return { body, startByte: 0, totalBytes, etag: strongEtagOf(answer), isEndKnown };
}

/** Undefined unless the response is exactly the requested range to the end (RFC 9110, 15.3.7). */
function toRest(
  answer: HttpResponse,
  { startByte, etag, totalBytes }: KeptBytes,
): SignedDownload | undefined {
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
    !isCompressed(answer);
  return isRest ? { body: answer.body, startByte, totalBytes: endByte, etag, isEndKnown: true } : undefined;
}

function isCompressed(answer: HttpResponse): boolean {
  return (answer.header('content-encoding') ?? 'identity').toLowerCase() !== 'identity';
}

function lengthOf(answer: HttpResponse): number | undefined {
  const text = answer.header('content-length') ?? '';
  return LENGTH.test(text) ? Number(text) : undefined;
}

function strongEtagOf(answer: HttpResponse): string | undefined {
  const etag = answer.header('etag');
  return etag !== undefined && /^"[\x21\x23-\x7e]*"$/.test(etag) ? etag : undefined;
}
