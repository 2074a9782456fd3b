const MAX_NAME_LENGTH = 1024;
const MAX_PARTS = 64;
/** What PEFT puts before the name of each module. */
export const PREFIX = 'base_model.model.';
const EMBEDDINGS: readonly string[] = [
  'embed_tokens',
  'wte',
  'word_embeddings',
  'tok_embeddings',
  'embed_in',
];
const LM_HEADS: readonly string[] = ['lm_head', 'embed_out'];

/** What a tensor of an adapter is for. */
export type TensorRole =
  | { part: 'A' | 'B'; path: string; isEmbedding: boolean }
  | { part: 'magnitude' | 'lora-bias'; path: string }
  /** A bias of the model itself. */
  | { part: 'bias'; path: string }
  /** A module that is stored whole, or rows of one. */
  | { part: 'saved'; path: string };

/** Tells a tensor's role by its name, as PEFT writes it; undefined where no role is known. */
export function roleOf(name: string): TensorRole | undefined {
  if (name.length > MAX_NAME_LENGTH || name.split('.', MAX_PARTS + 1).length > MAX_PARTS) return undefined;
  const lora = loraRole(name);
  if (lora !== undefined) return lora;
  if (name.includes('.lora_') || !name.startsWith(PREFIX)) return undefined;
  const saved = /\.(?:weight|trainable_tokens_delta|trainable_tokens)$/.exec(name);
  if (saved !== null) return { part: 'saved', path: cleanPath(name.slice(0, saved.index)) };
  return name.endsWith('.bias') ? { part: 'bias', path: cleanPath(name.slice(0, -5)) } : undefined;
}

/** `<module>.lora_A.weight`, `<module>.lora_A.<adapter>.weight`, `<module>.lora_embedding_A`, … */
function loraRole(name: string): TensorRole | undefined {
  const at = name.lastIndexOf('.lora_');
  if (at <= 0) return undefined;
  const path = cleanPath(name.slice(0, at));
  const [kind = '', ...rest] = name.slice(at + 1).split('.');
  const suffix = rest.at(-1);
  if (rest.length > 2) return undefined;
  switch (kind) {
    case 'lora_A':
    case 'lora_B': {
      if (suffix === 'bias' && kind === 'lora_B') return { part: 'lora-bias', path };
      return suffix === 'weight'
        ? { part: kind === 'lora_A' ? 'A' : 'B', path, isEmbedding: false }
        : undefined;
    }
    case 'lora_embedding_A':
    case 'lora_embedding_B':
      return { part: kind === 'lora_embedding_A' ? 'A' : 'B', path, isEmbedding: true };
    case 'lora_magnitude_vector':
      return { part: 'magnitude', path };
    default:
      return undefined;
  }
}

/** Without what PEFT puts around a module. */
function cleanPath(path: string): string {
  const inner = path.startsWith(PREFIX) ? path.slice(PREFIX.length) : path;
  return inner.replace(/\.(?:base_layer|original_module|token_adapter|modules_to_save(?:\.[^.]+)?)$/, '');
}

/** Where a module stands: its layer, and what it is called there, the last part first. */
export interface ModulePlace {
  layer: number | undefined;
  module: string;
  /** What comes after the layer, or the whole path: for two modules of one name. */
  longModule: string;
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
    module: (experts === -1 ? inLayer.slice(-1) : inLayer.slice(experts)).join('.'),
    longModule: inLayer.join('.'),
  };
}

export function isEmbeddings(path: string): boolean {
  return EMBEDDINGS.includes(path.slice(path.lastIndexOf('.') + 1));
}

export function isLmHead(path: string): boolean {
  return LM_HEADS.includes(path.slice(path.lastIndexOf('.') + 1));
}
