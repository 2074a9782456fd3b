import { printable } from './printable.ts';
import type { AdapterConfig } from './peftConfig.ts';
import type { DtypeShare, LoraPair, WeightsReport } from './report.ts';
import type { Tensor } from './safetensors.ts';
import { endsOf, placeOf, roleOf } from './tensorName.ts';

/** The tensors of one module. */
export interface Parts {
  path: string;
  a?: Tensor;
  b?: Tensor;
  magnitude?: Tensor;
  isEmbedding: boolean;
}

/** All tensors of an adapter by what they are for. */
export interface SortedTensors {
  /** Layer by layer, then as they come. */
  parts: readonly Parts[];
  /** Those of `parts` that have an A or a B. */
  pairs: readonly Parts[];
  /** Modules that are saved fully, or rows of one. */
  saved: ReadonlySet<string>;
  /** Whether there are biases of others, which belong to the model or to LoRA. */
  hasBias: boolean;
  unknown: readonly Tensor[];
}

export function sortTensors(tensors: readonly Tensor[]): SortedTensors {
  const byPath = new Map<string, Parts>();
  const [saved, biased] = [new Set<string>(), new Set<string>()];
  const unknown: Tensor[] = [];
  for (const tensor of tensors) {
    const role = roleOf(tensor.name);
    if (role === undefined) unknown.push(tensor);
    else if (role.part === 'saved') saved.add(role.path);
    else if (role.part === 'bias') biased.add(role.path);
    else {
      const parts = byPath.get(role.path) ?? { path: role.path, isEmbedding: false };
      byPath.set(role.path, parts);
      parts.isEmbedding ||= role.isEmbedding;
      // A second adapter in the same file: which one is meant is unknown.
      if (role.part !== 'magnitude' && (parts[role.part] !== undefined || tensor.shape.length < 2))
        unknown.push(tensor);
      else parts[role.part] = tensor;
    }
  }
  const parts = byLayer([...byPath.values()]);
  return {
    parts,
    pairs: parts.filter(({ a, b }) => a !== undefined || b !== undefined),
    saved,
    hasBias: [...biased].some((path) => !saved.has(path)),
    unknown,
  };
}

/** What is in no layer comes last. */
function byLayer(parts: readonly Parts[]): Parts[] {
  return parts
    .map((one) => ({ one, layer: placeOf(one.path).layer ?? Infinity }))
    .sort((a, b) => (a.layer === b.layer ? 0 : a.layer - b.layer))
    .map(({ one }) => one);
}

/** Ranks and scales of the modules, in the order of `SortedTensors.pairs`. */
export function pairsOf({ pairs }: SortedTensors, config: AdapterConfig | undefined): LoraPair[] {
  const scaling = config && moduleScaling(config);
  return pairs.map(({ path, a, b, magnitude }) => {
    const { layer, module } = placeOf(path);
    // A is rank × inputs, B is outputs × rank.
    const rank = a?.shape[0] ?? b?.shape[1] ?? 0;
    const [alpha, scale] = [scaling?.alphaOf(path), scaling?.scaleOf(path, rank)];
    return {
      path: printable(path),
      ...(layer !== undefined && { layer }),
      module: printable(module),
      rank,
      ...(alpha !== undefined && { alpha }),
      ...(scale !== undefined && { scale }),
      parameters: (a?.parameters ?? 0) + (b?.parameters ?? 0),
      isHalf: a === undefined || b === undefined,
      hasMagnitude: magnitude !== undefined,
    };
  });
}

/** Rank, alpha and scale of single modules, as the config has them; undefined where they are unknown. */
export function moduleScaling({ rank, alpha, rankPattern, alphaPattern, useRslora }: AdapterConfig) {
  const [rankOf, alphaOf] = [patternReader(rankPattern, rank), patternReader(alphaPattern, alpha)];
  /** @param shown the rank of the shapes, where the config has none */
  const scaleOf = (path: string, shown: number): number | undefined => {
    const [one, divisor] = [alphaOf(path), rankOf(path) ?? shown];
    return one === undefined || divisor <= 0 ? undefined : one / (useRslora ? Math.sqrt(divisor) : divisor);
  };
  return { rankOf, alphaOf, scaleOf };
}

/**
 * Reads `rank_pattern` or `alpha_pattern` as PEFT does: the first key counts that matches the end of a module's path. Keys are
 * regular expressions there; only plain names are matched here, as an untrusted regular expression could run forever.
 * @param common for modules that no key matches
 */
function patternReader(pattern: Readonly<Record<string, number>>, common: number | undefined) {
  const entries = Object.entries(pattern);
  if (!entries.every(([key]) => /^\^?(?:[\w-]|\\?\.)+\$?$/.test(key))) return () => undefined;
  const values = new Map(
    entries.map(([key, value], order) => [key.replace(/\\(?=\.)|\$$/g, ''), { order, value }]),
  );
  return (path: string): number | undefined => {
    if (values.size === 0) return common;
    const found = [...endsOf(path), `^${path}`].flatMap((end) => values.get(end) ?? []);
    return found.sort((a, b) => a.order - b.order)[0]?.value ?? common;
  };
}

/** Summarizes what the headers say. */
export function weightsReport(
  tensors: readonly Tensor[],
  { saved, hasBias }: SortedTensors,
  pairs: readonly LoraPair[],
): WeightsReport {
  const layers = new Set(pairs.map(({ layer }) => layer).filter((layer) => layer !== undefined));
  return {
    parameters: tensors.reduce((sum, { parameters }) => sum + parameters, 0),
    dtypes: dtypeShares(tensors),
    pairs,
    layers: [...layers].sort((a, b) => a - b),
    modules: [...new Set(pairs.map(({ module }) => module))],
    minRank: pairs.reduce((least, { rank }) => Math.min(least, rank), pairs[0]?.rank ?? 0),
    maxRank: pairs.reduce((most, { rank }) => Math.max(most, rank), 0),
    savedModules: [...saved].map(printable),
    hasBias,
  };
}

/** How many tensors there are of each type, the most frequent first. */
export function dtypeShares(tensors: readonly Tensor[]): DtypeShare[] {
  return [...Map.groupBy(tensors, ({ dtype }) => dtype)]
    .map(([dtype, its]) => ({ dtype, tensors: its.length }))
    .sort((a, b) => b.tensors - a.tensors);
}
