import { toPlainLine } from '../base/plainText.ts';
import { isLora, isPath } from './fit.ts';
import type { AdapterConfig } from './peftConfig.ts';
import { repositoryOf } from './recipeFacts.ts';
import { recipesOf } from './recipes.ts';
import type { AdapterReport, WeightsReport } from './report.ts';

const MAX_MODULES = 20;
const MAX_NAME_LENGTH = 200;

export interface CardParts {
  /** The adapter's folder; the repository gets its name. */
  folder: string;
  /** Addresses of the base model's terms, as the service gave them. */
  termsUrls: readonly string[];
}

/**
 * Composes the draft of a model card: the `README.md` of a repository on the Hugging Face Hub
 * (huggingface/hub-docs docs/hub/model-cards.md; tags as in huggingface/peft src/peft/peft_model.py,
 * `create_or_update_model_card`). It is in English and never translated: the user rewrites it on the Hub.
 * It says what the adapter's own files say. What only the user knows, or only the user may publish, isn't
 * guessed: license, language, data, files, rows, labels, runs, prices. Names from the files stand in code, so
 * they are neither markup nor metadata.
 */
export function modelCard(report: AdapterReport, { folder, termsUrls }: CardParts): string {
  const { config, weights, isFromSandbox } = report;
  const { revision = '', taskType = '', peftVersion = '', alpha } = config ?? {};
  // A path would name a folder of the person who trained it.
  const baseModel = config?.baseModel === undefined || isPath(config.baseModel) ? '' : config.baseModel;
  const type = config === undefined || isLora(config) ? 'LoRA' : undefined;
  const repository = isRepository(baseModel) ? baseModel : undefined;
  const tags = [
    ...(type === undefined ? [] : ['lora']),
    ...(repository === undefined ? [] : [`base_model:adapter:${repository}`]),
  ];
  const loading = loadingOf(report, folder);
  const links = termsUrls.flatMap((url) => linkOf(url) ?? []);
  const facts: readonly (readonly [name: string, value: string])[] = [
    ['Base model', code(baseModel)],
    ['Revision', baseModel === '' ? '' : code(revision)],
    ['Type', config === undefined ? '' : typeOf(config)],
    ['Rank', rankOf(config, weights)],
    ['Alpha', alpha === undefined ? '' : String(alpha)],
    ['Modules', modulesOf(weights)],
    ['PEFT version', code(peftVersion)],
  ];
  return lines(
    '---',
    'library_name: peft',
    // Strings of JSON are strings of YAML, whatever they contain.
    repository !== undefined && `base_model: ${JSON.stringify(repository)}\nbase_model_relation: adapter`,
    taskType.toUpperCase() === 'CAUSAL_LM' && 'pipeline_tag: text-generation',
    tags.length > 0 && lines('tags:', ...tags.map((tag) => `  - ${JSON.stringify(tag)}`)),
    '---',
    '',
    `# ${type === undefined ? 'Adapter' : 'LoRA adapter'}${baseModel === '' ? '' : ` for ${code(baseModel)}`}`,
    '',
    isFromSandbox === true && 'Made by a sandbox, which trains nothing: this adapter has no effect.\n',
    ...facts.map(([name, value]) => value !== '' && `- ${name}: ${value}`),
    '',
    loading !== undefined && `## How to load it\n\n\`\`\`python\n${loading}\n\`\`\`\n`,
    links.length > 0 && lines('## Terms of the base model', '', ...links.map((link) => `- ${link}`), ''),
    section('Intended use', 'What is it for, and what isn’t it for?'),
    section('Training data', 'What was it trained on, from where, and is personal data left out?'),
    section(
      'Evaluation',
      'How do its answers differ from the base model’s, on rows that weren’t trained on?',
    ),
    section(
      'License',
      'Which license does it have? Check that of the base model, and add it to the metadata.',
    ),
  );
}

/** PEFT's recipe, with the repository in place of the folder. */
function loadingOf(report: AdapterReport, folder: string): string | undefined {
  const { tools } = recipesOf(report, { folder: repositoryOf(folder), platform: 'linux' });
  const recipe = tools.find(({ tool, refusal }) => tool === 'peft' && refusal === undefined);
  return recipe?.blocks.find(({ purpose }) => purpose.startsWith('load'))?.text;
}

function lines(...parts: readonly (string | false)[]): string {
  return parts.filter((part) => part !== false).join('\n');
}

function section(title: string, question: string): string {
  return `## ${title}\n\n<!-- ${question} -->\n`;
}

/** Whether a base model is a repository of the Hub. The Hub refuses metadata with other names. */
function isRepository(name: string): boolean {
  return /^[\w.-]{1,96}(\/[\w.-]{1,96})?$/.test(name) && !/^[.-]|[.-]$|--|\.\.|[.-]\/|\/[.-]/.test(name);
}

function typeOf({ peftType = 'LORA', useRslora, useDora, isAlora }: AdapterConfig): string {
  const type = peftType.toUpperCase() === 'LORA' ? 'LoRA' : code(peftType);
  return [type, useRslora && 'rsLoRA', useDora && 'DoRA', isAlora && 'aLoRA'].filter(Boolean).join(', ');
}

function rankOf(config: AdapterConfig | undefined, weights: WeightsReport | undefined): string {
  const { minRank = 0, maxRank = 0 } = weights ?? {};
  if (maxRank === 0) return config?.rank === undefined ? '' : String(config.rank);
  return minRank === maxRank ? String(maxRank) : `${minRank} to ${maxRank}`;
}

function modulesOf(weights: WeightsReport | undefined): string {
  const names = weights?.modules ?? [];
  const rest = names.length - MAX_MODULES;
  const shown = names.slice(0, MAX_MODULES).map(code).join(', ');
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}

/** A code span of Markdown. A text in it is no markup, up to as many backticks as the span begins with. */
function code(text: string): string {
  const plain = toPlainLine(text, MAX_NAME_LENGTH);
  if (plain === '') return '';
  const longest = [...plain.matchAll(/`+/g)].reduce((most, [run]) => Math.max(most, run.length), 0);
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `${fence}${plain}${fence}` : `${fence} ${plain} ${fence}`;
}

/** A link of Markdown; undefined for an address that isn't one of a website. */
function linkOf(url: string): string | undefined {
  const address = URL.parse(url);
  return address?.protocol === 'https:' && !/[<>\s]/.test(address.href) ? `<${address.href}>` : undefined;
}
