import { chooseScenario, tellScenario, tellScenarioRefused } from './sandboxDialogs.ts';
import type { SandboxControls } from './sandboxAccess.ts';
import type { Sessions } from '../../core/runs/sessions.ts';

/** Lets the sandbox show a fault: the one of the argument, or one that the person picks. */
export function sandboxScenario(sandbox: () => Promise<SandboxControls | undefined>, sessions: Sessions) {
  return async (argument: unknown): Promise<void> => {
    const controls = await sandbox();
    if (controls === undefined) return;
    const scenario =
      typeof argument === 'string'
        ? argument
        : await chooseScenario(controls.scenarios, controls.getScenario());
    if (scenario === undefined) return;
    if (!controls.setScenario(scenario)) {
      tellScenarioRefused(controls.scenarios);
      return;
    }
    tellScenario(scenario);
    await sessions.active?.runs.refresh();
  };
}
