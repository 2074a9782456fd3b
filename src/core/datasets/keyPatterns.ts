import { API_KEY, MAX_PATTERNS, PRIVATE_KEY } from './scanner/codes.ts';

/**
 * Kinds of tails: what must follow a key's prefix. For example characters of a kind, a value after its name, or lines of a private
 * key. The numbers are those of `scanner/keyPatterns.ts`.
 */
const TAILS = {
  word: 0,
  alphanumeric: 1,
  upper: 2,
  base64: 3,
  value: 4,
  token: 5,
  lines: 6,
  dotted: 7,
  any: 8,
  header: 9,
  routed: 10,
} as const;

/** Prefixes that are common in code: a key is found only if what follows looks random by itself. */
const COMMON: ReadonlySet<string> = new Set(['service_', 'sk-', 'SG.', 'hvs.', 'hvb.']);

/** A kind of key, recognized by its prefix. */
export interface KeyPattern {
  code: number;
  prefix: string;
  /** Index of three consecutive bytes in the prefix that are rare in text; the third is the rarest. */
  anchor: number;
  /** Minimum number of the characters that must follow; for a value, their exact number. */
  tail: number;
  of: keyof typeof TAILS;
}

const keys = (
  anchor: number,
  tail: number,
  of: keyof typeof TAILS,
  ...prefixes: readonly string[]
): KeyPattern[] => prefixes.map((prefix) => ({ code: API_KEY, prefix, anchor, tail, of }));
const privateKeys = (of: keyof typeof TAILS, ...prefixes: readonly string[]): KeyPattern[] =>
  prefixes.map((prefix) => ({ code: PRIVATE_KEY, prefix, anchor: 5, tail: 32, of }));

/** The keys to search for: API keys of common services, and private keys (PEM, RFC 7468; PuTTY) by their header. */
export const KEY_PATTERNS: readonly KeyPattern[] = [
  ...keys(5, 16, 'word', 'service_'),
  ...keys(0, 20, 'word', 'sk-'),
  ...keys(1, 16, 'upper', 'AKIA', 'ASIA'),
  ...keys(1, 35, 'word', 'AIza'),
  ...keys(1, 36, 'alphanumeric', 'ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'npm_'),
  ...keys(4, 22, 'word', 'github_pat_'),
  ...keys(1, 20, 'routed', 'glpat-'),
  ...keys(2, 20, 'routed', 'gldt-', 'glrt-'),
  ...keys(2, 10, 'word', 'xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xoxc-'),
  ...keys(2, 40, 'any', 'xoxd-'),
  ...keys(2, 40, 'word', 'xapp-'),
  ...keys(3, 40, 'base64', 'hooks.slack.com/services/'),
  ...keys(0, 16, 'alphanumeric', 'sk_live_', 'rk_live_', 'sk_test_', 'rk_test_'),
  ...keys(3, 24, 'base64', 'whsec_'),
  ...keys(0, 30, 'alphanumeric', 'hf_', 'r8_'),
  ...keys(1, 40, 'alphanumeric', 'gsk_', 'ntn_'),
  ...keys(4, 40, 'alphanumeric', 'dop_v1_'),
  ...keys(2, 32, 'alphanumeric', 'lin_api_'),
  ...keys(1, 32, 'alphanumeric', 'shpat_'),
  ...keys(3, 32, 'alphanumeric', 'shpca_', 'shppa_', 'shpss_'),
  ...keys(2, 50, 'word', 'pypi-', 'PMAK-'),
  ...keys(2, 40, 'alphanumeric', 'pplx-'),
  ...keys(1, 60, 'alphanumeric', 'xai-'),
  ...keys(4, 28, 'word', 'GOCSPX-'),
  ...keys(2, 60, 'word', 'ya29.'),
  ...keys(1, 24, 'word', 'hvs.', 'hvb.'),
  ...keys(0, 40, 'dotted', 'SG.'),
  // The rare bytes are letters, since `=` may be escaped.
  ...keys(5, 80, 'base64', 'AccountKey='),
  // Ends of `secretkey` and `secretaccesskey` (`isSecretName`).
  ...['etkey', 'etKey', 'ETKEY', 'sskey', 'ssKey', 'SSKEY'].flatMap((end) => [
    ...keys(0, 40, 'value', end),
    ...keys(1, 40, 'value', ...['_', '-', '.'].map((sign) => end.slice(0, 2) + sign + end.slice(2))),
  ]),
  ...keys(0, 60, 'token', 'eyJ'),
  // A private key of one word. As an API key, all of it is located.
  ...keys(1, 58, 'upper', 'AGE-SECRET-KEY-1'),
  ...keys(3, 60, 'word', 'nvapi-'),
  ...keys(2, 60, 'word', 'pcsk_'),
  ...keys(5, 40, 'word', 'lsv2_pt_'),
  ...keys(2, 40, 'word', 'figd_', 'glsa_'),
  ...keys(1, 40, 'alphanumeric', 'sbp_'),
  ...keys(8, 20, 'word', 'tskey-auth-'),
  ...keys(6, 27, 'word', 'dckr_pat_'),
  ...keys(6, 48, 'alphanumeric', 'rubygems_'),
  ...keys(4, 60, 'any', 'sntrys_'),
  ...keys(2, 27, 'upper', 'NRAK-'),
  ...keys(0, 60, 'any', 'ATATT3'),
  ...privateKeys('lines', 'Private-Lines: '),
  // Private keys of any kind; SSH2 has a space after the dashes.
  ...privateKeys('header', '-----BEGIN ', '---- BEGIN '),
];

const PATTERN_BYTES = 48;
const PREFIX_OFFSET = 8;
const ANCHOR_LENGTH = 3;
const HEADS = 256;
/** Each bucket is a bit of a byte. */
const MAX_BUCKETS = 8;

function anchorOf({ prefix, anchor }: KeyPattern): number[] {
  return Array.from({ length: ANCHOR_LENGTH }, (_, byte) => prefix.charCodeAt(anchor + byte));
}

/** Encodes the patterns for the scanner, as a hash table by their rare bytes (`scanner/keyPatterns.ts`). */
export function encodePatterns(patterns = KEY_PATTERNS): Uint8Array {
  if (patterns.length > MAX_PATTERNS) throw new RangeError('too many patterns for the scanner');
  const bytes = new Uint8Array(HEADS + patterns.length * PATTERN_BYTES);
  // Backwards, so that the first pattern of a hash becomes its head.
  for (const [index, pattern] of [...patterns.entries()].reverse()) {
    const { code, prefix, anchor, tail, of } = pattern;
    const [one = 0, two = 0, three = 0] = anchorOf(pattern);
    const hash = Math.imul(one | (two << 8) | (three << 16), 0x9e3779b1) >>> 24;
    const at = HEADS + index * PATTERN_BYTES;
    const isRare = Number(!COMMON.has(prefix));
    bytes.set([prefix.length, anchor, tail, TAILS[of], code, bytes[hash] ?? 0, isRare], at);
    bytes.set(Buffer.from(prefix, 'latin1'), at + PREFIX_OFFSET);
    bytes[hash] = index + 1;
  }
  return bytes;
}

/**
 * Encodes which patterns each half of the three rare bytes allows. A bit stands for a bucket of patterns with nearly the same
 * third byte. Few places in a text have that byte after two matches.
 */
export function encodeAnchors(patterns = KEY_PATTERNS): Uint8Array {
  const lastOf = (pattern: KeyPattern) => (anchorOf(pattern)[ANCHOR_LENGTH - 1] ?? 0) >> 1;
  const buckets = [...new Set(patterns.map(lastOf))];
  if (buckets.length > MAX_BUCKETS) throw new RangeError('a pattern has no bucket');
  const tables = new Uint8Array(ANCHOR_LENGTH * 2 * 16);
  for (const pattern of patterns) {
    const bucket = 1 << buckets.indexOf(lastOf(pattern));
    for (const [byte, value] of anchorOf(pattern).entries())
      for (const at of [byte * 32 + (value & 15), byte * 32 + 16 + (value >> 4)])
        tables[at] = (tables[at] ?? 0) | bucket;
  }
  return tables;
}
