import { ExpectedError } from '../base/errors.ts';
import { printable } from './printable.ts';

/** What a file is. With any code but `adapter` nothing more of it could be read. */
export type VerdictCode =
  /** Weights of an adapter that could be read, with or without problems. */
  | 'adapter'
  /** Neither ZIP, tar, gzip nor safetensors. */
  | 'not-an-archive'
  | 'empty'
  /** Cut or changed; `fault` says how. */
  | 'broken'
  | 'encrypted'
  /** Crafted to harm; `fault` and `entry` say how. Nothing of it was unpacked. */
  | 'unsafe'
  /** Packed by a method that is not read; `entry`. */
  | 'unsupported'
  /** Readable, but without an adapter. */
  | 'no-adapter'
  /** The weights of a full model, not of an adapter. */
  | 'full-model'
  /** The weights are only there as pickle files (`.bin`, `.pt`, `.pkl`), which can run code: named, never opened. */
  | 'pickle-only'
  /** Beyond a limit; `fault` says which. */
  | 'too-big'
  /** The file system refused to read it. */
  | 'unreadable';

/** What can be wrong with an archive or a safetensors file, and what that makes of it. */
export const FAULTS = {
  truncated: 'broken',
  zip: 'broken',
  gzip: 'broken',
  tar: 'broken',
  safetensors: 'broken',
  checksum: 'broken',
  length: 'broken',
  'data-after-end': 'broken',
  /** It leads out of the folder. */
  path: 'unsafe',
  name: 'unsafe',
  /** Or a device. */
  link: 'unsafe',
  duplicate: 'unsafe',
  bomb: 'unsafe',
  encrypted: 'encrypted',
  method: 'unsupported',
  'too-large': 'too-big',
  'header-too-large': 'too-big',
} as const satisfies Readonly<Record<string, VerdictCode>>;
export type ArchiveFault = keyof typeof FAULTS;

export interface Verdict {
  code: VerdictCode;
  fault?: ArchiveFault;
  /** The name of the entry it is about, printable. */
  entry?: string;
}

/** A file does not hold an adapter; `verdict` says why. */
export class NotAnAdapterError extends ExpectedError {
  readonly code: ArchiveFault | 'not-an-adapter' = 'not-an-adapter';
  readonly verdict: Verdict;

  constructor(verdict: Verdict) {
    super(`not an adapter: ${verdict.fault ?? verdict.code}`);
    this.verdict = verdict;
  }
}

/** An archive, or a safetensors file, is not what its format demands, is made to harm, or is beyond a cap. */
export class BrokenArchiveError extends NotAnAdapterError {
  override readonly code: ArchiveFault;

  /** @param entry the one it is about */
  constructor(fault: ArchiveFault, entry?: string) {
    super({ code: FAULTS[fault], fault, ...(entry !== undefined && { entry: printable(entry) }) });
    this.code = fault;
  }
}
