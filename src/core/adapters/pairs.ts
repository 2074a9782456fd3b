import type { Breath } from '../base/breath.ts';
import type { AdapterConfig, LoraPair } from './report.ts';
import type { Tensor } from './safetensors.ts';
import { ModulePattern } from './modulePattern.ts';
import { printable } from './printable.ts';
import { placeOf, roleOf, type TensorRole } from './tensorName.ts';

/** The tensors of one module. */
export interface Parts {
  path: string;
  a?: Tensor;
  b?: Tensor;
  magnitude?: Tensor;
  isEmbedding: boolean;
}

/** All tensors of an adapter by what they are for. */
export interface Sorted {
  /** In the order of layers, then as they come. */
  parts: readonly Parts[];
  /** Modules that are stored whole, or in part, with their tensors. */
  saved: readonly { path: string; tensor: Tensor }[];
  biases: readonly Tensor[];
  unknown: readonly Tensor[];
}

/** @throws CancelledError */
export async function sortTensors(tensors: readonly Tensor[], breath: Breath): Promise<Sorted> {
  const byPath = new Map<string, Parts>();
  const saved: { path: string; tensor: Tensor }[] = [];
  const biases: { path: string; tensor: Tensor }[] = [];
  const unknown: Tensor[] = [];
  const partsOf = (path: string) => {
    const known = byPath.get(path) ?? { path, isEmbedding: false };
    byPath.set(path, known);
    return known;
  };
  for (const tensor of tensors) {
    if (breath.isDue) await breath.take();
    const role: TensorRole | undefined = roleOf(tensor.name);
    if (role === undefined) unknown.push(tensor);
    else if (role.part === 'saved') saved.push({ path: role.path, tensor });
    else if (role.part === 'magnitude') partsOf(role.path).magnitude = tensor;
    else if (role.part === 'A' || role.part === 'B') {
      const parts = partsOf(role.path);
      const key = role.part === 'A' ? 'a' : 'b';
      // A second adapter in the same file: nothing is known of what is meant.
      if (parts[key] !== undefined || tensor.shape.length < 2) unknown.push(tensor);
      else parts[key] = tensor;
      parts.isEmbedding ||= role.isEmbedding;
    } else biases.push({ path: role.path, tensor });
  }
  // A module that is stored whole has its bias with it.
  const whole = new Set(saved.map(({ path }) => path));
  const others: Tensor[] = [];
  for (const { path, tensor } of biases)
    if (whole.has(path)) saved.push({ path, tensor });
    else others.push(tensor);
  return { parts: byLayer([...byPath.values()]), saved, biases: others, unknown };
}

/** Layers in their order, in each of them the parts as they come; what is in no layer is last. */
function byLayer(parts: readonly Parts[]): Parts[] {
  const layers = new Map<number, Parts[]>();
  for (const one of parts) {
    const layer = placeOf(one.path).layer ?? Infinity;
    const its = layers.get(layer);
    if (its === undefined) layers.set(layer, [one]);
    else its.push(one);
  }
  return [...layers].sort(([a], [b]) => (a === b ? 0 : a - b)).flatMap(([, its]) => its);
}

/** Ranks and scales of the modules. @throws CancelledError */
export async function pairsOf(
  { parts }: Sorted,
  config: AdapterConfig | undefined,
  breath: Breath,
): Promise<LoraPair[]> {
  const pairs: LoraPair[] = [];
  const seen = new Set<string>();
  const ambiguous = new Set<string>();
  const told = config && new Told(config);
  for (const one of parts) {
    const { a, b } = one;
    if (a === undefined && b === undefined) continue;
    if (breath.isDue) await breath.take();
    const { layer, module } = placeOf(one.path);
    const key = `${layer ?? ''} ${module}`;
    if (seen.has(key)) ambiguous.add(module);
    seen.add(key);
    pairs.push(pairOf(one, layer, module, told));
  }
  // Modules that would be confused get the longer names: all of that name, so that a column stays one.
  for (const pair of pairs) {
    if (breath.isDue) await breath.take();
    if (ambiguous.has(pair.module)) pair.module = placeOf(pair.path).longModule;
    pair.module = printable(pair.module);
    pair.path = printable(pair.path);
  }
  return pairs;
}

function pairOf(
  { path, a, b, magnitude, isEmbedding }: Parts,
  layer: number | undefined,
  module: string,
  told: Told | undefined,
): LoraPair {
  const rank = rankOf(a, b);
  const alpha = told?.alphaOf(path);
  const scale = told?.scaleOf(path, rank);
  const [outputs] = b?.shape ?? [];
  const inputs = a && a.parameters / (a.shape[0] ?? 1);
  return {
    path,
    ...(layer === undefined ? {} : { layer }),
    module,
    ...(inputs === undefined || Number.isNaN(inputs) ? {} : { inputs }),
    ...(outputs === undefined ? {} : { outputs }),
    rank,
    ...(alpha === undefined ? {} : { alpha }),
    ...(scale === undefined ? {} : { scale }),
    dtype: (a ?? b)?.dtype ?? '',
    parameters: (a?.parameters ?? 0) + (b?.parameters ?? 0),
    hasA: a !== undefined,
    hasB: b !== undefined,
    isEmbedding,
    hasMagnitude: magnitude !== undefined,
  };
}

/** A is rank × inputs, B is outputs × rank. */
function rankOf(a: Tensor | undefined, b: Tensor | undefined): number {
  return a?.shape[0] ?? b?.shape[1] ?? 0;
}

/** What a config says of single modules. */
export class Told {
  readonly #config: AdapterConfig;
  readonly #ranks: ModulePattern;
  readonly #alphas: ModulePattern;

  constructor(config: AdapterConfig) {
    this.#config = config;
    this.#ranks = new ModulePattern(config.rankPattern);
    this.#alphas = new ModulePattern(config.alphaPattern);
  }

  /** Undefined where it cannot be told. */
  rankOf(path: string): number | undefined {
    return this.#ranks.isClear ? (this.#ranks.valueOf(path) ?? this.#config.rank) : undefined;
  }

  alphaOf(path: string): number | undefined {
    return this.#alphas.isClear ? (this.#alphas.valueOf(path) ?? this.#config.alpha) : undefined;
  }

  /** @param rank that of the shapes, where the config has none */
  scaleOf(path: string, rank: number): number | undefined {
    const alpha = this.alphaOf(path);
    const divisor = this.rankOf(path) ?? rank;
    if (alpha === undefined || divisor <= 0) return undefined;
    return alpha / (this.#config.useRslora ? Math.sqrt(divisor) : divisor);
  }
}
