import type { Problem, ProblemGroup } from './problems.ts';
import type { Report } from './report.ts';

/** Who wrote a file on Windows knows of one line what they have to know of all. */
const ONCE = 'crlf';

/** A choice of a report's problems, and how many it leaves out. */
export interface ShownProblems {
  /** Errors, then secrets, then what is left; each in the order of the file. */
  shown: readonly Problem[];
  hiddenErrors: number;
  hiddenWarnings: number;
}

/**
 * At most `limit` problems: errors first, then secrets, then the other warnings. Where not all of one rank have room, each
 * code gets an equal share of it, so that 10,000 blank lines do not hide one other fault. What holds for a whole file is
 * shown once, with the number of lines as its detail.
 */
export function shownProblems(report: Report, limit: number): ShownProblems {
  const shown: Problem[] = [];
  for (const rank of [0, 1, 2]) {
    const groups = report.problems.filter((group) => rankOf(group) === rank);
    const chosen = fairShare(groups, limit - shown.length);
    shown.push(...chosen.sort((a, b) => a.offset - b.offset));
  }
  const hidden = (severity: Problem['severity']) =>
    report.problems.reduce(
      (sum, group) => sum + (group.severity !== severity ? 0 : group.code === ONCE ? 1 : group.total),
      0,
    ) - shown.filter((problem) => problem.severity === severity).length;
  return { shown, hiddenErrors: hidden('error'), hiddenWarnings: hidden('warning') };
}

function rankOf({ severity, code }: ProblemGroup): number {
  if (severity === 'error') return 0;
  return code === 'api-key' || code === 'private-key' ? 1 : 2;
}

/** The first ones of each group; what a small group leaves of its share goes to the larger ones. */
function fairShare(groups: readonly ProblemGroup[], room: number): Problem[] {
  const chosen: Problem[] = [];
  const fromSmall = [...groups].sort((a, b) => wanted(a) - wanted(b));
  for (const [index, group] of fromSmall.entries()) {
    const share = Math.floor((room - chosen.length) / (fromSmall.length - index));
    if (group.code === ONCE) {
      if (share > 0) chosen.push({ ...group.at(0), detail: String(group.total) });
    } else for (let at = 0; at < Math.min(share, group.located); at++) chosen.push(group.at(at));
  }
  return chosen;
}

function wanted({ code, located }: ProblemGroup): number {
  return code === ONCE ? 1 : located;
}
