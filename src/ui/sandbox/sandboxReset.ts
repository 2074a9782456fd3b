import { confirmReset } from './sandboxDialogs.ts';
import type { SandboxControls } from './sandboxAccess.ts';
import type { Sessions } from '../../core/runs/sessions.ts';

/** Deletes the sandbox's runs and puts its balance, scenario and clock back. */
export function sandboxReset(sandbox: () => Promise<SandboxControls | undefined>, sessions: Sessions) {
  return async (): Promise<void> => {
    const controls = await sandbox();
    if (controls === undefined || !(await confirmReset())) return;
    controls.reset();
    sessions.active?.runs.clear();
    await Promise.all([sessions.active?.runs.refresh(), sessions.active?.balance.refresh()]);
  };
}
