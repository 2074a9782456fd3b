// `npm run test:soak [-- <first seed> [<cells>]]`: random combinations of everything, determined by the seed.
// `npm run test:soak -- --cell <name> [<times>]`: one cell of any suite, with its log.
// `npm run test:soak -- --versions [<rounds>]`: windows that submit the same bytes, with and without hard links.
// `npm run test:soak -- --windows [<seeds>]`: simulated days with 1, 3 and 8 windows, which share what they read of an account.
import '../helpers/memoryFolder.ts';
import { crashCells, randomCell, secondWindowCells, storyCells, type Cell } from '../helpers/crash/cells.ts';
import { reportOf, runCells } from '../helpers/crash/simulation.ts';
import { Stage } from '../helpers/crash/stage.ts';
import { soakVersions } from './versions.ts';
import { soakWindows } from './windows.ts';

const AT_ONCE = 3;
const CELLS = 1000;
const ROUNDS = 2000;
const DAYS = 3;

const [first = '1', second = '', times = '1'] = process.argv.slice(2);
const isOne = first === '--cell';

function cells(): Cell[] {
  if (!isOne)
    return Array.from({ length: Number(second || CELLS) }, (_, index) => randomCell(Number(first) + index));
  const seed = /^seed (\d+)$/.exec(second)?.[1];
  const all = [...crashCells(1, true), ...secondWindowCells(), ...storyCells()];
  const chosen = seed === undefined ? all.filter(({ name }) => name === second) : [randomCell(Number(seed))];
  return Array.from({ length: Number(times) }, () => chosen).flat();
}

/** Returns whether all cells passed. */
async function soakCells(): Promise<boolean> {
  const stage = await new Stage().start();
  let [done, failed] = [0, 0];
  await runCells(cells(), stage, AT_ONCE, (result) => {
    done++;
    if (result.violations.length > 0) failed++;
    if (result.violations.length > 0 || isOne) process.stdout.write(`${reportOf(result)}\n\n`);
    else if (done % 100 === 0) process.stdout.write(`${done} cells, ${failed} failed\n`);
  });
  await stage.end();
  process.stdout.write(`from seed ${first}: ${done} cells, ${failed} failed\n`);
  return failed === 0 && done > 0;
}

const soaks: Record<string, () => Promise<boolean>> = {
  '--versions': () => soakVersions(Number(second || ROUNDS)),
  '--windows': () => soakWindows(Number(second || DAYS)),
};
const isSound = await (soaks[first] ?? soakCells)();
process.exitCode = isSound ? 0 : 1;
