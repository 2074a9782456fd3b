import { checkBase } from './baseKinds.ts';
import { baseChangeOf, type AdapterConfig } from './peftConfig.ts';
import { printable, type Problems } from './problems.ts';
import type { LoraPair, WeightsReport } from './report.ts';
import { isModuleRefused } from './tensorNames.ts';
import { endsOf, hasTokenRows, moduleScaling, modulePlaceOf, type SortedTensors } from './tensors.ts';

/** PEFT lists both for classifiers (src/peft/peft_model.py, `classifier_module_names`), but a model has only one. */
const HEADS: readonly string[] = ['classifier', 'score'];
/** Modules that PEFT saves for a task (`task_type`), whether the config names them or not (src/peft/peft_model.py). */
const SAVED_FOR_TASK: Readonly<Record<string, readonly string[]>> = {
  SEQ_CLS: HEADS,
  TOKEN_CLS: HEADS,
  QUESTION_ANS: ['qa_outputs'],
};
/** Limits the search, which compares each name with all saved modules. */
const MAX_SAVED = 20;
/** Fewer layers show no rule that one of them could break. */
const MIN_LAYERS = 3;
/** At most one layer in eight may differ or lack weights. More do where layers alternate by design. */
const LAYERS_PER_DEVIATION = 8;

/** Finds mismatches between the config and the tensors. */
export function findMisfits(
  sorted: SortedTensors,
  weights: WeightsReport,
  config: AdapterConfig | undefined,
  problems: Problems,
): void {
  checkParts(sorted, problems);
  checkWidths(sorted, problems);
  if (config?.choosesLayers !== true) checkLayers(sorted, problems);
  for (const { name } of sorted.unknown) problems.add('tensor-unexpected', 'warning', name);
  if (config === undefined) return;
  checkBase(config, weights, problems);
  checkRanks(weights.pairs, config, problems);
  checkTargets(weights, config, problems);
  checkEmbeddings(sorted, config, problems);
  checkSaved(sorted, weights, config, problems);
  checkMagnitudes(sorted, weights, config, problems);
  if (!config.loraBias)
    for (const name of sorted.loraBiases) problems.add('lora-bias-ignored', 'error', name);
}

/** Finds problems of the config alone. */
export function checkConfig(config: AdapterConfig, problems: Problems): void {
  const { peftType, baseModel, rank, alpha, targetModules, targetParameters, init = '' } = config;
  if (peftType === undefined) problems.add('peft-type-missing', 'warning');
  else if (!isLora(config)) {
    problems.add('not-lora', 'warning', undefined, { expected: 'LORA', actual: peftType });
    return;
  } else if (peftType !== 'LORA') problems.add('peft-type-case', 'error', undefined, { actual: peftType });
  if (baseModel === undefined || baseModel === '') problems.add('base-model-missing', 'warning');
  else if (isPath(baseModel)) problems.add('base-model-is-path', 'warning', undefined, { actual: baseModel });
  if (rank === undefined) problems.add('rank-missing', 'error');
  if (alpha === undefined) problems.add('alpha-missing', 'error');
  if (targetModules === undefined && targetParameters.length === 0)
    problems.add('target-modules-missing', 'error');
  const change = baseChangeOf(config);
  if (change !== undefined)
    problems.add('base-changed', change === 'lost' ? 'error' : 'warning', undefined, { actual: init });
}

export function isLora({ peftType }: AdapterConfig): boolean {
  return peftType === undefined || peftType.toUpperCase() === 'LORA';
}

/** Whether a base model is a path: a hub name has at most one slash, and none at the start. */
export function isPath(baseModel: string): boolean {
  return /^[./~\\]|^[A-Za-z]:[\\/]|\\|\/.*\//.test(baseModel);
}

function checkParts({ parts, saved }: SortedTensors, problems: Problems): void {
  for (const path of [...parts.map((one) => one.path), ...saved])
    if (isModuleRefused(path)) problems.add('module-refused', 'error', path);
  for (const { path, a, b } of parts) {
    if (a === undefined || b === undefined) problems.add('partner-missing', 'error', path);
    else if (a.shape[0] !== b.shape[1])
      problems.add('pair-mismatch', 'error', path, { expected: a.shape[0] ?? 0, actual: b.shape[1] ?? 0 });
  }
}

/** Finds the few layers where a module has other numbers of inputs or outputs than in the rest. */
function checkWidths({ pairs }: SortedTensors, problems: Problems): void {
  const matrices = pairs.flatMap(({ path, a, b }) =>
    // Convolutions differ by design, and so may steps of a sequence, whose names end in a number.
    a?.shape.length === 2 && b?.shape.length === 2 && modulePlaceOf(path).module !== ''
      ? { path, widths: `${a.shape[1]} ${b.shape[0]}` }
      : [],
  );
  for (const layers of Map.groupBy(matrices, ({ path }) => modulePlaceOf(path).pathInLayers).values()) {
    if (layers.length < MIN_LAYERS) continue;
    const groups = [...Map.groupBy(layers, ({ widths }) => widths).values()];
    const [, ...others] = groups.sort((one, other) => other.length - one.length);
    const deviating = others.flat();
    if (deviating.length > Math.max(1, layers.length / LAYERS_PER_DEVIATION)) continue;
    for (const { path } of deviating) {
      const { layer, module } = modulePlaceOf(path);
      if (layer !== undefined)
        problems.add('width-differs', 'warning', path, { layer, module: printable(module) });
    }
  }
}

/** Finds the few middle layers that lack a module of the others. PEFT doesn't adapt it there. */
function checkLayers({ pairs }: SortedTensors, problems: Problems): void {
  const places = pairs.map(({ path }) => modulePlaceOf(path)).filter(({ module }) => module !== '');
  for (const [pathInLayers, its] of Map.groupBy(places, (one) => one.pathInLayers)) {
    const layers = its.flatMap(({ layer }) => layer ?? []);
    const [first = 0, last = 0] = [layers[0], layers.at(-1)];
    const missing = last - first + 1 - layers.length;
    if (layers.length < MIN_LAYERS || missing > Math.max(1, layers.length / LAYERS_PER_DEVIATION)) continue;
    const found = new Set(layers);
    const module = printable(its[0]?.module ?? '');
    for (let layer = first; layer < last; layer++)
      if (!found.has(layer))
        problems.add('layer-without-weights', 'info', pathInLayers.replace('#', String(layer)), {
          layer,
          module,
        });
  }
}

function checkRanks(pairs: readonly LoraPair[], config: AdapterConfig, problems: Problems): void {
  // Experts that are adapted as one parameter have multiplied ranks.
  if (config.targetParameters.length > 0) return;
  const { rankOf } = moduleScaling(config);
  for (const { path, rank } of pairs) {
    const expected = rankOf(path);
    if (expected !== undefined && expected !== rank)
      problems.add('rank-mismatch', 'error', path, { expected, actual: rank });
  }
}

function checkTargets(
  { pairs }: WeightsReport,
  { targetModules, targetParameters, tiesWeights }: AdapterConfig,
  problems: Problems,
): void {
  // Never run an untrusted regular expression.
  if (typeof targetModules !== 'object') return;
  const unused = new Set<string>(targetModules);
  const targets = new Set(unused);
  for (const { path } of pairs) {
    const found = endsOf(path).filter((end) => targets.has(end));
    for (const one of found) unused.delete(one);
    if (found.length === 0 && targetParameters.length === 0 && !(tiesWeights && hasTokenRows(path)))
      problems.add('module-not-targeted', 'error', path);
  }
  for (const name of unused) problems.add('target-without-weights', 'info', name);
}

/** PEFT saves embeddings that no list names only if they were resized. Named ones may have been. */
function checkEmbeddings(
  { embeddingRows }: SortedTensors,
  { modulesToSave, targetModules = [] }: AdapterConfig,
  problems: Problems,
): void {
  if (embeddingRows === undefined) return;
  const isNamed =
    typeof targetModules === 'string' || [...modulesToSave, ...targetModules].some(hasTokenRows);
  const values = { actual: embeddingRows };
  if (isNamed) problems.add('embeddings-saved', 'info', undefined, values);
  else problems.add('embeddings-resized', 'warning', undefined, values);
}

/** PEFT may name any consecutive parts of a module's path. */
function checkSaved(
  { replacing }: SortedTensors,
  { savedModules }: WeightsReport,
  { modulesToSave, taskType = '', bias }: AdapterConfig,
  problems: Problems,
): void {
  const names = modulesToSave.slice(0, MAX_SAVED);
  const isIn = (path: string) => (name: string) => `.${path}.`.includes(`.${name}.`);
  const missing = names.filter((name) => !savedModules.some((path) => isIn(path)(name)));
  const hasHead = HEADS.some((head) => names.includes(head) && !missing.includes(head));
  for (const name of missing)
    if (!hasHead || !HEADS.includes(name)) problems.add('saved-module-missing', 'error', name);
  if (modulesToSave.length > MAX_SAVED) return;
  const meant = [...names, ...(SAVED_FOR_TASK[taskType.toUpperCase()] ?? [])];
  const others = replacing.filter(
    ({ path, isBias }) => !(isBias && bias !== 'none') && !meant.some(isIn(path)),
  );
  for (const path of new Set(others.map((one) => one.path))) problems.add('base-replaced', 'warning', path);
}

function checkMagnitudes(
  { parts }: SortedTensors,
  { pairs }: WeightsReport,
  { useDora }: AdapterConfig,
  problems: Problems,
): void {
  const expected = useDora ? pairs.length : 0;
  const actual = parts.filter(({ magnitude }) => magnitude !== undefined).length;
  if (useDora ? actual < expected : actual > 0)
    problems.add('dora-mismatch', 'error', undefined, { expected, actual });
  for (const { path, b, magnitude } of parts)
    if (b !== undefined && magnitude !== undefined && magnitude.parameters !== b.shape[0])
      problems.add('magnitude-mismatch', 'error', path);
}
