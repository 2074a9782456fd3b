import { isPath } from './fit.ts';
import { llamacppRecipe, ollamaRecipe } from './ggufRecipes.ts';
import { Shells } from './shells.ts';
import type { AdapterReport, Recipe, RecipePlace } from './report.ts';
import { BASE_MODEL, baseTraps, placeholdersOf, type RecipeFacts } from './recipeFacts.ts';
import { pythonString } from './quote.ts';
import { vllmRecipe } from './vllmRecipe.ts';

/**
 * Commands that load an adapter with PEFT, vLLM, llama.cpp and Ollama, each as that project's documentation has it. Paths are
 * the person's own, quoted for the shells of the platform.
 */
export function recipesOf(report: AdapterReport, place: RecipePlace): Recipe[] {
  const { baseModel } = report.config ?? {};
  // The name of a model of a hub: no option, and nothing that a shell or Python reads otherwise.
  const isBaseKnown = baseModel !== undefined && /^\w[\w./-]*$/.test(baseModel) && !isPath(baseModel);
  const facts: RecipeFacts = {
    report,
    folder: place.folder,
    name: nameOf(place),
    base: isBaseKnown ? baseModel : BASE_MODEL,
    isBaseKnown,
    shells: new Shells(place.platform),
  };
  const recipes = [peftRecipe, vllmRecipe, llamacppRecipe, ollamaRecipe].map((recipe) => recipe(facts));
  return recipes.map((recipe) => withDoubts(recipe, report));
}

/** Where no tool can load it, the recipe stays, as a hint. */
function withDoubts(recipe: Recipe, { verdict, weights, config, problems }: AdapterReport): Recipe {
  const isOther = problems.some(({ code }) => code === 'not-lora');
  // PEFT loads its other kinds, too.
  if (isOther && recipe.tool !== 'peft') return { ...recipe, applicable: false, why: 'not-lora' };
  if (verdict.code !== 'adapter' || weights === undefined)
    return { ...recipe, applicable: false, why: 'no-weights' };
  return config === undefined ? { ...recipe, applicable: false, why: 'config-missing' } : recipe;
}

function nameOf({ folder, name }: RecipePlace): string {
  const text = name ?? folder.split(/[\\/]/).findLast((part) => part !== '') ?? '';
  const plain = text.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '');
  return plain === '' ? 'adapter' : plain.slice(0, 64);
}

/**
 * huggingface/transformers docs/source/en/peft.md (`pip install -U peft`) and huggingface/peft docs/source/quicktour.md,
 * package_reference/peft_model (`PeftModel.from_pretrained(model, model_id)`), tutorial "PEFT configurations and models".
 */
function peftRecipe(facts: RecipeFacts): Recipe {
  const { base, folder, shells, report } = facts;
  const revision = report.config?.revision;
  const from = [
    pythonString(base),
    ...(revision === undefined ? [] : [`revision=${pythonString(revision)}`]),
    'dtype="auto"',
    'device_map="auto"',
  ];
  const load = [
    'from peft import PeftModel',
    'from transformers import AutoModelForCausalLM, AutoTokenizer',
    '',
    `base = AutoModelForCausalLM.from_pretrained(${from.join(', ')})`,
    `tokenizer = AutoTokenizer.from_pretrained(${from.slice(0, -2).join(', ')})`,
    `model = PeftModel.from_pretrained(base, ${pythonString(folder)})`,
    'model.eval()',
    '',
    'messages = [{"role": "user", "content": "PROMPT"}]',
    'inputs = tokenizer.apply_chat_template(',
    '    messages, add_generation_prompt=True, return_tensors="pt", return_dict=True',
    ').to(model.device)',
    'outputs = model.generate(**inputs, max_new_tokens=200)',
    'print(tokenizer.decode(outputs[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True))',
  ].join('\n');
  return {
    tool: 'peft',
    blocks: [
      ...shells.blocks('install', () => 'pip install -U peft transformers accelerate'),
      { purpose: 'load', language: 'python', text: load, placeholders: placeholdersOf(facts, 'PROMPT') },
    ],
    traps: [...baseTraps(facts), 'chat-template'],
    applicable: true,
  };
}
