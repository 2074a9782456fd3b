import { isPath } from '../fit.ts';
import { llamacppRecipe, ollamaRecipe } from './ggufRecipes.ts';
import { Shells } from './shells.ts';
import type { AdapterReport, Recipe, RecipePlace } from '../report.ts';
import { peftRecipe } from './peftRecipe.ts';
import { BASE_MODEL, type RecipeFacts } from './recipeFacts.ts';
import { vllmRecipe } from './vllmRecipe.ts';

/**
 * Commands that load an adapter with PEFT, vLLM, llama.cpp and Ollama, each as that project's documentation has it. Paths are
 * the person's own, quoted for the shells of the platform.
 */
export function recipesOf(report: AdapterReport, place: RecipePlace): Recipe[] {
  const { baseModel, revision } = report.config ?? {};
  const isBaseKnown = baseModel !== undefined && isPlain(baseModel) && !isPath(baseModel);
  const facts: RecipeFacts = {
    report,
    folder: place.folder,
    name: nameOf(place),
    base: isBaseKnown ? baseModel : BASE_MODEL,
    isBaseKnown,
    revision: isBaseKnown && revision !== undefined && isPlain(revision) ? revision : undefined,
    shells: new Shells(place.platform),
  };
  const recipes = [peftRecipe, vllmRecipe, llamacppRecipe, ollamaRecipe].map((recipe) => recipe(facts));
  return recipes.map((recipe) => withDoubts(recipe, report));
}

/** As names on a hub are: no option, and nothing that a shell or Python reads otherwise. */
function isPlain(name: string): boolean {
  return /^\w[\w./-]*$/.test(name);
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
  const plain = text
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|(?<![^A-Za-z0-9])[^A-Za-z0-9]+$/g, '');
  return plain === '' ? 'adapter' : plain.slice(0, 64);
}
