// `npm test`: runs every part. With TESTS=full also the oldest VS Code, and what the tests' own `weekly` leaves out.
import { isFull } from '../helpers/weekly.ts';
import { lintPart, mochaPart, node, reportFile, runStages, script, type Part } from './parts.ts';
import { fail } from './project.ts';

/** Tests that a script beside this one runs, and writes a report of. */
function tests(name: string, limitMs: number, file: string, ...args: readonly string[]): Part {
  return { name, command: node, args: [script(file), ...args], limitMs, report: reportFile(name) };
}

const unit = mochaPart('unit', []);
const host = tests('host', 1_800_000, 'host.ts');
const floor = tests('floor', 1_800_000, 'host.ts', '--floor');
const pages = tests('pages', 1_800_000, 'pages.ts');
const ui = tests('ui', 2_400_000, 'ui.ts');

// The host tests mostly wait, which leaves a core. What a lane has said is printed when a part of it ends.
runStages([
  [
    [lintPart, { ...unit, isQuiet: true }],
    // CI's desktop jobs run the oldest VS Code with each change.
    [host, ...(isFull ? [floor] : []), pages, ui],
  ],
]).catch(fail);
