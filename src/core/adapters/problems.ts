import { ExpectedError } from '../base/errors.ts';

/** What a file is. Only an `adapter` has weights in its report. */
export type VerdictCode =
  /** An adapter whose weights could be read, with or without problems. */
  | 'adapter'
  /** Neither ZIP, tar, gzip nor safetensors. */
  | 'not-an-archive'
  | 'empty'
  /** Truncated or damaged; `fault` says how. */
  | 'broken'
  | 'encrypted'
  /** Crafted to harm; `fault` and `entry` say how. Nothing was unpacked. */
  | 'unsafe'
  /** Packed with an unsupported method; see `entry`. */
  | 'unsupported'
  /** Readable, but without an adapter. */
  | 'no-adapter'
  /** An adapter in the format of another program, which `detail` names. */
  | 'other-format'
  /** The weights of a full model, not of an adapter. */
  | 'full-model'
  /** Weights only in pickle files (`.bin`, `.pt`, `.pkl`), which can run code: listed, but never opened. */
  | 'pickle-only'
  /** Beyond a limit; `fault` says which. */
  | 'too-big'
  /** The file system refused to read it. */
  | 'unreadable';

/** Faults of an archive or a safetensors file, with the resulting verdict. */
export const FAULTS = {
  truncated: 'broken',
  zip: 'broken',
  gzip: 'broken',
  tar: 'broken',
  safetensors: 'broken',
  checksum: 'broken',
  length: 'broken',
  'data-after-end': 'broken',
  /** A path that leaves the folder. */
  path: 'unsafe',
  name: 'unsafe',
  /** A link or a device. */
  link: 'unsafe',
  duplicate: 'unsafe',
  bomb: 'unsafe',
  encrypted: 'encrypted',
  method: 'unsupported',
  /** A tensor of an unknown type; `detail` says which. */
  dtype: 'unsupported',
  'too-large': 'too-big',
  'header-too-large': 'too-big',
} as const satisfies Readonly<Record<string, VerdictCode>>;
export type ArchiveFault = keyof typeof FAULTS;

export interface InspectionVerdict {
  code: VerdictCode;
  fault?: ArchiveFault;
  /** The name of the affected entry, printable. */
  entry?: string;
  detail?: string;
}

/** Thrown if a file contains no adapter; `verdict` says why. */
export class NotAnAdapterError extends ExpectedError {
  readonly code: ArchiveFault | 'not-an-adapter' = 'not-an-adapter';
  readonly verdict: InspectionVerdict;

  constructor(verdict: InspectionVerdict) {
    super(`not an adapter: ${verdict.fault ?? verdict.code}`);
    this.verdict = verdict;
  }
}

/** Thrown if an archive or safetensors file violates its format, is malicious, or exceeds a limit. */
export class BrokenArchiveError extends NotAnAdapterError {
  override readonly code: ArchiveFault;

  constructor(fault: ArchiveFault, entry?: string, detail?: string) {
    super({
      code: FAULTS[fault],
      fault,
      ...(entry !== undefined && { entry: printable(entry) }),
      ...(detail !== undefined && { detail: printable(detail) }),
    });
    this.code = fault;
  }
}

/** Problems that users run into. Each has a sentence in `ui/adapters/adapterVerdict.ts`. */
export type AdapterProblemCode =
  // The config.
  | 'config-missing'
  | 'config-too-large'
  | 'config-not-json'
  /** The config begins with a byte order mark, which PEFT's reader rejects. */
  | 'config-bom'
  /** `examples` are the keys with values of a wrong type. */
  | 'config-wrong-type'
  | 'peft-type-missing'
  /** PEFT refuses `lora` in lower case. */
  | 'peft-type-case'
  | 'not-lora'
  | 'base-model-missing'
  | 'base-model-is-path'
  | 'rank-missing'
  | 'alpha-missing'
  | 'target-modules-missing'
  | 'base-changed'
  /** MLX and GGUF repositories. */
  | 'base-unloadable'
  /** Warning: the adapted modules have the names of a text-only model. */
  | 'base-vision'
  /** Information: `actual` is how, `expected` the 16-bit original. */
  | 'base-quantized'
  // The tensors.
  | 'partner-missing'
  | 'pair-mismatch'
  /** PEFT reports tensors with such names as missing keys: the model stays as it is. `expected` says who writes them. */
  | 'names-wrapped'
  /** Modules that no tool loads. */
  | 'module-refused'
  /** The training saved tensors without values, or none. */
  | 'weights-empty'
  | 'tensor-unexpected'
  /** A few layers have another width. Unless the base model was pruned, PEFT refuses the adapter. */
  | 'width-differs'
  /** Information: in a few middle layers, a module has no pair. The base may have been pruned. */
  | 'layer-without-weights'
  // Mismatches between config and tensors.
  | 'rank-mismatch'
  | 'module-not-targeted'
  /** Information: PEFT warns of missing tensors, but lists with modules of several models are common. */
  | 'target-without-weights'
  | 'saved-module-missing'
  /** PEFT loads unlisted tensors over the base model's. They stay when the adapter is switched off. */
  | 'base-replaced'
  /** PEFT saved embeddings that are neither trained nor adapted. `actual` is their number of rows. */
  | 'embeddings-resized'
  /** Information: embeddings that may have been resized for training. */
  | 'embeddings-saved'
  | 'dora-mismatch'
  | 'magnitude-mismatch'
  | 'lora-bias-ignored'
  // The files.
  /** Before or after a ZIP archive; unzip and Python ignore them. */
  | 'extra-bytes'
  /** Only one is used: in the adapter's folder, the one with PEFT's name or else the first by name. */
  | 'several-weights'
  | 'weights-name'
  | 'pickle-present';

/** A problem of an adapter, with all of its occurrences. */
export interface AdapterProblem {
  code: AdapterProblemCode;
  /** `error`: tools reject the adapter or load it wrongly. `warning`: some do. `info`: perhaps none do. */
  severity: 'error' | 'warning' | 'info';
  /** Number of affected tensors, modules, keys, or files; at least 1. */
  count: number;
  /** At most 10 of their names, printable, at most 200 characters. */
  examples: readonly string[];
  expected?: string | number;
  actual?: string | number;
  /** Where the first one is. */
  layer?: number;
  module?: string;
}

const SEVERITIES: readonly AdapterProblem['severity'][] = ['error', 'warning', 'info'];
const MAX_EXAMPLES = 10;

/** Collects problems: one per code, with count and examples. */
export class Problems {
  readonly #byCode = new Map<AdapterProblemCode, AdapterProblem & { examples: string[] }>();

  /** Adds an occurrence. A code keeps its worst severity and the values of its first occurrence. */
  add(
    code: AdapterProblemCode,
    severity: AdapterProblem['severity'],
    example?: string,
    values: Pick<AdapterProblem, 'expected' | 'actual' | 'layer' | 'module'> = {},
  ): void {
    const known = this.#byCode.get(code);
    const problem = known ?? { code, severity, count: 0, examples: [], ...values };
    if (known === undefined) this.#byCode.set(code, problem);
    if (SEVERITIES.indexOf(severity) < SEVERITIES.indexOf(problem.severity)) problem.severity = severity;
    problem.count++;
    if (example !== undefined && problem.examples.length < MAX_EXAMPLES)
      problem.examples.push(printable(example));
  }

  /** Returns errors first and information last, each in the order in which they were found. */
  list(): AdapterProblem[] {
    return SEVERITIES.flatMap((its) => [...this.#byCode.values()].filter(({ severity }) => severity === its));
  }
}

const MAX_LENGTH = 200;

/** Makes untrusted text printable: no control, format, or lone surrogate characters, and at most 200 long. */
export function printable(text: string): string {
  if (/^[ -~]{0,200}$/.test(text)) return text;
  const cleaned = text.slice(0, 4 * MAX_LENGTH).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029]/gu, '\ufffd');
  return cleaned.length <= MAX_LENGTH
    ? cleaned
    : `${cleaned.slice(0, MAX_LENGTH - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
