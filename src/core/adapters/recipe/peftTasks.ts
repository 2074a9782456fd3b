import type { AdapterConfig, TrapCode } from '../report.ts';

/** How a model of a task is loaded with Transformers, and asked. */
export interface PeftTask {
  /** As `task_type` has it. */
  name: string;
  /** The class of Transformers. */
  model: string;
  /** Whether the class has to be told how many labels there are. */
  hasLabels: boolean;
  /** Lines of Python after `model` and `tokenizer` are there. */
  ask: readonly string[];
  /** What is to be replaced in them. */
  placeholders: readonly string[];
  traps: readonly TrapCode[];
}

const PROMPT_INPUTS = 'inputs = tokenizer("PROMPT", return_tensors="pt").to(model.device)';
const CLASSIFY: Readonly<Pick<PeftTask, 'hasLabels' | 'ask' | 'placeholders' | 'traps'>> = {
  hasLabels: true,
  ask: [PROMPT_INPUTS, 'logits = model(**inputs).logits', 'print(logits.argmax(dim=-1).tolist())'],
  placeholders: ['PROMPT'],
  traps: [],
};
const CAUSAL_LM: Readonly<PeftTask> = {
  name: 'CAUSAL_LM',
  model: 'AutoModelForCausalLM',
  hasLabels: false,
  ask: [
    'messages = [{"role": "user", "content": "PROMPT"}]',
    'inputs = tokenizer.apply_chat_template(',
    '    messages, add_generation_prompt=True, return_tensors="pt", return_dict=True',
    ').to(model.device)',
    'outputs = model.generate(**inputs, max_new_tokens=200)',
    'print(tokenizer.decode(outputs[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True))',
  ],
  placeholders: ['PROMPT'],
  traps: ['chat-template'],
};

/** The tasks of huggingface/peft src/peft/auto.py, with their classes of huggingface/transformers docs model_doc/auto.md. */
const TASKS: readonly PeftTask[] = [
  CAUSAL_LM,
  {
    name: 'SEQ_2_SEQ_LM',
    model: 'AutoModelForSeq2SeqLM',
    hasLabels: false,
    ask: [
      PROMPT_INPUTS,
      'outputs = model.generate(**inputs, max_new_tokens=200)',
      'print(tokenizer.decode(outputs[0], skip_special_tokens=True))',
    ],
    placeholders: ['PROMPT'],
    traps: [],
  },
  { name: 'SEQ_CLS', model: 'AutoModelForSequenceClassification', ...CLASSIFY },
  { name: 'TOKEN_CLS', model: 'AutoModelForTokenClassification', ...CLASSIFY },
  {
    name: 'QUESTION_ANS',
    model: 'AutoModelForQuestionAnswering',
    hasLabels: false,
    ask: [
      'inputs = tokenizer("QUESTION", "CONTEXT", return_tensors="pt").to(model.device)',
      'outputs = model(**inputs)',
      'start, end = outputs.start_logits.argmax(), outputs.end_logits.argmax()',
      'print(tokenizer.decode(inputs["input_ids"][0, start : end + 1]))',
    ],
    placeholders: ['QUESTION', 'CONTEXT'],
    traps: [],
  },
  {
    name: 'FEATURE_EXTRACTION',
    model: 'AutoModel',
    hasLabels: false,
    ask: [PROMPT_INPUTS, 'states = model(**inputs).last_hidden_state', 'print(states.shape)'],
    placeholders: ['PROMPT'],
    traps: ['pooling-unknown'],
  },
];

/** The task of a config; generating text where it names none, or one that is not known. */
export function taskOf(config: AdapterConfig | undefined): PeftTask & { isAssumed: boolean } {
  const known = TASKS.find(({ name }) => name === config?.taskType?.toUpperCase());
  return { ...(known ?? CAUSAL_LM), isAssumed: known === undefined };
}
