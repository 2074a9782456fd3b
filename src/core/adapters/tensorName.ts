const MAX_NAME_LENGTH = 1024;
const MAX_PARTS = 64;
/** What PEFT puts before the name of each module. */
export const PREFIX = 'base_model.model.';
/** `<module>.lora_A.weight`, `<module>.lora_A.<adapter>.weight`, `<module>.lora_embedding_A`, … */
const LORA = /^lora_(?:(A|B|embedding_A|embedding_B)|magnitude_vector)$/;

/** What a tensor of an adapter is for. */
export interface TensorRole {
  /** `bias` is one of the model or of LoRA, `saved` a fully saved module or rows of one. */
  part: 'a' | 'b' | 'magnitude' | 'bias' | 'saved';
  /** The module, without what PEFT puts around it. */
  path: string;
  isEmbedding: boolean;
}

/** The role that a tensor's name says, as PEFT writes it; undefined where it is unknown. */
export function roleOf(name: string): TensorRole | undefined {
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
  if (isEmbedding || suffix === 'weight') return role(part, path, isEmbedding);
  return suffix === 'bias' && part === 'b' ? role('bias', path) : undefined;
}

function role(part: TensorRole['part'], path: string, isEmbedding = false): TensorRole {
  const inner = path.startsWith(PREFIX) ? path.slice(PREFIX.length) : path;
  const clean = inner.replace(
    /\.(?:base_layer|original_module|token_adapter|modules_to_save(?:\.[^.]+)?)$/,
    '',
  );
  return { part, path: clean, isEmbedding };
}

/** The layer of a module, and its name there. */
export interface ModulePlace {
  layer: number | undefined;
  /** `q_proj`, or `experts.*.up_proj` for all experts of one kind. */
  module: string;
}

/** The layer is the first number of the path; those of experts come later, and belong to the module's name. */
export function placeOf(path: string): ModulePlace {
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
  };
}

/** `a.b.c`, `b.c`, `c`. */
export function endsOf(path: string): string[] {
  const ends = [path];
  for (let at = path.indexOf('.'); at !== -1; at = path.indexOf('.', at + 1)) ends.push(path.slice(at + 1));
  return ends;
}
