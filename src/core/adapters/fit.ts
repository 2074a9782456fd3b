import { baseChangeOf, type AdapterConfig } from './peftConfig.ts';
import type { Problems } from './problems.ts';
import type { LoraPair, WeightsReport } from './report.ts';
import { endsOf, placeOf, PREFIX } from './tensorName.ts';
import { moduleScaling, type SortedTensors } from './tensors.ts';

/** What tools load. */
const USUAL_DTYPES: readonly string[] = ['F32', 'F16', 'BF16'];
/** PEFT names both for each classifier (src/peft/peft_model.py, `classifier_module_names`); a model has one of them. */
const HEADS: readonly string[] = ['classifier', 'score'];
/** They read the hidden state, which has the same width in each layer of a model. Inputs of others differ in a few models. */
const HIDDEN_READERS = /\.(?:[qkv]_proj|qkv_proj|gate_proj|up_proj|gate_up_proj)$/;
/** How far above its weights a fully saved module may be named. */
const MAX_DEPTH = 3;

/** Finds where config and tensors do not fit each other. */
export function findMisfits(
  sorted: SortedTensors,
  weights: WeightsReport,
  config: AdapterConfig | undefined,
  problems: Problems,
): void {
  checkParts(sorted, problems);
  for (const { name } of sorted.unknown) problems.add('tensor-unexpected', 'warning', name);
  for (const { dtype } of weights.dtypes)
    if (!USUAL_DTYPES.includes(dtype)) problems.add('dtype-unusual', 'warning', dtype);
  checkWidths(sorted, problems);
  if (config !== undefined) {
    checkRanks(weights.pairs, config, problems);
    checkTargets(weights.pairs, config, problems);
    checkSaved(sorted, weights, config, problems);
    checkFlags(sorted, weights, config, problems);
  }
  for (const name of weights.savedModules) problems.add('modules-to-save', 'info', name);
}

/** Finds what is wrong with the config alone. */
export function checkConfig(config: AdapterConfig, problems: Problems): void {
  const { peftType, baseModel, rank, alpha, targetModules, targetParameters, init = '' } = config;
  if (peftType === undefined) problems.add('peft-type-missing', 'warning');
  else if (!isLora(config)) {
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
  const change = baseChangeOf(config);
  if (change === 'unknown') problems.add('init-unknown', 'warning', undefined, { actual: init });
  else if (change !== undefined)
    problems.add('base-changed', change === 'lost' ? 'error' : 'warning', undefined, { actual: init });
  if (config.isAlora) problems.add('uses-alora', 'warning');
  if (config.repeatsLayers) problems.add('repeats-layers', 'warning');
}

export function isLora({ peftType }: AdapterConfig): boolean {
  return peftType === undefined || peftType.toUpperCase() === 'LORA';
}

/** A name of a hub has at most one slash, and none at its beginning. */
export function isPath(baseModel: string): boolean {
  return /^[./~\\]|^[A-Za-z]:[\\/]|\\|\/.*\//.test(baseModel);
}

function checkParts({ parts }: SortedTensors, problems: Problems): void {
  for (const { path, a, b, magnitude } of parts) {
    for (const tensor of [a, b, magnitude])
      if (tensor !== undefined && !tensor.name.startsWith(PREFIX))
        problems.add('prefix-missing', 'error', tensor.name);
    if (a === undefined || b === undefined) problems.add('partner-missing', 'error', path);
    else if (a.shape[0] !== b.shape[1])
      problems.add('pair-mismatch', 'error', path, { expected: a.shape[0] ?? 0, actual: b.shape[1] ?? 0 });
  }
}

/** Within one stack of layers: models with several have modules of the same name in each. */
function checkWidths({ pairs }: SortedTensors, problems: Problems): void {
  const widths = new Map<string, number>();
  for (const { path, a } of pairs) {
    const { layer } = placeOf(path);
    const actual = (a?.parameters ?? 0) / (a?.shape[0] ?? 1);
    if (layer === undefined || !(actual > 0)) continue;
    const name = path.replace(`.${layer}.`, '.*.');
    const expected = widths.get(name) ?? actual;
    widths.set(name, expected);
    const severity = HIDDEN_READERS.test(path) ? 'error' : 'warning';
    if (actual !== expected) problems.add('widths-differ', severity, path, { expected, actual });
  }
}

function checkRanks(pairs: readonly LoraPair[], config: AdapterConfig, problems: Problems): void {
  // The ranks of experts that are adapted as one parameter are multiplied.
  if (config.targetParameters.length > 0) return;
  const { rankOf } = moduleScaling(config);
  for (const { path, rank } of pairs) {
    const expected = rankOf(path);
    if (expected !== undefined && expected !== rank)
      problems.add('rank-mismatch', 'error', path, { expected, actual: rank });
  }
}

function checkTargets(
  pairs: readonly LoraPair[],
  { targetModules, targetParameters }: AdapterConfig,
  problems: Problems,
): void {
  // An untrusted regular expression is never run.
  if (typeof targetModules !== 'object' || targetParameters.length > 0) return;
  const targets = new Set<string>(targetModules);
  const found = new Set<string>();
  for (const { path } of pairs) {
    const named = endsOf(path).filter((end) => targets.has(end));
    for (const end of named) found.add(end);
    if (named.length === 0) problems.add('module-not-targeted', 'error', path);
  }
  for (const target of targets)
    if (!found.has(target)) problems.add('module-without-weights', 'warning', target);
}

function checkSaved(
  { saved }: SortedTensors,
  { savedModules }: WeightsReport,
  { modulesToSave, targetModules }: AdapterConfig,
  problems: Problems,
): void {
  const missing = new Set<string>(modulesToSave);
  // All names of all modules together could fill the memory.
  for (const path of savedModules) for (const name of namesOf(path)) missing.delete(name);
  const hasHead = HEADS.some((head) => modulesToSave.includes(head) && !missing.has(head));
  for (const name of missing)
    if (!hasHead || !HEADS.includes(name)) problems.add('saved-module-missing', 'error', name);
  const named = new Set<string>([
    ...modulesToSave,
    ...(typeof targetModules === 'object' ? targetModules : []),
  ]);
  // Rows of an embedding that were trained alone are named elsewhere in the config.
  const full = saved.filter(({ tensor }) => !tensor.name.includes('.trainable_tokens'));
  for (const path of new Set(full.map((one) => one.path)))
    if (!namesOf(path).some((name) => named.has(name)))
      problems.add('saved-module-unexpected', 'warning', path);
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
  { biases, parts }: SortedTensors,
  { pairs }: WeightsReport,
  { bias, useDora }: AdapterConfig,
  problems: Problems,
): void {
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
}
