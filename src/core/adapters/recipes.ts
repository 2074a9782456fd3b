import path from 'node:path';
import { isLora, isPath } from './fit.ts';
import { baseChangeOf, type AdapterConfig } from './peftConfig.ts';
import { POWERSHELL, pythonString, SH, wslPath, type Shell } from './quoting.ts';
import type { AdapterReport, LoraPair } from './report.ts';

const TOOLS = ['peft', 'vllm', 'llamacpp', 'ollama'] as const;
/** A program that loads adapters. */
export type Tool = (typeof TOOLS)[number];

/** The purpose of a block, which determines its title. */
export type BlockPurpose =
  | 'install'
  | 'load'
  | 'load-and-run'
  | 'merge'
  | 'serve'
  | 'request'
  | 'convert'
  | 'run'
  | 'modelfile'
  | 'create';

export interface RecipeBlock {
  purpose: BlockPurpose;
  shell?: 'PowerShell';
  text: string;
  /** Words in the text that the user must replace, such as `BASE_MODEL`. */
  placeholders: readonly string[];
}

/** Commands that load the adapter with one tool. */
export interface Recipe {
  tool: Tool;
  /** Why the tool cannot load it. */
  refusal?: RecipeNote;
  /** Shown before the commands. */
  warnings: readonly RecipeNote[];
  blocks: readonly RecipeBlock[];
  /** Shown after the commands. */
  notes: readonly RecipeNote[];
}

/** Instructions for loading an adapter. */
export interface Recipes {
  /** Shown before the commands of every tool: if ignored, the commands work but the model answers incorrectly. */
  notes: readonly RecipeNote[];
  tools: readonly Recipe[];
}

/** Where the unpacked adapter is, and the system that its commands are for. */
export interface RecipePlace {
  /** Absolute path of the folder with `adapter_config.json`. */
  folder: string;
  /** As in `process.platform`: `win32` gets PowerShell commands, all others POSIX shell commands. */
  platform: string;
}

/** The facts that rules and commands depend on. */
type Facts = ReturnType<typeof factsOf>;

interface Rule {
  refuses?: readonly Tool[];
  warns?: readonly Tool[];
  notes?: readonly Tool[];
  /** Applies to all tools. */
  isGeneral?: boolean;
  /** If undefined, the rule always applies. */
  when?: (facts: Facts, tool: Tool | undefined) => boolean | undefined;
}

const NOT_PEFT: readonly Tool[] = ['vllm', 'llamacpp', 'ollama'];
/** Tools that read the adapter's files directly; for Ollama it is merged with PEFT. */
const READERS: readonly Tool[] = ['vllm', 'llamacpp'];
/** The only modules that vLLM accepts fully saved: classifier heads (vllm-project/vllm vllm/lora/peft_helper.py). */
const VLLM_SAVED: readonly string[] = ['classifier', 'score'];

/**
 * Rules by ID. The first one that refuses is the reason shown, so rules that merging with PEFT doesn't solve
 * come first. Each has a sentence in `ui/adapters/adapterRecipes.ts`.
 */
const RULES = {
  /** Other models may load the adapter without an error. */
  'same-base': { isGeneral: true },
  'same-template': { isGeneral: true, when: generatesText },
  'not-lora': { refuses: NOT_PEFT, when: ({ config }) => config && !isLora(config) },
  'config-missing': { refuses: TOOLS, when: ({ config }) => config === undefined },
  'other-task': { refuses: NOT_PEFT, when: (facts) => !generatesText(facts) },
  /** The layers differ from those in the base model's files. */
  'layers-repeated': { refuses: NOT_PEFT, when: ({ config }) => config?.repeatsLayers },
  /** The adapter acts only after its invocation tokens and can't be merged. */
  alora: {
    refuses: ['vllm', 'ollama'],
    warns: ['peft', 'llamacpp'],
    when: ({ config }) => config?.isAlora,
  },
  /** No tool can recreate the base that the adapter needs. */
  'base-change-lost': { refuses: TOOLS, when: ({ change }) => change === 'lost' },
  /** The base was changed for training, but the tool loads it as published. */
  'base-changed': { refuses: READERS, when: isChangedByPeft },
  'base-repeated': { warns: ['peft', 'ollama'], when: isChangedByPeft },
  'rank-too-large': { refuses: ['vllm'], when: ({ vllmRank }) => vllmRank === undefined },
  'saved-modules': {
    refuses: READERS,
    when: ({ config, weights }, tool) => {
      const saved = weights?.savedModules ?? [];
      if (tool !== 'vllm') return saved.length > 0;
      const names = [...(config?.modulesToSave ?? []), ...saved];
      return names.some((name) => !VLLM_SAVED.includes(name.slice(name.lastIndexOf('.') + 1)));
    },
  },
  dora: {
    refuses: READERS,
    when: ({ config, pairs }) => config?.useDora === true || pairs.some(({ hasMagnitude }) => hasMagnitude),
  },
  bias: {
    refuses: READERS,
    when: ({ config, weights }, tool) =>
      weights?.hasBias === true ||
      config?.loraBias === true ||
      (tool === 'vllm' && (config?.bias ?? 'none') !== 'none'),
  },
  /** The tool scales by alpha / rank, and no single correction fits all modules. */
  'scale-varies': { refuses: ['llamacpp'], when: ({ correction }) => correction === 'none' },
  'scale-corrected': {
    warns: ['llamacpp'],
    when: ({ correction }) => correction !== 'none' && correction !== 1,
  },
  'task-assumed': { warns: ['peft'], when: ({ config, isAssumed }) => config && isAssumed },
  /** vLLM runs only on Linux. */
  'needs-wsl': { warns: ['vllm'], when: ({ isWindows }) => isWindows },
  /** Ollama loads one merged model. */
  'merged-first': { notes: ['ollama'] },
  /** Requests choose the adapter by its name as `model`; otherwise the base answers. */
  'model-name': { notes: ['vllm'] },
  'base-unknown': { notes: TOOLS, when: ({ base }) => base === BASE_MODEL },
  'ollama-template': { notes: ['ollama'] },
} satisfies Readonly<Record<string, Rule>>;

/** The ID of a rule that applies to an adapter and a tool. */
export type RecipeNote = keyof typeof RULES;

/** Tasks (huggingface/peft src/peft/auto.py) and their classes (huggingface/transformers docs model_doc/auto.md). */
const CLASSES: Readonly<Record<string, string>> = {
  CAUSAL_LM: 'AutoModelForCausalLM',
  SEQ_2_SEQ_LM: 'AutoModelForSeq2SeqLM',
  SEQ_CLS: 'AutoModelForSequenceClassification',
  TOKEN_CLS: 'AutoModelForTokenClassification',
  QUESTION_ANS: 'AutoModelForQuestionAnswering',
  FEATURE_EXTRACTION: 'AutoModel',
};
const GENERATE = `
messages = [{"role": "user", "content": "PROMPT"}]
inputs = tokenizer.apply_chat_template(
    messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
).to(model.device)
outputs = model.generate(**inputs, max_new_tokens=200)
print(tokenizer.decode(outputs[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True))`;

const BASE_MODEL = 'BASE_MODEL';
const PLACEHOLDERS: readonly string[] = [BASE_MODEL, 'NUM_LABELS', 'PROMPT', 'LLAMA_CPP', 'BASE.gguf'];
/** `MaxLoRARanks` in vllm/config/lora.py, without 1 (not in all versions), and the default of `max_lora_rank`. */
const VLLM_RANKS: readonly number[] = [8, 16, 32, 64, 128, 256, 320, 512];
const VLLM_DEFAULT_RANK = 16;

/** Returns commands that load an adapter in each tool, with paths quoted for the platform's shell. */
export function recipesOf(report: AdapterReport, place: RecipePlace): Recipes {
  const facts = factsOf(report, place);
  const blocks = blocksOf(facts);
  const notesOf = (isMeant: (rule: Rule) => boolean | undefined, tool?: Tool) =>
    (Object.entries(RULES) as [RecipeNote, Rule][])
      .filter(([, rule]) => isMeant(rule) && (rule.when?.(facts, tool) ?? rule.when === undefined))
      .map(([note]) => note);
  const tools = TOOLS.map((tool): Recipe => {
    const by = (how: 'refuses' | 'warns' | 'notes') => notesOf((rule) => rule[how]?.includes(tool), tool);
    const [refusal] = by('refuses');
    return {
      tool,
      ...(refusal !== undefined && { refusal }),
      warnings: by('warns'),
      blocks: blocks[tool],
      notes: by('notes'),
    };
  });
  return { notes: notesOf(({ isGeneral }) => isGeneral), tools };
}

function factsOf({ config, weights }: AdapterReport, { folder, platform }: RecipePlace) {
  const { baseModel = '', revision = '', taskType = '' } = config ?? {};
  const isBaseKnown = isPlain(baseModel) && !isPath(baseModel);
  const isAssumed = !Object.hasOwn(CLASSES, taskType.toUpperCase());
  const pairs = weights?.pairs ?? [];
  // vLLM checks all ranks in the config, even those that no module uses.
  const ranks = [weights?.maxRank ?? 0, config?.rank ?? 0, ...Object.values(config?.rankPattern ?? {})];
  const rank = ranks.reduce((most, one) => Math.max(most, one), 0);
  return {
    config,
    weights,
    pairs,
    folder,
    isWindows: platform === 'win32',
    task: isAssumed ? 'CAUSAL_LM' : taskType.toUpperCase(),
    /** The config has no known task, so text generation is assumed. */
    isAssumed,
    base: isBaseKnown ? baseModel : BASE_MODEL,
    revision: isBaseKnown && isPlain(revision) ? revision : undefined,
    /** PEFT refuses embeddings that have another number of rows than the base. */
    tokens: weights?.embeddingRows,
    change: config && baseChangeOf(config),
    correction: scaleCorrection(config, pairs),
    rank,
    /** The smallest sufficient value; undefined if there is none. */
    vllmRank: VLLM_RANKS.find((allowed) => allowed >= rank),
  };
}

/**
 * A table, whatever its length: what each tool is given stands in one place, with its source.
 * PEFT: huggingface/transformers docs/source/en/peft.md, huggingface/peft docs/source/quicktour.md and
 * package_reference/lora ("Merge LoRA weights into the base model"). vLLM: vllm-project/vllm docs/features/lora.md.
 * llama.cpp: ggml-org/llama.cpp convert_lora_to_gguf.py, convert_hf_to_gguf.py, tools/server/README.md; in
 * `--lora-scaled`, commas and colons end a file name, so the command runs in the adapter's folder.
 * Ollama: ollama/ollama docs/import.mdx; it refuses ADAPTER, so the adapter is merged.
 */
function blocksOf(facts: Facts): Readonly<Record<Tool, readonly RecipeBlock[]>> {
  const { config, folder, isWindows, task, base, tokens, revision, change, correction, rank, vllmRank } =
    facts;
  const paths = isWindows ? path.win32 : path.posix;
  const own = isWindows ? POWERSHELL : SH;
  const { quote } = own;
  const shell = (purpose: BlockPurpose, lines: readonly Line[], at?: string) => ({
    ...block(purpose, command(own, lines, at)),
    ...(isWindows && { shell: 'PowerShell' as const }),
  });
  const sh = (purpose: BlockPurpose, lines: readonly Line[]) => block(purpose, command(SH, lines));
  const python = (purpose: BlockPurpose, lines: readonly string[]) => block(purpose, lines.join('\n'));

  // Outside a virtual environment, many systems have no `python`; Windows has no `python3`.
  const interpreter = isWindows ? 'python' : 'python3';
  const quantizer = change === 'quantized' ? ' bitsandbytes scipy' : '';
  const merged = `${folder.replace(/[\\/]$/, '')}-merged`;
  const name = nameOf(folder);
  const ofRevision = revision === undefined ? '' : `, revision=${pythonString(revision)}`;
  const isClassifier = task === 'SEQ_CLS' || task === 'TOKEN_CLS';
  const labels = isClassifier ? ', num_labels=NUM_LABELS' : '';
  const loading = (options: string) => [
    'from peft import PeftModel',
    `from transformers import ${CLASSES[task]}, AutoTokenizer`,
    '',
    `base = ${CLASSES[task]}.from_pretrained(${pythonString(base)}${ofRevision}${options})`,
    ...(tokens === undefined ? [] : [`base.resize_token_embeddings(${tokens})`]),
    `tokenizer = AutoTokenizer.from_pretrained(${pythonString(base)}${ofRevision})`,
    `model = PeftModel.from_pretrained(base, ${pythonString(folder)})`,
  ];
  const loadForUse = [...loading(`${labels}, dtype="auto", device_map="auto"`), 'model.eval()'];
  const merge = [
    'merged = model.merge_and_unload()',
    `merged.save_pretrained(${pythonString(merged)})`,
    `tokenizer.save_pretrained(${pythonString(merged)})`,
  ];
  // aLoRA acts on some tokens only, repeated layers share weights, and not all other types can be merged.
  const isMergeable = config?.peftType?.toUpperCase() === 'LORA' && !config.isAlora && !config.repeatsLayers;
  const isScaled = correction !== 1 && correction !== 'none';

  return {
    peft: [
      shell('install', [`${interpreter} -m pip install -U peft transformers accelerate${quantizer}`]),
      generatesText(facts) ? python('load-and-run', [...loadForUse, GENERATE]) : python('load', loadForUse),
      ...(isMergeable ? [python('merge', merge)] : []),
    ],
    vllm: [
      sh('serve', [
        `vllm serve ${SH.quote(base)}`,
        revision !== undefined && `--revision ${SH.quote(revision)}`,
        '--enable-lora',
        rank > VLLM_DEFAULT_RANK && vllmRank !== undefined && `--max-lora-rank ${vllmRank}`,
        `--lora-modules ${SH.quote(loraModule(name, isWindows ? wslPath(folder) : folder))}`,
      ]),
      sh('request', [
        'curl http://localhost:8000/v1/chat/completions',
        '-H "Content-Type: application/json"',
        `-d '{"model":"${name}","messages":[{"role":"user","content":"PROMPT"}]}'`,
      ]),
    ],
    llamacpp: [
      shell('install', [
        `${interpreter} -m pip install -r "LLAMA_CPP/requirements/requirements-convert_lora_to_gguf.txt"`,
      ]),
      shell('convert', [
        `${interpreter} "LLAMA_CPP/convert_lora_to_gguf.py"`,
        `--base-model-id ${quote(base)}`,
        '--outtype f16',
        `--outfile ${quote(paths.join(folder, 'adapter.gguf'))}`,
        quote(folder),
      ]),
      shell(
        'run',
        [
          'llama-server -m "BASE.gguf"',
          isScaled ? `--lora-scaled ${quote(`adapter.gguf:${correction}`)}` : '--lora adapter.gguf',
        ],
        folder,
      ),
    ],
    ollama: [
      shell('install', [
        `${interpreter} -m pip install peft accelerate${quantizer} -r "LLAMA_CPP/requirements/requirements-convert_hf_to_gguf.txt"`,
      ]),
      python('merge', [...loading(', dtype="auto"'), '', ...merge]),
      shell('convert', [
        `${interpreter} "LLAMA_CPP/convert_hf_to_gguf.py"`,
        '--outtype f16',
        `--outfile ${quote(paths.join(merged, 'model.gguf'))}`,
        quote(merged),
      ]),
      block('modelfile', 'FROM ./model.gguf'),
      shell('create', [`ollama create ${name.toLowerCase()} -f Modelfile`], merged),
      shell('run', [`ollama run ${name.toLowerCase()}`]),
    ],
  };
}

/** A part of a command; `false` is left out. */
type Line = string | false;

/** @param at the working folder */
function command({ quote, joint, cd }: Shell, lines: readonly Line[], at?: string): string {
  const text = lines.filter((line) => line !== false).join(joint);
  return at === undefined ? text : `${cd} ${quote(at)}\n${text}`;
}

function block(purpose: BlockPurpose, text: string): RecipeBlock {
  return { purpose, text, placeholders: PLACEHOLDERS.filter((word) => text.includes(word)) };
}

/** The short form of `--lora-modules` can't contain commas and is split at each equals sign. */
function loraModule(name: string, folder: string): string {
  return /[=,]/.test(folder) ? JSON.stringify({ name, path: folder }) : `${name}=${folder}`;
}

/** Whether a name needs no quoting: not an option, and nothing special to a shell or Python. */
function isPlain(name: string): boolean {
  return /^\w[\w./-]*$/.test(name);
}

function generatesText({ task }: { task: string }): boolean {
  return task === 'CAUSAL_LM';
}

function isChangedByPeft({ change }: Pick<Facts, 'change'>): boolean {
  return change === 'repeated' || change === 'quantized';
}

/** Returns a name for the adapter, derived from its folder. */
function nameOf(folder: string): string {
  const text = folder.split(/[\\/]/).findLast((part) => part !== '') ?? '';
  const plain = text
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|(?<![^A-Za-z0-9])[^A-Za-z0-9]+$/g, '');
  return plain === '' ? 'adapter' : plain.slice(0, 64);
}

/**
 * Returns the factor for a tool that scales every module by one alpha / rank. It isn't 1 with rsLoRA
 * (alpha / √rank) or with another alpha (`alpha_pattern`); 'none' if no single factor fits all modules.
 */
function scaleCorrection(config: AdapterConfig | undefined, pairs: readonly LoraPair[]): number | 'none' {
  if (config?.alpha === undefined) return 1;
  const common = config.alpha;
  // The tool treats 0 as missing, so there is nothing to multiply.
  if (common === 0) return pairs.every(({ alpha }) => alpha === 0) ? 1 : 'none';
  const corrections = new Set(
    pairs.map(({ alpha = NaN, rank }) =>
      Number(((alpha / common) * (config.useRslora ? Math.sqrt(Math.max(rank, 1)) : 1)).toFixed(6)),
    ),
  );
  const [only = 1] = corrections;
  return corrections.size > 1 || Number.isNaN(only) ? 'none' : only;
}
