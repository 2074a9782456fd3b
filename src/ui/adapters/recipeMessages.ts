import * as vscode from 'vscode';
import type { AdapterBlock, AdapterFact, AdapterTool } from './protocol.ts';
import type { BlockPurpose, Recipe, RecipeBlock, Tool } from '../../core/adapters/report.ts';
import { trapSentence } from './trapMessages.ts';

/**
 * A recipe with its sentences.
 * @param baseModel as the config names it
 */
export function adapterTool(
  { tool, blocks, warnings, traps, applicable, why }: Recipe,
  baseModel: string | undefined,
): AdapterTool {
  // Commands that are refused help nobody; those that lack a file do, once it is there.
  const isOfUse = applicable || why === 'config-missing';
  return {
    tool,
    name: toolName(tool),
    refusal: applicable ? undefined : refusalSentence(tool, why),
    blocks: isOfUse ? blocks.map((block) => blockOf(block, blocks)) : [],
    warnings: isOfUse ? warnings.map((trap) => trapSentence(trap, baseModel)) : [],
    traps: isOfUse ? traps.map((trap) => trapSentence(trap, baseModel)) : [],
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
    case 'merge':
      return l10n.t('After that: merge it into the base, for tools that need one model');
    case 'merge-first':
      return l10n.t('Merge the adapter into its base model');
    case 'serve':
      return l10n.t('Serve');
    case 'request':
      return l10n.t('Ask the server');
    case 'convert':
      return l10n.t('Convert to GGUF');
    case 'run':
      return l10n.t('Run');
    case 'modelfile':
      return l10n.t('A file called Modelfile, in the merged model’s folder');
    case 'create':
      return l10n.t('Create the model');
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
    case 'other-task':
      return l10n.t('There is no recipe for this adapter with {0}. {1}', name, trapSentence(why));
    case undefined:
      return l10n.t('{0} cannot load this adapter.', name);
    default:
      return l10n.t('{0} cannot load this adapter as it is. {1}', name, trapSentence(why));
  }
}
