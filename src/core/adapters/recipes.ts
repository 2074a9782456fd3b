import path from 'node:path';
import { isLora, isPath } from './fit.ts';
import { baseChangeOf, type AdapterConfig, type BaseChange } from './peftConfig.ts';
import type { AdapterReport, LoraPair } from './report.ts';
import { MODELFILE, PYTHON, pythonString, SH, WINDOWS, wslPath, type Language } from './shells.ts';

/** A program that loads adapters. */
export type Tool = 'peft' | 'vllm' | 'llamacpp' | 'ollama';

/** What a block of a recipe is for; its title follows from it. */
export type BlockPurpose =
  | 'install'
  | 'load'
  | 'load-and-run'
  | 'merge'
  | 'merge-first'
  | 'serve'
  | 'request'
  | 'convert'
  | 'run'
  | 'modelfile'
  | 'create';

export interface RecipeBlock {
  purpose: BlockPurpose;
  /** For one purpose there may be one for PowerShell and one for cmd: alternatives. */
  language: Language['name'];
  text: string;
  /** Words in the text that the user has to replace, such as `BASE_MODEL`. */
  placeholders: readonly string[];
}

/** A fact about an adapter and a tool that stops people. */
export type RecipeNote =
  | 'not-lora'
  | 'config-missing'
  /** The commands generate text, and the adapter is for another task. */
  | 'other-task'
  /** The config has no task, or an unknown one: generating text is assumed. */
  | 'task-assumed'
  /** `layer_replication`: the layers are not those of the base's files. */
  | 'layers-repeated'
  /** It acts only after its invocation tokens, and cannot be merged. */
  | 'alora'
  /** No tool can make the base that the adapter needs. */
  | 'base-change-lost'
  /** The base was changed for training, and the tool loads it as published. */
  | 'base-changed'
  /** The base was changed for training, and PEFT repeats that. */
  | 'base-repeated'
  | 'saved-modules'
  | 'dora'
  | 'bias'
  /** `fan_in_fan_out`: the converter transposes the adapter with the base's weights. */
  | 'fan-in-fan-out'
  | 'rank-too-large'
  /** The tool scales by alpha / rank, and no one correction is right for all modules. */
  | 'scale-varies'
  /** The command corrects the scale. */
  | 'scale-corrected'
  /** vLLM runs on Linux. */
  | 'needs-wsl'
  /** Requests choose the adapter by its name as `model`; otherwise the base answers. */
  | 'model-name'
  /** Ollama loads one merged model. */
  | 'merged-first'
  | 'base-unknown'
  /** Other models may load it as well. */
  | 'same-base'
  | 'same-template'
  /** It changes embeddings, whose rows are those of one tokenizer. */
  | 'same-tokenizer'
  | 'ollama-template';

/** Commands that load the adapter with one tool. */
export interface Recipe {
  tool: Tool;
  /** Why the tool cannot load it. */
  refusal?: RecipeNote;
  /** To read before the commands. */
  warnings: readonly RecipeNote[];
  blocks: readonly RecipeBlock[];
  /** To know after them. */
  notes: readonly RecipeNote[];
}

/** How an adapter is used. */
export interface Recipes {
  /** To read before the commands of any tool: otherwise these work, but the model answers wrong. */
  notes: readonly RecipeNote[];
  tools: readonly Recipe[];
}

/** Where the unpacked adapter is, and for which system its commands are. */
export interface RecipePlace {
  /** Absolute path of the folder with `adapter_config.json`. */
  folder: string;
  /** As `process.platform`: commands are for a POSIX shell, on `win32` for PowerShell and for cmd. */
  platform: string;
  /** What the adapter is called where a tool needs a name; the folder's name by default. */
  name?: string;
}

interface Rule {
  note: RecipeNote;
  refuses?: readonly Tool[];
  warns?: readonly Tool[];
  notes?: readonly Tool[];
  /** It holds for all tools. */
  isGeneral?: boolean;
  /** Always, if undefined. */
  when?: (facts: Facts) => boolean;
}

const ALL: readonly Tool[] = ['peft', 'vllm', 'llamacpp', 'ollama'];
const NOT_PEFT = ALL.slice(1);
/** vllm-project/vllm vllm/lora/peft_helper.py: heads of classifiers are the only modules that may be fully saved. */
const VLLM_SAVED: readonly string[] = ['classifier', 'score'];

/** The first rule that refuses is the reason: those that merging with PEFT does not solve come first. */
const RULES: readonly Rule[] = [
  { note: 'same-base', isGeneral: true },
  { note: 'same-template', isGeneral: true, when: generatesText },
  { note: 'same-tokenizer', isGeneral: true, when: ({ weights }) => weights?.hasEmbedding === true },
  { note: 'not-lora', refuses: NOT_PEFT, when: ({ config }) => config !== undefined && !isLora(config) },
  { note: 'config-missing', refuses: ALL, when: ({ config }) => config === undefined },
  { note: 'other-task', refuses: NOT_PEFT, when: (facts) => !generatesText(facts) },
  { note: 'layers-repeated', refuses: NOT_PEFT, when: ({ config }) => config?.repeatsLayers === true },
  {
    note: 'alora',
    refuses: ['vllm', 'ollama'],
    warns: ['peft', 'llamacpp'],
    when: ({ config }) => config?.isAlora === true,
  },
  { note: 'base-change-lost', refuses: ALL, when: ({ change }) => change === 'lost' },
  { note: 'base-changed', refuses: ['vllm', 'llamacpp'], when: isChangedByPeft },
  { note: 'base-repeated', warns: ['peft', 'ollama'], when: isChangedByPeft },
  { note: 'rank-too-large', refuses: ['vllm'], when: ({ vllmRank }) => vllmRank === undefined },
  {
    note: 'saved-modules',
    refuses: ['vllm'],
    when: ({ config, weights }) =>
      [...(config?.modulesToSave ?? []), ...(weights?.savedModules ?? [])].some(
        (name) => !VLLM_SAVED.includes(name.slice(name.lastIndexOf('.') + 1)),
      ),
  },
  {
    note: 'saved-modules',
    refuses: ['llamacpp'],
    when: ({ weights }) => weights !== undefined && weights.savedModules.length > 0,
  },
  {
    note: 'dora',
    refuses: ['vllm', 'llamacpp'],
    when: ({ config, pairs }) => config?.useDora === true || pairs.some(({ hasMagnitude }) => hasMagnitude),
  },
  {
    note: 'bias',
    refuses: ['vllm', 'llamacpp'],
    when: ({ config, weights }) => weights?.hasBias === true || config?.loraBias === true,
  },
  { note: 'bias', refuses: ['vllm'], when: ({ config }) => config !== undefined && config.bias !== 'none' },
  { note: 'fan-in-fan-out', refuses: ['llamacpp'], when: ({ config }) => config?.fanInFanOut === true },
  { note: 'scale-varies', refuses: ['llamacpp'], when: ({ correction }) => correction === 'none' },
  {
    note: 'scale-corrected',
    warns: ['llamacpp'],
    when: ({ correction }) => correction !== 'none' && correction !== 1,
  },
  {
    note: 'task-assumed',
    warns: ['peft'],
    when: ({ config, isAssumed }) => config !== undefined && isAssumed,
  },
  { note: 'needs-wsl', warns: ['vllm'], when: ({ isWindows }) => isWindows },
  { note: 'merged-first', notes: ['ollama'] },
  { note: 'model-name', notes: ['vllm'] },
  { note: 'base-unknown', notes: ALL, when: ({ isBaseKnown }) => !isBaseKnown },
  { note: 'ollama-template', notes: ['ollama'] },
];

/** A template of a block. `{name}` becomes that value of `Facts`; a line whose value is undefined is left out. */
interface Command {
  purpose: BlockPurpose;
  /** `shell` is that of the platform. */
  in: 'shell' | 'sh' | 'python' | 'modelfile';
  /** The value whose folder it runs in. */
  at?: 'folder' | 'merged';
  lines: readonly string[];
  when?: (facts: Facts) => boolean;
}

/** The tasks of huggingface/peft src/peft/auto.py, with their classes of huggingface/transformers docs model_doc/auto.md. */
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
const LOAD: readonly string[] = [
  'tokenizer = AutoTokenizer.from_pretrained({base}{=revision})',
  'model = PeftModel.from_pretrained(base, {folder})',
];
const IMPORT: readonly string[] = [
  'from peft import PeftModel',
  'from transformers import {=class}, AutoTokenizer',
  '',
];
const LOAD_FOR_USE: readonly string[] = [
  ...IMPORT,
  'base = {=class}.from_pretrained({base}{=revision}{=labels}, dtype="auto", device_map="auto")',
  ...LOAD,
  'model.eval()',
];
const MERGE: readonly string[] = [
  'merged = model.merge_and_unload()',
  'merged.save_pretrained({merged})',
  'tokenizer.save_pretrained({merged})',
];

/**
 * PEFT: huggingface/transformers docs/source/en/peft.md, huggingface/peft docs/source/quicktour.md and package_reference/lora
 * ("Merge LoRA weights into the base model"). vLLM: vllm-project/vllm docs/features/lora.md. llama.cpp: ggml-org/llama.cpp
 * convert_lora_to_gguf.py, convert_hf_to_gguf.py, tools/server/README.md (`--lora-scaled` takes lists, so commas and colons
 * end a name: it runs beside the file). Ollama: ollama/ollama docs/import.mdx; it refuses ADAPTER, so the adapter is merged.
 */
const COMMANDS: Readonly<Record<Tool, readonly Command[]>> = {
  peft: [
    {
      purpose: 'install',
      in: 'shell',
      lines: ['{=python} -m pip install -U peft transformers accelerate{=quantizer}'],
    },
    { purpose: 'load', in: 'python', lines: LOAD_FOR_USE, when: (facts) => !generatesText(facts) },
    { purpose: 'load-and-run', in: 'python', lines: [...LOAD_FOR_USE, GENERATE], when: generatesText },
    {
      purpose: 'merge',
      in: 'python',
      lines: MERGE,
      // What acts on some tokens only cannot be merged, repeated layers share their weights, and of other types not all can.
      when: ({ config }) =>
        config?.peftType?.toUpperCase() === 'LORA' && !config.isAlora && !config.repeatsLayers,
    },
  ],
  vllm: [
    {
      purpose: 'serve',
      in: 'sh',
      lines: [
        'vllm serve {base}',
        '--revision {revision}',
        '--enable-lora',
        '--max-lora-rank {=maxRank}',
        '--lora-modules {loraModule}',
      ],
    },
    {
      purpose: 'request',
      in: 'sh',
      lines: [
        'curl http://localhost:8000/v1/chat/completions',
        '-H "Content-Type: application/json"',
        '-d \'{"model":"{=name}","messages":[{"role":"user","content":"PROMPT"}]}\'',
      ],
    },
  ],
  llamacpp: [
    {
      purpose: 'install',
      in: 'shell',
      lines: ['{=python} -m pip install -r "LLAMA_CPP/requirements/requirements-convert_lora_to_gguf.txt"'],
    },
    {
      purpose: 'convert',
      in: 'shell',
      lines: [
        '{=python} "LLAMA_CPP/convert_lora_to_gguf.py"',
        '--base-model-id {base}',
        '--outtype f16',
        '--outfile {gguf}',
        '{folder}',
      ],
    },
    {
      purpose: 'run',
      in: 'shell',
      at: 'folder',
      lines: ['llama-server -m "BASE.gguf"', '--lora {lora}', '--lora-scaled {scaledLora}'],
    },
  ],
  ollama: [
    {
      purpose: 'install',
      in: 'shell',
      lines: [
        '{=python} -m pip install peft accelerate{=quantizer} -r "LLAMA_CPP/requirements/requirements-convert_hf_to_gguf.txt"',
      ],
    },
    {
      purpose: 'merge-first',
      in: 'python',
      lines: [
        ...IMPORT,
        'base = {=class}.from_pretrained({base}{=revision}, dtype="auto")',
        ...LOAD,
        '',
        ...MERGE,
      ],
    },
    {
      purpose: 'convert',
      in: 'shell',
      lines: [
        '{=python} "LLAMA_CPP/convert_hf_to_gguf.py"',
        '--outtype f16',
        '--outfile {mergedGguf}',
        '{merged}',
      ],
    },
    { purpose: 'modelfile', in: 'modelfile', lines: ['FROM ./model.gguf'] },
    { purpose: 'create', in: 'shell', at: 'merged', lines: ['ollama create {=model} -f Modelfile'] },
    { purpose: 'run', in: 'shell', lines: ['ollama run {=model}'] },
  ],
};

const HOLE = /\{(=?)(\w+)\}/g;
const BASE_MODEL = 'BASE_MODEL';
const PLACEHOLDERS: readonly string[] = [BASE_MODEL, 'NUM_LABELS', 'PROMPT', 'LLAMA_CPP', 'BASE.gguf'];
/** vllm/config/lora.py, `MaxLoRARanks`, without 1, which not all versions have; and the default of `max_lora_rank`. */
const VLLM_RANKS: readonly number[] = [8, 16, 32, 64, 128, 256, 320, 512];
const VLLM_DEFAULT_RANK = 16;

/** What rules and commands need to know. */
interface Facts {
  config: AdapterConfig | undefined;
  weights: AdapterReport['weights'];
  pairs: readonly LoraPair[];
  task: string;
  /** The config has no task, or an unknown one. */
  isAssumed: boolean;
  change: BaseChange | undefined;
  correction: number | 'none';
  /** The smallest that is enough; undefined where none is. */
  vllmRank: number | undefined;
  isWindows: boolean;
  isBaseKnown: boolean;
  /** Values that are quoted. */
  words: Readonly<Record<string, string | undefined>>;
  /** Values that are inserted unchanged, as `{=name}`. */
  texts: Readonly<Record<string, string | undefined>>;
}

/** Commands that load an adapter with PEFT, vLLM, llama.cpp and Ollama. Paths are quoted for the shells of the platform. */
export function recipesOf(report: AdapterReport, place: RecipePlace): Recipes {
  const facts = factsOf(report, place);
  const rules = RULES.filter(({ when }) => when?.(facts) ?? true);
  const tools = ALL.map((tool) => {
    const refusal = rules.find(({ refuses }) => refuses?.includes(tool))?.note;
    return {
      tool,
      ...(refusal === undefined ? {} : { refusal }),
      warnings: rules.filter(({ warns }) => warns?.includes(tool)).map(({ note }) => note),
      blocks: COMMANDS[tool]
        .filter(({ when }) => when?.(facts) ?? true)
        .flatMap((one) => blocksOf(one, facts)),
      notes: rules.filter(({ notes }) => notes?.includes(tool)).map(({ note }) => note),
    };
  });
  return { notes: rules.filter(({ isGeneral }) => isGeneral).map(({ note }) => note), tools };
}

function factsOf({ config, weights }: AdapterReport, place: RecipePlace): Facts {
  const isWindows = place.platform === 'win32';
  const paths = isWindows ? path.win32 : path.posix;
  const { folder } = place;
  const merged = `${folder.replace(/[\\/]$/, '')}-merged`;
  const name = nameOf(place);
  const { baseModel = '', revision = '' } = config ?? {};
  const isBaseKnown = isPlain(baseModel) && !isPath(baseModel);
  const knownRevision = isBaseKnown && isPlain(revision) ? revision : undefined;
  const taskType = config?.taskType?.toUpperCase() ?? '';
  const isAssumed = !Object.hasOwn(CLASSES, taskType);
  const task = isAssumed ? 'CAUSAL_LM' : taskType;
  const change = config && baseChangeOf(config);
  const pairs = weights?.pairs ?? [];
  const correction = scaleCorrection(config, pairs);
  // vLLM compares all ranks that the config has, even if no module has them.
  const ranks = [weights?.maxRank ?? 0, config?.rank ?? 0, ...Object.values(config?.rankPattern ?? {})];
  const rank = ranks.reduce((most, one) => Math.max(most, one), 0);
  const vllmRank = VLLM_RANKS.find((allowed) => allowed >= rank);
  return {
    config,
    weights,
    pairs,
    task,
    isAssumed,
    change,
    correction,
    vllmRank,
    isWindows,
    isBaseKnown,
    words: {
      base: isBaseKnown ? baseModel : BASE_MODEL,
      revision: knownRevision,
      folder,
      merged,
      gguf: paths.join(folder, 'adapter.gguf'),
      mergedGguf: paths.join(merged, 'model.gguf'),
      loraModule: loraModule(name, isWindows ? wslPath(folder) : folder),
      ...(correction === 1 || correction === 'none'
        ? { lora: 'adapter.gguf' }
        : { scaledLora: `adapter.gguf:${correction}` }),
    },
    texts: {
      name,
      model: name.toLowerCase(),
      // Without an environment many systems have no `python`, and Windows has no `python3`.
      python: isWindows ? 'python' : 'python3',
      quantizer: change === 'quantized' ? ' bitsandbytes scipy' : '',
      class: CLASSES[task],
      labels:
        task === 'SEQ_CLS' || task === 'TOKEN_CLS' ? `, num_labels=${weights?.labels ?? 'NUM_LABELS'}` : '',
      revision: knownRevision === undefined ? '' : `, revision=${pythonString(knownRevision)}`,
      maxRank: rank > VLLM_DEFAULT_RANK ? vllmRank?.toString() : undefined,
    },
  };
}

/** The short form is read as such only without a comma, and is cut at each equals sign. */
function loraModule(name: string, folder: string): string {
  return /[=,]/.test(folder) ? JSON.stringify({ name, path: folder }) : `${name}=${folder}`;
}

/** As names on a hub are: no option, and nothing that a shell or Python reads otherwise. */
function isPlain(name: string): boolean {
  return /^\w[\w./-]*$/.test(name);
}

function generatesText({ task }: Facts): boolean {
  return task === 'CAUSAL_LM';
}

function isChangedByPeft({ change }: Facts): boolean {
  return change === 'repeated' || change === 'quantized';
}

function nameOf({ folder, name }: RecipePlace): string {
  const text = name ?? folder.split(/[\\/]/).findLast((part) => part !== '') ?? '';
  const plain = text
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|(?<![^A-Za-z0-9])[^A-Za-z0-9]+$/g, '');
  return plain === '' ? 'adapter' : plain.slice(0, 64);
}

/**
 * What the scale of a tool that takes one alpha for all, and alpha / rank, must be multiplied by to be that of training: other
 * alphas (`alpha_pattern`) and rsLoRA (alpha / √rank) need it. 'none' where no one number is right for all modules.
 */
function scaleCorrection(config: AdapterConfig | undefined, pairs: readonly LoraPair[]): number | 'none' {
  if (config?.alpha === undefined) return 1;
  const common = config.alpha;
  // The tool reads 0 as none given, so there is nothing to multiply.
  if (common === 0) return pairs.every(({ alpha }) => alpha === 0) ? 1 : 'none';
  const corrections = new Set(
    pairs.map(({ alpha = NaN, rank }) =>
      Number(((alpha / common) * (config.useRslora ? Math.sqrt(Math.max(rank, 1)) : 1)).toFixed(6)),
    ),
  );
  const [only = 1] = corrections;
  return corrections.size > 1 || Number.isNaN(only) ? 'none' : only;
}

/** A block for each shell of the platform; one where they are the same. */
function blocksOf(command: Command, facts: Facts): RecipeBlock[] {
  const shells = facts.isWindows ? WINDOWS : [SH];
  const languages = { shell: shells, sh: [SH], python: [PYTHON], modelfile: [MODELFILE] }[command.in];
  const blocks = languages.map((language) => blockOf(command, facts, language));
  return blocks.every(({ text }) => text === blocks[0]?.text) ? blocks.slice(0, 1) : blocks;
}

function blockOf({ purpose, at, lines }: Command, { words, texts }: Facts, language: Language): RecipeBlock {
  const { name, quote, joint, cd } = language;
  const valueOf = (isText = '', key = '') => (isText === '' ? words : texts)[key];
  const complete = lines.filter((line) =>
    [...line.matchAll(HOLE)].every(([, isText, key]) => valueOf(isText, key) !== undefined),
  );
  const used = [...complete];
  const written = complete.map((line) =>
    line.replace(HOLE, (_, isText: string, key: string) => {
      const value = valueOf(isText, key) ?? '';
      if (isText !== '' || value === BASE_MODEL) used.push(value);
      return isText === '' ? quote(value) : value;
    }),
  );
  const folder = at && words[at];
  const enter = folder === undefined ? '' : `${cd} ${quote(folder)}\n`;
  return {
    purpose,
    language: name,
    text: enter + written.join(joint),
    placeholders: PLACEHOLDERS.filter((word) => used.some((text) => text.includes(word))),
  };
}
