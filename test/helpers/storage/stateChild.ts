// Another window that writes to a folder's state: `stateChild.ts FOLDER NAME [COUNT]`. Prints each acknowledged row.
import { StateStore } from '../../../src/core/storage/state.ts';
import { TEST_TABLES } from './testTables.ts';

const [folder = '', name = '', count = 'Infinity'] = process.argv.slice(2);
const state = new StateStore(folder, undefined, TEST_TABLES);
await state.open();
process.stdout.write(`${state.problem ?? 'open'}\n`);
let longestMs = 0;
for (let number = 1; number <= Number(count); number++) {
  const startMs = performance.now();
  const done = state.transaction((tables) => {
    tables.run('INSERT INTO item (account, name, value) VALUES (?, ?, ?)', name, `${number}`, number);
    tables.touch('items', name);
  });
  longestMs = Math.max(longestMs, performance.now() - startMs);
  await done;
  // Wait until this is written before storing the next row, because a busy parent reads late.
  await new Promise((resolve) => process.stdout.write(`${number}\n`, resolve));
}
process.stdout.write(`done ${Math.round(longestMs)}\n`);
