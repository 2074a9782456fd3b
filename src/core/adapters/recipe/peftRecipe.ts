import { baseChangeOf, type BaseChange } from '../baseChange.ts';
import { applicability, initWarnings } from './blockers.ts';
import { taskOf, type PeftTask } from './peftTasks.ts';
import { pythonString } from './quote.ts';
import { baseTraps, placeholdersOf, type RecipeFacts } from './recipeFacts.ts';
import type { AdapterConfig, Recipe, RecipeBlock, TrapCode } from '../report.ts';

const LABELS = 'NUM_LABELS';
/** What PEFT's own loading does, before which a person has to know of it. */
const CHANGES: Readonly<Partial<Record<BaseChange, TrapCode>>> = {
  repeated: 'peft-base-repeated',
  nearly: 'peft-base-nearly',
  quantized: 'peft-base-quantized',
};

/**
 * huggingface/transformers docs/source/en/peft.md (`pip install -U peft`) and huggingface/peft docs/source/quicktour.md,
 * package_reference/peft_model (`PeftModel.from_pretrained(model, model_id)`), tutorial "PEFT configurations and models".
 */
export function peftRecipe(facts: RecipeFacts): Recipe {
  const { shells, report } = facts;
  const { config } = report;
  const task = taskOf(config);
  return {
    tool: 'peft',
    blocks: [
      ...shells.blocks(
        'install',
        () => `${shells.python} -m pip install -U peft transformers accelerate${packagesForBase(config)}`,
      ),
      loadBlock(facts, task),
      ...mergeBlocks(facts),
    ],
    warnings: [
      ...baseWarnings(config),
      ...initWarnings(config),
      ...(config?.isAlora === true ? (['alora-tokens'] as const) : []),
      ...(config !== undefined && task.isAssumed ? (['task-assumed'] as const) : []),
    ],
    traps: [...baseTraps(facts), ...task.traps],
    ...applicability(config && baseChangeOf(config) === 'lost' ? ['base-change-lost'] : []),
  };
}

/** LoftQ quantizes with bitsandbytes, and PEFT looks for scipy. */
export function packagesForBase(config: AdapterConfig | undefined): string {
  return config && baseChangeOf(config) === 'quantized' ? ' bitsandbytes scipy' : '';
}

export function baseWarnings(config: AdapterConfig | undefined): TrapCode[] {
  const change = config && baseChangeOf(config);
  const trap = change && CHANGES[change];
  return trap === undefined ? [] : [trap];
}

/** For tools that take one model: all in one, without asking it anything. */
export function mergeFirstBlock(facts: RecipeFacts): RecipeBlock {
  const { folder } = facts;
  const text = [
    ...loadLines(facts, taskOf(facts.report.config), ['dtype="auto"']),
    '',
    ...mergeLines(folder),
  ].join('\n');
  return { purpose: 'merge-first', language: 'python', text, placeholders: placeholdersOf(facts) };
}

function loadBlock(facts: RecipeFacts, task: PeftTask): RecipeBlock {
  const labels = facts.report.weights?.labels ?? LABELS;
  const options = [...(task.hasLabels ? [`num_labels=${labels}`] : []), 'dtype="auto"', 'device_map="auto"'];
  const text = [...loadLines(facts, task, options), 'model.eval()', '', ...task.ask].join('\n');
  const isLabelled = task.hasLabels && labels === LABELS;
  return {
    purpose: 'load',
    language: 'python',
    text,
    placeholders: placeholdersOf(facts, ...(isLabelled ? [LABELS] : []), ...task.placeholders),
  };
}

function loadLines(
  { base, folder, revision }: RecipeFacts,
  { model }: PeftTask,
  options: readonly string[],
): string[] {
  const from = [
    pythonString(base),
    ...(revision === undefined ? [] : [`revision=${pythonString(revision)}`]),
  ];
  return [
    'from peft import PeftModel',
    `from transformers import ${model}, AutoTokenizer`,
    '',
    `base = ${model}.from_pretrained(${[...from, ...options].join(', ')})`,
    `tokenizer = AutoTokenizer.from_pretrained(${from.join(', ')})`,
    `model = PeftModel.from_pretrained(base, ${pythonString(folder)})`,
  ];
}

/** Where the merged model is written. */
export function mergedFolderOf(folder: string): string {
  return `${folder.replace(/[\\/]$/, '')}-merged`;
}

/**
 * For tools that cannot take the adapter: package_reference/lora ("Merge LoRA weights into the base model"). What acts on some
 * tokens alone cannot be merged, layers that are repeated share their weights, and of other kinds than LoRA not all can.
 */
function mergeBlocks({ folder, report: { config } }: RecipeFacts): RecipeBlock[] {
  if (config?.peftType?.toUpperCase() !== 'LORA' || config.isAlora || config.repeatsLayers) return [];
  return [{ purpose: 'merge', language: 'python', text: mergeLines(folder).join('\n'), placeholders: [] }];
}

function mergeLines(folder: string): string[] {
  const merged = pythonString(mergedFolderOf(folder));
  return [
    'merged = model.merge_and_unload()',
    `merged.save_pretrained(${merged})`,
    `tokenizer.save_pretrained(${merged})`,
  ];
}
