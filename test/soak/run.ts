// `npm run test:soak [-- <first seed> [<cells>]]`: random combinations of everything, the same ones for the same seed.
// `npm run test:soak -- --cell <name>`: one cell of any suite, with its story.
import { Counts, reportOf } from '../helpers/crash/cellRuns.ts';
import { matrixCells, secondWindowCells } from '../helpers/crash/matrix.ts';
import { randomCell } from '../helpers/crash/randomCell.ts';
import { runCells } from '../helpers/crash/runCell.ts';
import { Stage } from '../helpers/crash/stage.ts';
import { storyCells } from '../helpers/crash/stories.ts';
import type { CellSpec } from '../helpers/crash/cellSpec.ts';

const AT_ONCE = 3;
const CELLS = 1000;

const [first = '1', second] = process.argv.slice(2);
const isOne = first === '--cell';

function cells(): CellSpec[] {
  if (!isOne)
    return Array.from({ length: Number(second ?? CELLS) }, (_, index) => randomCell(Number(first) + index));
  const seed = /^seed (\d+)$/.exec(second ?? '')?.[1];
  if (seed !== undefined) return [randomCell(Number(seed))];
  const all = [...matrixCells(), ...secondWindowCells(), ...storyCells()];
  return all.filter(({ name }) => name === second);
}

const stage = await Stage.set();
const counts = new Counts();
await runCells(cells(), stage, AT_ONCE, (result) => {
  counts.add(result);
  if (result.violations.length > 0 || isOne) process.stdout.write(`${reportOf(result)}\n\n`);
  else if (counts.cells % 100 === 0) process.stdout.write(`${counts.toString()}\n`);
});
await stage.strike();
process.stdout.write(`from seed ${first}: ${counts.toString()}\n`);
process.exitCode = counts.failed === 0 && counts.cells > 0 ? 0 : 1;
