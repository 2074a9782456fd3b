import { offerSandbox } from './sandboxDialogs.ts';

/** The part of the running sandbox that a person steers; the sandbox's own types stay in its room. */
export interface SandboxControls {
  readonly scenarios: readonly string[];
  getScenario(): string;
  /** False where the sandbox does not know the scenario. */
  setScenario(scenario: string): boolean;
  reset(): void;
  /** Returns the new balance; both in cents. Undefined where the sandbox does not take the amount. */
  addFunds(cents: number): number | undefined;
  readonly speedRange: { readonly min: number; readonly max: number };
  getSpeed(): number;
  /** False where the factor is out of range. */
  setSpeed(factor: number): boolean;
}

/**
 * The sandbox's controls, if the sandbox is the active account or the person agrees to switch to it.
 * @param isActive whether the sandbox is the active account
 * @param use makes it so
 */
export function sandboxControls(
  isActive: () => boolean,
  use: () => Promise<void>,
  start: () => Promise<SandboxControls>,
) {
  return async (): Promise<SandboxControls | undefined> => {
    if (!isActive()) {
      if (!(await offerSandbox())) return undefined;
      await use();
    }
    return start();
  };
}
