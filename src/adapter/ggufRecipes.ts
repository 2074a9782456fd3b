import { lines } from './shells.ts';
import { baseTraps, placeholdersOf, type RecipeFacts } from './recipeFacts.ts';
import type { AdapterReport, Recipe, RecipeBlock, TrapCode } from './report.ts';
import { modelfileValue } from './quote.ts';
import { scaleCorrection } from './scaleCorrection.ts';

const CONVERTED = 'adapter.gguf';
const BASE_GGUF = 'BASE.gguf';
const OLLAMA_BASE = 'OLLAMA_BASE_MODEL';
const LLAMACPP = 'LLAMA_CPP';

/**
 * ggml-org/llama.cpp convert_lora_to_gguf.py (`--outfile`, `--outtype`, `--base-model-id`, the positional folder) and
 * tools/server/README.md (`-m`, `--lora`, `--lora-scaled FNAME:SCALE,...`: lists, so that commas and colons end a name).
 */
export function llamacppRecipe(facts: RecipeFacts): Recipe {
  const { folder, shells, report } = facts;
  const scale = scaleCorrection(report);
  const run = shells.blocks(
    'run',
    (shell) => {
      // Beside the file, so that its path cannot hold what separates names.
      const option =
        scale === undefined || scale === 'none'
          ? `--lora ${CONVERTED}`
          : `--lora-scaled ${shell.quote(`${CONVERTED}:${scale}`)}`;
      return `${shell.enter(folder)}\n${lines(shell, `llama-server -m ${BASE_GGUF}`, option)}`;
    },
    [BASE_GGUF],
  );
  const blocked = blockedBy(report, 'llamacpp-modules-to-save', 'llamacpp-dora');
  if (scale === 'none') blocked.push(scaleTrap(report));
  return {
    tool: 'llamacpp',
    blocks: [...conversion(facts), ...run],
    traps: [
      ...blocked,
      ...(scale === undefined || scale === 'none' ? [] : (['llamacpp-scale-corrected'] as const)),
      'llamacpp-base-config',
      'llamacpp-same-architecture',
      ...baseTraps(facts),
      'chat-template',
    ],
    ...applicability(blocked),
  };
}

/**
 * ollama/ollama docs/import.mdx ("Importing a GGUF based model or adapter": `FROM`, `ADAPTER /path/to/file.gguf`,
 * `ollama create`, `ollama run`) and docs/modelfile.mdx. Safetensors adapters are taken for Llama, Mistral and Gemma alone,
 * so that the way over GGUF is the one that is told.
 */
export function ollamaRecipe(facts: RecipeFacts): Recipe {
  const { folder, shells, report, name } = facts;
  const separator = shells.isWindows ? '\\' : '/';
  const file = `${folder.replace(/[\\/]$/, '')}${separator}${CONVERTED}`;
  const model = name.toLowerCase();
  const modelfile: RecipeBlock = {
    purpose: 'modelfile',
    language: 'modelfile',
    text: `FROM ${OLLAMA_BASE}\nADAPTER ${modelfileValue(file)}`,
    placeholders: [OLLAMA_BASE],
  };
  const blocked = blockedBy(report, 'ollama-modules-to-save', 'ollama-dora');
  // There is no way to tell it another scale.
  if (scaleCorrection(report) !== undefined) blocked.push(scaleTrap(report));
  return {
    tool: 'ollama',
    blocks: [
      ...conversion(facts),
      modelfile,
      ...shells.blocks('create', (shell) => `${shell.enter(folder)}\nollama create ${model} -f Modelfile`),
      ...shells.blocks('run', () => `ollama run ${model}`),
    ],
    traps: [
      ...blocked,
      'ollama-same-base',
      'ollama-template',
      'ollama-architecture',
      ...(facts.isBaseKnown ? [] : (['base-unknown'] as const)),
    ],
    ...applicability(blocked),
  };
}

function conversion(facts: RecipeFacts): RecipeBlock[] {
  const { folder, base, shells } = facts;
  const separator = shells.isWindows ? '\\' : '/';
  return shells.blocks(
    'convert',
    (shell) =>
      lines(
        shell,
        `python ${LLAMACPP}${separator}convert_lora_to_gguf.py`,
        `--base-model-id ${shell.quote(base)}`,
        '--outtype f16',
        `--outfile ${shell.quote(`${folder.replace(/[\\/]$/, '')}${separator}${CONVERTED}`)}`,
        shell.quote(folder),
      ),
    placeholdersOf(facts, LLAMACPP),
  );
}

/** The converter (`lparams["lora_alpha"]`) and llama-adapter.h (`get_scale`) know one alpha, and divide it by the rank. */
function scaleTrap({ config }: AdapterReport): TrapCode {
  return config?.useRslora === true ? 'rslora' : 'alpha-pattern';
}

/** The converter stops at a tensor that is neither A nor B: a module or a bias. */
function blockedBy({ config, weights }: AdapterReport, saved: TrapCode, dora: TrapCode): TrapCode[] {
  const traps: TrapCode[] = [];
  if (weights !== undefined && (weights.savedModules.length > 0 || weights.hasBias)) traps.push(saved);
  if (config?.useDora === true || weights?.pairs.some(({ hasMagnitude }) => hasMagnitude)) traps.push(dora);
  return traps;
}

function applicability([why]: readonly TrapCode[]): Pick<Recipe, 'applicable' | 'why'> {
  return why === undefined ? { applicable: true } : { applicable: false, why };
}
