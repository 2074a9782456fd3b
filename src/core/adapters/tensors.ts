import type { AdapterConfig } from './peftConfig.ts';
import { printable } from './problems.ts';
import type { DtypeShare, LoraPair, WeightsReport } from './report.ts';
import { MAX_NAME_LENGTH, type Tensor } from './safetensors.ts';

/** The tensors of one module. */
export interface ModuleTensors {
  path: string;
  a?: Tensor;
  b?: Tensor;
  magnitude?: Tensor;
}

/** All tensors of an adapter by role. */
export interface SortedTensors {
  /** By layer, then in file order. */
  parts: readonly ModuleTensors[];
  /** The `parts` that have an A or a B. */
  pairs: readonly ModuleTensors[];
  /** Modules that are saved fully or by rows. */
  saved: ReadonlySet<string>;
  /** Rows of the embeddings in `saved`. */
  embeddingRows: number | undefined;
  /** Tensors that replace the base model's own; embeddings aren't among them. */
  replacing: readonly { path: string; isBias: boolean }[];
  /** Whether other modules have biases, of the model or of LoRA. */
  hasBias: boolean;
  /** Names of the biases of LoRA. */
  loraBiases: readonly string[];
  unknown: readonly Tensor[];
}

export function sortTensors(tensors: readonly Tensor[]): SortedTensors {
  const byPath = new Map<string, ModuleTensors>();
  const [saved, biased] = [new Set<string>(), new Set<string>()];
  const [unknown, loraBiases]: [Tensor[], string[]] = [[], []];
  const replacing: SortedTensors['replacing'][number][] = [];
  let embeddingRows: number | undefined;
  for (const tensor of tensors) {
    const role = tensorRoleOf(tensor.name);
    if (role === undefined) unknown.push(tensor);
    else if (role.part === 'saved' || role.part === 'bias') {
      const isBias = role.part === 'bias';
      (isBias ? biased : saved).add(role.path);
      const hasRows = hasTokenRows(role.path);
      if (hasRows && tensor.name.endsWith('.weight')) embeddingRows = tensor.shape[0];
      if (!hasRows && role.isDirect) replacing.push({ path: role.path, isBias });
    } else if (role.part === 'lora-bias') {
      biased.add(role.path);
      loraBiases.push(tensor.name);
    } else {
      const parts = byPath.get(role.path) ?? { path: role.path };
      byPath.set(role.path, parts);
      // A second adapter in the file (it is unknown which one is meant), or not a matrix.
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
    embeddingRows,
    replacing,
    hasBias: [...biased].some((path) => !saved.has(path)),
    loraBiases,
    unknown,
  };
}

/** Sorts by layer; parts outside of layers come last. */
function byLayer(parts: readonly ModuleTensors[]): ModuleTensors[] {
  return parts
    .map((one) => ({ one, layer: modulePlaceOf(one.path).layer ?? Infinity }))
    .sort((a, b) => (a.layer === b.layer ? 0 : a.layer - b.layer))
    .map(({ one }) => one);
}

/** Returns ranks and scales of the modules, in the order of `SortedTensors.pairs`. */
export function pairsOf({ pairs }: SortedTensors, config: AdapterConfig | undefined): LoraPair[] {
  const scaling = config && moduleScaling(config);
  return pairs.map(({ path, a, b, magnitude }) => {
    const { layer, module } = modulePlaceOf(path);
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
      hasMagnitude: magnitude !== undefined,
    };
  });
}

/** Returns functions for a module's rank, alpha, and scale by the config, each undefined if unknown. */
export function moduleScaling({ rank, alpha, rankPattern, alphaPattern, useRslora }: AdapterConfig) {
  const [rankOf, alphaOf] = [patternReader(rankPattern, rank), patternReader(alphaPattern, alpha)];
  /** @param shown the rank from the tensor shapes, used if the config has none */
  const scaleOf = (path: string, shown: number): number | undefined => {
    const [one, divisor] = [alphaOf(path), rankOf(path) ?? shown];
    return one === undefined || divisor <= 0 ? undefined : one / (useRslora ? Math.sqrt(divisor) : divisor);
  };
  return { rankOf, alphaOf, scaleOf };
}

/**
 * Reads `rank_pattern` or `alpha_pattern` as PEFT does: the first key that matches the end of a module's path
 * wins. PEFT's keys are regular expressions, and an untrusted one could run forever. So values are unknown
 * unless all keys are plain names.
 * @param common the value for modules that no key matches
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

export function weightsReport(
  tensors: readonly Tensor[],
  { saved, embeddingRows, hasBias }: SortedTensors,
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
    ...(embeddingRows !== undefined && { embeddingRows }),
    hasBias,
  };
}

/** Counts the tensors of each type, the most frequent first. */
export function dtypeShares(tensors: readonly Tensor[]): DtypeShare[] {
  return [...Map.groupBy(tensors, ({ dtype }) => dtype)]
    .map(([dtype, its]) => ({ dtype, tensors: its.length }))
    .sort((a, b) => b.tensors - a.tensors);
}

const MAX_PARTS = 64;
/** The prefix that PEFT puts before each module's name. */
const PREFIX = 'base_model.model.';
/** `<module>.lora_A.weight`, `<module>.lora_A.<adapter>.weight`, `<module>.lora_embedding_A`, … */
const LORA = /^lora_(?:(A|B|embedding_A|embedding_B)|magnitude_vector)$/;

interface TensorRole {
  /** `bias`: of the model. `saved`: a fully saved module, or rows of one. */
  part: 'a' | 'b' | 'magnitude' | 'lora-bias' | 'bias' | 'saved';
  /** The module's path without the parts that PEFT adds. Parameters of one module stay distinct. */
  path: string;
  /** Whether at most LoRA wraps the module. */
  isDirect: boolean;
}

/** Determines a tensor's role by its name as PEFT writes it; undefined if unknown. */
export function tensorRoleOf(name: string): TensorRole | undefined {
  if (name.length > MAX_NAME_LENGTH || name.split('.', MAX_PARTS + 1).length > MAX_PARTS) return undefined;
  const at = name.lastIndexOf('.lora_');
  if (at > 0) return loraRole(name.slice(0, at), name.slice(at + 1).split('.'));
  if (!name.startsWith(PREFIX)) return undefined;
  const saved = /\.(?:weight|trainable_tokens_delta|trainable_tokens)$/.exec(name);
  if (saved !== null) return role('saved', name.slice(0, saved.index));
  return name.endsWith('.bias') ? role('bias', name.slice(0, -5)) : undefined;
}

function loraRole(path: string, [kind = '', ...rest]: readonly string[]): TensorRole | undefined {
  const found = LORA.exec(kind);
  if (found === null || rest.length > 2) return undefined;
  const matrix = found[1];
  if (matrix === undefined) return role('magnitude', path);
  const isEmbedding = matrix.startsWith('embedding_');
  const part = matrix.endsWith('A') ? 'a' : 'b';
  const suffix = rest.at(-1);
  if (isEmbedding || suffix === 'weight') return role(part, path);
  return suffix === 'bias' && part === 'b' ? role('lora-bias', path) : undefined;
}

function role(part: TensorRole['part'], path: string): TensorRole {
  const inner = path.startsWith(PREFIX) ? path.slice(PREFIX.length) : path;
  const module = withoutWrappers(inner);
  const isDirect = /^(?:\.base_layer)*$/.test(inner.slice(module.length));
  // If several parameters of a module are adapted, PEFT wraps LoRA in LoRA: `experts.base_layer.lora_A`.
  const isLora = part === 'a' || part === 'b' || part === 'magnitude';
  return { part, path: isLora && isDirect ? inner : module, isDirect };
}

/** Parts that PEFT adds after a module's name. After the last one, an adapter's name may follow. */
const WRAPPERS: readonly string[] = ['base_layer', 'original_module', 'token_adapter', 'modules_to_save'];

/**
 * Cuts off what PEFT added after a module's path: `lm_head.modules_to_save.default` is `lm_head`. It loops, because a regular
 * expression with two ways to read `.modules_to_save.modules_to_save` takes exponential time.
 */
function withoutWrappers(path: string): string {
  const parts = path.split('.');
  let end = parts.length;
  for (;;)
    if (end > 1 && WRAPPERS.includes(parts[end - 1] ?? '')) end--;
    else if (end > 2 && parts[end - 2] === WRAPPERS.at(-1)) end -= 2;
    else return parts.slice(0, end).join('.');
}

interface ModulePath {
  layer: number | undefined;
  /** `q_proj`, or `experts.*.up_proj` for all experts of one kind. */
  module: string;
  /** The path with `#` as the layer: the same in all layers. */
  pathInLayers: string;
}

/** Embeddings of inputs and outputs, by the names of common models. */
const EMBEDDINGS: readonly string[] = [
  'embed_tokens',
  'lm_head',
  'wte',
  'word_embeddings',
  'embed_in',
  'embed_out',
  'shared',
];

/** Whether a module, or a name in a config's list, has a row for each token. */
export function hasTokenRows(path: string): boolean {
  return EMBEDDINGS.includes(path.slice(path.lastIndexOf('.') + 1));
}

/** The layer is the first number in the path; later numbers are experts and belong to the module's name. */
export function modulePlaceOf(path: string): ModulePath {
  const parts = path.split('.');
  const at = parts.findIndex(
    (part, index) => index > 0 && /^[0-9]{1,6}$/.test(part) && parts[index - 1] !== 'experts',
  );
  const inLayer = at === -1 ? parts : parts.slice(at + 1);
  const experts = inLayer.lastIndexOf('experts');
  return {
    layer: at === -1 ? undefined : Number(parts[at]),
    module: inLayer
      .slice(experts)
      .join('.')
      .replace(/^experts\.\d+/, 'experts.*'),
    pathInLayers: at === -1 ? path : parts.with(at, '#').join('.'),
  };
}

/** `a.b.c`, `b.c`, `c`. */
export function endsOf(path: string): string[] {
  const ends = [path];
  for (let at = path.indexOf('.'); at !== -1; at = path.indexOf('.', at + 1)) ends.push(path.slice(at + 1));
  return ends;
}
