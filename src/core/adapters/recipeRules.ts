import { isLora } from './fit.ts';
import { canCompare, generatesText, isChangedByPeft, leavesBase, type RecipeFacts } from './recipeFacts.ts';
import { isModuleRefused } from './tensorNames.ts';

export const LOADERS = ['peft', 'vllm', 'llamacpp', 'ollama'] as const;
/** A program that loads adapters. */
export type Tool = (typeof LOADERS)[number];

export interface Rule {
  refuses?: readonly Tool[];
  warns?: readonly Tool[];
  notes?: readonly Tool[];
  /** Applies to all tools. */
  isGeneral?: boolean;
  /** If undefined, the rule always applies. */
  when?: (facts: RecipeFacts, tool: Tool | undefined) => boolean | undefined;
}

const NOT_PEFT: readonly Tool[] = ['vllm', 'llamacpp', 'ollama'];
/** Tools that read the adapter's files directly; for Ollama it is merged with PEFT. */
const READERS: readonly Tool[] = ['vllm', 'llamacpp'];
/** Tools that can answer with and without the adapter. */
const COMPARING: readonly Tool[] = ['peft', 'vllm', 'llamacpp'];
/** The only modules that vLLM accepts fully saved: classifier heads (vllm-project/vllm vllm/lora/peft_helper.py). */
const VLLM_SAVED: readonly string[] = ['classifier', 'score'];

/**
 * Rules by ID. The first one that refuses is shown, so rules that merging with PEFT doesn't solve come first.
 * Each has a sentence in `ui/adapters/adapterRecipes.ts`.
 */
export const RULES = {
  /** Other models may load the adapter without an error. */
  'same-base': { isGeneral: true },
  'same-template': { isGeneral: true, when: generatesText },
  'system-unknown': { isGeneral: true, when: (facts) => generatesText(facts) && facts.isSystemUnknown },
  'not-lora': { refuses: NOT_PEFT, when: ({ config }) => config && !isLora(config) },
  'other-task': { refuses: NOT_PEFT, when: (facts) => !generatesText(facts) },
  /** The layers differ from those in the base model's files. */
  'layers-repeated': { refuses: NOT_PEFT, when: ({ config }) => config?.repeatsLayers },
  /** PEFT can't merge them into layers without biases, as most models have. */
  'lora-bias': { refuses: NOT_PEFT, when: ({ config }) => config?.loraBias },
  /** The adapter acts only after its invocation tokens and can't be merged. */
  alora: { refuses: ['vllm', 'ollama'], warns: ['peft', 'llamacpp'], when: ({ config }) => config?.isAlora },
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
      weights?.hasBias === true || (tool === 'vllm' && (config?.bias ?? 'none') !== 'none'),
  },
  /** The tool scales by alpha / rank, and no single correction fits all modules. */
  'scale-varies': { refuses: ['llamacpp'], when: ({ correction }) => correction === 'none' },
  /** The converter doesn't know the modules. */
  'module-refused': {
    refuses: ['llamacpp'],
    when: ({ pairs }) => pairs.some(({ path }) => isModuleRefused(path, 'llamacpp')),
  },
  /** Their converters read only text models. */
  'vision-refused': { refuses: ['llamacpp', 'ollama'], when: ({ kind }) => kind.isVision },
  'vision-class': { warns: ['peft', 'vllm'], when: ({ kind }) => kind.isVision },
  'merge-into-original': { warns: ['peft', 'ollama'], when: ({ kind }) => kind.quantizedBy !== undefined },
  'scale-corrected': {
    warns: ['llamacpp'],
    when: ({ correction }) => correction !== 'none' && correction !== 1,
  },
  'task-assumed': { warns: ['peft'], when: ({ config, isAssumed }) => config && isAssumed },
  /** vLLM runs only on Linux. */
  'needs-wsl': { warns: ['vllm'], when: ({ isWindows, isInWsl }) => isWindows && !isInWsl },
  /** Ollama loads one merged model. */
  'merged-first': { notes: ['ollama'] },
  /** Requests choose the adapter by its name as `model`; otherwise the base answers. */
  'model-name': { notes: ['vllm'] },
  'system-in-prompt': {
    notes: ['peft', 'vllm'],
    when: (facts) => generatesText(facts) && facts.system !== undefined,
  },
  'base-unknown': { notes: LOADERS, when: ({ isBaseKnown }) => !isBaseKnown },
  'ollama-template': { notes: ['ollama'] },
  /** Switching the adapter off doesn't undo what else training changed. */
  'compare-changed-base': { notes: ['peft'], when: (facts) => generatesText(facts) && !leavesBase(facts) },
  'compare-in-peft': { notes: ['ollama'], when: canCompare },
  'compare-open': { notes: COMPARING, when: canCompare },
  'compare-unseen-rows': { notes: COMPARING, when: canCompare },
  'compare-sends-nothing': { notes: COMPARING, when: canCompare },
} satisfies Readonly<Record<string, Rule>>;
