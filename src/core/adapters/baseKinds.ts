import type { AdapterConfig } from './peftConfig.ts';
import type { Problems } from './problems.ts';
import type { WeightsReport } from './report.ts';

/** Names of vision and omni models. Those that text classes load too (Qwen3.5) are recognized by their modules. */
const VISION = new RegExp(
  `(?:^|[^a-z])(?:${[
    '[a-z]*vl[mo]?|(?:one)?vision|omni|multimodal|[a-z]*llava|mllama|qvq|pixtral|idefics|[a-z]*blip|molmoe?',
    'florence|fuyu|moondream|ovis|janus|kosmos|minicpm-?[vo]|[a-z]*ocr|ui-tars|chameleon|glm-?4[.\\d]*v',
    'llama-?4-(?:scout|maverick)|llama-guard-4|ministral-3|mistral-small-3\\.[12]|magistral-small-2509',
    'devstral-small-2-|gemma[-_]?3[-_]?(?:n|(?:4|12|27)b)|gemma[-_]?4(?![\\db])|(?:pali|med|translate)gemma',
    'shieldgemma-2-4b',
  ].join('|')})(?![a-z])`,
  'i',
);
const TEXT_ONLY = /[-_](?:text|novision)/i;
/** Matches the path of a vision model's module. */
const VISION_MODULE =
  /(?:^|\.)(?:visual|vision_\w+|vision|language_model|text_model|multi_modal_projector|mm_projector|image_\w+|img_processor|audio_tower|thinker|talker|vpm)\./;
const UNLOADABLE = /^mlx-community\/|(?:^|[^a-z])(?:gguf|ggml|mlx|exl[23])(?![a-z])/i;
/**
 * How a base model is quantized, and the packages that load it. The first matching name counts. Source:
 * huggingface/transformers docs quantization/overview (GPT-QModel loads GPTQ and AWQ).
 */
const QUANTIZED: readonly (readonly [by: string, packages: string, name: RegExp])[] = [
  ['GPTQ', ' gptqmodel optimum', /[-_.](?:auto)?gptq(?![a-z])/i],
  ['AWQ', ' gptqmodel', /[-_.]awq(?![a-z])/i],
  ['AutoRound', ' auto-round', /[-_.](?:int\d-)?auto-?round(?![a-z])/i],
  ['HQQ', ' hqq', /[-_.](?:\dbit\w*-)?hqq(?![a-z])/i],
  ['AQLM', ' aqlm', /[-_.]aqlm(?![a-z])/i],
  ['FP8', '', /[-_.]fp8(?![a-z\d])/i],
  [
    'compressed-tensors',
    ' compressed-tensors',
    /[-_.](?:quantized\.)?(?:w[48]a(?:8|16)|(?:nv|mx)fp4)(?![a-z\d])/i,
  ],
  // PEFT trained on it, so a name that only says 4-bit isn't MLX's.
  [
    'bitsandbytes',
    ' bitsandbytes',
    /[-_.](?:(?:unsloth[-_])?bnb(?![a-z])|nf4|[48][-_]?bit|int[48])(?![a-z\d])/i,
  ],
];
/** Publishers whose original models have the quantized model's name without its ending. */
const PUBLISH_BOTH = /^(?:unsloth|Qwen|OpenGVLab|LGAI-EXAONE|meta-llama|mistralai|zai-org|deepseek-ai)\//;

/** Returns what loading depends on, by the names of the base model and of the adapter's modules. */
export function baseKindOf(baseModel: string, weights: Pick<WeightsReport, 'pairs'> | undefined) {
  // In a path, only the model's own folder counts; caches call it `models--owner--name`.
  const parts = baseModel.split(/[\\/]+/).filter((part) => part !== '');
  const own = parts.find((part) => part.startsWith('models--')) ?? parts.at(-1) ?? '';
  const name = parts.length === 2 && parts[0] === 'mlx-community' ? baseModel : own;
  const showsVision = weights?.pairs.some(({ path }) => VISION_MODULE.test(path)) === true;
  const isUnloadable = UNLOADABLE.test(name);
  const [by, packages = '', ending] =
    (isUnloadable ? undefined : QUANTIZED.find((row) => row[2].test(name))) ?? [];
  const at = ending === undefined || parts.length !== 2 ? -1 : baseModel.search(ending);
  return {
    isVision: showsVision || (VISION.test(name) && !TEXT_ONLY.test(name)),
    /** Whether the adapter's modules show it, not only the base model's name. */
    showsVision,
    isUnloadable,
    quantizedBy: by,
    packages,
    /** Name of the 16-bit original, if it is known. */
    original: at > 0 && PUBLISH_BOTH.test(baseModel) ? baseModel.slice(0, at) : undefined,
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
      ...(original && { expected: original }),
    });
}
