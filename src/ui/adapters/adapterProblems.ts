import { l10n } from 'vscode';
import type { AdapterProblem } from '../../core/adapters/report.ts';
import { formatCount } from '../shared/format.ts';
import type { AdapterNote } from './protocol.ts';

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
    'base-unloadable': l10n.t('PEFT can’t load this base model. Use its 16-bit original.'),
    'base-vision':
      severity === 'info'
        ? l10n.t('The base model is a vision model: load it as one, or the adapter can have no effect.')
        : l10n.t(
            'The base model is a vision model, but the modules have the names of a text model: the adapter can have no effect.',
          ),
    'base-quantized':
      expected === undefined
        ? l10n.t('The base model is quantized ({0}). Merge only into its 16-bit original.', found)
        : l10n.t('The base model is quantized ({0}). Merge only into {1}.', found, wanted),
    'dora-mismatch': l10n.t('{0} DoRA magnitudes expected, {1} found.', wanted, found),
    'magnitude-mismatch': l10n.t('DoRA magnitudes of another length than B:'),
    'lora-bias-ignored': l10n.t('PEFT ignores the biases of LoRA unless the config sets lora_bias.'),
    'partner-missing': l10n.t('Modules where A or B is missing:'),
    'pair-mismatch': l10n.t('A and B have different ranks:'),
    'names-wrapped': l10n.t('Tools ignore tensors with names from {0}. Rename them:', wanted),
    'module-refused': l10n.t('No tool loads these modules:'),
    'weights-empty':
      examples.length === 0
        ? l10n.t('The file of weights has no tensors.')
        : l10n.t('Tensors without values:'),
    'rank-mismatch': l10n.t('The config says rank {0}, the weights have {1}:', wanted, found),
    'module-not-targeted': l10n.t('PEFT ignores modules that aren’t target modules:'),
    'tensor-unexpected': l10n.t('Tensors that aren’t part of LoRA:'),
    'extra-bytes': l10n.t('There are other bytes before or after the archive.'),
    'several-weights': l10n.t('Other weights were not read:'),
    'weights-name': l10n.t('Tools only find weights named adapter_model.safetensors:'),
    'pickle-present': l10n.t('Pickle files can run code and were not opened:'),
  };
}
