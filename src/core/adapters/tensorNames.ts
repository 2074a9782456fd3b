import type { Problems } from './problems.ts';
import { MAX_NAME_LENGTH, type Tensor } from './safetensors.ts';

/** What a program adds to the names that PEFT reads, and the text that replaces it. */
export interface NameRow {
  /** A product's name, or a code that `ui` has a word for. */
  writer: string;
  /** A pattern that JavaScript and Python read alike. */
  pattern: string;
  to: string;
}

/**
 * Names that PEFT, vLLM and llama.cpp ignore or refuse, in the order in which they are mended: huggingface/peft
 * src/peft/utils/save_and_load.py, vllm-project/vllm vllm/lora/utils.py, ggml-org/llama.cpp convert_lora_to_gguf.py.
 */
const RENAMED: readonly NameRow[] = [
  { writer: 'FSDP', pattern: String.raw`\b(?:_fsdp_wrapped_module|_fpw_module)\.`, to: '' },
  { writer: 'checkpointing', pattern: String.raw`\b_checkpoint_wrapped_module\.`, to: '' },
  { writer: 'torch.compile', pattern: String.raw`\b_orig_mod\.`, to: '' },
  { writer: 'Lightning or Opacus', pattern: String.raw`\b(?:_forward_module|_module)\.`, to: '' },
  {
    writer: 'DistributedDataParallel',
    pattern: String.raw`(?:^|(?<=\.))(?:module\.)+`,
    to: '',
  },
  { writer: 'wrapper', pattern: String.raw`^.+\bbase_model\.model\.`, to: 'base_model.model.' },
  {
    writer: 'no-prefix',
    pattern: String.raw`^(?!base_model\.model\.)(?:base_model\.)?(?=.*\.(?:lora_|modules_to_save\.))`,
    to: 'base_model.model.',
  },
  {
    writer: 'state-dict',
    pattern: [
      String.raw`(?<=\.lora_[AB])\.[^.]+(?=\.(?:weight|bias)$)`,
      String.raw`(?<=\.lora_embedding_[AB])\.[^.]+$`,
      String.raw`(?<=\.lora_magnitude_vector)\.(?!weight$)[^.]+(?:\.weight)?$`,
      String.raw`(?<=\.trainable_tokens_delta)\.[^.]+$`,
      String.raw`\.modules_to_save\.[^.]+(?=\.)`,
    ].join('|'),
    to: '',
  },
];

/** Adapters in other formats: PEFT, vLLM and llama.cpp find nothing in them. */
const OTHER_FORMATS: readonly { writer: string; pattern: RegExp }[] = [
  { writer: 'torchtune', pattern: /\.(?:lora_[ab]\.weight|magnitude)$/ },
  { writer: 'MLX', pattern: /\.lora_[ab]$/ },
  { writer: 'LitGPT', pattern: /\.lora_[AB]$/ },
  { writer: 'Kohya', pattern: /\.lora_(?:down|up)\.weight$/ },
  { writer: 'NeMo', pattern: /adapter\.linear_(?:in|out)\.weight$/ },
];

/** Modules that tools refuse. Without `tool`, every tool does. */
const REFUSED: readonly { pattern: RegExp; tool?: 'llamacpp' }[] = [
  // Tinker's output layer, which no base model has under this name.
  { pattern: /(?:^|\.)unembed_tokens$/ },
  // Gemma 4's clippable layers.
  { pattern: /_proj\.linear$/, tool: 'llamacpp' },
];

/** Whether a tool refuses a module; without one, whether every tool does. */
export function isModuleRefused(path: string, tool?: 'llamacpp'): boolean {
  return REFUSED.some((row) => row.tool === tool && row.pattern.test(path));
}

/** Returns the program whose own format the tensors have. */
export function otherFormatOf(tensors: readonly Tensor[]): string | undefined {
  return OTHER_FORMATS.find(({ pattern }) => tensors.some(({ name }) => pattern.test(name)))?.writer;
}

/**
 * Returns the tensors under PEFT's names, so that everything else can be checked, and reports wrong names. `renames`
 * mends them; it is undefined if none is wrong, or if two tensors would get one name.
 */
export function withPeftNames(
  tensors: readonly Tensor[],
  problems: Problems,
): { tensors?: readonly Tensor[]; renames?: readonly NameRow[] } {
  // In the weights of a full model, another prefix isn't a mistake.
  if (!tensors.some(({ name }) => /\.lora_|\.base_model\.model\./.test(name))) return {};
  const rows = RENAMED.map((row) => ({ row, expression: new RegExp(row.pattern, 'g') }));
  const used = new Set<NameRow>();
  const wrong: string[] = [];
  const mended = tensors.map((tensor) => {
    if (tensor.name.length > MAX_NAME_LENGTH) return tensor;
    const name = rows.reduce((before, { row, expression }) => {
      const after = before.replace(expression, row.to);
      if (after !== before) used.add(row);
      return after;
    }, tensor.name);
    if (name === tensor.name) return tensor;
    wrong.push(tensor.name);
    return { ...tensor, name };
  });
  const renames = RENAMED.filter((row) => used.has(row));
  const expected = renames.map(({ writer }) => writer).join(', ');
  for (const name of wrong) problems.add('names-wrapped', 'error', name, { expected });
  const isUnique = new Set(mended.map(({ name }) => name)).size === tensors.length;
  return { tensors: mended, ...(wrong.length > 0 && isUnique && { renames }) };
}
