import { BlockList, isIP } from 'node:net';
import tls, { type SecureContext } from 'node:tls';
import type { Dispatcher } from 'undici';
import type { Disposable } from '../base/disposable.ts';
import { throwIfCancelled } from '../base/errors.ts';
import { isSecure, isLoopback } from './address.ts';
import { NetworkError } from './errors.ts';
import type { HttpResponse, HttpRequest, Timeouts } from './exchange.ts';

/** `exchange.ts` and undici, loaded at the first request. */
type Loaded = typeof import('./exchange.ts');
type UsableRoute = Exclude<Route, { kind: 'unusable' }>;
type TlsOptions = { secureContext?: SecureContext; rejectUnauthorized?: false };
type Connect = NonNullable<ConstructorParameters<Loaded['Agent']>[0]>['connect'];

const TIMEOUTS: Readonly<Timeouts> = {
  connectMs: 30_000,
  answerMs: 30_000,
  pricingMs: 15 * 60_000,
  bodyMs: 60_000,
  stallMs: 2 * 60_000,
};

/**
 * Owns the connections to the service and its storage, and decides on proxies and trusted certificates. Follows no
 * redirects and retries nothing.
 */
export class Transport implements Disposable {
  readonly #settings: ProxySettings;
  readonly #timeouts: Timeouts;
  readonly #dispatchers = new Map<string, Dispatcher>();
  #authorities: SecureContext | undefined;
  #isDisposed = false;

  constructor(settings: ProxySettings, options: { timeouts?: Partial<Timeouts> } = {}) {
    this.#settings = settings;
    this.#timeouts = { ...TIMEOUTS, ...options.timeouts };
  }

  /**
   * Sends one request and returns the response, whatever its status.
   * @throws NetworkError, CancelledError, and errors of the request's body
   */
  async send(request: HttpRequest): Promise<HttpResponse> {
    throwIfCancelled(request.signal);
    // The last safeguard: nothing leaves this machine unencrypted.
    if (!isSecure(request.url)) throw new NetworkError('other', 'ERR_NOT_HTTPS');
    const route = resolveRoute(request.url, this.#settings);
    if (route.kind === 'unusable') throw new NetworkError('proxy', 'ERR_UNUSABLE_PROXY');
    const loaded = await import('./exchange.ts');
    const send = (dispatcher: Dispatcher) =>
      loaded.exchange(request, this.#timeouts, route.kind === 'proxy', dispatcher);
    if (request.method === 'GET') return send(this.#kept(loaded, route, request.url.protocol));
    // A POST is never retried, so it gets a new connection: a reused one may just be closing.
    const own = this.#created(loaded, route, request.url.protocol, request.signal);
    try {
      return await send(own);
    } finally {
      closeWhenIdle(own);
    }
  }

  /** Accepts no more requests; those in progress still finish. */
  dispose(): void {
    this.#isDisposed = true;
    for (const dispatcher of this.#dispatchers.values()) closeWhenIdle(dispatcher);
  }

  /** Returns the dispatcher of a route, which keeps its connections for later requests. */
  #kept(loaded: Loaded, route: UsableRoute, protocol: string): Dispatcher {
    const key = JSON.stringify([route, protocol]);
    let dispatcher = this.#dispatchers.get(key);
    if (dispatcher === undefined) {
      dispatcher = this.#created(loaded, route, protocol);
      this.#dispatchers.set(key, dispatcher);
    }
    return dispatcher;
  }

  /** @param signal also aborts connecting, for which undici would otherwise wait */
  #created(loaded: Loaded, route: UsableRoute, protocol: string, signal?: AbortSignal): Dispatcher {
    const { Agent, ProxyAgent, connect } = loaded;
    const { connectMs } = this.#timeouts;
    const options = { allowH2: false, headersTimeout: 0, bodyTimeout: 0, connectTimeout: connectMs };
    const socket = { ...(protocol === 'https:' && this.#tlsOptions()), ...(signal && { signal }) };
    const dispatcher =
      route.kind === 'direct'
        ? new Agent({ ...options, connect: { ...socket, timeout: connectMs } })
        : new ProxyAgent({
            ...options,
            uri: route.url,
            ...(route.authorization !== undefined && { token: route.authorization }),
            requestTls: socket,
            proxyTls: socket,
            // undici's own factory needs the root module, and waits five minutes for the response to CONNECT.
            clientFactory: (_origin, given) => {
              const asking = {
                ...(given as { connect: Connect }),
                allowH2: false,
                headersTimeout: connectMs,
              };
              return Object.assign(new Agent(asking), { connect });
            },
          });
    if (this.#isDisposed) closeWhenIdle(dispatcher);
    return dispatcher;
  }

  #tlsOptions(): TlsOptions {
    this.#authorities ??= trustedAuthorities(this.#settings.systemCertificates);
    return {
      ...(this.#authorities && { secureContext: this.#authorities }),
      ...(!this.#settings.strictSsl && { rejectUnauthorized: false }),
    };
  }
}

function closeWhenIdle(dispatcher: Dispatcher): void {
  dispatcher.close().catch(() => undefined);
}

/**
 * Returns the trusted authorities as one context; undefined if Node's own list suffices. One context is shared, so
 * that not every connection parses hundreds of certificates.
 */
function trustedAuthorities(systemCertificates: boolean): tls.SecureContext | undefined {
  // The oldest supported Node has it, but other hosts may not.
  const list = (tls as Partial<typeof tls>).getCACertificates;
  if (!systemCertificates || list === undefined) return undefined;
  return tls.createSecureContext({ ca: [...new Set([...list('default'), ...list('system')])] });
}

/** Proxy and certificate settings of VS Code and the environment. Empty means "not set". */
export interface ProxySettings {
  /** `http.proxy` */
  httpProxy?: string;
  /** `http.proxyAuthorization`: the Proxy-Authorization header for the proxy in `httpProxy`. */
  proxyAuthorization?: string;
  /** `http.noProxy` */
  noProxy?: string[];
  /** `http.proxyStrictSSL` */
  strictSsl: boolean;
  /** `http.systemCertificates` */
  systemCertificates: boolean;
  env: Readonly<Record<string, string | undefined>>;
}

/**
 * The route to a target. `unusable`: a proxy is required but its URL is invalid, and it must not be bypassed.
 * `source`: `http.proxy`, or the environment variable that defines the proxy.
 */
export type Route =
  /** `exception`: the setting or variable that exempts the target from the proxy. */
  | { kind: 'direct'; exception?: string }
  /** `url` has no credentials; `authorization` is the value of Proxy-Authorization. */
  | { kind: 'proxy'; source: string; url: string; authorization?: string }
  | { kind: 'unusable'; source: string };

/**
 * Resolves proxies in VS Code's order: loopback is direct; then `http.noProxy`, which overrides NO_PROXY;
 * then `http.proxy`; then the environment. Proxies use http or https.
 */
export function resolveRoute(target: URL, settings: ProxySettings): Route {
  if (isLoopback(target.hostname)) return { kind: 'direct' };
  const { httpProxy, proxyAuthorization, noProxy = [], env } = settings;
  const named = httpProxy?.trim();
  const source = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].find((name) => env[name]?.trim());
  if (!named && source === undefined) return { kind: 'direct' };
  const variable = env['NO_PROXY'] ? 'NO_PROXY' : 'no_proxy';
  const [exception, lists] =
    noProxy.length > 0 ? ['http.noProxy', noProxy] : [variable, [env[variable] ?? '']];
  const exceptions = lists.flatMap((list) => list.split(/[\s,;]+/));
  if (exceptions.some((one) => matches(target, one))) return { kind: 'direct', exception };
  if (named) return toRoute('http.proxy', named, proxyAuthorization);
  // VS Code’s credentials are only for the proxy in its own setting.
  return source === undefined ? { kind: 'direct' } : toRoute(source, env[source]?.trim() ?? '');
}

/**
 * Matches `*`, a host and its subdomains (with or without `.` or `*.`), an IP address, or a network such as `10.0.0.0/8`
 * or `10.1.2.*`. Each may have a port. A host's address isn't looked up.
 */
function matches(target: URL, exception: string): boolean {
  const text = exception.toLowerCase();
  // More colons mean an IPv6 address without brackets, which has no port.
  const [, name = '', port] = /^(\[.*\](?:\/\d+)?|[^:]*)(?::(\d+))?$/.exec(text) ?? ['', text];
  if (port !== undefined && port !== (target.port || '443')) return false;
  if (name === '*') return true;
  const bare = name.replace(/[[\]]/g, '');
  const address = target.hostname.replace(/[[\]]/g, '');
  if (isIP(address) !== 0) return isInNetwork(address, bare);
  const host = bare.replace(/^\*?\./, '');
  return host !== '' && `.${address}`.endsWith(`.${host}`);
}

/** @param network `10.1.2.3`, `10.0.0.0/8` or `10.1.2.*`; the same of IPv6, but no `*` */
function isInNetwork(address: string, network: string): boolean {
  const parts = /^(\d+(?:\.\d+){0,2})(?:\.\*)+$/.exec(network)?.[1]?.split('.') ?? [];
  const range = `${[...parts, 0, 0, 0].slice(0, 4).join('.')}/${parts.length * 8}`;
  const [, first = '', prefix] = /^([^/]+)(?:\/(\d+))?$/.exec(parts.length > 0 ? range : network) ?? [];
  const version = isIP(first);
  const bits = version === 4 ? 32 : 128;
  const size = Number(prefix ?? bits);
  if (version === 0 || size > bits) return false;
  const list = new BlockList();
  list.addSubnet(first, size, version === 4 ? 'ipv4' : 'ipv6');
  return list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
}

/**
 * A proxy's URL: scheme, credentials, host with port. Strict, so that a URL parser can't take another part for the
 * host.
 */
const PROXY = /^(?:(https?):\/\/)?(?:([^/?#]*)@)?([^\\/?#@]*[^:\\/?#@])(?:[/?#][^@\\]*)?$/i;

/** Parses the URL of a proxy. `proxyAuthorization` replaces the credentials in it. */
function toRoute(source: string, proxy: string, proxyAuthorization?: string): Route {
  const [, scheme = 'http', credentials, host] = PROXY.exec(proxy) ?? [];
  const url = host === undefined ? null : URL.parse(`${scheme}://${host}`);
  if (url === null) return { kind: 'unusable', source };
  const authorization = proxyAuthorization || (credentials && basicAuthorization(credentials));
  return { kind: 'proxy', source, url: url.origin, ...(authorization && { authorization }) };
}

/** @param credentials from a URL: a name, which may be `DOMAIN\user`, and a password after the first colon */
function basicAuthorization(credentials: string): string | undefined {
  const [name = '', ...password] = credentials.split(':');
  const decoded = `${percentDecoded(name)}:${percentDecoded(password.join(':'))}`;
  return decoded === ':' ? undefined : `Basic ${Buffer.from(decoded).toString('base64')}`;
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a password with a bare %
  }
}
