import { printable } from './printable.ts';
import type { AdapterProblem, ProblemCode } from './report.ts';

const MAX_EXAMPLES = 10;
const SEVERITIES: readonly AdapterProblem['severity'][] = ['error', 'warning', 'info'];

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
    if (example !== undefined && !this.isFull(code)) problem.examples.push(printable(example));
  }

  /** Whether further examples of a code would be left out. */
  isFull(code: ProblemCode): boolean {
    return (this.#byCode.get(code)?.examples.length ?? 0) >= MAX_EXAMPLES;
  }

  /** Counts more of a code that was added before. */
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
