// `npm test`: runs every part.
import { runStages, node, reportFile, script, unitPart, type Part } from './parts.ts';
import { fail } from './project.ts';

const lint: Part = {
  name: 'lint',
  command: 'npm',
  args: ['run', 'lint', '--loglevel=error'],
  limitMs: 300_000,
  isQuiet: true,
};

/** Tests that a script beside this one runs, and writes a report of. */
function tests(name: string, args: readonly string[], limitMs: number): Part {
  return {
    name,
    command: node,
    args: [script(args[0] ?? ''), ...args.slice(1)],
    limitMs,
    report: reportFile(name),
  };
}

const unit = unitPart([], 600_000);
const host = tests('host', ['host.ts'], 480_000);
const floor = tests('floor', ['host.ts', '--floor'], 300_000);
const ui = tests('ui', ['ui.ts'], 1_500_000);

// The host tests mostly wait, which leaves a core for lint.
runStages([[[lint], [host, floor]], [[unit]], [[ui]]]).catch(fail);
