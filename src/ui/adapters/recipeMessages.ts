import * as vscode from 'vscode';
import type {
  BlockPurpose,
  Recipe,
  RecipeBlock,
  RecipeNote,
  Recipes,
  Refusal,
  Tool,
} from '../../core/adapters/recipes.ts';
import type { UnpackedPlace } from './adapterPlace.ts';
import type { AdapterNote, AdapterRecipes, AdapterTool } from './protocol.ts';

/** Product names are the same in every language. */
const TOOLS: Readonly<Record<Tool, string>> = {
  peft: 'PEFT / Transformers',
  vllm: 'vLLM',
  llamacpp: 'llama.cpp',
  ollama: 'Ollama',
};

/**
 * The recipes of an adapter.
 * @param baseModel as the config names it
 * @param folder the one that the recipes use
 * @param place where the archive is, or would be, unpacked; undefined where it is none
 */
export function adapterRecipes(
  recipes: Recipes,
  baseModel: string | undefined,
  folder: string,
  place: UnpackedPlace | undefined,
): AdapterRecipes {
  const { l10n } = vscode;
  const isPacked = place?.exists === false;
  return {
    title: l10n.t('How to Use It'),
    packed: isPacked
      ? {
          text: l10n.t('These tools need an unpacked folder. Unpack to {0}?', place.folder),
          unpack: l10n.t('Unpack'),
          elsewhere: l10n.t('Unpack Elsewhere…'),
        }
      : undefined,
    folder: isPacked ? undefined : { name: l10n.t('Adapter folder'), value: folder, hasCopy: true },
    notes: recipes.notes.map((note) => ({ severity: 'info', text: noteSentences(baseModel)[note] })),
    tools: recipes.tools.map((recipe) => adapterTool(recipe, baseModel)),
  };
}

/** @param baseModel as the config names it */
export function adapterTool(recipe: Recipe, baseModel: string | undefined): AdapterTool {
  const { tool, refusal, blocks, warnings, notes } = recipe;
  const name = TOOLS[tool];
  const sentences = noteSentences(baseModel);
  const noteOf = (severity: AdapterNote['severity']) => (note: RecipeNote) => ({
    severity,
    text: sentences[note],
  });
  if (refusal !== undefined) {
    const warning = { severity: 'error', text: refusalText(name, refusal) } as const;
    return { tool, name, warnings: [warning], blocks: [], notes: [] };
  }
  return {
    tool,
    name,
    warnings: warnings.map(noteOf('warning')),
    blocks: blocks.map((block) => blockOf(block, blocks)),
    notes: notes.map(noteOf('info')),
  };
}

function refusalText(tool: string, { key, canMerge }: Refusal): string {
  const { l10n } = vscode;
  return canMerge
    ? l10n.t('{0} can’t load this adapter ({1}). Merge it with PEFT first.', tool, key)
    : l10n.t('{0} can’t load this adapter ({1}).', tool, key);
}

function blockOf(block: RecipeBlock, all: readonly RecipeBlock[]): AdapterTool['blocks'][number] {
  const { l10n } = vscode;
  const { purpose, language, text, placeholders } = block;
  const title = purposeTitles()[purpose];
  const isAlternative = all.some((other) => other !== block && other.purpose === purpose);
  return {
    title: isAlternative ? `${title} (${language === 'powershell' ? 'PowerShell' : language})` : title,
    text,
    hint: placeholders.length === 0 ? undefined : l10n.t('Replace first: {0}', placeholders.join(', ')),
  };
}

function purposeTitles(): Readonly<Record<BlockPurpose, string>> {
  const { l10n } = vscode;
  return {
    install: l10n.t('Install'),
    load: l10n.t('Load'),
    'load-and-run': l10n.t('Load and run'),
    merge: l10n.t('Merge into the base model'),
    serve: l10n.t('Serve'),
    request: l10n.t('Send a request'),
    convert: l10n.t('Convert to GGUF'),
    run: l10n.t('Run'),
    modelfile: l10n.t('Modelfile, in the merged folder'),
    create: l10n.t('Create the model'),
  };
}

/** What stops people, and how to avoid it. */
function noteSentences(baseModel = ''): Readonly<Record<RecipeNote, string>> {
  const { l10n } = vscode;
  return {
    'config-missing': l10n.t('adapter_config.json is missing.'),
    'task-assumed': l10n.t('The config has no known task_type: text generation is assumed.'),
    alora: l10n.t('It acts only after its invocation tokens (aLoRA).'),
    'base-repeated': l10n.t('Use the original base model, not a quantized one.'),
    'scale-corrected': l10n.t('Keep --lora-scaled, or the scale is wrong.'),
    'needs-wsl': l10n.t('vLLM runs on Linux: use WSL.'),
    'model-name': l10n.t('Set “model” to the adapter’s name, or the base model answers.'),
    'merged-first': l10n.t('Merging needs memory for the base model and disk space for two copies.'),
    'base-unknown':
      baseModel === ''
        ? l10n.t('Replace BASE_MODEL with the run’s model.')
        : l10n.t('“{0}” is not a Hugging Face repository. Replace BASE_MODEL.', baseModel),
    'same-base': l10n.t('Use exactly the base model it was trained on, or its answers are wrong.'),
    'same-template': l10n.t('Use the chat template from training.'),
    'same-tokenizer': l10n.t('Use the tokenizer from training.'),
    'ollama-template': l10n.t('If answers look wrong, set the base model’s chat TEMPLATE.'),
  };
}
