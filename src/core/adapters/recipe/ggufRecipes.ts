import { applicability, baseBlockers, hasDora, initWarnings } from './blockers.ts';
import { lines } from './shells.ts';
import { baseTraps, placeholdersOf, type RecipeFacts } from './recipeFacts.ts';
import type { AdapterReport, Recipe, RecipeBlock, TrapCode } from '../report.ts';
import { baseWarnings, mergedFolderOf, mergeFirstBlock, packagesForBase } from './peftRecipe.ts';
import { scaleCorrection } from './scaleCorrection.ts';

const CONVERTED = 'adapter.gguf';
const BASE_GGUF = 'BASE.gguf';
const MODEL = 'model.gguf';
const LLAMACPP = 'LLAMA_CPP';
const REQUIREMENTS = 'requirements-convert_lora_to_gguf.txt';

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
      return `${shell.enter(folder)}\n${lines(shell, `llama-server -m "${BASE_GGUF}"`, option)}`;
    },
    [BASE_GGUF],
  );
  const blocked = [...baseBlockers(report.config), ...converterBlockers(report)];
  if (scale === 'none') blocked.push(scaleTrap(report));
  return {
    tool: 'llamacpp',
    blocks: [...conversion(facts), ...run],
    warnings: [
      ...blocked,
      ...initWarnings(report.config),
      ...(report.config?.isAlora === true ? (['alora-tokens', 'llamacpp-alora'] as const) : []),
      ...alphaWarnings(report),
      ...(scale === undefined || scale === 'none' ? [] : (['llamacpp-scale-corrected'] as const)),
    ],
    traps: [
      'converter-environment',
      'llamacpp-base-config',
      'llamacpp-same-architecture',
      ...baseTraps(facts),
      'chat-template',
    ],
    ...applicability(blocked),
  };
}

/**
 * ollama/ollama docs/import.mdx ("Importing a GGUF based model": `FROM ./file.gguf`, `ollama create`, `ollama run`) and
 * ggml-org/llama.cpp convert_hf_to_gguf.py (`--outfile`, `--outtype`, the positional folder). Current versions refuse ADAPTER,
 * so the adapter is merged with PEFT first, which also spares what a converter of adapters cannot take.
 */
export function ollamaRecipe(facts: RecipeFacts): Recipe {
  const { shells, report, name } = facts;
  const { config } = report;
  const merged = mergedFolderOf(facts.folder);
  const model = name.toLowerCase();
  const blocked = baseBlockers(config, 'ollama-alora').filter((trap) => trap !== 'base-changed');
  return {
    tool: 'ollama',
    blocks: [
      ...shells.blocks(
        'install',
        () =>
          `${shells.python} -m pip install peft accelerate${packagesForBase(config)} -r ${inLlamacpp(facts, 'requirements', 'requirements-convert_hf_to_gguf.txt')}`,
        [LLAMACPP],
      ),
      mergeFirstBlock(facts),
      ...shells.blocks(
        'convert',
        (shell) =>
          lines(
            shell,
            `${shells.python} ${inLlamacpp(facts, 'convert_hf_to_gguf.py')}`,
            '--outtype f16',
            `--outfile ${shell.quote(`${merged}${separatorOf(facts)}${MODEL}`)}`,
            shell.quote(merged),
          ),
        [LLAMACPP],
      ),
      { purpose: 'modelfile', language: 'modelfile', text: `FROM ./${MODEL}`, placeholders: [] },
      ...shells.blocks('create', (shell) => `${shell.enter(merged)}\nollama create ${model} -f Modelfile`),
      ...shells.blocks('run', () => `ollama run ${model}`),
    ],
    warnings: [...blocked, ...baseWarnings(config), ...initWarnings(config)],
    traps: [
      'ollama-merged',
      'converter-environment',
      ...baseTraps(facts),
      'ollama-template',
      'ollama-architecture',
    ],
    ...applicability(blocked),
  };
}

function separatorOf({ shells }: RecipeFacts): string {
  return shells.isWindows ? '\\' : '/';
}

/** Placeholders stand in quotation marks, so that what takes their place may have blanks. */
function inLlamacpp(facts: RecipeFacts, ...path: string[]): string {
  return `"${[LLAMACPP, ...path].join(separatorOf(facts))}"`;
}

function conversion(facts: RecipeFacts): RecipeBlock[] {
  const { folder, base, shells } = facts;
  const { python } = shells;
  return [
    ...shells.blocks(
      'install',
      () => `${python} -m pip install -r ${inLlamacpp(facts, 'requirements', REQUIREMENTS)}`,
      [LLAMACPP],
    ),
    ...shells.blocks(
      'convert',
      (shell) =>
        lines(
          shell,
          `${python} ${inLlamacpp(facts, 'convert_lora_to_gguf.py')}`,
          `--base-model-id ${shell.quote(base)}`,
          '--outtype f16',
          `--outfile ${shell.quote(`${folder.replace(/[\\/]$/, '')}${separatorOf(facts)}${CONVERTED}`)}`,
          shell.quote(folder),
        ),
      placeholdersOf(facts, LLAMACPP),
    ),
  ];
}

/** The converter (`lparams["lora_alpha"]`) and llama-adapter.h (`get_scale`) know one alpha, and divide it by the rank. */
function scaleTrap({ config }: AdapterReport): TrapCode {
  return config?.useRslora === true ? 'rslora' : 'alpha-pattern';
}

/** Where alpha is 0, `get_scale` leaves it and the rank out: the adapter acts at full strength instead of not at all. */
function alphaWarnings({ config }: AdapterReport): TrapCode[] {
  return config?.alpha === 0 ? ['gguf-alpha-zero'] : [];
}

/**
 * The converter stops at a tensor that is neither A nor B: a module, a bias, a magnitude. Weights of GPT-2's kind it turns, and
 * the adapter with them, though that is not stored turned.
 */
function converterBlockers(report: AdapterReport): TrapCode[] {
  const { config, weights } = report;
  const traps: TrapCode[] = [];
  if (weights !== undefined && weights.savedModules.length > 0) traps.push('llamacpp-modules-to-save');
  if (hasDora(report)) traps.push('llamacpp-dora');
  if (weights?.hasBias === true || config?.loraBias === true) traps.push('converter-bias');
  if (config?.fanInFanOut === true) traps.push('converter-turned');
  return traps;
}
