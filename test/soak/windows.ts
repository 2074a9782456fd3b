import { WindowsDay, type DayOptions } from '../helpers/runs/windowsDay.ts';

const HOURS = { day: 24, hang: 3, start: 1.4 } as const;

/** Simulates days with 1, 3 and 8 windows. Returns whether nothing was wrong with any. */
export async function soakWindows(seeds: number): Promise<boolean> {
  let isSound = true;
  for (const windows of [1, 3, 8])
    for (const kind of ['day', 'hang', 'start'] as const)
      for (let seed = 1; seed <= seeds; seed++) {
        // Nobody replaces the only window.
        if (kind === 'hang' && windows === 1) continue;
        const day: DayOptions = { seed, windows, hours: HOURS[kind], kind };
        const { problems, ...counts } = await WindowsDay.simulate(day);
        isSound &&= problems.length === 0;
        process.stdout.write(`${JSON.stringify({ ...day, ...counts, problems })}\n`);
      }
  return isSound;
}
