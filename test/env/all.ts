// `npm test`: runs every part.
import { lintPart, runStages, node, reportFile, script, unitPart, type Part } from './parts.ts';
import { fail } from './project.ts';

/** Tests that a script beside this one runs, and writes a report of. */
function tests(name: string, limitMs: number, file: string, ...args: readonly string[]): Part {
  return { name, command: node, args: [script(file), ...args], limitMs, report: reportFile(name) };
}

const unit = unitPart([], 900_000);
const host = tests('host', 900_000, 'host.ts');
const floor = tests('floor', 900_000, 'host.ts', '--floor');
const ui = tests('ui', 2_400_000, 'ui.ts');

// The host tests mostly wait, which leaves a core. The UI tests pack the extension, whose bundle the host tests use.
runStages([
  [
    [lintPart, { ...unit, isQuiet: true }],
    [host, floor],
  ],
  [[ui]],
]).catch(fail);
