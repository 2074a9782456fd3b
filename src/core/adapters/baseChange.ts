import type { AdapterConfig } from './report.ts';

/** What training did to the base's own weights before it began, and what PEFT does about that at loading. */
export type BaseChange =
  /** PEFT does the same again. */
  | 'repeated'
  /** PEFT does it again, by a method that is partly random: nearly the same. */
  | 'nearly'
  /** PEFT quantizes the base again. */
  | 'quantized'
  /** It cannot be done again from what is here. */
  | 'lost'
  | 'unknown';

/** Ways to begin that leave the base as it is. */
const HARMLESS: readonly string[] = ['true', 'false', 'gaussian', 'eva', 'orthogonal', 'mica'];

/**
 * huggingface/peft docs package_reference/lora ("Initialization"), examples/pissa_finetuning and olora_finetuning, and
 * tuners/lora/layer.py: CorDA is refused without its data, LoRA-GA falls back to the unchanged base without a word. An adapter
 * that was saved with `path_initial_model_for_weight_conversion` needs no changed base, and says `true`.
 */
export function baseChangeOf({ init = 'true' }: AdapterConfig): BaseChange | undefined {
  const way = init.toLowerCase();
  if (HARMLESS.includes(way)) return undefined;
  if (way.startsWith('pissa_niter_')) return 'nearly';
  if (way === 'pissa' || way === 'olora') return 'repeated';
  if (way === 'loftq') return 'quantized';
  return way === 'lora_ga' || way.startsWith('corda') ? 'lost' : 'unknown';
}
