import * as vscode from 'vscode';
import type {
  BlockPurpose,
  Recipe,
  RecipeBlock,
  RecipeNote,
  Tool,
} from '../../core/adapters/recipe/recipes.ts';
import type { AdapterFact, AdapterNote, AdapterTool } from './protocol.ts';

/** Product names are the same in every language. */
const TOOLS: Readonly<Record<Tool, string>> = {
  peft: 'PEFT / Transformers',
  vllm: 'vLLM',
  llamacpp: 'llama.cpp',
  ollama: 'Ollama',
};

/** A recipe with its sentences. @param baseModel as the config names it */
export function adapterTool(recipe: Recipe, baseModel: string | undefined): AdapterTool {
  const { tool, refusal, blocks, warnings, notes } = recipe;
  const name = TOOLS[tool];
  const sentences = noteSentences(name, baseModel);
  const noteOf = (severity: AdapterNote['severity']) => (note: RecipeNote) => ({
    severity,
    text: sentences[note],
  });
  // A refused command helps nobody; one that lacks a file does, once that exists.
  const isUseful = refusal === undefined || refusal === 'config-missing';
  return {
    tool,
    name,
    warnings: [
      ...(refusal === undefined ? [] : [noteOf('error')(refusal)]),
      ...(isUseful ? warnings.map(noteOf('warning')) : []),
    ],
    blocks: isUseful ? blocks.map((block) => blockOf(block, blocks)) : [],
    notes: isUseful ? notes.map(noteOf('info')) : [],
  };
}

export function recipesTitle(): string {
  return vscode.l10n.t('How to Use It');
}

/** Shown above the recipes while the archive is packed. */
export function packedText(folder: string): { text: string; unpack: string; elsewhere: string } {
  const { l10n } = vscode;
  return {
    text: l10n.t('These tools need an unpacked folder. Unpack to {0}?', folder),
    unpack: l10n.t('Unpack'),
    elsewhere: l10n.t('Unpack Elsewhere…'),
  };
}

/** The folder that the recipes use. */
export function folderFact(folder: string): AdapterFact {
  return { name: vscode.l10n.t('Adapter folder'), value: folder, hasCopy: true };
}

function blockOf(block: RecipeBlock, all: readonly RecipeBlock[]): AdapterTool['blocks'][number] {
  const { l10n } = vscode;
  const { purpose, language, text, placeholders } = block;
  const title = purposeTitles()[purpose];
  const isAlternative = all.some((other) => other !== block && other.purpose === purpose);
  return {
    title: isAlternative ? `${title} (${language === 'powershell' ? 'PowerShell' : language})` : title,
    text,
    hint:
      placeholders.length === 0
        ? undefined
        : l10n.t('Replace before you run it: {0}', placeholders.join(', ')),
  };
}

function purposeTitles(): Readonly<Record<BlockPurpose, string>> {
  const { l10n } = vscode;
  return {
    install: l10n.t('Install'),
    load: l10n.t('Load and run'),
    merge: l10n.t('Then, for tools that need one model: merge it into the base'),
    'merge-first': l10n.t('Merge the adapter into its base model'),
    serve: l10n.t('Serve'),
    request: l10n.t('Send a request'),
    convert: l10n.t('Convert to GGUF'),
    run: l10n.t('Run'),
    modelfile: l10n.t('A file named Modelfile, in the folder of the merged model'),
    create: l10n.t('Create the model'),
  };
}

/** What stops people, and how to avoid it. */
function noteSentences(tool: string, baseModel = ''): Readonly<Record<RecipeNote, string>> {
  const { l10n } = vscode;
  return {
    'not-lora': l10n.t('{0} does not load this type of adapter.', tool),
    'config-missing': l10n.t('{0} reads adapter_config.json, which is missing.', tool),
    'other-task': l10n.t('{0} can’t load it: its task (task_type) is not CAUSAL_LM. Use PEFT.', tool),
    'task-assumed': l10n.t(
      'The config has no known task (task_type). The commands assume text generation (CAUSAL_LM).',
    ),
    'layers-repeated': l10n.t('{0} can’t load it: it repeats layers (layer_replication). Use PEFT.', tool),
    alora: l10n.t(
      'This is an Activated LoRA (aLoRA): it acts only after its invocation tokens, and only in tools that support that. It can’t be merged.',
    ),
    'base-change-lost': l10n.t(
      'Training changed the base model’s weights in a way that can’t be repeated from these files. Ask its author to save it with PEFT’s path_initial_model_for_weight_conversion.',
    ),
    'base-changed': l10n.t(
      'Training began by changing the base model’s weights. {0} loads the published base. Merge the adapter with PEFT first, which repeats the change.',
      tool,
    ),
    'base-repeated': l10n.t(
      'Training began by changing the base model’s weights. PEFT repeats that when it loads the adapter: use the original base, not a quantized one, and don’t edit init_lora_weights.',
    ),
    'saved-modules': l10n.t(
      '{0} can’t load fully saved modules (modules_to_save). Merge it with PEFT first.',
      tool,
    ),
    dora: l10n.t('{0} can’t load DoRA. Merge it with PEFT first.', tool),
    bias: l10n.t('{0} can’t load biases. Merge it with PEFT first.', tool),
    'fan-in-fan-out': l10n.t(
      'The base model stores its weights transposed (fan_in_fan_out), which the converter can’t handle. Merge it with PEFT first.',
    ),
    'rank-too-large': l10n.t('The rank is larger than {0} supports. Merge it with PEFT first.', tool),
    'scale-varies': l10n.t(
      '{0} scales all modules alike, but this adapter doesn’t (alpha_pattern or rsLoRA). Merge it with PEFT first.',
      tool,
    ),
    'scale-corrected': l10n.t(
      'Keep --lora-scaled: it corrects the scale, as {0} ignores rsLoRA and alpha_pattern.',
      tool,
    ),
    'needs-wsl': l10n.t('vLLM runs on Linux. On Windows, run it in WSL, where this folder is below /mnt.'),
    'model-name': l10n.t(
      'Set “model” to the adapter’s name in each request. Otherwise the base model answers.',
    ),
    'merged-first': l10n.t(
      'Ollama loads merged models. Merging needs memory for the base model and disk space for two copies of it.',
    ),
    'own-environment': l10n.t(
      'Use a separate Python environment: the converter may replace other versions of torch.',
    ),
    'base-unknown':
      baseModel === ''
        ? l10n.t('The config has no base model. Replace BASE_MODEL with the one you chose for the run.')
        : l10n.t(
            '“{0}” is not a Hugging Face repository. Replace BASE_MODEL with the repository of that model.',
            baseModel,
          ),
    'same-base': l10n.t(
      'Use exactly the base model it was trained on; other models may load it but give wrong answers.',
    ),
    'base-gated': l10n.t('If the base model is gated, accept its terms and set an access token first.'),
    'chat-template': l10n.t('Use the same roles and chat template as in training.'),
    'ollama-template': l10n.t(
      'If the answers look wrong, set TEMPLATE in the Modelfile to the chat template of the base model.',
    ),
    architecture: l10n.t('The converter and {0} must support the base model’s architecture.', tool),
  };
}
