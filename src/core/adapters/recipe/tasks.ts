/** How a model of a task is loaded with Transformers, and used. */
export interface Task {
  /** As `task_type` has it. */
  name: string;
  /** The class of Transformers. */
  model: string;
  /** Whether the class needs the number of labels. */
  hasLabels: boolean;
  /** Python, after `model` and `tokenizer` are loaded. */
  use: string;
}

const INPUTS = 'inputs = tokenizer("PROMPT", return_tensors="pt").to(model.device)';
const CLASSIFY = `${INPUTS}
logits = model(**inputs).logits
print(logits.argmax(dim=-1).tolist())`;
const CAUSAL_LM: Readonly<Task> = {
  name: 'CAUSAL_LM',
  model: 'AutoModelForCausalLM',
  hasLabels: false,
  use: `messages = [{"role": "user", "content": "PROMPT"}]
inputs = tokenizer.apply_chat_template(
    messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
).to(model.device)
outputs = model.generate(**inputs, max_new_tokens=200)
print(tokenizer.decode(outputs[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True))`,
};

/** The tasks of huggingface/peft src/peft/auto.py, with their classes of huggingface/transformers docs model_doc/auto.md. */
const TASKS: readonly Task[] = [
  CAUSAL_LM,
  {
    name: 'SEQ_2_SEQ_LM',
    model: 'AutoModelForSeq2SeqLM',
    hasLabels: false,
    use: `${INPUTS}
outputs = model.generate(**inputs, max_new_tokens=200)
print(tokenizer.decode(outputs[0], skip_special_tokens=True))`,
  },
  { name: 'SEQ_CLS', model: 'AutoModelForSequenceClassification', hasLabels: true, use: CLASSIFY },
  { name: 'TOKEN_CLS', model: 'AutoModelForTokenClassification', hasLabels: true, use: CLASSIFY },
  {
    name: 'QUESTION_ANS',
    model: 'AutoModelForQuestionAnswering',
    hasLabels: false,
    use: `inputs = tokenizer("QUESTION", "CONTEXT", return_tensors="pt").to(model.device)
outputs = model(**inputs)
start, end = outputs.start_logits.argmax(), outputs.end_logits.argmax()
print(tokenizer.decode(inputs["input_ids"][0, start : end + 1]))`,
  },
  {
    name: 'FEATURE_EXTRACTION',
    model: 'AutoModel',
    hasLabels: false,
    use: `${INPUTS}
states = model(**inputs).last_hidden_state
print(states.shape)`,
  },
];

/** The task of a config; generating text where it has none, or an unknown one. */
export function taskOf(taskType: string | undefined): Task & { isAssumed: boolean } {
  const known = TASKS.find(({ name }) => name === taskType?.toUpperCase());
  return { ...(known ?? CAUSAL_LM), isAssumed: known === undefined };
}
