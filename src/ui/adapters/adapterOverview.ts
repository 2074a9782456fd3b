import { env, l10n } from 'vscode';
import type {
  AdapterConfig,
  AdapterProblem,
  AdapterReport,
  Measurements,
  WeightsReport,
} from '../../core/adapters/report.ts';
import { isVisible } from '../../core/base/plainText.ts';
import { compact, formatBytes, formatCount } from '../shared/format.ts';
import { TERMS } from '../shared/terms.ts';
import type { AdapterFact, AdapterFiles, AdapterNote, AdapterSection, AdapterVerdict } from './protocol.ts';

const MAX_NAMES = 20;

/** Describes an adapter by its headers and, if measured, its values. */
export function adapterOverview(report: AdapterReport, measurements: Measurements | undefined) {
  // The verdict already names `not-lora`.
  const problems = report.problems.filter(({ code }) => code !== 'not-lora').map(problemNote);
  const sections = compact<AdapterSection>(
    problems.length > 0 && {
      title: problems.every(({ severity }) => severity === 'info') ? l10n.t('Notes') : TERMS.problems,
      notes: problems,
    },
    { title: l10n.t('Facts'), facts: adapterFacts(report) },
  );
  return { verdict: adapterVerdict(report, measurements), sections, files: adapterFiles(report) };
}

/** Says what the file is, what that means, and what to do next. */
export function adapterVerdict(
  report: AdapterReport,
  measurements: Measurements | undefined,
): AdapterVerdict {
  const { verdict, config, problems } = report;
  if (verdict.code !== 'adapter') return unreadable(verdict.code, report);
  const has = (severity: AdapterProblem['severity']) =>
    problems.some((problem) => problem.severity === severity);
  if (measurements !== undefined && measurements.nans + measurements.infinities > 0)
    return verdictOf(
      'error',
      l10n.t('Adapter with broken values'),
      l10n.t('Some values are NaN or infinite.'),
      l10n.t('Check the dataset before a new run.'),
    );
  const other = problems.find(({ code }) => code === 'not-lora');
  const otherType = other && problemSentences(other)['not-lora'];
  if (has('error'))
    return verdictOf(
      'error',
      l10n.t('Adapter with problems'),
      l10n.t('Tools reject it or load it incorrectly.'),
      otherType,
    );
  if (otherType !== undefined) return verdictOf('warning', l10n.t('Not a LoRA adapter'), otherType);
  if (report.isFromSandbox === true)
    return verdictOf(
      'warning',
      l10n.t('Sandbox: nothing was trained'),
      l10n.t('It has the form of a LoRA adapter, but no effect.'),
    );
  if (measurements?.hasNoEffect === true)
    return verdictOf(
      'warning',
      l10n.t('Complete LoRA adapter that learned nothing'),
      l10n.t('It has no effect.'),
    );
  if (has('warning'))
    return verdictOf('warning', l10n.t('LoRA adapter with warnings'), l10n.t('It may not load everywhere.'));
  const fits = config?.baseModel && l10n.t('It fits only the model it was trained on.');
  if (problems.some(({ code }) => code === 'target-without-weights' || code === 'layer-without-weights'))
    return verdictOf('clean', l10n.t('LoRA adapter'), fits);
  return verdictOf('clean', l10n.t('Complete LoRA adapter'), l10n.t('The weights match the config.'), fits);
}

function verdictOf(
  kind: AdapterVerdict['kind'],
  title: string,
  ...sentences: (string | undefined)[]
): AdapterVerdict {
  return { kind, title, sentences: compact(...sentences) };
}

function unreadable(
  code: Exclude<AdapterReport['verdict']['code'], 'adapter'>,
  { verdict }: AdapterReport,
): AdapterVerdict {
  const { fault, entry, detail: type } = verdict;
  const again = l10n.t('Download it again.');
  const inspectFolder = l10n.t('Unpack it yourself, then inspect the folder.');
  const detail = compact(
    fault && FAULTS[fault],
    type && l10n.t('Type: {0}', type),
    entry && l10n.t('Entry: {0}', entry),
  );
  const texts: Record<typeof code, [title: string, ...sentences: string[]]> = {
    'not-an-archive': [
      l10n.t('Neither an archive nor safetensors'),
      l10n.t('It may be an error page. Download it again.'),
    ],
    empty: [l10n.t('Empty'), again],
    broken: [l10n.t('Damaged'), ...detail, again],
    encrypted: [l10n.t('Encrypted'), inspectFolder],
    unsafe: [l10n.t('Not safe to unpack'), ...detail, l10n.t('Don’t unpack it by hand either.')],
    unsupported:
      fault === 'dtype'
        ? [l10n.t('Unsupported weights'), ...detail]
        : [l10n.t('Unsupported archive'), ...detail, inspectFolder],
    'no-adapter': [
      l10n.t('No adapter found'),
      l10n.t('An adapter has an adapter_config.json and an adapter_model.safetensors.'),
    ],
    'full-model': [l10n.t('A full model, not an adapter'), l10n.t('It needs no base model.')],
    'pickle-only': [
      l10n.t('Only pickle weights'),
      l10n.t('Pickle files can run code and were not opened. Ask for safetensors.'),
    ],
    'too-big': [l10n.t('Too large to inspect'), ...detail],
    unreadable: [l10n.t('Can’t be read'), l10n.t('Check its permissions and the disk.')],
  };
  const isWarning = code === 'full-model' || code === 'pickle-only';
  return verdictOf(isWarning ? 'warning' : 'error', ...texts[code]);
}

/** Describes an archive's fault by its code; undefined for other codes. */
export function knownFault(code: string): string | undefined {
  return Object.entries(FAULTS).find(([fault]) => fault === code)?.[1];
}

const UNSAFE = l10n.t('It contains unsafe paths, names or links.');
const MISMATCH = l10n.t('Its contents don’t match its headers or checksums.');
const FAULTS: Readonly<Record<NonNullable<AdapterReport['verdict']['fault']>, string>> = {
  truncated: l10n.t('It is cut off.'),
  zip: MISMATCH,
  gzip: MISMATCH,
  tar: MISMATCH,
  safetensors: MISMATCH,
  checksum: MISMATCH,
  length: MISMATCH,
  'data-after-end': l10n.t('Trailing data after the archive.'),
  path: UNSAFE,
  name: UNSAFE,
  link: UNSAFE,
  duplicate: l10n.t('Two of its files have the same name.'),
  bomb: l10n.t('It may be a zip bomb.'),
  encrypted: l10n.t('It is encrypted.'),
  method: l10n.t('Its format is unsupported.'),
  dtype: l10n.t('A tensor has an unknown type.'),
  'too-large': l10n.t('It is larger than any adapter.'),
  'header-too-large': l10n.t('Its headers are too large.'),
};

/** Returns a problem as a note for the page. */
export function problemNote(problem: AdapterProblem): AdapterNote {
  const { code, severity, count } = problem;
  const text = problemSentences(problem)[code];
  const examples = text.endsWith(':') ? problem.examples : [];
  const rest = count - examples.length;
  return {
    severity,
    text,
    examples,
    more: examples.length > 0 ? moreText(rest) : undefined,
  };
}

function moreText(rest: number): string | undefined {
  return rest > 0 ? l10n.t('and {0} more', formatCount(rest)) : undefined;
}

/** Sentences for all codes. A colon at the end introduces the examples. */
export function problemSentences({
  expected,
  actual,
  count,
  examples,
  layer = 0,
  module = '',
}: AdapterProblem): Readonly<Record<AdapterProblem['code'], string>> {
  const [wanted, found] = [expected, actual].map((value) =>
    typeof value === 'number' ? formatCount(value) : (value ?? '?'),
  ) as [string, string];
  const missing = (field: string) => l10n.t('The config has no {0}.', field);
  return {
    'config-missing': l10n.t('adapter_config.json is missing.'),
    'config-too-large': l10n.t('adapter_config.json is too large to read.'),
    'config-not-json': l10n.t('adapter_config.json is not a valid JSON object.'),
    'config-bom': l10n.t('PEFT can’t read the byte order mark of adapter_config.json.'),
    'config-wrong-type': l10n.t('Config values of the wrong type were ignored:'),
    'peft-type-missing': missing('peft_type'),
    'peft-type-case': l10n.t(
      'PEFT only knows the type LORA, in capital letters. The config says {0}.',
      found,
    ),
    'not-lora': l10n.t('Only PEFT loads adapters of its type, {0}.', found),
    'base-model-missing': missing('base_model_name_or_path'),
    'base-model-is-path': l10n.t('The base model is a path ({0}). Use your own copy.', found),
    'rank-missing': missing('r'),
    'alpha-missing': missing('lora_alpha'),
    'target-modules-missing': missing('target_modules'),
    'width-differs':
      count === 1
        ? l10n.t(
            'Layer {0}’s {1} has another width than the others; it loads only if the base model’s does.',
            layer,
            module,
          )
        : l10n.t(
            'Modules with another width than in the other layers; they load only if the base model’s do:',
          ),
    'layer-without-weights':
      count === 1
        ? l10n.t('Layer {0}’s {1} has no weights.', layer, module)
        : l10n.t('Modules that have no weights, unlike in the other layers:'),
    'target-without-weights':
      count === 1
        ? l10n.t('{0} is in the config, but has no weights.', examples[0] ?? '')
        : l10n.t('Modules in the config that have no weights:'),
    'embeddings-resized': l10n.t(
      'The embeddings were resized. Resize the base model to {0} tokens before loading.',
      found,
    ),
    'embeddings-saved': l10n.t(
      'Its embeddings have {0} tokens. If the base model has another number, resize it first.',
      found,
    ),
    'saved-module-missing': l10n.t('Fully saved modules are missing:'),
    'base-replaced':
      count === 1
        ? l10n.t('It replaces the base model’s {0}.', examples[0] ?? '')
        : l10n.t('It replaces modules of the base model:'),
    'base-changed': l10n.t('Training changed the base model’s weights ({0}): see “How to Use It”.', found),
    'dora-mismatch': l10n.t('{0} DoRA magnitudes expected, {1} found.', wanted, found),
    'magnitude-mismatch': l10n.t('DoRA magnitudes of another length than B:'),
    'lora-bias-ignored': l10n.t('PEFT ignores the biases of LoRA unless the config sets lora_bias.'),
    'partner-missing': l10n.t('Modules where A or B is missing:'),
    'pair-mismatch': l10n.t('A and B have different ranks:'),
    'prefix-missing': l10n.t(
      'PEFT ignores tensors whose names lack the prefix “base_model.model.” or contain “_orig_mod”:',
    ),
    'rank-mismatch': l10n.t('The config says rank {0}, the weights have {1}:', wanted, found),
    'module-not-targeted': l10n.t('PEFT ignores modules that aren’t target modules:'),
    'tensor-unexpected': l10n.t('Tensors that aren’t part of LoRA:'),
    'extra-bytes': l10n.t('There are other bytes before or after the archive.'),
    'several-weights': l10n.t('Other weights were not read:'),
    'weights-name': l10n.t('Tools only find weights named adapter_model.safetensors:'),
    'pickle-present': l10n.t('Pickle files can run code and were not opened:'),
  };
}

function adapterFacts({ file, container, sizeBytes, config, weights }: AdapterReport): AdapterFact[] {
  const fact = (name: string, value: string | undefined, hasCopy = false): AdapterFact[] =>
    value === undefined || value === ''
      ? []
      : [{ name, value, ...(hasCopy && isVisible(value) ? { hasCopy } : {}) }];
  const targetModules = config?.targetModules;
  // What was adapted says the same, unless the config has other names.
  const adapted = new Set(weights?.modules);
  const isAdapted =
    typeof targetModules === 'object' &&
    targetModules.length === adapted.size &&
    targetModules.every((one) => adapted.has(one));
  const targets = isAdapted ? undefined : targetModules;
  const dtypes = weights?.dtypes ?? [];
  return [
    ...fact(l10n.t('Base model'), config?.baseModel, true),
    ...fact(l10n.t('Type'), config && typeText(config)),
    ...fact(l10n.t('Rank'), config && rankText(config, weights)),
    ...fact(l10n.t('Alpha'), config?.alpha?.toLocaleString(env.language)),
    ...fact(l10n.t('Scaling'), config && weights && scalingText(config, weights)),
    ...fact(l10n.t('Target modules'), typeof targets === 'string' ? targets : targets && listText(targets)),
    ...fact(l10n.t('Fully saved modules'), config && listText(config.modulesToSave)),
    ...fact(
      l10n.t('Adapted modules'),
      weights?.pairs.length
        ? `${formatCount(weights.pairs.length)} (${listText(weights.modules)})`
        : undefined,
    ),
    ...fact(l10n.t('Layers'), weights && layersText(weights.layers)),
    ...fact(l10n.t('Parameters'), weights && formatCount(weights.parameters)),
    ...fact(
      l10n.t('Tensor types'),
      dtypes.length > 1
        ? dtypes.map(({ dtype, tensors }) => `${dtype} (${formatCount(tensors)})`).join(', ')
        : dtypes[0]?.dtype,
    ),
    ...fact(l10n.t('PEFT version'), config?.peftVersion),
    ...fact(TERMS.size, formatBytes(sizeBytes)),
    ...fact(l10n.t('Format'), container === 'folder' ? l10n.t('folder') : container),
    ...fact(l10n.t('Path'), file, true),
  ];
}

function typeText({ peftType, taskType, useDora, useRslora, isAlora }: AdapterConfig): string {
  const flags = [useRslora && 'rsLoRA', useDora && 'DoRA', isAlora && 'aLoRA', taskType];
  const type = peftType === 'LORA' ? 'LoRA' : (peftType ?? TERMS.unknown);
  return [type, ...flags.filter(Boolean)].join(', ');
}

function rankText({ rank }: AdapterConfig, weights: WeightsReport | undefined): string | undefined {
  const { minRank = 0, maxRank = 0 } = weights ?? {};
  if (maxRank === 0) return rank?.toString();
  const seen = rangeText(minRank, maxRank);
  return rank === undefined || seen === String(rank)
    ? seen
    : l10n.t('{0} in the weights, {1} in the config', seen, rank);
}

function scalingText({ useRslora }: AdapterConfig, { pairs }: WeightsReport): string | undefined {
  const scales = pairs.map(({ scale }) => scale).filter((scale) => scale !== undefined);
  if (scales.length === 0) return undefined;
  const [least, most] = [scales.reduce((a, b) => Math.min(a, b)), scales.reduce((a, b) => Math.max(a, b))];
  const formula = useRslora ? l10n.t('alpha ÷ √rank') : l10n.t('alpha ÷ rank');
  return `${rangeText(formatNorm(least), formatNorm(most))} (${formula})`;
}

/** Returns one value, or a range if the values differ. */
export function rangeText(first: string | number, last: string | number): string {
  return first === last ? String(first) : l10n.t('{0} to {1}', first, last);
}

export function listText(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).join(', ');
  const rest = names.length - MAX_NAMES;
  return rest <= 0 ? shown : l10n.t('{0} and {1} more', shown, formatCount(rest));
}

/** Returns `32: 0 to 31`, or lists the numbers if there are gaps. */
function layersText(layers: readonly number[]): string | undefined {
  const [first, last] = [layers[0], layers.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const isRange = last - first + 1 === layers.length;
  const shown = isRange ? rangeText(first, last) : listText(layers.map(String));
  return `${formatCount(layers.length)}: ${shown}`;
}

/** Formats a norm or a scale with three significant digits. */
export function formatNorm(value: number): string {
  if (value !== 0 && (Math.abs(value) < 0.001 || Math.abs(value) >= 1e6)) return value.toExponential(2);
  return value.toLocaleString(env.language, { maximumSignificantDigits: 3 });
}

function adapterFiles({ container, entries, entryCount }: AdapterReport): AdapterFiles | undefined {
  if (entries.length === 0 || container === 'safetensors') return undefined;
  const notes = {
    config: l10n.t('config'),
    weights: l10n.t('weights'),
    pickle: l10n.t('pickle, not opened'),
    archive: l10n.t('archive, not opened'),
    other: undefined,
  };
  const rest = entryCount - entries.length;
  return {
    title: l10n.t('Files'),
    nameHeader: l10n.t('Name'),
    sizeHeader: TERMS.size,
    rows: entries.map(({ name, sizeBytes, kind }) => ({
      name,
      size: formatBytes(sizeBytes),
      note: notes[kind],
    })),
    more: moreText(rest),
  };
}
