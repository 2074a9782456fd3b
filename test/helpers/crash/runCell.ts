import type { CellResult, CellSpec } from './cellSpec.ts';
import { verify } from './invariants.ts';
import { Person } from './person.ts';
import type { Stage } from './stage.ts';
import { World } from './world.ts';

/** In real time; a cell takes a small part of it, unless the machine is busy. */
const LIMIT_MS = 90_000;

/** Lives through one cell and looks at what is left. Never throws: what goes wrong is a violation. */
export async function runCell(spec: CellSpec, stage: Stage): Promise<CellResult> {
  const world = await World.make(spec, stage);
  const person = new Person(world);
  let knows = false;
  let timer: NodeJS.Timeout | undefined;
  try {
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('I7: it never ends')), LIMIT_MS);
    });
    knows = await Promise.race([person.live(), late]);
    await world.close();
    await verify(world);
  } catch (error) {
    world.violate(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    person.end();
    clearTimeout(timer);
  }
  const { charges, posts } = world.service.ledger;
  if (knows && charges.length === 0) world.violate('I4: told as charged, and nothing was');
  // Another file is never sent in the place of the one that was consented to: that wish stays unfulfilled.
  if (!knows && spec.datasetBecomes === undefined) world.violate('end: the person never learned of a charge');
  const result: CellResult = {
    spec,
    violations: world.violations,
    kills: world.kills,
    windows: world.windows.length,
    attempts: posts.length,
    charges: charges.length,
    faults: world.faultsHit,
    killedAt: world.killedAt,
    end: knows ? 'charged' : 'open',
    story: world.story,
  };
  await world.end();
  return result;
}

/** Runs cells, so many at once. */
export async function runCells(
  specs: readonly CellSpec[],
  stage: Stage,
  atOnce: number,
  onEnd: (result: CellResult) => void,
): Promise<void> {
  const rest = specs.values();
  const work = async () => {
    for (const spec of rest) onEnd(await runCell(spec, stage));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}
