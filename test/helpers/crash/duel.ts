import { setTimeout as delay } from 'node:timers/promises';
import type { Told } from './protocol.ts';
import type { WindowProcess } from './windowProcess.ts';
import type { World } from './world.ts';

/**
 * The first window submits and pauses at its point; meanwhile a second one tries everything that a person might. Then the
 * first is killed, or goes on to its end. @returns the window that is left, which may have to take over
 */
export async function duel(world: World): Promise<WindowProcess> {
  if (world.spec.second === 'at once') return race(world);
  const [crash] = world.spec.crashes;
  const first = await world.open(crash && { ...crash, by: 'pause' });
  const atPoint = world.paused(first);
  const submitted = first.call('submit', world.draft()).catch((): Told => ({ kind: 'killed' }));
  // A point that it never comes to: then there is nothing to disturb.
  const isPaused = await Promise.race([atPoint.then(() => true), submitted.then(() => false)]);
  const second = await world.open();
  if (isPaused) {
    world.tell(`  window 1 pauses at ${crash?.point ?? ''}`);
    if (world.spec.second === 'lock lost') await usurp(world, second);
    else await disturb(world, second);
    if (first.isOver) world.violate(`the first window died, and nobody had killed it: ${first.output}`);
  }
  if (world.spec.second === 'then kill') {
    await first.kill();
    world.died(first);
  } else world.release(first);
  await submitted;
  return second;
}

/** Whatever the second window does, it sends nothing of what the first one has. */
async function disturb(world: World, second: WindowProcess): Promise<void> {
  // It takes a moment until a window knows what another one has.
  await delay(250);
  const open = (await second.call('pending')).filter(({ state }) => state !== 'refused');
  const before = world.service.ledger.posts.length;
  for (const { id } of open) {
    const told = await second.call('resume', id);
    if (told.kind !== 'elsewhere') world.violate(`one owner: a second window resumes it: ${told.kind}`);
    if (await second.call('discard', id)) world.violate('one owner: a second window discards it');
    const finding = await second.call('check', id);
    if (finding.kind !== 'elsewhere')
      world.violate(`one owner: a second window looks for it: ${finding.kind}`);
    if (await second.call('cancel', id)) world.violate('one owner: a second window cancels it');
  }
  // Nothing is open: it is another wish, as the person sees it.
  if (open.length === 0) world.moreWishes += 1;
  const told = await second.call('submit', world.draft());
  if (open.length > 0 && told.kind !== 'open')
    world.violate(`I3: a second window submits the same: ${told.kind}`);
  if (open.length > 0 && world.service.ledger.posts.length > before)
    world.violate('one owner: a second window sent something');
}

/** Without its lock the first window owns nothing any more: the second one says that nothing was charged, and gives it up. */
async function usurp(world: World, second: WindowProcess): Promise<void> {
  await world.folder.removeLocks();
  await delay(250);
  for (const { id, state } of await second.call('pending')) {
    if (state === 'unknown') world.moreWishes += 1;
    world.tell(`  window 2 discards what is ${state}: ${await second.call('discard', id)}`);
  }
}

/** Two windows submit the same at the same moment. */
async function race(world: World): Promise<WindowProcess> {
  const [first, second] = [await world.open(), await world.open()];
  const told = await Promise.all([first.call('submit', world.draft()), second.call('submit', world.draft())]);
  const kinds = told.map(({ kind }) => kind).sort();
  // One of them, unless it was over before the other began.
  if (kinds.join() === 'charged,charged') world.moreWishes += 1;
  await first.close();
  return second;
}
