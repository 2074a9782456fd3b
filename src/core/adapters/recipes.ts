import path from 'node:path';
import { answersName, compareScripts, HOLD_OUT } from './compareRecipe.ts';
import { jsonText, POWERSHELL, pythonString, SH, wslPath, type Shell } from './quoting.ts';
import {
  canCompare,
  factsOf,
  generatesText,
  adapterNameOf,
  repositoryOf,
  SYSTEM_MESSAGE,
  VLLM_DEFAULT_RANK,
  type RecipeFacts,
  type AdapterOnDisk,
} from './recipeFacts.ts';
import { LOADERS, RULES, type Rule, type Tool } from './recipeRules.ts';
import type { AdapterReport } from './report.ts';
import type { NameRow } from './tensorNames.ts';

export type { Tool } from './recipeRules.ts';
export type { SystemMessage } from './recipeFacts.ts';

/** The ID of a rule that applies to an adapter and a tool. */
export type RecipeNote = keyof typeof RULES;

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
  | 'create'
  | 'compare'
  | 'rename'
  | 'fuse'
  | 'hub-login'
  | 'hub-upload';

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
  /** None if no tool loads the adapter. */
  tools: readonly Recipe[];
  /** Commands that turn a rejected adapter into one, or into a model, that tools load. */
  mend: readonly RecipeBlock[];
  /** Name of the file of answers that the comparing scripts write. */
  answers: string;
  /** Commands that publish it on the Hugging Face Hub. */
  hub: readonly RecipeBlock[];
}

const generate = (system: string | undefined) => `
messages = [${system === undefined ? '' : `{"role": "system", "content": ${pythonString(system)}}, `}{"role": "user", "content": "PROMPT"}]
inputs = tokenizer.apply_chat_template(
    messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
).to(model.device)
outputs = model.generate(**inputs, max_new_tokens=200)
print(tokenizer.decode(outputs[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True))`;

/** In the order in which they are named. */
const PLACEHOLDERS: readonly string[] =
  `BASE_MODEL BASE_MODEL_16BIT BASE_REVISION NUM_LABELS PROMPT ${SYSTEM_MESSAGE} LLAMA_CPP BASE.gguf ${HOLD_OUT} USERNAME`.split(
    ' ',
  );

/** Returns commands that load an adapter in each tool, with paths quoted for the platform's shell. */
export function recipesOf(report: AdapterReport, place: AdapterOnDisk): Recipes {
  const facts = factsOf(report, place);
  const blocks = blocksOf(facts);
  const notesOf = (isMeant: (rule: Rule) => boolean | undefined, tool?: Tool) =>
    (Object.entries(RULES) as [RecipeNote, Rule][])
      .filter(([, rule]) => isMeant(rule) && (rule.when?.(facts, tool) ?? rule.when === undefined))
      .map(([note]) => note);
  const tools = (facts.isRejected ? [] : LOADERS).map((tool): Recipe => {
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
  const { folder, holdOut = HOLD_OUT, isWindows } = facts;
  const answers = answersName((isWindows ? path.win32 : path.posix).basename(holdOut), adapterNameOf(folder));
  const { mend, hub } = blocks;
  return facts.isRejected
    ? { notes: [], tools, mend, answers, hub: [] }
    : { notes: notesOf(({ isGeneral }) => isGeneral), tools, mend: [], answers, hub };
}

/**
 * This table may have any length: everything that a tool gets is in one place, with its source.
 * - PEFT: huggingface/transformers docs/source/en/peft.md, huggingface/peft docs/source/quicktour.md and
 *   package_reference/lora ("Merge LoRA weights into the base model").
 * - vLLM: vllm-project/vllm docs/features/lora.md.
 * - llama.cpp: ggml-org/llama.cpp convert_lora_to_gguf.py, convert_hf_to_gguf.py, tools/server/README.md. In
 *   `--lora-scaled`, commas and colons end a file name, so the command runs in the adapter's folder.
 * - Ollama: ollama/ollama docs/import.mdx. It refuses ADAPTER, so the adapter is merged.
 */
function blocksOf(facts: RecipeFacts): Readonly<Record<Tool | 'mend' | 'hub', readonly RecipeBlock[]>> {
  const { config, folder, holdOut, isWindows, task, loader, kind, base, mergeBase } = facts;
  const { run, tokens, revision, change, correction, rank, system, vllmRank } = facts;
  const paths = isWindows ? path.win32 : path.posix;
  const own = isWindows ? POWERSHELL : SH;
  const { quote } = own;
  const shell = (purpose: BlockPurpose, lines: readonly Line[], at?: string) => ({
    ...block(purpose, command(own, lines, at)),
    ...(isWindows && { shell: 'PowerShell' as const }),
  });
  const sh = (purpose: BlockPurpose, lines: readonly Line[]) => block(purpose, command(SH, lines));
  const python = (purpose: BlockPurpose, lines: readonly string[]) => block(purpose, lines.join('\n'));

  /** The words of a dataset's system message aren't placeholders. */
  const asking = (make: (message: string | undefined) => RecipeBlock): RecipeBlock => ({
    ...make(system),
    placeholders: make(system === SYSTEM_MESSAGE ? system : undefined).placeholders,
  });

  // Outside a virtual environment, many systems have no `python`; Windows has no `python3`.
  const interpreter = isWindows ? 'python' : 'python3';
  const quantizer = change === 'quantized' ? ' bitsandbytes scipy' : '';
  const packages = quantizer.includes(kind.packages) ? quantizer : `${kind.packages}${quantizer}`;
  const beside = (ending: string) => `${folder.replace(/[\\/]$/, '')}-${ending}`;
  const merged = beside('merged');
  const name = adapterNameOf(folder);
  const revisionArgument = revision === undefined ? '' : `, revision=${pythonString(revision)}`;
  const isClassifier = task === 'SEQ_CLS' || task === 'TOKEN_CLS';
  const labels = isClassifier ? ', num_labels=NUM_LABELS' : '';
  const loading = (options: string, from = base) => [
    'from peft import PeftModel',
    `from transformers import ${loader}, AutoTokenizer`,
    '',
    `base = ${loader}.from_pretrained(${pythonString(from)}${from === base ? revisionArgument : ''}${options})`,
    ...(tokens === undefined ? [] : [`base.resize_token_embeddings(${tokens})`]),
    `tokenizer = AutoTokenizer.from_pretrained(${pythonString(from)}${from === base ? revisionArgument : ''})`,
    `model = PeftModel.from_pretrained(base, ${pythonString(folder)})`,
  ];
  const loadForUse = [...loading(`${labels}, dtype="auto", device_map="auto"`), 'model.eval()'];
  const merging = (isAlone: boolean) => [
    ...(isAlone ? [...loading(`${labels}, dtype="auto"`, mergeBase), ''] : []),
    'merged = model.merge_and_unload()',
    `merged.save_pretrained(${pythonString(merged)})`,
    `tokenizer.save_pretrained(${pythonString(merged)})`,
  ];
  // aLoRA acts on some tokens, repeated layers share weights, biases may have no place. Other types vary.
  const isMergeable =
    config?.peftType?.toUpperCase() === 'LORA' &&
    !(config.isAlora || config.repeatsLayers || config.loraBias);
  const isScaled = correction !== 1 && correction !== 'none';
  const scripts = compareScripts({
    ...{ base, name, run, loading: loading(', dtype="auto", device_map="auto"') },
    scale: correction === 'none' ? 1 : correction,
    holdOut: { here: holdOut, vllm: holdOut !== undefined && isWindows ? wslPath(holdOut) : holdOut },
  });
  const compare = (tool: keyof typeof scripts) =>
    canCompare(facts) ? [python('compare', scripts[tool])] : [];

  return {
    peft: [
      shell('install', [`${interpreter} -m pip install -U peft transformers accelerate${packages}`]),
      generatesText(facts)
        ? asking((message) => python('load-and-run', [...loadForUse, generate(message)]))
        : python('load', loadForUse),
      ...(isMergeable ? [python('merge', merging(mergeBase !== base))] : []),
      ...compare('peft'),
    ],
    vllm: [
      sh('serve', [
        `vllm serve ${SH.quote(base)}`,
        revision !== undefined && `--revision ${SH.quote(revision)}`,
        '--enable-lora',
        rank > VLLM_DEFAULT_RANK && vllmRank !== undefined && `--max-lora-rank ${vllmRank}`,
        `--lora-modules ${SH.quote(loraModule(name, isWindows ? wslPath(folder) : folder))}`,
      ]),
      asking((message) =>
        sh('request', [
          'curl http://localhost:8000/v1/chat/completions',
          '-H "Content-Type: application/json"',
          `-d ${SH.quote(jsonText({ model: name, messages: messagesOf(message) }))}`,
        ]),
      ),
      ...compare('vllm'),
    ],
    llamacpp: [
      shell('install', [
        `${interpreter} -m pip install -U -r "LLAMA_CPP/requirements/requirements-convert_lora_to_gguf.txt"`,
      ]),
      shell('convert', [
        `${interpreter} "LLAMA_CPP/convert_lora_to_gguf.py"`,
        `--base-model-id ${quote(mergeBase)}`,
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
      ...compare('llamacpp'),
    ],
    ollama: [
      shell('install', [
        `${interpreter} -m pip install -U peft accelerate${quantizer} -r "LLAMA_CPP/requirements/requirements-convert_hf_to_gguf.txt"`,
      ]),
      python('merge', merging(true)),
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
    mend: facts.isMlx
      ? [
          shell('install', [`${interpreter} -m pip install -U mlx-lm`]),
          shell('fuse', [
            `mlx_lm fuse --model ${quote(base)}`,
            `--adapter-path ${quote(folder)}`,
            `--save-path ${quote(beside('fused'))}`,
          ]),
        ]
      : facts.renames === undefined
        ? []
        : [
            shell('install', [`${interpreter} -m pip install -U safetensors torch`]),
            python('rename', renaming(facts.renames, folder, beside('renamed'))),
          ],
    // huggingface/huggingface_hub docs/source/en/guides/cli.md. The login would read a command that is pasted with it.
    hub: [
      shell('hub-login', ['hf auth login']),
      shell('hub-upload', [
        `hf upload ${repositoryOf(folder)} ${quote(folder)} .`,
        '--private',
        '--include adapter_config.json',
        '--include adapter_model.safetensors',
        '--include README.md',
      ]),
    ],
  };
}

/**
 * Python that writes the adapter with mended names to a new folder: at most 15 lines, so that users can read it
 * before running it. Nothing that exists is changed.
 */
function renaming(rows: readonly NameRow[], folder: string, mended: string): string[] {
  const names = rows.map(({ pattern, to }) => `(r"${pattern}", "${to}")`);
  return [
    'import os, re, shutil',
    'from safetensors.torch import load_file, save_file',
    '',
    `old = ${pythonString(folder)}`,
    `new = ${pythonString(mended)}`,
    'tensors = {}',
    'for name, tensor in load_file(os.path.join(old, "adapter_model.safetensors")).items():',
    `    for pattern, text in [${names.join(', ')}]:`,
    '        name = re.sub(pattern, text, name)',
    '    assert name not in tensors, name',
    '    tensors[name] = tensor',
    'os.mkdir(new)',
    'shutil.copy(os.path.join(old, "adapter_config.json"), new)',
    'save_file(tensors, os.path.join(new, "adapter_model.safetensors"), metadata={"format": "pt"})',
  ];
}

function messagesOf(system: string | undefined): object[] {
  const user = { role: 'user', content: 'PROMPT' };
  return system === undefined ? [user] : [{ role: 'system', content: system }, user];
}

/** A part of a command; `false` is left out. */
type Line = string | false;

/** @param at the working folder */
function command({ quote, joint, cd }: Shell, lines: readonly Line[], at?: string): string {
  const text = lines.filter((line) => line !== false).join(joint);
  return at === undefined ? text : `${cd} ${quote(at)}\n${text}`;
}

function block(purpose: BlockPurpose, text: string): RecipeBlock {
  return {
    purpose,
    text,
    placeholders: PLACEHOLDERS.filter((word) => new RegExp(`\\b${word}\\b`).test(text)),
  };
}

/** The short form of `--lora-modules` can't contain commas and is split at each equals sign. */
function loraModule(name: string, folder: string): string {
  return /[=,]/.test(folder) ? JSON.stringify({ name, path: folder }) : `${name}=${folder}`;
}
