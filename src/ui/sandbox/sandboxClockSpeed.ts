import { chooseClockSpeed, tellSpeedRefused } from './sandboxDialogs.ts';
import type { SandboxControls } from './sandboxAccess.ts';
import type { Sessions } from '../../core/runs/sessions.ts';

/** Lets the sandbox's runs go faster or slower: by the factor of the argument, or one that the person picks. */
export function sandboxClockSpeed(sandbox: () => Promise<SandboxControls | undefined>, sessions: Sessions) {
  return async (argument: unknown): Promise<void> => {
    const controls = await sandbox();
    if (controls === undefined) return;
    const speed = typeof argument === 'number' ? argument : await chooseClockSpeed(controls.getSpeed());
    if (speed === undefined) return;
    if (!controls.setSpeed(speed)) {
      tellSpeedRefused(controls.speedRange);
      return;
    }
    await sessions.active?.runs.refresh();
  };
}
