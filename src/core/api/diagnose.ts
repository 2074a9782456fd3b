import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { unlessCancelled } from '../base/errors.ts';
import { isLoopback } from './address.ts';
import type { Client } from './client.ts';
import { type ProxySettings, resolveRoute, type Route } from './transport.ts';

const LOOKUP_MS = 5_000;

/** What one attempt to reach the service found. */
export interface ConnectionFacts {
  route: Route;
  /** Why the host was not found; undefined where this machine does not resolve it. */
  name: 'found' | { code: string } | undefined;
  /** Whether the request left: not while the service asked to be left alone. */
  wasSent: boolean;
  /** What ended the request; undefined where it succeeded. */
  error: unknown;
  /** `Client.clockSkewMs` */
  clockSkewMs: number | undefined;
}

/**
 * Resolves the host and sends one request, which costs nothing, as everything else is sent.
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

async function request(client: Pick<Client, 'getBalance'>, signal: AbortSignal): Promise<unknown> {
  try {
    // Neither waits for what the service asked for nor tries again; only the limits of each stage say where it ended.
    await client.getBalance({ signal, isBackground: true });
    return undefined;
  } catch (error) {
    if (signal.aborted) throw error;
    return error;
  }
}
