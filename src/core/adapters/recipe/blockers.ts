import { baseChangeOf } from '../baseChange.ts';
import { taskOf } from './peftTasks.ts';
import type { AdapterConfig, AdapterReport, Recipe, TrapCode } from '../report.ts';

/**
 * Why a tool that lays an adapter onto the base as it is published cannot take it: first what merging with PEFT does not help.
 * @param alora what the tool makes of aLoRA, where it cannot take it
 */
export function baseBlockers(config: AdapterConfig | undefined, alora?: TrapCode): TrapCode[] {
  if (config === undefined) return [];
  const traps: TrapCode[] = [];
  if (taskOf(config).name !== 'CAUSAL_LM') traps.push('other-task');
  if (config.repeatsLayers) traps.push('layers-repeated');
  if (config.isAlora && alora !== undefined) traps.push(alora);
  const change = baseChangeOf(config);
  if (change === 'lost') traps.push('base-change-lost');
  else if (change !== undefined && change !== 'unknown') traps.push('base-changed');
  return traps;
}

/** DoRA by the config, or by what is stored. */
export function hasDora({ config, weights }: AdapterReport): boolean {
  return config?.useDora === true || weights?.pairs.some(({ hasMagnitude }) => hasMagnitude) === true;
}

/** What may be wrong with any tool. */
export function initWarnings(config: AdapterConfig | undefined): TrapCode[] {
  return config !== undefined && baseChangeOf(config) === 'unknown' ? ['init-unknown'] : [];
}

/** Whether a recipe can work: not if anything blocks it, of which the first is told. */
export function applicability([why]: readonly TrapCode[]): Pick<Recipe, 'applicable' | 'why'> {
  return why === undefined ? { applicable: true } : { applicable: false, why };
}
