import { baseChangeOf } from './baseChange.ts';
import type { Breath } from '../base/breath.ts';
import { endsOf } from './modulePattern.ts';
import { Told, type Sorted } from './pairs.ts';
import type { Problems } from './problems.ts';
import type { AdapterConfig, LoraPair, WeightsReport } from './report.ts';
import { PREFIX } from './tensorName.ts';

/** What tools load; the rest is measured by none. */
const USUAL_DTYPES: readonly string[] = ['F32', 'F16', 'BF16'];
/** PEFT names both for each classifier (src/peft/peft_model.py, `classifier_module_names`); a model has one of them. */
const HEADS: readonly string[] = ['classifier', 'score'];
/** They read the hidden state, which is as wide in each layer of a model. What others read is not in a few models. */
const HIDDEN_READERS: readonly string[] = [
  'q_proj',
  'k_proj',
  'v_proj',
  'qkv_proj',
  'gate_proj',
  'up_proj',
  'gate_up_proj',
];
/** How deep in a module that is stored whole its weights are looked for. */
const MAX_DEPTH = 3;

/** Tells where config and tensors do not fit each other. @throws CancelledError */
export async function findMisfits(
  sorted: Sorted,
  weights: WeightsReport,
  config: AdapterConfig | undefined,
  problems: Problems,
  breath: Breath,
): Promise<void> {
  await checkParts(sorted, problems, breath);
  for (const { name } of sorted.unknown) problems.add('tensor-unexpected', 'warning', name);
  checkDtypes(weights, problems);
  await checkLayers(weights, problems, breath);
  await checkWidths(weights.pairs, problems, breath);
  if (config !== undefined) {
    await checkRanks(weights.pairs, config, problems, breath);
    await checkTargets(weights.pairs, config, problems, breath);
    await checkSaved(sorted, weights, config, problems, breath);
    checkFlags(sorted, weights, config, problems);
  }
  for (const name of weights.savedModules) problems.add('modules-to-save', 'info', name);
  if (weights.touchesEmbeddings) problems.add('embeddings-touched', 'info');
  if (weights.touchesLmHead) problems.add('lm-head-touched', 'info');
}

/** What the config says for itself. */
export function checkConfig(config: AdapterConfig, problems: Problems): void {
  const { peftType, baseModel, rank, alpha, targetModules, targetParameters } = config;
  if (peftType === undefined) problems.add('peft-type-missing', 'warning');
  else if (peftType.toUpperCase() !== 'LORA') {
    problems.add('not-lora', 'error', undefined, { expected: 'LORA', actual: peftType });
    return;
  }
  if (baseModel === undefined || baseModel === '') problems.add('base-model-missing', 'warning');
  else if (isPath(baseModel)) problems.add('base-model-is-path', 'warning', undefined, { actual: baseModel });
  if (rank === undefined) problems.add('rank-missing', 'error');
  if (alpha === undefined) problems.add('alpha-missing', 'error');
  else if (alpha === 0) problems.add('alpha-zero', 'warning');
  if (targetModules === undefined && targetParameters.length === 0)
    problems.add('target-modules-missing', 'error');
  checkLoading(config, problems);
}

/** What asks for more than to be laid onto the base. */
function checkLoading(config: AdapterConfig, problems: Problems): void {
  const { init = '', isAlora, repeatsLayers } = config;
  const change = baseChangeOf(config);
  if (change === 'unknown') problems.add('init-unknown', 'warning', undefined, { actual: init });
  else if (change !== undefined)
    problems.add('base-changed', change === 'lost' ? 'error' : 'warning', undefined, { actual: init });
  if (isAlora) problems.add('uses-alora', 'warning');
  if (repeatsLayers) problems.add('repeats-layers', 'warning');
}

/** A name of a hub has at most one slash, and none at its beginning. */
export function isPath(baseModel: string): boolean {
  return /^[./~\\]|^[A-Za-z]:[\\/]|\\|\/.*\//.test(baseModel);
}

async function checkParts({ parts }: Sorted, problems: Problems, breath: Breath): Promise<void> {
  for (const { path, a, b, magnitude } of parts) {
    if (breath.isDue) await breath.take();
    for (const tensor of [a, b, magnitude])
      if (tensor !== undefined && !tensor.name.startsWith(PREFIX))
        problems.add('prefix-missing', 'error', tensor.name);
    if (a === undefined || b === undefined) problems.add('partner-missing', 'error', path);
    else if (a.shape[0] !== b.shape[1])
      problems.add('pair-mismatch', 'error', path, { expected: a.shape[0] ?? 0, actual: b.shape[1] ?? 0 });
  }
}

function checkDtypes({ dtypes }: WeightsReport, problems: Problems): void {
  for (const { dtype } of dtypes)
    if (!USUAL_DTYPES.includes(dtype)) problems.add('dtype-unusual', 'warning', dtype);
  if (dtypes.length > 1) for (const { dtype } of dtypes) problems.add('dtypes-mixed', 'info', dtype);
}

async function checkLayers(
  { pairs, layers }: WeightsReport,
  problems: Problems,
  breath: Breath,
): Promise<void> {
  const byModule = new Map<string, Set<number>>();
  for (const { module, layer } of pairs) {
    if (layer === undefined) continue;
    const its = byModule.get(module) ?? new Set();
    byModule.set(module, its.add(layer));
  }
  for (const [module, its] of byModule) {
    if (breath.isDue) await breath.take();
    let missing = layers.length - its.size;
    // Of many modules in many layers, only those are looked for that are told.
    for (const layer of layers) {
      if (missing === 0 || problems.isFull('layers-differ')) break;
      if (its.has(layer)) continue;
      problems.add('layers-differ', 'info', `${layer} ${module}`);
      missing--;
    }
    problems.addMore('layers-differ', missing);
  }
}

/** Layers of one stack; modules of one name stand in several where a model has more than one. */
async function checkWidths(pairs: readonly LoraPair[], problems: Problems, breath: Breath): Promise<void> {
  const widths = new Map<string, number>();
  for (const { path, layer, inputs } of pairs) {
    if (breath.isDue) await breath.take();
    if (layer === undefined || inputs === undefined) continue;
    const name = path.replace(`.${layer}.`, '.*.');
    const expected = widths.get(name) ?? inputs;
    widths.set(name, expected);
    if (inputs === expected) continue;
    const severity = HIDDEN_READERS.some((reader) => path.endsWith(`.${reader}`)) ? 'error' : 'warning';
    problems.add('widths-differ', severity, path, { expected, actual: inputs });
  }
}

async function checkRanks(
  pairs: readonly LoraPair[],
  config: AdapterConfig,
  problems: Problems,
  breath: Breath,
): Promise<void> {
  const told = new Told(config);
  for (const { path, rank } of pairs) {
    if (breath.isDue) await breath.take();
    const expected = told.rankOf(path);
    // Of experts that are adapted as one parameter, the ranks stand beside each other.
    if (expected === undefined || expected === rank || config.targetParameters.length > 0) continue;
    problems.add('rank-mismatch', 'error', path, { expected, actual: rank });
  }
}

async function checkTargets(
  pairs: readonly LoraPair[],
  { targetModules, targetParameters }: AdapterConfig,
  problems: Problems,
  breath: Breath,
): Promise<void> {
  // A regular expression of somebody else's is not run.
  if (typeof targetModules !== 'object' || targetParameters.length > 0) return;
  const targets = new Set<string>(targetModules);
  const found = new Set<string>();
  for (const { path } of pairs) {
    if (breath.isDue) await breath.take();
    const named = endsOf(path).filter((end) => targets.has(end));
    for (const end of named) found.add(end);
    if (named.length === 0) problems.add('module-not-targeted', 'error', path);
  }
  for (const target of targets)
    if (!found.has(target)) problems.add('module-without-weights', 'warning', target);
}

async function checkSaved(
  { saved }: Sorted,
  { savedModules }: WeightsReport,
  { modulesToSave, targetModules }: AdapterConfig,
  problems: Problems,
  breath: Breath,
): Promise<void> {
  const missing = new Set<string>(modulesToSave);
  for (const path of savedModules) {
    if (breath.isDue) await breath.take();
    for (const name of namesOf(path)) missing.delete(name);
  }
  if (HEADS.some((head) => modulesToSave.includes(head) && !missing.has(head)))
    for (const head of HEADS) missing.delete(head);
  for (const name of missing) problems.add('saved-module-missing', 'error', name);
  const targets = typeof targetModules === 'object' ? targetModules : [];
  const named = new Set<string>([...modulesToSave, ...targets]);
  // Rows of an embedding that were trained alone are named elsewhere in the config.
  const whole = saved.filter(({ tensor }) => !tensor.name.includes('.trainable_tokens'));
  for (const path of new Set(whole.map((one) => one.path))) {
    if (breath.isDue) await breath.take();
    if (!namesOf(path).some((name) => named.has(name)))
      problems.add('saved-module-unexpected', 'warning', path);
  }
}

/** What a config may call a module, or one that it is a part of. */
function namesOf(path: string): string[] {
  const parts = path.split('.');
  const around = Array.from({ length: Math.min(parts.length, MAX_DEPTH + 1) }, (_, up) =>
    parts.slice(0, parts.length - up).join('.'),
  );
  return around.flatMap(endsOf);
}

function checkFlags(
  { biases, parts }: Sorted,
  { pairs }: WeightsReport,
  config: AdapterConfig,
  problems: Problems,
): void {
  const { bias, useDora, useRslora } = config;
  // Those of LoRA itself have a key of their own.
  const own = biases.filter(({ name }) => !name.includes('.lora_'));
  if ((bias === 'none') === own.length > 0)
    problems.add('bias-mismatch', 'warning', own[0]?.name, { expected: bias, actual: own.length });
  const magnitudes = parts.filter(({ magnitude }) => magnitude !== undefined).length;
  if (useDora ? magnitudes < pairs.length : magnitudes > 0)
    problems.add('dora-mismatch', 'error', undefined, {
      expected: useDora ? pairs.length : 0,
      actual: magnitudes,
    });
  if (useDora) problems.add('uses-dora', 'info');
  if (useRslora) problems.add('uses-rslora', 'info');
}
