import { randomBytes, createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { API_KEY_PREFIX, API_PATH, type Balance } from '../core/api/types.ts';
import { offerArtifacts, sendArtifact } from './artifacts.ts';
import { CURRENCY, defaultPrice, MODELS, type PriceOf } from './catalog.ts';
import { submitRun } from './charge.ts';
import { createControl, type SandboxControl } from './control.ts';
import { replyRuns, replyRun } from './runs.ts';
import { EveryOther } from './scenarios.ts';
import { listen, jsonReply, refuse, RefusedRequest, type Reply } from './server.ts';
import { openStore, type Service } from './service.ts';

/** Handles the requests of one endpoint. @param parameter the path's parameter; empty if it has none */
type Handler = (service: Service, request: IncomingMessage, parameter: string) => Reply | Promise<Reply>;

/** The six endpoints (spec: "Endpoints"), below the path prefix. */
const ENDPOINTS: readonly (readonly [method: string, path: RegExp, handler: Handler])[] = [
  ['GET', /^\/models$/, () => jsonReply(200, { data: MODELS.map(({ listed }) => listed) })],
  ['GET', /^\/runs$/, (service, { url = '' }) => replyRuns(service, queryOf(url))],
  ['POST', /^\/runs$/, submitRun],
  ['GET', /^\/runs\/([^/]+)$/, (service, _, runId) => replyRun(service, runId)],
  ['POST', /^\/runs\/([^/]+)\/artifacts\/download$/, (service, _, runId) => offerArtifacts(service, runId)],
  ['GET', /^\/balance$/, showBalance],
];

const SIGNED_PATH = /^\/artifacts\/([^/]+)\/([^/]+)$/;

/** Routes a request. A signed URL needs no API key, everything else does. @throws RefusedRequest */
async function route(service: Service, request: IncomingMessage): Promise<Reply> {
  const { method = '', url = '', headers } = request;
  const [path = ''] = url.split('?', 1);
  const { scenario } = service.store.account;
  if (scenario === 'service-down') throw new RefusedRequest(503, 'internal_error', 'The service is down.');

  const [, runId, filename] = SIGNED_PATH.exec(path) ?? [];
  if (method === 'GET' && runId !== undefined && filename !== undefined)
    return await sendArtifact(service, request, [runId, filename], queryOf(url));

  authenticate(service.apiKey, headers.authorization);
  const idempotencyKey = headers['idempotency-key'] ?? '';
  if (
    scenario === 'rate-limited' &&
    service.everyOther.strikes(`${method} ${url} ${idempotencyKey.toString()}`)
  ) {
    throw refuse('rate_limited', 'Too many requests.', { 'retry-after': '2' });
  }
  const below = path.startsWith(`${API_PATH}/`) ? path.slice(API_PATH.length) : '';
  for (const [allowed, pattern, handler] of ENDPOINTS) {
    const match = method === allowed && pattern.exec(below);
    if (match) return await handler(service, request, match[1] ?? '');
  }
  throw refuse('not_found', 'There is no such endpoint.');
}

function queryOf(url: string): URLSearchParams {
  return new URLSearchParams(url.split('?', 2)[1]);
}

function showBalance({ store }: Service): Reply {
  const balance: Balance = { balance_cents: store.account.balance_cents, currency: CURRENCY };
  return jsonReply(200, balance);
}

function authenticate(apiKey: string, authorization = ''): void {
  const [, given = ''] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
  // Digests have equal lengths, as the constant-time comparison requires.
  const digest = (text: string) => createHash('sha256').update(text).digest();
  if (!timingSafeEqual(digest(given), digest(apiKey)))
    throw refuse('invalid_api_key', 'The API key is missing or invalid.', { 'www-authenticate': 'Bearer' });
}

export interface SandboxOptions {
  /** The folder of the database, which several windows may share. Created if missing. */
  directory: string;
  /** Milliseconds since 1970; the clock of runs, signed URLs, Idempotency-Keys, and the `Date` header. */
  now?: () => number;
  /** For tests with other prices. */
  priceOf?: PriceOf;
  /** Receives log lines without API keys, signed URLs, or row texts. */
  log?: (line: string) => void;
}

/** The service on 127.0.0.1, in this process. Trains nothing and spends no money. */
export interface Sandbox {
  /** Stored in the database, so all windows share the account; survives `reset`. */
  readonly accountId: string;
  /** `http://127.0.0.1:<port>`; changes at each start. */
  readonly baseUrl: string;
  /** Created at each start and never stored on disk. */
  readonly apiKey: string;
  readonly control: SandboxControl;
  /** Ends the server and its connections. */
  close(): Promise<void>;
}

/** Opens the database and starts its server. @throws if the directory can't be used */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { directory, now = Date.now, priceOf = defaultPrice, log = () => undefined } = options;
  const store = openStore(directory, log);
  try {
    const apiKey = `${API_KEY_PREFIX}sandbox_${randomBytes(24).toString('base64url')}`;
    const service = { store, now, priceOf, apiKey, baseUrl: '', everyOther: new EveryOther() };
    const server = await listen({ now, log, answer: (request) => route(service, request) });
    service.baseUrl = server.baseUrl;
    return {
      accountId: store.account.account_id,
      baseUrl: server.baseUrl,
      apiKey,
      control: createControl(service),
      async close() {
        await server.close();
        store.close();
      },
    };
  } catch (error) {
    store.close();
    throw error;
  }
}
