import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { unlessCancelled } from '../base/errors.ts';
import { isLoopback } from './address.ts';
import type { Client } from './client.ts';
import { type ProxySettings, resolveRoute, type Route } from './transport.ts';

const LOOKUP_MS = 5_000;

/** The result of one attempt to reach the service. */
export interface ConnectionFacts {
  route: Route;
  /** The result of the DNS lookup; undefined if there is none to make, as for a proxy or an IP address. */
  name: 'found' | { code: string } | undefined;
  /** Whether the request was sent; false while the service's Retry-After applies. */
  wasSent: boolean;
  /** The error of the request; undefined if it succeeded. */
  error: unknown;
  /** See `Client.clockSkewMs`. */
  clockSkewMs: number | undefined;
}

/**
 * Tests the connection: resolves the host, and sends one free request the same way as all others.
 * @throws CancelledError
 */
export async function diagnose(
  baseUrl: URL,
  settings: ProxySettings,
  client: Pick<Client, 'getBalance' | 'clockSkewMs' | 'notBeforeMs'>,
  signal: AbortSignal,
): Promise<ConnectionFacts> {
  const route = resolveRoute(baseUrl, settings);
  const wasSent = client.notBeforeMs === undefined && route.kind !== 'unusable';
  const [name, error] = await Promise.all([
    route.kind === 'direct' ? resolveName(baseUrl.hostname, signal) : undefined,
    request(client, signal),
  ]);
  return { route, name, wasSent, error, clockSkewMs: client.clockSkewMs };
}

/** Looks up a host for at most five seconds. Undefined for an IP address or this machine. @throws CancelledError */
async function resolveName(hostname: string, signal: AbortSignal): Promise<ConnectionFacts['name']> {
  if (isLoopback(hostname) || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return undefined;
  const late = AbortSignal.timeout(LOOKUP_MS);
  try {
    await unlessCancelled(lookup(hostname), AbortSignal.any([signal, late]));
    return 'found';
  } catch (error) {
    if (signal.aborted) throw error;
    return { code: late.aborted ? 'ETIMEDOUT' : ((error as NodeJS.ErrnoException).code ?? 'unknown') };
  }
}

/** Sends the request. @returns its error; undefined if it succeeded */
async function request(client: Pick<Client, 'getBalance'>, signal: AbortSignal): Promise<unknown> {
  try {
    // A background request neither waits nor retries, so the limits of each stage show where it failed.
    await client.getBalance({ signal, isBackground: true });
    return undefined;
  } catch (error) {
    if (signal.aborted) throw error;
    return error;
  }
}
