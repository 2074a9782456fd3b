import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stressVersions } from '../helpers/storage/versionsStress.ts';

/** Kills and stops windows that append to the same records. Returns whether each record kept one history. */
export async function soakVersions(rounds: number): Promise<boolean> {
  let isSound = true;
  for (const variant of ['hard links', 'no hard links'] as const) {
    const folder = await mkdtemp(path.join(tmpdir(), 'soak-versions-'));
    const seed = Date.now();
    const { violations, ...counts } = await stressVersions(folder, { rounds, variant, seed });
    const { length } = violations;
    process.stdout.write(`${variant}, seed ${seed}: ${JSON.stringify(counts)}, ${length} violations\n`);
    if (length === 0) await rm(folder, { recursive: true });
    else {
      isSound = false;
      process.stdout.write(`${violations.slice(0, 20).join('\n')}\nin ${folder}\n`);
    }
  }
  return isSound;
}
