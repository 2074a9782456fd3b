import type { RunCreation } from '../api/types.ts';

/** How a submission ended, for now, for the person's money. */
export type Outcome =
  /**
   * `found`: not by its answer, but by a look, which knows less of the charge. `onTold` is called when the person was told: after a
   * crash before that it is told at the next start.
   */
  | { kind: 'charged'; run: RunCreation; found?: true; onTold?: () => void }
  /** `kept`: it stands among the pending ones, to be continued or discarded. */
  | { kind: 'not-charged'; error: unknown; kept: boolean }
  /** It may have been charged. */
  | { kind: 'unknown'; error: unknown }
  /** Nothing was sent: a submission of the same bytes and model is open, and comes first. */
  | { kind: 'open'; id: string }
  /** Nothing was sent: another window has it, or it is settled. */
  | { kind: 'elsewhere' };
