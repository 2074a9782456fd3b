import tls from 'node:tls';
import type { SecureContext } from 'node:tls';
import type { Dispatcher } from 'undici';
import type { Disposable } from '../base/disposable.ts';
import { throwIfCancelled } from '../base/errors.ts';
import { isSecure } from './address.ts';
import { NetworkError } from './errors.ts';
import type { HttpAnswer, HttpRequest, Timeouts } from './exchange.ts';
import { type ProxySettings, resolveRoute, type Route } from './proxy.ts';

export type { ProxySettings } from './proxy.ts';

type Undici = typeof import('./undici.ts');
type UsableRoute = Exclude<Route, { kind: 'unusable' }>;
type TlsOptions = { secureContext?: SecureContext; rejectUnauthorized?: false };
type SocketOptions = TlsOptions & { signal?: AbortSignal };
type Connect = NonNullable<ConstructorParameters<Undici['Agent']>[0]>['connect'];

const TIMEOUTS: Readonly<Timeouts> = {
  connectMs: 30_000,
  answerMs: 30_000,
  pricingMs: 15 * 60_000,
  bodyMs: 60_000,
  stallMs: 2 * 60_000,
};

/**
 * Every byte to and from the service goes through here: owns the connections, and knows the way (directly or through a
 * proxy) and whom to trust. It follows no redirect and repeats nothing.
 */
export class Transport implements Disposable {
  readonly #settings: ProxySettings;
  readonly #timeouts: Timeouts;
  readonly #dispatchers = new Map<string, Dispatcher>();
  #authorities: SecureContext | undefined;
  #disposed = false;

  constructor(settings: ProxySettings, options: { timeouts?: Partial<Timeouts> } = {}) {
    this.#settings = settings;
    this.#timeouts = { ...TIMEOUTS, ...options.timeouts };
  }

  /**
   * One request, one answer of any status.
   * @throws NetworkError, CancelledError, and what the request's body throws
   */
  async send(request: HttpRequest): Promise<HttpAnswer> {
    throwIfCancelled(request.signal);
    // The last guard of what addresses promise: nothing leaves this machine unencrypted.
    if (!isSecure(request.url)) throw new NetworkError('other', 'ERR_NOT_HTTPS');
    const route = resolveRoute(request.url, this.#settings);
    if (route.kind === 'unusable') throw new NetworkError('proxy', 'ERR_UNUSABLE_PROXY');
    const [undici, { exchange }] = await Promise.all([import('./undici.ts'), import('./exchange.ts')]);
    const send = (dispatcher: Dispatcher) =>
      exchange(request, this.#timeouts, route.kind === 'proxy', undici.request, dispatcher);
    if (request.method === 'GET') return send(this.#kept(undici, route, request.url.protocol));
    // A POST is never repeated, so it never takes a kept connection that the other side may just be closing.
    const own = this.#created(undici, route, request.url.protocol, request.signal);
    try {
      return await send(own);
    } finally {
      closeWhenIdle(own);
    }
  }

  /** Takes no more requests; those under way end as they would. */
  dispose(): void {
    this.#disposed = true;
    for (const dispatcher of this.#dispatchers.values()) closeWhenIdle(dispatcher);
  }

  #kept(undici: Undici, route: UsableRoute, protocol: string): Dispatcher {
    const key = JSON.stringify([route, protocol]);
    let dispatcher = this.#dispatchers.get(key);
    if (dispatcher === undefined) {
      dispatcher = this.#created(undici, route, protocol);
      this.#dispatchers.set(key, dispatcher);
    }
    return dispatcher;
  }

  /** @param signal ends connections too that do not stand yet, for which undici alone would wait */
  #created(undici: Undici, route: UsableRoute, protocol: string, signal?: AbortSignal): Dispatcher {
    const socket = { ...(protocol === 'https:' && this.#tlsOptions()), ...(signal && { signal }) };
    const dispatcher = this.#routed(undici, route, socket);
    if (this.#disposed) closeWhenIdle(dispatcher);
    return dispatcher;
  }

  #routed(undici: Undici, route: UsableRoute, socket: SocketOptions): Dispatcher {
    const { connectMs } = this.#timeouts;
    const options = { allowH2: false, headersTimeout: 0, bodyTimeout: 0, connectTimeout: connectMs };
    if (route.kind === 'direct')
      return new undici.Agent({ ...options, connect: { ...socket, timeout: connectMs } });
    return new undici.ProxyAgent({
      ...options,
      uri: route.url,
      ...(route.authorization !== undefined && { token: route.authorization }),
      requestTls: socket,
      proxyTls: socket,
      // undici's own factory needs the root module, and waits five minutes for the answer to CONNECT.
      clientFactory: (_origin, options) => tunnelling(undici, options as { connect: Connect }, connectMs),
    });
  }

  #tlsOptions(): TlsOptions {
    this.#authorities ??= trustedAuthorities(this.#settings.systemCertificates);
    return {
      ...(this.#authorities && { secureContext: this.#authorities }),
      ...(!this.#settings.strictSsl && { rejectUnauthorized: false }),
    };
  }
}

/** The client that asks a proxy for a tunnel. */
function tunnelling(
  { Agent, connect }: Undici,
  options: { connect: Connect },
  connectMs: number,
): Dispatcher {
  return Object.assign(new Agent({ ...options, allowH2: false, headersTimeout: connectMs }), { connect });
}

function closeWhenIdle(dispatcher: Dispatcher): void {
  dispatcher.close().catch(() => undefined);
}

/**
 * The authorities to trust as one context, so that hundreds of certificates are parsed once and not at every
 * connection; undefined where Node's own list will do.
 */
function trustedAuthorities(systemCertificates: boolean): tls.SecureContext | undefined {
  // The floor's Node has it; another host's may not.
  const list = (tls as Partial<typeof tls>).getCACertificates;
  if (!systemCertificates || list === undefined) return undefined;
  return tls.createSecureContext({ ca: [...new Set([...list('default'), ...list('system')])] });
}
