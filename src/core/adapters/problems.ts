import { printable } from './printable.ts';

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
