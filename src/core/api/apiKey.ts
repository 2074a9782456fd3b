import { API_KEY_PREFIX } from './types.ts';

export type ApiKeyProblem = 'empty' | 'inner-blank' | 'not-header-safe';
type ParsedApiKey = { ok: true; apiKey: string; hasPrefix: boolean } | { ok: false; problem: ApiKeyProblem };

/** Understands an API key as a person pastes it: trimmed, and made of visible ASCII only, so that it fits a header. */
export function parseApiKey(text: string): ParsedApiKey {
  const apiKey = text.trim();
  if (apiKey === '') return { ok: false, problem: 'empty' };
  if (/\s/.test(apiKey)) return { ok: false, problem: 'inner-blank' };
  if (!/^[\x21-\x7e]+$/.test(apiKey)) return { ok: false, problem: 'not-header-safe' };
  return { ok: true, apiKey, hasPrefix: apiKey.startsWith(API_KEY_PREFIX) };
}
