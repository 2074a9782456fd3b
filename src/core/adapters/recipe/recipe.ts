/** A program that loads adapters. */
export type Tool = 'peft' | 'vllm' | 'llamacpp' | 'ollama';

/** What a block of a recipe is for, so that it can have a title. */
export type BlockPurpose =
  | 'install'
  | 'load'
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
  /** Of one purpose there may be one for PowerShell and one for cmd: alternatives. */
  language: 'python' | 'sh' | 'powershell' | 'cmd' | 'modelfile';
  text: string;
  /** Words in the text that the person has to replace, such as `BASE_MODEL`. */
  placeholders: readonly string[];
}

/** A known trap of a recipe, for a sentence. */
export type TrapCode =
  /** The base must be the very model that was trained on. */
  | 'same-base'
  /** Base named by the config is not known, or is a path of another machine. */
  | 'base-unknown'
  /** A gated base needs a token of its publisher's hub. */
  | 'base-gated'
  /** The chat template is the base's tokenizer's: prompts must have the form that was trained. */
  | 'chat-template'
  /** What the hidden states become is not known. */
  | 'pooling-unknown'
  /** The config names no task, or one that is not known: generating text is assumed. */
  | 'task-assumed'
  /** The commands generate text, and the adapter is for another task. */
  | 'other-task'
  /** PiSSA and OLoRA: PEFT changes the base again as it was for training. */
  | 'peft-base-repeated'
  /** PiSSA by its quick method, which is partly random. */
  | 'peft-base-nearly'
  /** LoftQ: PEFT quantizes the base again. */
  | 'peft-base-quantized'
  /** The base was changed for training, and the tool takes it as it is published. */
  | 'base-changed'
  /** CorDA and LoRA-GA: no tool can make the base that the adapter needs. */
  | 'base-change-lost'
  /** A way to begin of which it is not known whether it changes the base. */
  | 'init-unknown'
  /** aLoRA acts only from its invocation tokens on. */
  | 'alora-tokens'
  | 'vllm-alora'
  | 'llamacpp-alora'
  | 'ollama-alora'
  /** `layer_replication`: the layers are not those of the base's file. */
  | 'layers-repeated'
  /** `--max-lora-rank` is 16 unless told, and must be at least the rank. */
  | 'vllm-rank'
  /** The rank is above the largest that vLLM takes. */
  | 'vllm-rank-too-large'
  /** vLLM does not load `modules_to_save`. */
  | 'vllm-modules-to-save'
  | 'vllm-dora'
  /** Older versions of vLLM read no `rank_pattern` and `alpha_pattern`, and scale all modules alike. */
  | 'vllm-patterns'
  | 'vllm-bias'
  /** vLLM runs on Linux: on Windows in WSL. */
  | 'vllm-not-on-windows'
  /** Requests choose the adapter by its name as `model`; the base answers otherwise. */
  | 'vllm-model-name'
  /** The converter fetches the config, not the weights, of the base from the hub. */
  | 'llamacpp-base-config'
  /** It must be the same architecture as the GGUF of the base. */
  | 'llamacpp-same-architecture'
  | 'llamacpp-modules-to-save'
  | 'llamacpp-dora'
  /** The converter's packages have versions of their own. */
  | 'converter-environment'
  /** The converter stops at biases. */
  | 'converter-bias'
  /** `fan_in_fan_out`: the converter turns the adapter together with the base's weights. */
  | 'converter-turned'
  /** llama.cpp takes an alpha of 0 as none, and loads at full strength. */
  | 'gguf-alpha-zero'
  /** It scales by one alpha ÷ rank, which is wrong for rsLoRA and `alpha_pattern`; the command corrects it. */
  | 'llamacpp-scale-corrected'
  /** Current versions of Ollama refuse ADAPTER: it takes the merged model. */
  | 'ollama-merged'
  | 'ollama-template'
  /** Converter and Ollama have to know the architecture of the base. */
  | 'ollama-architecture'
  /** The tool scales by alpha ÷ rank, and no correction can be told to it that is right for all modules. */
  | 'rslora'
  /** The tool knows one alpha for all modules, and this adapter has several. */
  | 'alpha-pattern'
  /** The tool reads the config, which is missing. */
  | 'config-missing';

/** Commands that load the adapter with one tool. */
export interface Recipe {
  tool: Tool;
  blocks: readonly RecipeBlock[];
  /** What the commands do not show of this very adapter, or of its system; the most important first. */
  warnings: readonly TrapCode[];
  /** What there is to know of the tool. */
  traps: readonly TrapCode[];
  /** Whether it can work at all. */
  applicable: boolean;
  /** Why not. */
  why?: TrapCode | 'not-lora' | 'no-weights';
}

/** Where the unpacked adapter stands, and for which system its commands are. */
export interface RecipePlace {
  /** Absolute path of the folder with `adapter_config.json`. */
  folder: string;
  /** As `process.platform`: commands are for a POSIX shell, on `win32` for PowerShell and for cmd. */
  platform: string;
  /** What the adapter is called where a tool wants a name; derived from the folder if not told. */
  name?: string;
}
