import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stressVersions } from '../helpers/storage/versionsStress.ts';

/** Kills and stops windows that submit the same bytes. Returns whether each name was given once, and each consent charged once. */
export async function soakVersions(rounds: number): Promise<boolean> {
  let isSound = true;
  for (const variant of ['hard links', 'no hard links'] as const) {
    const folder = await mkdtemp(path.join(tmpdir(), 'soak-versions-'));
    const seed = Date.now();
    const startMs = performance.now();
    const { violations, ...counts } = await stressVersions(folder, { rounds, variant, seed });
    const { length } = violations;
    const seconds = Math.round((performance.now() - startMs) / 1000);
    process.stdout.write(
      `${variant}, seed ${seed}: ${JSON.stringify(counts)}, ${length} violations, ${seconds} s\n`,
    );
    if (length === 0) await rm(folder, { recursive: true });
    else {
      isSound = false;
      process.stdout.write(`${violations.slice(0, 20).join('\n')}\nin ${folder}\n`);
    }
  }
  return isSound;
}
