import * as vscode from 'vscode';
import type {
  AdapterConfig,
  AdapterProblem,
  AdapterReport,
  ArchiveFault,
  Measurements,
  ProblemCode,
  VerdictCode,
  WeightsReport,
} from '../../core/adapters/report.ts';
import { formatBytes, formatCount } from '../shared/format.ts';
import type { AdapterFact, AdapterFiles, AdapterNote, AdapterOverview, AdapterVerdict } from './protocol.ts';

const MAX_NAMED_LAYERS = 6;

/** What the headers say of an adapter, and what measuring added to it. */
export function adapterOverview(
  report: AdapterReport,
  measurements: Measurements | undefined,
): Omit<AdapterOverview, 'type'> {
  const { l10n } = vscode;
  const notes = report.problems.map(problemNote);
  const problems = notes.filter(({ severity }) => severity !== 'info');
  const toKnow = notes.filter(({ severity }) => severity === 'info');
  return {
    verdict: adapterVerdict(report, measurements),
    sections: [
      ...(problems.length > 0 ? [{ title: l10n.t('Problems'), notes: problems }] : []),
      { title: l10n.t('Facts'), facts: adapterFacts(report) },
      ...(toKnow.length > 0 ? [{ title: l10n.t('Good to Know'), notes: toKnow }] : []),
    ],
    files: adapterFiles(report),
  };
}

/** What the file is, what that means, and what to do next. */
export function adapterVerdict(
  report: AdapterReport,
  measurements: Measurements | undefined,
): AdapterVerdict {
  const { l10n } = vscode;
  const { verdict, config, problems } = report;
  if (verdict.code !== 'adapter') return unreadable(verdict.code, report);
  const has = (severity: AdapterProblem['severity']) =>
    problems.some((problem) => problem.severity === severity);
  if (measurements !== undefined && measurements.nans + measurements.infinities > 0)
    return verdictOf(
      'error',
      l10n.t('Adapter with broken values'),
      l10n.t('Some values are NaN or infinite: a model that loads it gives useless answers.'),
      l10n.t('Train again, with a lower learning rate or other data.'),
    );
  if (has('error'))
    return verdictOf(
      'error',
      problems.some(({ code }) => code === 'not-lora')
        ? l10n.t('Not a LoRA adapter')
        : l10n.t('Adapter with problems'),
      l10n.t('Some tools reject it or load it incorrectly. Read the problems below before you use it.'),
    );
  if (measurements?.hasNoEffect === true)
    return verdictOf(
      'warning',
      l10n.t('Complete LoRA adapter that learned nothing'),
      l10n.t('In every module A or B is all zero, so the model answers as if it had no adapter.'),
      l10n.t('This is normal before training, and in the sandbox, which trains nothing.'),
    );
  if (has('warning'))
    return verdictOf(
      'warning',
      l10n.t('LoRA adapter with warnings'),
      l10n.t('Some tools load it, others may not. Read the warnings below, then choose a recipe.'),
    );
  return verdictOf(
    'clean',
    l10n.t('Complete LoRA adapter'),
    config?.baseModel === undefined
      ? l10n.t('Every A has its B, and the shapes match the config.')
      : l10n.t(
          'Every A has its B, and the shapes match the config. It was trained on {0} and fits no other model.',
          config.baseModel,
        ),
    l10n.t('The recipes below load it.'),
  );
}

function verdictOf(kind: AdapterVerdict['kind'], title: string, ...sentences: string[]): AdapterVerdict {
  return { kind, title, sentences };
}

function unreadable(code: Exclude<VerdictCode, 'adapter'>, { verdict }: AdapterReport): AdapterVerdict {
  const { l10n } = vscode;
  const { fault, entry } = verdict;
  const again = l10n.t('Download it again. If that doesn’t help, the archive was created this way.');
  const inspectFolder = l10n.t('Unpack it with the program that packed it, then inspect the folder.');
  const detail = [
    ...(fault === undefined ? [] : [faultSentences()[fault]]),
    ...(entry === undefined ? [] : [l10n.t('Entry: {0}', entry)]),
  ];
  switch (code) {
    case 'not-an-archive':
      return verdictOf(
        'error',
        l10n.t('Neither an archive nor safetensors'),
        l10n.t(
          'An adapter is a ZIP, tar, tar.gz or safetensors file. This is none of them, whatever its name.',
        ),
        l10n.t('If you downloaded it, it may be an error page of a proxy. Download it again.'),
      );
    case 'empty':
      return verdictOf('error', l10n.t('Empty'), again);
    case 'broken':
      return verdictOf('error', l10n.t('Damaged'), ...detail, again);
    case 'encrypted':
      return verdictOf('error', l10n.t('Encrypted'), l10n.t('The archive needs a password.'), inspectFolder);
    case 'unsafe':
      return verdictOf(
        'error',
        l10n.t('Not safe to unpack'),
        ...detail,
        l10n.t('Nothing was unpacked. No tool packs adapters like this: don’t unpack it by hand either.'),
      );
    case 'unsupported':
      return verdictOf('error', l10n.t('Unsupported archive'), ...detail, inspectFolder);
    case 'no-adapter':
      return verdictOf(
        'error',
        l10n.t('No adapter found'),
        l10n.t('An adapter has an adapter_config.json and an adapter_model.safetensors.'),
      );
    case 'full-model':
      return verdictOf(
        'warning',
        l10n.t('A full model, not an adapter'),
        l10n.t('It is loaded without a base model and without these recipes.'),
      );
    case 'pickle-only':
      return verdictOf(
        'warning',
        l10n.t('Only pickle weights'),
        l10n.t('Pickle files can run any code when they are loaded, so they were not opened.'),
        l10n.t('Ask for the adapter as safetensors. If you trust its author, PEFT can load and convert it.'),
      );
    case 'too-big':
      return verdictOf('error', l10n.t('Too large to inspect'), ...detail);
    case 'unreadable':
      return verdictOf(
        'error',
        l10n.t('Can’t be read'),
        l10n.t('The system refused to read it. Check its permissions and whether the disk is connected.'),
      );
  }
}

/** What a code says is wrong with an archive; undefined for any other code. */
export function knownFault(code: string): string | undefined {
  return Object.entries(faultSentences()).find(([fault]) => fault === code)?.[1];
}

function faultSentences(): Readonly<Record<ArchiveFault, string>> {
  const { l10n } = vscode;
  const zipContents = l10n.t('The ZIP’s directory and its contents don’t match.');
  const tarHeader = l10n.t('A tar header is damaged.');
  return {
    truncated: l10n.t('It is cut off: a part is missing.'),
    'zip-no-end': l10n.t('The end of the ZIP, which lists its contents, is missing.'),
    'zip-directory': zipContents,
    'zip-local-header': zipContents,
    'zip-disagreement': zipContents,
    'zip-crc': l10n.t('A file in it has a wrong checksum: its bytes were changed.'),
    'zip-length': l10n.t('A file in it doesn’t have the length stated in the ZIP.'),
    'gzip-data': l10n.t('Its compressed data is damaged.'),
    'tar-header': tarHeader,
    'tar-checksum': tarHeader,
    'safetensors-header': l10n.t('The header of the safetensors file is damaged.'),
    'safetensors-offsets': l10n.t('The safetensors file has impossible tensor positions.'),
    'safetensors-length': l10n.t('The safetensors file doesn’t have the length stated in its header.'),
    'data-after-end': l10n.t('Trailing data after the archive.'),
    'path-outside': l10n.t('It would write files outside of its folder.'),
    'path-absolute': l10n.t('It contains absolute paths.'),
    'path-odd': l10n.t('It contains invalid file names.'),
    link: l10n.t('It contains links, which can lead outside of its folder.'),
    device: l10n.t('It contains devices or other special files.'),
    duplicate: l10n.t('It contains two files with the same name.'),
    'case-collision': l10n.t('It contains file names that differ only in case.'),
    overlap: l10n.t('Overlapping entries (possible zip bomb).'),
    ratio: l10n.t('Implausible compression ratio (possible zip bomb).'),
    encrypted: l10n.t('It is encrypted.'),
    method: l10n.t('It uses an unsupported format.'),
    'too-many-entries': l10n.t('It contains more files than any adapter.'),
    'too-large': l10n.t('Unpacked, it would be larger than any adapter.'),
    'header-too-large': l10n.t('Its headers or configs are larger than those of any adapter.'),
  };
}

/** A problem as a note of the page. */
export function problemNote(problem: AdapterProblem): AdapterNote {
  const { code, severity, count } = problem;
  const examples = problem.examples.map((name) => (code === 'layers-differ' ? layerAndModule(name) : name));
  const rest = count - examples.length;
  return {
    severity,
    text: problemSentences(problem)[code],
    examples,
    more: rest > 0 && examples.length > 0 ? vscode.l10n.t('and {0} more', formatCount(rest)) : undefined,
  };
}

function layerAndModule(name: string): string {
  const [layer = '', ...module] = name.split(' ');
  return vscode.l10n.t('layer {0}: {1}', layer, module.join(' '));
}

/** What is wrong, or good to know, and what it means. A colon leads to the examples. */
function problemSentences({
  expected,
  actual,
  examples,
}: AdapterProblem): Readonly<Record<ProblemCode, string>> {
  const { l10n } = vscode;
  const [wanted, found] = [expected, actual].map((value) =>
    typeof value === 'number' ? formatCount(value) : (value ?? '?'),
  ) as [string, string];
  return {
    'config-missing': l10n.t('adapter_config.json is missing. Every tool needs it.'),
    'config-too-large': l10n.t('adapter_config.json is too large, so it was not read.'),
    'config-not-json': l10n.t('adapter_config.json is not a valid JSON object.'),
    'config-bom': l10n.t(
      'adapter_config.json starts with a byte order mark, which PEFT can’t read. Save it as UTF-8 without BOM.',
    ),
    'config-wrong-type': l10n.t('Values of the wrong type in adapter_config.json were ignored:'),
    'several-configs': l10n.t('There are several adapter_config.json files. These were not read:'),
    'peft-type-missing': l10n.t('The config has no adapter type (peft_type).'),
    'not-lora': l10n.t('This is a {0} adapter, not LoRA. PEFT may load it; other tools won’t.', found),
    'base-model-missing': l10n.t('The config has no base model. Use exactly the model it was trained on.'),
    'base-model-is-path': l10n.t(
      'The config names the base model by a path on the machine that trained it ({0}). Use your own copy of it.',
      found,
    ),
    'rank-missing': l10n.t('The config has no rank (r).'),
    'alpha-missing': l10n.t('The config has no alpha (lora_alpha), so the scaling is unknown.'),
    'alpha-zero': l10n.t('Alpha is 0, so the adapter has no effect.'),
    'target-modules-missing': l10n.t('The config has no target modules (target_modules).'),
    'module-without-weights': l10n.t('Target modules without weights:'),
    'saved-module-missing': l10n.t('Fully saved modules (modules_to_save) are missing:'),
    'uses-dora': l10n.t('It uses DoRA. PEFT loads that; vLLM and llama.cpp don’t.'),
    'uses-rslora': l10n.t('It uses rsLoRA (alpha ÷ √rank). Tools that don’t support that scale it wrongly.'),
    'base-changed': l10n.t(
      'Training began by changing the base model’s own weights ({0}), so the adapter gives wrong answers with the published base. See the recipes.',
      found,
    ),
    'init-unknown': l10n.t(
      'Unknown init_lora_weights ({0}). If it changes the base model’s weights, the adapter gives wrong answers with the published base.',
      found,
    ),
    'uses-alora': l10n.t('It is an Activated LoRA (aLoRA), which acts only after its invocation tokens.'),
    'repeats-layers': l10n.t(
      'It repeats layers of the base model (layer_replication). Only PEFT loads that.',
    ),
    'bias-mismatch':
      examples.length > 0
        ? l10n.t('The config says there are no biases, but there are:')
        : l10n.t('The config says there are biases, but there are none.'),
    'dora-mismatch': l10n.t('The config implies {0} DoRA magnitudes, but there are {1}.', wanted, found),
    'partner-missing': l10n.t('Modules have an A without a B, or a B without an A, and can’t be loaded:'),
    'pair-mismatch': l10n.t('A and B have different ranks in these modules:'),
    'prefix-missing': l10n.t(
      'PEFT ignores tensors whose names don’t start with “base_model.model.”, so the adapter has no effect:',
    ),
    'widths-differ': l10n.t(
      'A module has different input sizes in different layers ({0} and {1}). PEFT refuses adapters that don’t fit the base model:',
      wanted,
      found,
    ),
    'rank-mismatch': l10n.t('The config says rank {0}, but the weights have rank {1}:', wanted, found),
    'module-not-targeted': l10n.t('Modules have weights but aren’t target modules, so PEFT ignores them:'),
    'layers-differ': l10n.t('Some layers lack modules that others have. That may be intended:'),
    'saved-module-unexpected': l10n.t('Modules are fully saved, but not in modules_to_save:'),
    'tensor-unexpected': l10n.t('Tensors that don’t belong to a LoRA adapter:'),
    'modules-to-save': l10n.t('Modules are fully saved. PEFT loads them; most other tools refuse them:'),
    'embeddings-touched': l10n.t('The embeddings were changed. Use the tokenizer from training.'),
    'lm-head-touched': l10n.t('The output layer (lm_head) is changed. Not every tool loads that.'),
    'dtype-unusual': l10n.t('Few tools load these tensor types:'),
    'dtypes-mixed': l10n.t('There are several tensor types:'),
    'several-weights': l10n.t('There are several weights files. These were not read:'),
    'weights-name': l10n.t(
      'Tools only find weights named adapter_model.safetensors, in a single file. Here:',
    ),
    'pickle-present': l10n.t('Pickle files can run any code when they are loaded, so they were not opened:'),
    'nested-archive': l10n.t('Archives in the archive were not opened:'),
  };
}

function adapterFacts({ file, container, sizeBytes, config, weights }: AdapterReport): AdapterFact[] {
  const { l10n } = vscode;
  const fact = (name: string, value: string | undefined, hasCopy = false): AdapterFact[] =>
    value === undefined || value === '' ? [] : [{ name, value, ...(hasCopy ? { hasCopy } : {}) }];
  const targets = config?.targetModules;
  const dtypes = weights?.dtypes ?? [];
  return [
    ...fact(l10n.t('Base model'), config?.baseModel, true),
    ...fact(l10n.t('Type'), config && typeText(config)),
    ...fact(l10n.t('Rank'), config && rankText(config, weights)),
    ...fact(l10n.t('Alpha'), config?.alpha?.toLocaleString(vscode.env.language)),
    ...fact(l10n.t('Scaling'), config && weights && scalingText(config, weights)),
    ...fact(l10n.t('Target modules'), typeof targets === 'string' ? targets : targets && listText(targets)),
    ...fact(l10n.t('Fully saved modules'), config && listText(config.modulesToSave)),
    ...fact(l10n.t('Dropout'), config?.dropout?.toLocaleString(vscode.env.language)),
    ...fact(
      l10n.t('Adapted modules'),
      weights && `${formatCount(weights.pairs.length)} (${listText(weights.modules)})`,
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
    ...fact(l10n.t('Size'), formatBytes(sizeBytes)),
    ...fact(l10n.t('Format'), container === 'folder' ? l10n.t('folder') : container),
    ...fact(l10n.t('Path'), file, true),
  ];
}

function typeText({ peftType, taskType, useDora, useRslora, isAlora }: AdapterConfig): string {
  const flags = [useRslora && 'rsLoRA', useDora && 'DoRA', isAlora && 'aLoRA', taskType];
  const type = peftType === 'LORA' ? 'LoRA' : (peftType ?? vscode.l10n.t('unknown'));
  return [type, ...flags.filter(Boolean)].join(', ');
}

function rankText({ rank }: AdapterConfig, weights: WeightsReport | undefined): string | undefined {
  const { minRank = 0, maxRank = 0 } = weights ?? {};
  if (maxRank === 0) return rank?.toString();
  const seen = minRank === maxRank ? String(minRank) : vscode.l10n.t('{0} to {1}', minRank, maxRank);
  return rank === undefined || seen === String(rank)
    ? seen
    : vscode.l10n.t('{0} in the weights, {1} in the config', seen, rank);
}

function scalingText({ useRslora }: AdapterConfig, { pairs }: WeightsReport): string | undefined {
  const { l10n } = vscode;
  const scales = pairs.map(({ scale }) => scale).filter((scale) => scale !== undefined);
  if (scales.length === 0) return undefined;
  const least = formatNorm(scales.reduce((a, b) => Math.min(a, b)));
  const most = formatNorm(scales.reduce((a, b) => Math.max(a, b)));
  const formula = useRslora ? l10n.t('alpha ÷ √rank') : l10n.t('alpha ÷ rank');
  return least === most ? `${least} (${formula})` : l10n.t('{0} to {1} ({2})', least, most, formula);
}

function listText(names: readonly string[]): string {
  const shown = names.slice(0, 20).join(', ');
  return names.length <= 20
    ? shown
    : vscode.l10n.t('{0} and {1} more', shown, formatCount(names.length - 20));
}

/** `32: 0 to 31`, or the numbers where there are gaps. */
function layersText(layers: readonly number[]): string | undefined {
  const { l10n } = vscode;
  const [first, last] = [layers[0], layers.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const count = formatCount(layers.length);
  if (layers.length > 1 && last - first + 1 === layers.length)
    return l10n.t('{0}: {1} to {2}', count, first, last);
  const shown = layers.slice(0, MAX_NAMED_LAYERS).join(', ');
  return layers.length > MAX_NAMED_LAYERS
    ? l10n.t('{0}: {1}, …, {2}', count, shown, last)
    : l10n.t('{0}: {1}', count, shown);
}

/** A norm or a scale with three digits. */
export function formatNorm(value: number): string {
  if (value !== 0 && (Math.abs(value) < 0.001 || Math.abs(value) >= 1e6)) return value.toExponential(2);
  return value.toLocaleString(vscode.env.language, { maximumSignificantDigits: 3 });
}

/** The files of an archive or a folder. */
function adapterFiles({ container, entries, entryCount }: AdapterReport): AdapterFiles | undefined {
  const { l10n } = vscode;
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
    sizeHeader: l10n.t('Size'),
    rows: entries.map(({ name, sizeBytes, kind }) => ({
      name,
      size: formatBytes(sizeBytes),
      note: notes[kind],
    })),
    more: rest > 0 ? l10n.t('and {0} more', formatCount(rest)) : undefined,
  };
}
