import type { RunCreation, RunDetail } from '../api/types.ts';

/**
 * Why a look cannot tell: runs that could be this one; a lower balance; no marker was sent; the balance before was not
 * known; the API key is another one since it was sent; it is too early to say that nothing came; not everything could be read; the service tells no time.
 */
export type Doubt =
  | 'candidates'
  | 'balance'
  | 'no-marker'
  | 'no-balance'
  | 'key-replaced'
  | 'too-early'
  | 'incomplete'
  | 'no-clock';

/** What a look at runs and balance says of a submission whose outcome was not known. */
export type Finding =
  | { verdict: 'charged'; run: RunCreation }
  | { verdict: 'not-charged' }
  | {
      verdict: 'cannot-tell';
      doubt: Doubt;
      /** The runs that could be this one, newest first. */
      candidates: readonly RunDetail[];
      /** The moment up to which no charge was seen; milliseconds since the epoch. */
      atMs: number;
      /** When a look may say more, where time helps; milliseconds since the epoch. */
      againAtMs?: number;
    };
