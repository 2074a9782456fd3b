import { baseChangeOf, type BaseChange } from '../baseChange.ts';
import { applicability, initWarnings } from './blockers.ts';
import { taskOf, type PeftTask } from './peftTasks.ts';
import { pythonString } from './quote.ts';
import { baseTraps, placeholdersOf, type RecipeFacts } from './recipeFacts.ts';
import type { Recipe, RecipeBlock, TrapCode } from '../report.ts';

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
  const change = config && baseChangeOf(config);
  const trap = change && CHANGES[change];
  // LoftQ quantizes with bitsandbytes, and PEFT looks for scipy.
  const more = change === 'quantized' ? ' bitsandbytes scipy' : '';
  return {
    tool: 'peft',
    blocks: [
      ...shells.blocks(
        'install',
        () => `${shells.python} -m pip install -U peft transformers accelerate${more}`,
      ),
      loadBlock(facts, task),
      ...mergeBlocks(facts),
    ],
    warnings: [
      ...(trap === undefined ? [] : [trap]),
      ...initWarnings(config),
      ...(config?.isAlora === true ? (['alora-tokens'] as const) : []),
      ...(config !== undefined && task.isAssumed ? (['task-assumed'] as const) : []),
    ],
    traps: [...baseTraps(facts), ...task.traps],
    ...applicability(change === 'lost' ? ['base-change-lost'] : []),
  };
}

function loadBlock(facts: RecipeFacts, task: PeftTask): RecipeBlock {
  const { base, folder, report, revision } = facts;
  const labels = report.weights?.labels ?? LABELS;
  const from = [
    pythonString(base),
    ...(revision === undefined ? [] : [`revision=${pythonString(revision)}`]),
  ];
  const options = [...(task.hasLabels ? [`num_labels=${labels}`] : []), 'dtype="auto"', 'device_map="auto"'];
  const text = [
    'from peft import PeftModel',
    `from transformers import ${task.model}, AutoTokenizer`,
    '',
    `base = ${task.model}.from_pretrained(${[...from, ...options].join(', ')})`,
    `tokenizer = AutoTokenizer.from_pretrained(${from.join(', ')})`,
    `model = PeftModel.from_pretrained(base, ${pythonString(folder)})`,
    'model.eval()',
    '',
    ...task.ask,
  ].join('\n');
  const isLabelled = task.hasLabels && labels === LABELS;
  return {
    purpose: 'load',
    language: 'python',
    text,
    placeholders: placeholdersOf(facts, ...(isLabelled ? [LABELS] : []), ...task.placeholders),
  };
}

/**
 * For tools that cannot take the adapter: package_reference/lora ("Merge LoRA weights into the base model"). What acts on some
 * tokens alone cannot be merged, layers that are repeated share their weights, and of other kinds than LoRA not all can.
 */
function mergeBlocks({ folder, report: { config } }: RecipeFacts): RecipeBlock[] {
  if (config?.peftType?.toUpperCase() !== 'LORA' || config.isAlora || config.repeatsLayers) return [];
  const merged = pythonString(`${folder.replace(/[\\/]$/, '')}-merged`);
  const text = [
    'merged = model.merge_and_unload()',
    `merged.save_pretrained(${merged})`,
    `tokenizer.save_pretrained(${merged})`,
  ].join('\n');
  return [{ purpose: 'merge', language: 'python', text, placeholders: [] }];
}
