import { l10n } from 'vscode';
import type {
  BlockPurpose,
  Recipe,
  RecipeBlock,
  RecipeNote,
  Recipes,
  Tool,
} from '../../core/adapters/recipes.ts';
import { isVisible } from '../../core/base/plainText.ts';
import { compact, formatCount } from '../shared/format.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import type { UnpackedFolder } from './adapterPlace.ts';
import type {
  AdapterBlock,
  AdapterNote,
  AdapterPublishing,
  AdapterRecipes,
  AdapterTool,
} from './protocol.ts';

/** File systems have no longer names. */
const MAX_NAME_UNITS = 255;
/** Longer code is folded. */
const MAX_LINES = 12;

/** Product names, which are not translated. */
const TOOLS: Readonly<Record<Tool, string>> = {
  peft: 'PEFT / Transformers',
  vllm: 'vLLM',
  llamacpp: 'llama.cpp',
  ollama: 'Ollama',
};

/**
 * The recipes of an adapter.
 * @param baseModel the base model's name in the config
 * @param folder the folder used by the recipes
 * @param place where the archive is, or would be, unpacked; undefined for other adapters
 * @param file the archive or folder that is shown
 */
export function adapterRecipes(
  recipes: Recipes,
  baseModel: string | undefined,
  folder: string,
  place: UnpackedFolder | undefined,
  file: string,
): AdapterRecipes {
  const isPacked = place?.exists === false;
  const isMending = recipes.mend.length > 0;
  const isFusing = recipes.mend.some(({ purpose }) => purpose === 'fuse');
  const text = isFusing
    ? l10n.t('Writes the fused model to a new folder.')
    : l10n.t('Creates a new folder. Inspect that one next.');
  const mending: AdapterTool = {
    tool: 'mend',
    name: isFusing ? 'MLX' : 'Python',
    warnings: [],
    blocks: recipes.mend.map(blockOf),
    notes: [{ severity: 'info', text }],
  };
  return {
    title: isMending && !isFusing ? l10n.t('How to Fix It') : l10n.t('How to Use It'),
    packed: isPacked
      ? {
          text: l10n.t('These tools need an unpacked folder. Unpack to {0}?', place.folder),
          unpack: l10n.t('Unpack'),
          elsewhere: l10n.t('Unpack Elsewhere…'),
        }
      : undefined,
    // The facts have the path.
    folder:
      isPacked || folder === file
        ? undefined
        : { name: l10n.t('Adapter folder'), value: folder, hasCopy: isVisible(folder) },
    notes: recipes.notes.map((note) => ({ severity: 'info', text: noteSentences('', baseModel)[note] })),
    tools: isMending
      ? [mending]
      : recipes.tools.map((recipe) => adapterTool(recipe, baseModel, recipes.answers)),
  };
}

/** How to publish the adapter. */
export function adapterPublishing({ hub }: Recipes): AdapterPublishing {
  return {
    title: l10n.t('Publish to the Hugging Face Hub'),
    notes: [
      {
        severity: 'info',
        text: l10n.t(
          'This makes the adapter available to others if the repository is public. Check the license of the base model.',
        ),
      },
    ],
    blocks: hub.map(blockOf),
  };
}

/** @param baseModel the base model's name in the config @param answers the name of the file of answers */
export function adapterTool(recipe: Recipe, baseModel: string | undefined, answers: string): AdapterTool {
  const { tool, refusal, blocks, warnings, notes } = recipe;
  const name = TOOLS[tool];
  const sentences = noteSentences(name, baseModel, answers);
  const noteOf = (severity: AdapterNote['severity']) => (note: RecipeNote) => ({
    severity,
    text: sentences[note],
  });
  // Hide commands that can't work.
  const isUseful = refusal === undefined;
  return {
    tool,
    name,
    warnings: compact(
      refusal && noteOf('error')(refusal),
      ...(isUseful ? warnings.map(noteOf('warning')) : []),
    ),
    blocks: isUseful ? blocks.map(blockOf) : [],
    notes: isUseful ? notes.map(noteOf('info')) : [],
  };
}

function blockOf({ purpose, shell, text, placeholders }: RecipeBlock): AdapterBlock {
  const title = PURPOSES[purpose];
  const lines = text.split('\n').length;
  return {
    purpose,
    title: shell === undefined ? title : `${title} (${shell})`,
    text,
    fold: lines > MAX_LINES ? l10n.t('Code ({0} lines)', formatCount(lines)) : undefined,
    hint:
      placeholders.length === 0 ? undefined : l10n.t('Replace before running: {0}', placeholders.join(', ')),
  };
}

const PURPOSES: Readonly<Record<BlockPurpose, string>> = {
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
  compare: l10n.t('Compare with the base model'),
  rename: l10n.t('Rename the tensors'),
  fuse: l10n.t('Fuse with the base model'),
  'hub-login': l10n.t('Log in'),
  'hub-upload': l10n.t('Upload'),
};

/** Common obstacles and how to avoid them. */
export function noteSentences(
  tool: string,
  baseModel = '',
  answers = '',
): Readonly<Record<RecipeNote, string>> {
  // PEFT's fields and terms are not translated.
  const mergeFirst = (unsupported: string) =>
    l10n.t('{0} can’t load this adapter ({1}). Merge it with PEFT first.', tool, unsupported);
  return {
    'not-lora': l10n.t('{0} can’t load this type of adapter.', tool),
    'other-task': l10n.t('{0} doesn’t support this task (task_type). Use PEFT.', tool),
    'task-assumed': l10n.t('The task (task_type) is unknown, so text generation is assumed.'),
    'layers-repeated': l10n.t('{0} doesn’t support repeated layers (layer_replication). Use PEFT.', tool),
    'lora-bias': l10n.t('{0} can’t load LoRA biases (lora_bias). Use PEFT.', tool),
    alora: l10n.t('aLoRA takes effect only after its invocation tokens and can’t be merged.'),
    'module-refused': mergeFirst('.linear'),
    'vision-refused': l10n.t('{0} can’t load adapters for vision models. Use PEFT or vLLM.', tool),
    'vision-class': l10n.t('Load it with this class. In a text-only model, the adapter may do nothing.'),
    'merge-into-original': l10n.t('Merge it only into the 16-bit base model.'),
    'base-changed': mergeFirst('init_lora_weights'),
    'base-repeated': l10n.t('Use the original base model, not a quantized one.'),
    'saved-modules': mergeFirst('modules_to_save'),
    dora: mergeFirst('DoRA'),
    bias: mergeFirst('bias'),
    'rank-too-large': mergeFirst(l10n.t('high rank')),
    'scale-varies': mergeFirst('alpha_pattern'),
    'scale-corrected': l10n.t('Keep --lora-scaled: {0} ignores rsLoRA and alpha_pattern.', tool),
    'needs-wsl': l10n.t('vLLM needs WSL, where this folder is under /mnt.'),
    'model-name': l10n.t('Set “model” to the adapter’s name, or the base model will respond.'),
    'merged-first': l10n.t('Merging needs memory for the base model and disk space for two copies.'),
    'base-unknown':
      baseModel === ''
        ? l10n.t('Replace BASE_MODEL with the run’s base model.')
        : l10n.t('“{0}” isn’t a Hugging Face repository. Replace BASE_MODEL.', baseModel),
    'same-base': l10n.t('Use the exact base model it was trained on; others give wrong answers.'),
    'same-template': l10n.t('Use the chat template and roles from training.'),
    'system-unknown': l10n.t('If the dataset had a system message, send it, too.'),
    'system-in-prompt': l10n.t('The dataset’s system message is in the prompt, as in training.'),
    'ollama-template': l10n.t('If answers look wrong, set TEMPLATE in the Modelfile.'),
    'compare-changed-base': l10n.t('Turning this adapter off doesn’t restore the published base model.'),
    'compare-in-peft': l10n.t(
      'Compare in PEFT, because Ollama’s base model is usually quantized differently.',
    ),
    'compare-open': l10n.t(
      'Then open {0}, or the file whose name the script prints.',
      sanitizeServiceText(answers, MAX_NAME_UNITS),
    ),
    'compare-unseen-rows': l10n.t('Use rows the adapter wasn’t trained on.'),
    'compare-sends-nothing': l10n.t('This extension sends nothing.'),
  };
}
