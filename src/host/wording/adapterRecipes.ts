import * as vscode from 'vscode';
import type { AdapterBlock, AdapterFact, AdapterTool } from '../../adapter/adapterPageProtocol.ts';
import type { BlockPurpose, Recipe, RecipeBlock, Tool, TrapCode } from '../../adapter/report.ts';

/** A recipe with its sentences. */
export function adapterTool({ tool, blocks, traps, applicable, why }: Recipe): AdapterTool {
  // Commands that are refused help nobody; those that lack a file do, once it is there.
  const isOfUse = applicable || why === 'config-missing';
  return {
    tool,
    name: toolName(tool),
    refusal: applicable ? undefined : refusalSentence(tool, why),
    blocks: isOfUse ? blocks.map((block) => blockOf(block, blocks)) : [],
    traps: isOfUse ? traps.filter((trap) => applicable || trap !== why).map(trapSentence) : [],
  };
}

/** What is said above recipes of an archive that is still packed. */
export function packedText(folder: string): { text: string; unpack: string; elsewhere: string } {
  const { l10n } = vscode;
  return {
    text: l10n.t(
      'These tools read a folder, and this is still packed. Unpacked it would stand in {0}, as the recipes say.',
      folder,
    ),
    unpack: l10n.t('Unpack'),
    elsewhere: l10n.t('Unpack Elsewhere…'),
  };
}

/** The folder that the recipes name. */
export function folderFact(folder: string): AdapterFact {
  return { name: vscode.l10n.t('The adapter’s folder'), value: folder, copy: folder };
}

/** What a tool is called. */
function toolName(tool: Tool): string {
  switch (tool) {
    case 'peft':
      return 'PEFT / Transformers';
    case 'vllm':
      return 'vLLM';
    case 'llamacpp':
      return 'llama.cpp';
    case 'ollama':
      return 'Ollama';
  }
}

function blockOf(block: RecipeBlock, all: readonly RecipeBlock[]): AdapterBlock {
  const { l10n } = vscode;
  const { purpose, language, text, placeholders } = block;
  const title = purposeText(purpose);
  const isAlternative = all.some((other) => other !== block && other.purpose === purpose);
  const named = placeholders.join(', ');
  return {
    title: isAlternative ? l10n.t('{0} ({1})', title, languageName(language)) : title,
    text,
    hint:
      placeholders.length === 0
        ? undefined
        : placeholders.length === 1
          ? l10n.t('Replace {0} before you run it.', named)
          : l10n.t('Replace these before you run it: {0}.', named),
  };
}

function languageName(language: RecipeBlock['language']): string {
  switch (language) {
    case 'python':
      return 'Python';
    case 'sh':
      return vscode.l10n.t('shell');
    case 'powershell':
      return 'PowerShell';
    case 'cmd':
      return 'cmd';
    case 'modelfile':
      return 'Modelfile';
  }
}

function purposeText(purpose: BlockPurpose): string {
  const { l10n } = vscode;
  switch (purpose) {
    case 'install':
      return l10n.t('Install');
    case 'load':
      return l10n.t('Load and ask');
    case 'serve':
      return l10n.t('Serve');
    case 'request':
      return l10n.t('Ask the server');
    case 'convert':
      return l10n.t('Convert to GGUF');
    case 'run':
      return l10n.t('Run');
    case 'modelfile':
      return l10n.t('A file called Modelfile');
    case 'create':
      return l10n.t('Create the model and run it');
  }
}

/** Why a tool cannot take the adapter. */
function refusalSentence(tool: Tool, why: Recipe['why']): string {
  const { l10n } = vscode;
  const name = toolName(tool);
  switch (why) {
    case 'not-lora':
      return l10n.t('{0} does not load this kind of adapter.', name);
    case 'no-weights':
      return l10n.t('There are no weights here that {0} could load.', name);
    case undefined:
      return l10n.t('{0} cannot load this adapter.', name);
    default:
      return l10n.t('{0} cannot load this adapter as it is. {1}', name, trapSentence(why));
  }
}

/** A known trap, and how it is avoided. */
function trapSentence(trap: TrapCode): string {
  const { l10n } = vscode;
  switch (trap) {
    case 'same-base':
      return l10n.t(
        'The base must be the very model that was trained on. On another one the adapter loads, and answers nonsense.',
      );
    case 'base-unknown':
      return l10n.t(
        'Which model was trained on is not known from the config. Put in the one that you chose for the run.',
      );
    case 'base-gated':
      return l10n.t(
        'Some base models can be downloaded only after you accepted their terms, with a token of the hub that holds them.',
      );
    case 'chat-template':
      return l10n.t(
        'Ask it in the form in which it was trained: the same roles and the chat template of the base’s tokenizer.',
      );
    case 'vllm-rank':
      return l10n.t(
        'vLLM refuses adapters with a rank above --max-lora-rank, which is 16 unless told. The command sets it.',
      );
    case 'vllm-rank-too-large':
      return l10n.t('The rank is above the largest that vLLM takes.');
    case 'vllm-modules-to-save':
      return l10n.t(
        'vLLM does not load modules that are stored whole (modules_to_save). Merge the adapter into the base with PEFT, and serve the result.',
      );
    case 'vllm-dora':
      return l10n.t(
        'vLLM does not load DoRA. Merge the adapter into the base with PEFT, and serve the result.',
      );
    case 'vllm-patterns':
      return l10n.t(
        'Rank or alpha differ between the modules of this adapter (rank_pattern, alpha_pattern). Only recent versions of vLLM heed that; older ones load it too strong or too weak, without a word.',
      );
    case 'vllm-bias':
      return l10n.t('vLLM does not load biases of an adapter.');
    case 'vllm-not-on-windows':
      return l10n.t(
        'vLLM runs on Linux. On Windows, run it inside WSL, where this folder stands below /mnt.',
      );
    case 'vllm-model-name':
      return l10n.t(
        'A request gets the adapter only if its “model” is the adapter’s name. With the base’s name the base answers, as if nothing had been trained.',
      );
    case 'llamacpp-base-config':
      return l10n.t(
        'The converter fetches the config of the base model from the hub, not its weights. If you have the model on disk, put --base and its folder in the place of --base-model-id.',
      );
    case 'llamacpp-same-architecture':
      return l10n.t(
        'The GGUF of the base must be of the same model. A GGUF adapter does not load on another architecture.',
      );
    case 'llamacpp-modules-to-save':
      return l10n.t(
        'The converter does not take modules that are stored whole (modules_to_save). Merge the adapter into the base with PEFT, and convert the result.',
      );
    case 'llamacpp-dora':
      return l10n.t(
        'The converter does not take DoRA. Merge the adapter into the base with PEFT, and convert the result.',
      );
    case 'ollama-same-base':
      return l10n.t(
        'FROM must name the very model that was trained on. Ollama does not check it, and answers nonsense with another one.',
      );
    case 'ollama-template':
      return l10n.t(
        'Ollama takes the chat template from the base in FROM. If that one differs from the training’s, set TEMPLATE in the Modelfile.',
      );
    case 'ollama-architecture':
      return l10n.t(
        'Ollama reads safetensors adapters only of some architectures (Llama, Mistral, Gemma), so the commands convert it to GGUF first, with the converter of llama.cpp.',
      );
    case 'ollama-modules-to-save':
      return l10n.t(
        'Ollama does not load modules that are stored whole (modules_to_save). Merge the adapter into the base with PEFT first.',
      );
    case 'ollama-dora':
      return l10n.t('Ollama does not load DoRA. Merge the adapter into the base with PEFT first.');
    case 'rslora':
      return l10n.t(
        'The adapter uses rsLoRA, and this tool scales by alpha ÷ rank, which makes it weaker than it was trained. Merge the adapter into the base with PEFT first.',
      );
    case 'alpha-pattern':
      return l10n.t(
        'Some modules have an alpha of their own (alpha_pattern), and this tool takes one for all, so it would load them too strong or too weak. Merge the adapter into the base with PEFT first.',
      );
    case 'llamacpp-scale-corrected':
      return l10n.t(
        'llama.cpp scales by alpha ÷ rank alone, which is not how this adapter was trained (rsLoRA or alpha_pattern). The command already corrects that with --lora-scaled: keep it.',
      );
    case 'config-missing':
      return l10n.t('It reads adapter_config.json, which is missing.');
  }
}
