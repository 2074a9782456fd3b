import { printable } from './printable.ts';

/** Each has a sentence in `ui/adapters/reportMessages.ts`. */
export type ProblemCode =
  // The config.
  | 'config-missing'
  /** Or it is too large, or begins with a byte order mark, which PEFT's reader refuses. */
  | 'config-not-json'
  /** `examples` are the keys whose values are of a wrong type. */
  | 'config-wrong-type'
  /** `examples` are the keys without which tools cannot load it. */
  | 'config-incomplete'
  | 'not-lora'
  | 'base-model-is-path'
  /** The base's weights, before training began; or the way it began is unknown. */
  | 'base-changed'
  // The tensors.
  /** Or of another rank. */
  | 'partner-missing'
  /** Without `base_model.model.`, PEFT reports tensors as missing keys: the model stays as it is. */
  | 'prefix-missing'
  | 'tensor-unexpected'
  | 'dtype-unusual'
  // Both do not fit each other.
  | 'rank-mismatch'
  | 'module-not-targeted'
  | 'module-without-weights'
  | 'saved-module-mismatch'
  /** `examples` are the keys that the weights contradict. */
  | 'config-mismatch'
  // The files.
  /** Other weights and configs, which were not read. */
  | 'several-adapters'
  | 'weights-name'
  | 'pickle-present';

/** What is wrong with an adapter; one for each code. */
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
