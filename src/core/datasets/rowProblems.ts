import type { Problem, ProblemClass, ProblemCode, ProblemGroup } from './problems.ts';
import type { Report } from './report.ts';

/** Which problems are meant: one code, one class, or all. */
export type ProblemChoice = ProblemCode | ProblemClass | 'all';

/** The rows that a choice of problems leads to. */
export interface ProblemRows {
  /** In the order of the file, each once. */
  rows: number[];
  /** For how many problems the place is known, out of how many. */
  located: number;
  total: number;
}

/** The rows with problems of a choice, as far as their places are known. */
export function rowsWithProblems(report: Report, choice: ProblemChoice): ProblemRows {
  const groups = report.problems.filter((group) => isChosen(group, choice));
  const rows = new Set<number>();
  for (const group of groups) for (const { row } of group) rows.add(row);
  return {
    rows: [...rows].sort((a, b) => a - b),
    located: groups.reduce((sum, { located }) => sum + located, 0),
    total: groups.reduce((sum, { total }) => sum + total, 0),
  };
}

/** The problems of one row, in the order of their places, and never more than asked for. */
export function problemsOfRow(report: Report, row: number, most: number): Problem[] {
  const found: Problem[] = [];
  for (const group of report.problems) {
    let taken = 0;
    for (let index = firstAt(group, row); index < group.located && taken < most; index++, taken++) {
      const problem = group.at(index);
      if (problem.row !== row) break;
      found.push(problem);
    }
  }
  return found.sort((a, b) => a.offset - b.offset).slice(0, most);
}

function isChosen({ code, class: problemClass }: ProblemGroup, choice: ProblemChoice): boolean {
  return choice === 'all' || choice === code || choice === problemClass;
}

/** The index of a group's first problem in a row or behind it. */
function firstAt(group: ProblemGroup, row: number): number {
  let low = 0;
  let high = group.located;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (group.at(middle).row < row) low = middle + 1;
    else high = middle;
  }
  return low;
}
