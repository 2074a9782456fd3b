import * as vscode from 'vscode';
import type { AdapterNote } from './protocol.ts';
import type { AdapterProblem } from '../../core/adapters/report.ts';
import { formatCount } from '../shared/format.ts';

/** A problem as a note of the page. */
export function problemNote(problem: AdapterProblem): AdapterNote {
  const { severity, count } = problem;
  const examples = problem.examples.map((name) =>
    problem.code === 'layers-differ' ? layerAndModule(name) : name,
  );
  return {
    severity,
    text: problemSentence(problem),
    examples,
    more: moreNames(count - examples.length, examples),
  };
}

function layerAndModule(name: string): string {
  const [layer, ...module] = name.split(' ');
  return vscode.l10n.t('layer {0}: {1}', layer ?? '', module.join(' '));
}

/** "and 12 more", below names of which only the first are shown. */
export function moreNames(rest: number, examples: readonly string[]): string | undefined {
  return rest > 0 && examples.length > 0 ? vscode.l10n.t('and {0} more', formatCount(rest)) : undefined;
}

/** What is wrong, or to know, and what it means. */
function problemSentence(problem: AdapterProblem): string {
  return configSentence(problem) ?? weightsSentence(problem) ?? otherSentence(problem);
}

/** What `adapter_config.json` says, or does not. */
function configSentence({ code, actual, examples }: AdapterProblem): string | undefined {
  const { l10n } = vscode;
  switch (code) {
    case 'config-missing':
      return l10n.t(
        'There is no adapter_config.json. Every tool needs it: ask whoever made the adapter for it.',
      );
    case 'config-too-large':
      return l10n.t('adapter_config.json is too large to be one, so it was not read.');
    case 'config-not-json':
      return l10n.t('adapter_config.json cannot be read as JSON.');
    case 'config-bom':
      return l10n.t(
        'adapter_config.json begins with a byte order mark (BOM), and PEFT can’t read it. Save it as UTF-8 without BOM.',
      );
    case 'config-wrong-type':
      return l10n.t('Values of adapter_config.json are of a wrong type and were left out:');
    case 'several-configs':
      return l10n.t(
        'There is more than one adapter_config.json. Only that beside the weights was read, not:',
      );
    case 'peft-type-missing':
      return l10n.t('The config does not say what kind of adapter this is (peft_type).');
    case 'not-lora':
      return l10n.t(
        'This is an adapter of the kind {0}, not a LoRA adapter. PEFT may load it; other tools will not.',
        String(actual ?? '?'),
      );
    case 'base-model-missing':
      return l10n.t(
        'The config does not name the base model. The adapter fits only the model that it was trained on.',
      );
    case 'base-model-is-path':
      return l10n.t(
        'The config names the base model by a path of the machine that trained ({0}). Use the same model from where you have it.',
        String(actual ?? ''),
      );
    case 'rank-missing':
      return l10n.t('The config does not tell the rank (r).');
    case 'alpha-missing':
      return l10n.t('The config does not tell the alpha (lora_alpha), so the scaling is not known.');
    case 'alpha-zero':
      return l10n.t('The alpha is 0: the adapter has no effect.');
    case 'target-modules-missing':
      return l10n.t('The config does not name the modules that are adapted (target_modules).');
    case 'module-without-weights':
      return l10n.t('The config names modules that have no weights here:');
    case 'saved-module-missing':
      return l10n.t(
        'The config says that these modules are stored whole (modules_to_save), but they are not here:',
      );
    case 'uses-dora':
      return l10n.t('The adapter uses DoRA. PEFT loads it; vLLM and llama.cpp may not.');
    case 'uses-rslora':
      return l10n.t(
        'The adapter uses rsLoRA: its scaling is alpha divided by the square root of the rank. A tool that does not know this scales it wrongly.',
      );
    case 'base-changed':
      return l10n.t(
        'Training began by changing the base’s own weights ({0}, by init_lora_weights). On the base as it is published the adapter answers wrongly; each recipe says what its tool does about that.',
        String(actual ?? '?'),
      );
    case 'init-unknown':
      return l10n.t(
        'The config names a way to begin the training that is not known here ({0}, by init_lora_weights).',
        String(actual ?? '?'),
      );
    case 'uses-alora':
      return l10n.t(
        'This is an Activated LoRA (aLoRA): it acts only from its invocation tokens on. Not every tool heeds that.',
      );
    case 'repeats-layers':
      return l10n.t('The adapter repeats layers of the base (layer_replication). Only PEFT loads that.');
    case 'bias-mismatch':
      return examples.length > 0
        ? l10n.t('The config says that no biases are stored, but there are some:')
        : l10n.t('The config says that biases are stored, but there are none.');
    case 'dora-mismatch':
      return examples.length > 0
        ? l10n.t('DoRA’s magnitudes are not where the config says:')
        : l10n.t('DoRA’s magnitudes and the config do not agree.');
    default:
      return undefined;
  }
}

/** What the tensors are like. */
function weightsSentence({ code, count, expected, actual }: AdapterProblem): string | undefined {
  const { l10n } = vscode;
  const number = formatCount(count);
  switch (code) {
    case 'partner-missing':
      return count === 1
        ? l10n.t('One module has an A without a B, or a B without an A, and cannot be loaded:')
        : l10n.t('{0} modules have an A without a B, or a B without an A, and cannot be loaded:', number);
    case 'pair-mismatch':
      return count === 1
        ? l10n.t('In one module A and B do not fit each other: their ranks differ.')
        : l10n.t('In {0} modules A and B do not fit each other: their ranks differ.', number);
    case 'prefix-missing':
      return l10n.t(
        'PEFT ignores these tensors because their names don’t start with “base_model.model.”, so the adapter has no effect:',
      );
    case 'widths-differ':
      return l10n.t(
        'The inputs of a module aren’t the same size in each layer ({0} and {1}). PEFT refuses an adapter that doesn’t fit its base model:',
        formatCount(Number(expected ?? 0)),
        formatCount(Number(actual ?? 0)),
      );
    case 'rank-mismatch':
      return l10n.t(
        'The config says rank {0}, but the weights have rank {1}:',
        String(expected ?? '?'),
        String(actual ?? '?'),
      );
    case 'module-not-targeted':
      return l10n.t(
        'Modules have weights, though the config does not name them. PEFT leaves such weights out:',
      );
    case 'layers-differ':
      return l10n.t('Some layers lack modules that others have. That can be meant so:');
    case 'saved-module-unexpected':
      return l10n.t('Modules are stored whole, though the config does not say so (modules_to_save):');
    case 'tensor-unexpected':
      return count === 1
        ? l10n.t('One tensor is none of a LoRA adapter:')
        : l10n.t('{0} tensors are none of a LoRA adapter:', number);
    case 'modules-to-save':
      return l10n.t(
        'Whole modules are stored beside the adapter (modules_to_save). PEFT loads them; most other tools refuse such an adapter:',
      );
    case 'embeddings-touched':
      return l10n.t(
        'The embeddings are changed. The tokenizer must be the one of the training, with the same tokens.',
      );
    case 'lm-head-touched':
      return l10n.t('The output layer (lm_head) is changed. Not every tool loads that.');
    case 'dtype-unusual':
      return l10n.t('Tensors are of a type that few tools load:');
    case 'dtypes-mixed':
      return l10n.t('The tensors are of more than one type:');
    default:
      return undefined;
  }
}

/** What else is in the archive. */
function otherSentence({ code, count }: AdapterProblem): string {
  const { l10n } = vscode;
  switch (code) {
    case 'several-weights':
      return l10n.t('There is more than one file with weights. These were not read:');
    case 'weights-name':
      return count === 1
        ? l10n.t(
            'Tools look for a file called adapter_model.safetensors, and do not find this one until it has that name:',
          )
        : l10n.t('Tools look for one adapter_model.safetensors, and the weights are in several files:');
    case 'pickle-present':
      return l10n.t(
        'There are pickle files. Loading one can run any code, so they were not opened; the safetensors file beside them is enough:',
      );
    case 'nested-archive':
      return l10n.t('There are archives in the archive. They were not opened:');
    default:
      return l10n.t('Something about this adapter is unusual ({0}).', code);
  }
}
