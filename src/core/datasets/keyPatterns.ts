import { API_KEY, PRIVATE_KEY } from './scanner/codes.ts';

/** What may follow the beginning of a key, by the scanner's numbers (`scanner/keyPatterns.ts`). */
const TAILS = { word: 0, alphanumeric: 1, upper: 2, base64: 3 } as const;

/** A kind of key, by what it begins with. */
interface KeyPattern {
  code: number;
  prefix: string;
  /** Where in the prefix three bytes stand together that are rare in text, the third above all. */
  anchor: number;
  /** How many characters follow at least, and which; without any, the prefix alone is the key. */
  tail: number;
  of?: keyof typeof TAILS;
}

const key = (prefix: string, anchor: number, tail: number, of: keyof typeof TAILS = 'word'): KeyPattern => ({
  code: API_KEY,
  prefix,
  anchor,
  tail,
  of,
});

const privateKey = (kind: string): KeyPattern => ({
  code: PRIVATE_KEY,
  prefix: `-----BEGIN ${kind}PRIVATE KEY`,
  anchor: 5,
  tail: 0,
});

/** The keys that are looked for: this service's, those of widespread services, and private keys (PEM, RFC 7468). */
const KEY_PATTERNS: readonly KeyPattern[] = [
  key('service_', 5, 16),
  key('sk-', 0, 20),
  key('AKIA', 1, 16, 'upper'),
  key('ASIA', 1, 16, 'upper'),
  key('AIza', 1, 35),
  key('ghp_', 1, 36, 'alphanumeric'),
  key('gho_', 1, 36, 'alphanumeric'),
  key('ghu_', 1, 36, 'alphanumeric'),
  key('ghs_', 1, 36, 'alphanumeric'),
  key('ghr_', 1, 36, 'alphanumeric'),
  key('github_pat_', 4, 22),
  key('glpat-', 3, 20),
  key('xoxb-', 2, 10),
  key('xoxp-', 2, 10),
  key('xoxa-', 2, 10),
  key('xoxr-', 2, 10),
  key('xoxs-', 2, 10),
  key('sk_live_', 0, 16, 'alphanumeric'),
  key('rk_live_', 0, 16, 'alphanumeric'),
  key('sk_test_', 0, 16, 'alphanumeric'),
  key('hf_', 0, 30, 'alphanumeric'),
  key('npm_', 1, 36, 'alphanumeric'),
  key('pypi-', 2, 50),
  key('SG.', 0, 40),
  key('dop_v1_', 1, 40, 'alphanumeric'),
  key('AccountKey=', 8, 80, 'base64'),
  privateKey(''),
  privateKey('RSA '),
  privateKey('EC '),
  privateKey('OPENSSH '),
  privateKey('ENCRYPTED '),
  privateKey('PGP '),
];

const PATTERN_BYTES = 48;
const PREFIX_OFFSET = 8;
const ANCHOR_LENGTH = 3;
const MAX_BUCKETS = 8;

/** Patterns with the same third rare byte are of one bucket: few places in a text have that byte, and two fitting ones before. */
const BUCKETS: readonly string[] = [...new Set(KEY_PATTERNS.map(thirdByte))].slice(0, MAX_BUCKETS);

function thirdByte({ prefix, anchor }: KeyPattern): string {
  return prefix.charAt(anchor + ANCHOR_LENGTH - 1);
}

function bucketOf(pattern: KeyPattern): number {
  return 1 << BUCKETS.indexOf(thirdByte(pattern));
}

/** The patterns as the scanner reads them: each its lengths and kinds, then its prefix. */
export function encodePatterns(): Uint8Array {
  const bytes = new Uint8Array(KEY_PATTERNS.length * PATTERN_BYTES);
  for (const [index, pattern] of KEY_PATTERNS.entries()) {
    const { code, prefix, anchor, tail, of = 'word' } = pattern;
    const at = index * PATTERN_BYTES;
    bytes.set([prefix.length, anchor, tail, TAILS[of], code, bucketOf(pattern)], at);
    bytes.set(Buffer.from(prefix, 'latin1'), at + PREFIX_OFFSET);
  }
  return bytes;
}

/** For each of the three rare bytes, by its lower and by its upper half, the buckets of the patterns that have it: bits. */
export function encodeAnchors(): Uint8Array {
  const tables = new Uint8Array(ANCHOR_LENGTH * 2 * 16);
  for (const pattern of KEY_PATTERNS) {
    const { prefix, anchor } = pattern;
    const bucket = bucketOf(pattern);
    for (let byte = 0; byte < ANCHOR_LENGTH; byte++) {
      const value = prefix.charCodeAt(anchor + byte);
      const low = byte * 32 + (value & 15);
      const high = byte * 32 + 16 + (value >> 4);
      tables[low] = (tables[low] ?? 0) | bucket;
      tables[high] = (tables[high] ?? 0) | bucket;
    }
  }
  return tables;
}
