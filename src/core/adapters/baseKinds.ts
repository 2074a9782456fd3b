import type { AdapterConfig } from './peftConfig.ts';
import type { Problems } from './problems.ts';
import type { WeightsReport } from './report.ts';

/** What the base model's name, or the adapted modules, say of it. */
interface KindRow {
  name: RegExp;
  /** In the path of a module. */
  module?: RegExp;
  kind: 'vision' | 'unloadable' | 'quantized';
  /** How it is quantized, and the packages that load it so. */
  by?: string;
  packages?: string;
}

/**
 * Of each kind the first row that fits counts. Packages: huggingface/transformers docs quantization/bitsandbytes,
 * gptq and awq (GPT-QModel loads both), compressed_tensors.
 */
const KINDS: readonly KindRow[] = [
  {
    kind: 'vision',
    name: new RegExp(
      [
        '(?:^|[^a-z])(?:[a-z]*vl[mo]?|(?:one)?vision|visual|omni|multimodal|[a-z]*llava|mllama|qvq)(?![a-z])',
        'pixtral|idefics|paligemma|molmo|florence|blip|fuyu|moondream|ovis|janus|kosmos|minicpm-?[vo](?![a-z])',
        'glm-?4[.\\d]*v(?![a-z])|llama-?4-(?:scout|maverick)|mistral-small-3\\.[12]',
        'gemma[-_]?3[-_]?(?:n(?![a-z])|(?:4|12|27)b)|gemma[-_]?4(?![\\db])|medgemma(?!.*text)',
      ].join('|'),
      'i',
    ),
    module:
      /(?:^|\.)(?:visual|vision_\w+|vision|language_model|text_model|multi_modal_projector|mm_projector|image_\w+|img_processor|audio_tower|thinker|talker|vpm)\./,
  },
  {
    kind: 'unloadable',
    name: /^mlx-community\/|(?:^|[^a-z])(?:gguf|ggml|mlx|exl[23])(?![a-z])|[-_.]i?q\d(?:_\w+)?\.gguf$/i,
  },
  {
    kind: 'quantized',
    ...{ by: 'GPTQ', packages: ' gptqmodel optimum' },
    name: /[-_.](?:auto)?gptq(?![a-z])/i,
  },
  { kind: 'quantized', by: 'AWQ', packages: ' gptqmodel', name: /[-_.]awq(?![a-z])/i },
  { kind: 'quantized', by: 'FP8', name: /[-_.]fp8(?![a-z\d])/i },
  {
    kind: 'quantized',
    ...{ by: 'compressed-tensors', packages: ' compressed-tensors' },
    name: /[-_.](?:quantized\.)?(?:w[48]a(?:8|16)|(?:nv|mx)fp4)(?![a-z\d])/i,
  },
  {
    // PEFT trained on it, so a name that only says 4-bit isn't one of MLX.
    kind: 'quantized',
    ...{ by: 'bitsandbytes', packages: ' bitsandbytes' },
    name: /[-_.](?:(?:unsloth[-_])?bnb(?![a-z])|nf4|[48][-_]?bit|int[48])(?![a-z\d])/i,
  },
];
/** Those who publish the original of a quantized model under the same name without its ending. */
const PUBLISH_BOTH = /^(?:unsloth|Qwen|OpenGVLab|LGAI-EXAONE|meta-llama|mistralai|zai-org|deepseek-ai)\//;

/** What loading depends on. */
export type BaseKind = ReturnType<typeof baseKindOf>;

export function baseKindOf(baseModel: string, weights: Pick<WeightsReport, 'pairs'> | undefined) {
  // Of a path, only the model's own folder counts; caches call it `models--owner--name`.
  const parts = baseModel.split(/[\\/]+/).filter((part) => part !== '');
  const own = parts.find((part) => part.startsWith('models--')) ?? parts.at(-1) ?? '';
  const name = parts.length === 2 && parts[0] === 'mlx-community' ? baseModel : own;
  const rowOf = (kind: KindRow['kind']) => KINDS.find((row) => row.kind === kind && row.name.test(name));
  const { module } = KINDS.find(({ kind }) => kind === 'vision') ?? {};
  const showsVision = weights?.pairs.some(({ path }) => module?.test(path)) === true;
  const isUnloadable = rowOf('unloadable') !== undefined;
  const quantized = isUnloadable ? undefined : rowOf('quantized');
  const at = quantized === undefined ? -1 : baseModel.search(quantized.name);
  return {
    isVision: showsVision || rowOf('vision') !== undefined,
    /** The adapter's modules are those of a vision model, not only the base model's name. */
    showsVision,
    isUnloadable,
    quantizedBy: quantized?.by,
    packages: quantized?.packages ?? '',
    /** Name of the 16-bit original, if it is known. */
    original:
      at > 0 && parts.length === 2 && PUBLISH_BOTH.test(baseModel) ? baseModel.slice(0, at) : undefined,
  };
}

export function checkBase(
  { baseModel = '' }: AdapterConfig,
  weights: WeightsReport,
  problems: Problems,
): void {
  const { isVision, showsVision, isUnloadable, quantizedBy, original } = baseKindOf(baseModel, weights);
  if (isUnloadable) problems.add('base-unloadable', 'error');
  if (isVision) problems.add('base-vision', showsVision ? 'info' : 'warning');
  if (quantizedBy !== undefined)
    problems.add('base-quantized', 'info', undefined, {
      actual: quantizedBy,
      ...(original !== undefined && { expected: original }),
    });
}
