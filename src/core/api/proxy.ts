import { isLoopback } from './address.ts';

/** What VS Code and the environment say about proxies and certificates. Empty means "not set". */
export interface ProxySettings {
  /** `http.proxy` */
  httpProxy?: string;
  /** `http.proxyAuthorization`: the Proxy-Authorization header for the proxy that `httpProxy` names. */
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
 * The way to a target. `unusable`: a proxy is asked for that cannot be understood; going around it would be wrong.
 * `source`: `http.proxy` or the environment's variable that asks for the proxy.
 */
export type Route =
  | { kind: 'direct' }
  /** `url` holds no credentials; `authorization` is the value of Proxy-Authorization. */
  | { kind: 'proxy'; source: string; url: string; authorization?: string }
  | { kind: 'unusable'; source: string };

/**
 * VS Code's order: loopback goes direct; then `http.noProxy`, which when set puts NO_PROXY aside; then `http.proxy`;
 * then the environment. Proxies speak http or https.
 */
export function resolveRoute(target: URL, settings: ProxySettings): Route {
  if (isLoopback(target.hostname)) return { kind: 'direct' };
  const { httpProxy, proxyAuthorization, noProxy = [], env } = settings;
  const exceptions = noProxy.length > 0 ? noProxy : (env['NO_PROXY'] || env['no_proxy'] || '').split(',');
  if (exceptions.some((exception) => matches(target, exception))) return { kind: 'direct' };
  const named = httpProxy?.trim();
  if (named) return toRoute('http.proxy', named, proxyAuthorization);
  const source = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].find((name) => env[name]?.trim());
  // VS Code’s credentials are for the proxy that its setting names.
  return source === undefined ? { kind: 'direct' } : toRoute(source, env[source]?.trim() ?? '');
}

/** `*`, a host with the hosts below it (with or without a leading `.` or `*.`), each with or without a port. */
function matches(target: URL, exception: string): boolean {
  const text = exception.trim().toLowerCase();
  // With more colons it is an IPv6 address without brackets, which has no port.
  const [, name = '', port] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(text) ?? ['', text];
  if (name === '*') return true;
  const host = name.replace(/^\[|\]$/g, '').replace(/^\*?\./, '');
  if (host === '' || (port !== undefined && port !== (target.port || '443'))) return false;
  return `.${target.hostname.replace(/^\[|\]$/g, '')}`.endsWith(`.${host}`);
}

function toRoute(source: string, proxy: string, proxyAuthorization?: string): Route {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(proxy) ? proxy : `http://${proxy}`);
  if (url === null || !/^https?:$/.test(url.protocol)) return { kind: 'unusable', source };
  const authorization = proxyAuthorization || basicAuthorization(url);
  return { kind: 'proxy', source, url: url.origin, ...(authorization && { authorization }) };
}

function basicAuthorization({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const credentials = `${percentDecoded(username)}:${percentDecoded(password)}`;
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a password with a bare %
  }
}
