import { l10n } from 'vscode';
import type { AdapterProblem, AdapterReport, Measurements } from '../../core/adapters/report.ts';
import { compact, formatCount } from '../shared/format.ts';
import type { AdapterNote, AdapterVerdict } from './protocol.ts';

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
    return error(
      l10n.t('Adapter with invalid values'),
      l10n.t('Some values are NaN or infinite.'),
      l10n.t('Check the dataset before a new run.'),
    );
  if (problems.some(({ code }) => code === 'weights-empty'))
    return error(
      l10n.t('Empty adapter'),
      l10n.t('Its weights are empty because training saved nothing.'),
      l10n.t('Look for an earlier checkpoint, and find the cause before you train again.'),
    );
  const other = problems.find(({ code }) => code === 'not-lora');
  const otherType = other && problemSentences(other)['not-lora'];
  const canRename =
    report.renames !== undefined &&
    problems.every((one) => one.severity !== 'error' || one.code === 'names-wrapped');
  if (has('error'))
    return error(
      l10n.t('Adapter with problems'),
      l10n.t('Tools reject it or load it incorrectly.'),
      otherType ?? (canRename ? l10n.t('Nothing is lost. Rename the tensors as shown below.') : undefined),
    );
  if (otherType !== undefined) return warning(l10n.t('Not a LoRA adapter'), otherType);
  if (report.isFromSandbox === true)
    return warning(
      l10n.t('Sandbox: nothing was trained'),
      l10n.t('It has the form of a LoRA adapter but does nothing.'),
    );
  if (measurements?.hasNoEffect === true)
    return warning(l10n.t('Complete LoRA adapter that learned nothing'), l10n.t('It has no effect.'));
  if (has('warning'))
    return warning(l10n.t('LoRA adapter with warnings'), l10n.t('It may not load everywhere.'));
  const fits = config?.baseModel && l10n.t('It fits only the model it was trained on.');
  if (problems.some(({ code }) => code === 'target-without-weights' || code === 'layer-without-weights'))
    return clean(l10n.t('LoRA adapter'), fits);
  return clean(l10n.t('Complete LoRA adapter'), l10n.t('The weights match the config.'), fits);
}

const verdictAs =
  (kind: AdapterVerdict['kind']) =>
  (title: string, ...sentences: (string | undefined)[]): AdapterVerdict => ({
    kind,
    title,
    sentences: compact(...sentences),
  });
const error = verdictAs('error');
const warning = verdictAs('warning');
const clean = verdictAs('clean');

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
      l10n.t('An adapter needs adapter_config.json and adapter_model.safetensors.'),
    ],
    'other-format': [
      l10n.t('{0} adapter', type ?? ''),
      l10n.t('PEFT, vLLM and llama.cpp can’t read it.'),
      type === 'MLX'
        ? l10n.t('Use it with mlx_lm, or fuse it with the base model. To use PEFT, train it again.')
        : l10n.t('Use it with {0}, or export it from {0} in PEFT format.', type ?? ''),
    ],
    'full-model': [l10n.t('A full model, not an adapter'), l10n.t('It doesn’t need a base model.')],
    'pickle-only': [
      l10n.t('Only pickle weights'),
      l10n.t('Pickle files can run code and weren’t opened. Ask for safetensors.'),
    ],
    'too-big': [l10n.t('Too large to inspect'), ...detail],
    unreadable: [l10n.t('Can’t be read'), l10n.t('Check its permissions and the disk.')],
  };
  const isWarning = code === 'full-model' || code === 'pickle-only';
  return (isWarning ? warning : error)(...texts[code]);
}

/** Describes an archive's fault by its code; undefined for other codes. */
export function knownFault(code: string): string | undefined {
  return Object.entries(FAULTS).find(([fault]) => fault === code)?.[1];
}

const UNSAFE = l10n.t('It contains unsafe paths, names or links.');
const MISMATCH = l10n.t('Its contents don’t match its headers or checksums.');
const FAULTS: Readonly<Record<NonNullable<AdapterReport['verdict']['fault']>, string>> = {
  truncated: l10n.t('It is truncated.'),
  zip: MISMATCH,
  gzip: MISMATCH,
  tar: MISMATCH,
  safetensors: MISMATCH,
  checksum: MISMATCH,
  length: MISMATCH,
  'data-after-end': l10n.t('There is data after the end of the archive.'),
  path: UNSAFE,
  name: UNSAFE,
  link: UNSAFE,
  duplicate: l10n.t('Two of its files have the same name.'),
  bomb: l10n.t('It may be a zip bomb.'),
  encrypted: l10n.t('It’s encrypted.'),
  method: l10n.t('Its format is unsupported.'),
  dtype: l10n.t('A tensor has an unknown type.'),
  'too-large': l10n.t('It is too large to be an adapter.'),
  'header-too-large': l10n.t('Its headers are too large.'),
};

/** Words for writers of names that aren't products. */
const WRITERS: Readonly<Record<string, string>> = {
  checkpointing: l10n.t('activation checkpointing'),
  wrapper: l10n.t('a wrapper'),
  'no-prefix': l10n.t('a program that leaves out “base_model.model.”'),
  'state-dict': l10n.t('a saved state_dict'),
};

/** Returns a problem as a note for the page. */
export function problemNote(problem: AdapterProblem): AdapterNote {
  const { code, severity, count } = problem;
  const text = problemSentences(problem)[code];
  const examples = text.endsWith(':') ? problem.examples : [];
  const rest = count - examples.length;
  return { severity, text, examples, more: examples.length > 0 ? moreText(rest) : undefined };
}

export function moreText(rest: number): string | undefined {
  return rest > 0 ? l10n.t('and {0} more', formatCount(rest)) : undefined;
}

/** Sentences for all codes. A colon at the end introduces the examples. */
export function problemSentences({
  expected,
  actual,
  count,
  severity,
  examples,
  layer = 0,
  module = '',
}: AdapterProblem): Readonly<Record<AdapterProblem['code'], string>> {
  const [wanted, found] = [expected, actual].map((value) =>
    typeof value === 'number' ? formatCount(value) : (value ?? '?'),
  ) as [string, string];
  const missing = (field: string) => l10n.t('The config has no {0}.', field);
  return {
    'config-missing': l10n.t('adapter_config.json is missing. Add the one from training.'),
    'config-too-large': l10n.t('adapter_config.json is too large to read.'),
    'config-not-json': l10n.t('adapter_config.json isn’t a valid JSON object.'),
    'config-bom': l10n.t('Remove the byte order mark from adapter_config.json; PEFT can’t read it.'),
    'config-wrong-type': l10n.t('Config values of the wrong type were ignored:'),
    'peft-type-missing': missing('peft_type'),
    'peft-type-case': l10n.t('PEFT accepts only the type LORA, in capitals. The config says {0}.', found),
    'not-lora': l10n.t('Only PEFT loads adapters of this type ({0}).', found),
    'base-model-missing': missing('base_model_name_or_path'),
    'base-model-is-path': l10n.t('The base model is a path ({0}). Use your own copy.', found),
    'rank-missing': missing('r'),
    'alpha-missing': missing('lora_alpha'),
    'target-modules-missing': missing('target_modules'),
    'width-differs':
      count === 1
        ? l10n.t(
            'Layer {0}’s {1} differs in width from other layers; it loads only if the base model’s width matches.',
            layer,
            module,
          )
        : l10n.t(
            'Modules that differ in width from other layers; they load only if the base model’s widths match:',
          ),
    'layer-without-weights':
      count === 1
        ? l10n.t('Layer {0}’s {1} has no weights.', layer, module)
        : l10n.t('Modules that have weights in other layers but not in these:'),
    'target-without-weights':
      count === 1
        ? l10n.t('{0} is in the config, but has no weights.', examples[0] ?? '')
        : l10n.t('Modules in the config that have no weights:'),
    'embeddings-resized': l10n.t(
      'The embeddings were resized. Resize the base model to {0} tokens before loading.',
      found,
    ),
    'embeddings-saved': l10n.t(
      'Its embeddings have {0} tokens. If the base model has a different number, resize it first.',
      found,
    ),
    'saved-module-missing': l10n.t('Fully saved modules are missing:'),
    'base-replaced':
      count === 1
        ? l10n.t('It replaces the base model’s {0}.', examples[0] ?? '')
        : l10n.t('It replaces modules of the base model:'),
    'base-changed': l10n.t('Training changed the base model’s weights ({0}). See “How to Use It”.', found),
    'base-unloadable': l10n.t('PEFT can’t load this base model. Use its 16-bit original.'),
    'base-vision':
      severity === 'info'
        ? l10n.t('The base model is a vision model. Load it as one, or the adapter may do nothing.')
        : l10n.t(
            'The base model is a vision model, but the modules are named as in a text model, so the adapter may do nothing.',
          ),
    'base-quantized':
      expected === undefined
        ? l10n.t('The base model is quantized ({0}). Merge only into its 16-bit original.', found)
        : l10n.t(
            'The base model is quantized ({0}). Merge only into {1}, its 16-bit original.',
            found,
            wanted,
          ),
    'dora-mismatch': l10n.t('{0} DoRA magnitudes expected, {1} found.', wanted, found),
    'magnitude-mismatch': l10n.t('DoRA magnitudes that differ in length from B:'),
    'lora-bias-ignored': l10n.t('PEFT ignores LoRA biases unless the config sets lora_bias.'),
    'partner-missing': l10n.t('Modules where A or B is missing:'),
    'pair-mismatch': l10n.t('A and B have different ranks:'),
    'names-wrapped': l10n.t(
      'Tools ignore these tensor names, which come from {0}:',
      wanted
        .split(', ')
        .map((writer) => WRITERS[writer] ?? writer)
        .join(', '),
    ),
    'module-refused': l10n.t('No tool loads these modules. Train again without them:'),
    'weights-empty':
      examples.length === 0 ? l10n.t('The weights file has no tensors.') : l10n.t('Tensors without values:'),
    'rank-mismatch': l10n.t('The config says rank {0}, but the weights have {1}:', wanted, found),
    'module-not-targeted': l10n.t('PEFT ignores modules that aren’t target modules:'),
    'tensor-unexpected': l10n.t('Tensors that aren’t part of LoRA:'),
    'extra-bytes': l10n.t('There are extra bytes before or after the archive.'),
    'several-weights': l10n.t('Other weights weren’t read:'),
    'weights-name': l10n.t('Tools find only weights named adapter_model.safetensors. Rename the file:'),
    'pickle-present': l10n.t('Pickle files can run code and weren’t opened:'),
  };
}
