import { ExpectedError } from '../base/errors.ts';

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

/** What stops people. Each has a sentence in `ui/adapters/reportMessages.ts`. */
export type ProblemCode =
  // The config.
  | 'config-missing'
  | 'config-too-large'
  | 'config-not-json'
  /** It begins with a byte order mark, which PEFT's reader refuses. */
  | 'config-bom'
  /** `examples` are the keys whose values are of a wrong type. */
  | 'config-wrong-type'
  | 'peft-type-missing'
  | 'not-lora'
  | 'base-model-missing'
  | 'base-model-is-path'
  | 'rank-missing'
  | 'alpha-missing'
  | 'target-modules-missing'
  | 'base-changed'
  // The tensors.
  | 'partner-missing'
  | 'pair-mismatch'
  /** Without `base_model.model.`, PEFT reports tensors as missing keys: the model stays as it is. */
  | 'prefix-missing'
  | 'tensor-unexpected'
  // Both do not fit each other.
  | 'rank-mismatch'
  | 'module-not-targeted'
  | 'saved-module-missing'
  | 'dora-mismatch'
  // The files.
  /** Those in the folder of the config were read, and of several there PEFT's or the first. */
  | 'several-weights'
  | 'weights-name'
  | 'pickle-present';

/** Something to know about an adapter; one for each code. */
export interface AdapterProblem {
  code: ProblemCode;
  /** `error`: tools will refuse it or load it wrongly. `warning`: some will. */
  severity: 'error' | 'warning';
  /** How many tensors, modules, keys or files it is about; at least 1. */
  count: number;
  /** At most 10 of their names, printable, at most 200 characters. */
  examples: readonly string[];
  expected?: string | number;
  actual?: string | number;
}

const MAX_EXAMPLES = 10;

/** Collects problems, one for each code, with how often and where. */
export class Problems {
  readonly #byCode = new Map<ProblemCode, AdapterProblem & { examples: string[] }>();

  /** The severity is the worst of a code, the values are those of the first. */
  add(
    code: ProblemCode,
    severity: AdapterProblem['severity'],
    example?: string,
    values: Pick<AdapterProblem, 'expected' | 'actual'> = {},
  ): void {
    const known = this.#byCode.get(code);
    const problem = known ?? { code, severity, count: 0, examples: [], ...values };
    if (known === undefined) this.#byCode.set(code, problem);
    if (severity === 'error') problem.severity = severity;
    problem.count++;
    if (example !== undefined && problem.examples.length < MAX_EXAMPLES)
      problem.examples.push(printable(example));
  }

  /** Errors first, else in the order of their finding. */
  list(): AdapterProblem[] {
    return [...this.#byCode.values()].sort((a, b) => a.severity.localeCompare(b.severity));
  }
}

const MAX_LENGTH = 200;

/** A text that somebody else chose, fit for a screen: no control, format or lone surrogate characters, at most 200 long. */
export function printable(text: string): string {
  if (/^[ -~]{0,200}$/.test(text)) return text;
  const cleaned = text.slice(0, 4 * MAX_LENGTH).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029]/gu, '\ufffd');
  return cleaned.length <= MAX_LENGTH
    ? cleaned
    : `${cleaned.slice(0, MAX_LENGTH - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
