import { applicability, baseBlockers, hasDora, initWarnings } from './blockers.ts';
import { lines } from './shells.ts';
import { baseTraps, placeholdersOf, type RecipeFacts } from './recipeFacts.ts';
import type { AdapterReport, Recipe, RecipeBlock, TrapCode } from '../report.ts';
import { modelfileValue } from './quote.ts';
import { scaleCorrection } from './scaleCorrection.ts';

const CONVERTED = 'adapter.gguf';
const BASE_GGUF = 'BASE.gguf';
const OLLAMA_BASE = 'OLLAMA_BASE_MODEL';
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
  const blocked = [
    ...baseBlockers(report.config),
    ...converterBlockers(report, 'llamacpp-modules-to-save', 'llamacpp-dora'),
  ];
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
  const blocked = [
    ...baseBlockers(report.config, 'ollama-alora'),
    ...converterBlockers(report, 'ollama-modules-to-save', 'ollama-dora'),
  ];
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
    warnings: [...blocked, 'ollama-versions', ...initWarnings(report.config), ...alphaWarnings(report)],
    traps: [
      'converter-environment',
      'ollama-same-base',
      'ollama-template',
      'ollama-architecture',
      ...(facts.isBaseKnown ? [] : (['base-unknown'] as const)),
    ],
    ...applicability(blocked),
  };
}

/** Placeholders stand in quotation marks, so that what takes their place may have blanks. */
function conversion(facts: RecipeFacts): RecipeBlock[] {
  const { folder, base, shells } = facts;
  const { python, isWindows } = shells;
  const separator = isWindows ? '\\' : '/';
  const inLlamacpp = (...path: string[]) => `"${[LLAMACPP, ...path].join(separator)}"`;
  return [
    ...shells.blocks(
      'install',
      () => `${python} -m pip install -r ${inLlamacpp('requirements', REQUIREMENTS)}`,
      [LLAMACPP],
    ),
    ...shells.blocks(
      'convert',
      (shell) =>
        lines(
          shell,
          `${python} ${inLlamacpp('convert_lora_to_gguf.py')}`,
          `--base-model-id ${shell.quote(base)}`,
          '--outtype f16',
          `--outfile ${shell.quote(`${folder.replace(/[\\/]$/, '')}${separator}${CONVERTED}`)}`,
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
function converterBlockers(report: AdapterReport, saved: TrapCode, dora: TrapCode): TrapCode[] {
  const { config, weights } = report;
  const traps: TrapCode[] = [];
  if (weights !== undefined && weights.savedModules.length > 0) traps.push(saved);
  if (hasDora(report)) traps.push(dora);
  if (weights?.hasBias === true || config?.loraBias === true) traps.push('converter-bias');
  if (config?.fanInFanOut === true) traps.push('converter-turned');
  return traps;
}
