import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { API_PATH, type Balance } from '../core/api/types.ts';
import { offerArtifacts, sendArtifact } from './artifacts.ts';
import { CURRENCY, MODELS } from './catalog.ts';
import { submitRun } from './charge.ts';
import { listRuns, showRun } from './runs.ts';
import { jsonReply, Refusal, refuse, type Reply } from './server.ts';
import type { Service } from './service.ts';

/** A request on its way through the routes. */
interface Call {
  method: string;
  /** Undecoded, without the query. */
  path: string;
  query: URLSearchParams;
  request: IncomingMessage;
}

interface Route {
  method: 'GET' | 'POST';
  /** Its groups are the path parameters. */
  path: RegExp;
  handle(service: Service, call: Call, parameter: string): Reply | Promise<Reply>;
}

/** The six endpoints (spec: "Endpoints"), below the path prefix. */
const ENDPOINTS: readonly Route[] = [
  { method: 'GET', path: /^\/models$/, handle: listModels },
  { method: 'GET', path: /^\/runs$/, handle: (service, { query }) => listRuns(service, query) },
  { method: 'POST', path: /^\/runs$/, handle: (service, { request }) => submitRun(service, request) },
  { method: 'GET', path: /^\/runs\/([^/]+)$/, handle: (service, _, runId) => showRun(service, runId) },
  {
    method: 'POST',
    path: /^\/runs\/([^/]+)\/artifacts\/download$/,
    handle: (service, _, runId) => offerArtifacts(service, runId),
  },
  { method: 'GET', path: /^\/balance$/, handle: showBalance },
];

const SIGNED_PATH = /^\/artifacts\/([^/]+)\/([^/]+)$/;

/** Finds and runs what answers a request: a signed address on its own, all else with the API key. @throws Refusal */
export async function route(service: Service, request: IncomingMessage): Promise<Reply> {
  const { method = '', url = '', headers } = request;
  const [path = '', search] = url.split('?', 2);
  const query = new URLSearchParams(search);

  const [signed, runId = '', filename = ''] = SIGNED_PATH.exec(path) ?? [];
  if (signed !== undefined) {
    if (method !== 'GET' && method !== 'HEAD') throw wrongMethod(['GET', 'HEAD']);
    return await sendArtifact(service, { method, runId, filename, query, headers });
  }

  authenticate(service.apiKey, headers.authorization);
  const idempotencyKey = headers['idempotency-key'] ?? '';
  if (
    service.store.account.scenario === 'rate-limited' &&
    service.everyOther.strikes(`${method} ${url} ${idempotencyKey.toString()}`)
  ) {
    throw refuse('rate_limited', 'Too many requests.', { 'retry-after': '2' });
  }
  return await callEndpoint(service, { method, path, query, request });
}

function callEndpoint(service: Service, call: Call): Reply | Promise<Reply> {
  const path = call.path.startsWith(`${API_PATH}/`) ? call.path.slice(API_PATH.length) : '';
  const routes = ENDPOINTS.filter((endpoint) => endpoint.path.test(path));
  if (routes.length === 0) throw refuse('not_found', 'There is nothing at this path.');
  const found = routes.find((endpoint) => endpoint.method === call.method);
  if (!found) throw wrongMethod(routes.map((endpoint) => endpoint.method));
  const [, parameter = ''] = found.path.exec(path) ?? [];
  return found.handle(service, call, decode(parameter));
}

function listModels(): Reply {
  return jsonReply(200, { data: MODELS.map(({ listed }) => listed) });
}

function showBalance({ store }: Service): Reply {
  const balance: Balance = { balance_cents: store.account.balance_cents, currency: CURRENCY };
  return jsonReply(200, balance);
}

function authenticate(apiKey: string, authorization = ''): void {
  const [, given = ''] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
  // Digests have equal lengths, as the comparison in constant time wants.
  const digest = (text: string) => createHash('sha256').update(text).digest();
  if (!timingSafeEqual(digest(given), digest(apiKey))) {
    throw refuse('invalid_api_key', 'The API key is missing or invalid.', { 'www-authenticate': 'Bearer' });
  }
}

function wrongMethod(allowed: string[]): Refusal {
  return new Refusal(405, 'not_found', 'This path does not know this method.', { allow: allowed.join(', ') });
}

function decode(parameter: string): string {
  try {
    return decodeURIComponent(parameter);
  } catch {
    throw refuse('not_found', 'The path is not well-formed.');
  }
}
