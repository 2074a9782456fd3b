import { printable } from './printable.ts';
import type { AdapterProblem, ProblemCode } from './report.ts';

const MAX_EXAMPLES = 10;
const SEVERITIES: readonly AdapterProblem['severity'][] = ['error', 'warning', 'info'];

interface Values {
  expected?: string | number;
  actual?: string | number;
}

/** Collects problems, one a code, with how often and where. */
export class Problems {
  readonly #byCode = new Map<ProblemCode, AdapterProblem & { examples: string[] }>();

  /** The severity is the worst of a code, the values are those of the first. */
  add(
    code: ProblemCode,
    severity: AdapterProblem['severity'],
    example?: string,
    { expected, actual }: Values = {},
  ): void {
    let problem = this.#byCode.get(code);
    if (problem === undefined) {
      problem = {
        code,
        severity,
        count: 0,
        examples: [],
        ...(expected === undefined ? {} : { expected: clean(expected) }),
        ...(actual === undefined ? {} : { actual: clean(actual) }),
      };
      this.#byCode.set(code, problem);
    }
    if (severity === 'error') problem.severity = severity;
    problem.count++;
    if (example !== undefined && problem.examples.length < MAX_EXAMPLES)
      problem.examples.push(printable(example));
  }

  /** Whether further examples of a code would not be kept. */
  isFull(code: ProblemCode): boolean {
    return (this.#byCode.get(code)?.examples.length ?? 0) >= MAX_EXAMPLES;
  }

  /** Counts more of a code that was added already. */
  addMore(code: ProblemCode, count: number): void {
    const problem = this.#byCode.get(code);
    if (problem !== undefined) problem.count += count;
  }

  /** Errors first, else in the order of their finding. */
  list(): AdapterProblem[] {
    return [...this.#byCode.values()].sort(
      (a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity),
    );
  }
}

function clean(value: string | number): string | number {
  return typeof value === 'string' ? printable(value) : value;
}
