import type { AdapterConfig, AdapterReport } from '../report.ts';

/**
 * What the scale of a tool that knows one alpha and takes alpha / rank has to be multiplied by to be that of training: other
 * alphas (`alpha_pattern`) and rsLoRA (alpha / √rank) ask for it. Undefined where there is nothing to correct, 'none' where no
 * one number is right for all modules, or it is not known.
 */
export function scaleCorrection({ config, weights }: AdapterReport): number | 'none' | undefined {
  if (config?.alpha === undefined) return undefined;
  const pairs = weights?.pairs ?? [];
  // Such a tool takes 0 as none, so that there is nothing to multiply; with no scale at all nothing can be right.
  if (config.alpha === 0) return pairs.every(({ alpha }) => alpha === 0) ? undefined : 'none';
  const corrections = new Set(pairs.map(({ alpha, rank }) => correctionOf(config, alpha, rank)));
  if (corrections.size > 1) return 'none';
  const [only = 1] = corrections;
  return only === 1 ? undefined : only;
}

function correctionOf(config: AdapterConfig, alpha: number | undefined, rank: number): number | 'none' {
  // A pattern that cannot be told.
  if (alpha === undefined || config.alpha === undefined) return 'none';
  const factor = (alpha / config.alpha) * (config.useRslora ? Math.sqrt(Math.max(rank, 1)) : 1);
  return Number(factor.toFixed(6));
}

/** Whether modules are scaled otherwise than by the one alpha and rank that the config has for all. */
export function hasScalesOfItsOwn({ config, weights }: AdapterReport): boolean {
  if (config?.alpha === undefined || config.rank === undefined) return false;
  const isPatterned = [config.rankPattern, config.alphaPattern].some((one) => Object.keys(one).length > 0);
  if (!isPatterned) return false;
  const common = config.alpha / (config.useRslora ? Math.sqrt(config.rank) : config.rank);
  return (weights?.pairs ?? []).some(({ scale }) => scale !== common);
}
