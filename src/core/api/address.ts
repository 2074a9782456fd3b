import { API_KEY_PREFIX, API_PATH, type Model } from './types.ts';

export type AddressProblem = 'empty' | 'not-a-url' | 'not-https' | 'has-credentials' | 'has-query';

export type Address = { ok: true; baseUrl: string; origin: string } | { ok: false; problem: AddressProblem };

/**
 * Parses an address that the user typed or pasted. A host without a scheme gets https; this machine gets http.
 * Removes a final slash and a pasted `/api/v1/…`. `baseUrl` is the origin with any path prefix.
 */
export function parseAddress(text: string): Address {
  const trimmed = text.trim();
  if (trimmed === '') return problem('empty');
  const url = typedUrl(trimmed);
  if (url === null || url.hostname === '') return problem('not-a-url');
  if (!isSecure(url)) return problem('not-https');
  if (url.username !== '' || url.password !== '') return problem('has-credentials');
  if (/[?#]/.test(trimmed)) return problem('has-query');
  const prefix = url.pathname.replace(new RegExp(`${API_PATH}(/.*)?$`), '').replace(/(?<!\/)\/+$/, '');
  return { ok: true, baseUrl: url.origin + prefix, origin: url.origin };
}

/** Parses an https address to open in a browser; adds a missing scheme. Undefined if invalid. */
export function parseWebsite(text: string): string | undefined {
  const url = typedUrl(text.trim());
  return url !== null && isOpenableUrl(url.href) ? url.href : undefined;
}

/** Parses a typed URL, and adds a missing scheme. Null if it is invalid or ambiguous. */
function typedUrl(text: string): URL | null {
  // The URL parser would silently drop tabs and line breaks, and turn backslashes into slashes.
  if (/[\s\\\p{Cc}]/u.test(text)) return null;
  const [scheme = ''] = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text) ?? [];
  // The parser would take a mistyped scheme for a host: `htp:/host`, `https//host`, `https://https://host`.
  if (/^(?![^/?#]*@)[^/?#[]*(?::(?!\d)|\/\/)/.test(text.slice(scheme.length))) return null;
  if (scheme !== '') return URL.parse(text);
  const url = URL.parse(`https://${text}`);
  // Services on this machine rarely have a certificate.
  return url !== null && isLoopback(url.hostname) ? URL.parse(`http://${text}`) : url;
}

/** Whether requests to a URL are allowed: https, or http to this machine. */
export function isSecure(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
}

/**
 * Whether a host name, as in `URL.hostname`, is this machine. Excludes names under `.localhost`: unlike
 * browsers, Node resolves them, and the resolver may return any address.
 */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** Whether a link from the service or the user may be opened: https only. */
export function isOpenableUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.protocol === 'https:' && url.username === '' && url.password === '';
}

function problem(kind: AddressProblem): Address {
  return { ok: false, problem: kind };
}

export type ApiKeyProblem = 'empty' | 'inner-blank' | 'not-header-safe';
type ParsedApiKey = { ok: true; apiKey: string; hasPrefix: boolean } | { ok: false; problem: ApiKeyProblem };

/** Parses a pasted API key: trims it, and requires visible ASCII so that it fits into a header. */
export function parseApiKey(text: string): ParsedApiKey {
  const apiKey = text.trim();
  if (apiKey === '') return { ok: false, problem: 'empty' };
  if (/\s/.test(apiKey)) return { ok: false, problem: 'inner-blank' };
  if (!/^[\x21-\x7e]+$/.test(apiKey)) return { ok: false, problem: 'not-header-safe' };
  return { ok: true, apiKey, hasPrefix: apiKey.startsWith(API_KEY_PREFIX) };
}

/** Returns the links of a model that may be opened; others are not shown as links. */
export function modelLinks({ terms_url, use_policy_url }: Pick<Model, 'terms_url' | 'use_policy_url'>): {
  terms?: string;
  policy?: string;
} {
  return {
    ...(terms_url !== undefined && isOpenableUrl(terms_url) && { terms: terms_url }),
    ...(use_policy_url !== undefined && isOpenableUrl(use_policy_url) && { policy: use_policy_url }),
  };
}
