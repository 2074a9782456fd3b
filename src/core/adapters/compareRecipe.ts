import { pythonString } from './quoting.ts';

/** Stands for the file of rows that weren't trained on, if none is known. */
export const HOLD_OUT = 'HOLDOUT.jsonl';

/** What the scripts depend on. */
interface Compared {
  /** The base model, as vLLM serves it. */
  base: string;
  /** The adapter's name in vLLM, and in the name of the file of answers. */
  name: string;
  /** ID of the run that trained the adapter. The rows name it, so that they are compared with its data. */
  run: string | undefined;
  /** llama.cpp multiplies the adapter's effect by this, to get that of training. */
  scale: number;
  /** Python that loads `tokenizer` and `model`, a PEFT model. */
  loading: readonly string[];
  /** Path of the rows as each program sees it; undefined if there is none. */
  holdOut: Readonly<Record<'here' | 'vllm', string | undefined>>;
}

/**
 * Python scripts that answer the first 50 rows with the base model and with the adapter. Both answers are
 * written row by row into a new file (`core/answers` counts on the 50 and on its name). Each has at most 25
 * lines and Python's own modules, so that users can read it before running it. Only rows that end with an
 * answer in plain text are used.
 * Both are asked in turn, greedily. `disable_adapter`: huggingface/peft src/peft/peft_model.py. vLLM answers
 * by the name in `model`. llama.cpp takes the scale of each request. Its cache of prompts mixes adapters:
 * ggml-org/llama.cpp tools/server/README.md ("lora"), issue 26207.
 */
export function compareScripts({ base, name, run, scale, loading, holdOut }: Compared) {
  const output = { ending: endingOf(name), run };
  const asked = (one: string, other: string) =>
    `answers = {**answer("base", ${one}, messages), **answer("adapter", ${other}, messages)}`;
  return {
    peft: [
      'import json',
      ...loading,
      '',
      'def answer(side, messages):',
      '    options = {"add_generation_prompt": True, "return_tensors": "pt", "return_dict": True}',
      '    inputs = tokenizer.apply_chat_template(messages, **options).to(model.device)',
      '    tokens = model.generate(**inputs, max_new_tokens=512, do_sample=False)[0, inputs["input_ids"].shape[1] :]',
      '    text = tokenizer.decode(tokens, skip_special_tokens=True)',
      '    return {side: text, f"{side}_end": "length" if len(tokens) == 512 else "stop"}',
      '',
      ...eachRow(holdOut.here, output, [
        'with model.disable_adapter():',
        '    answers = answer("base", messages)',
        'answers |= answer("adapter", messages)',
      ]),
    ],
    vllm: [
      ...asking(8000, '"model": model', 'model'),
      ...eachRow(holdOut.vllm, output, [asked(pythonString(base), pythonString(name))]),
    ],
    llamacpp: [
      ...asking(8080, '"cache_prompt": False, "lora": [{"id": 0, "scale": scale}]', 'scale'),
      ...eachRow(holdOut.here, output, [asked('0.0', pythonNumber(scale))]),
    ],
  };
}

/**
 * Python that asks a server on this machine, never through a proxy, as `urllib` would. It waits while the
 * model is loaded (503). The reason of a refusal (400, 500) is that row's answer. Other errors end the
 * script.
 * @param fields of the request that choose base or adapter by `chosen`
 */
function asking(port: number, fields: string, chosen: string): string[] {
  return [
    'import json',
    'import time',
    'from http.client import HTTPConnection',
    '',
    `def answer(side, ${chosen}, messages):`,
    `    body = {"messages": messages, "temperature": 0, "max_tokens": 512, ${fields}}`,
    `    server = HTTPConnection("localhost", ${port}, timeout=600)`,
    '    server.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})',
    '    response = server.getresponse()',
    '    if response.status == 503:',
    '        time.sleep(2)',
    `        return answer(side, ${chosen}, messages)`,
    '    if response.status in (400, 500):',
    '        return {side: response.read().decode(), f"{side}_end": "error"}',
    '    assert response.status == 200, response.read()',
    '    choice = json.load(response)["choices"][0]',
    '    return {side: choice["message"]["content"] or "", f"{side}_end": choice["finish_reason"]}',
    '',
  ];
}

/** Returns the name of the file of answers. It stands beside the rows and contains the adapter's name. */
export function answersName(rows: string, name: string): string {
  return `${rows.replace(/\.jsonl$/, '')}${endingOf(name)}`;
}

function endingOf(name: string): string {
  return `.${name}.answers.jsonl`;
}

/**
 * Python that sets `messages` for each row, and writes `answers` to a new file. Files of earlier answers
 * stay. It writes only ASCII, which no system's encoding changes.
 */
function eachRow(
  holdOut: string | undefined,
  { ending, run }: { ending: string; run: string | undefined },
  answering: readonly string[],
): string[] {
  const named = run === undefined ? '' : `, "run": ${pythonString(run)}`;
  return [
    `rows = ${pythonString(holdOut ?? HOLD_OUT)}`,
    `with open(rows, encoding="utf-8-sig") as lines, open(rows.removesuffix(".jsonl") + ${pythonString(ending)}, "x") as out:`,
    '    for _, row in zip(range(50), map(json.loads, filter(str.strip, lines))):',
    '        *messages, last = row.get("messages") or [{}]',
    '        if messages and last.get("role") == "assistant" and isinstance(last.get("content"), str) and last["content"].strip():',
    ...answering.map((line) => `            ${line}`),
    `            print(json.dumps({"messages": messages, "expected": last["content"], **answers${named}}), file=out, flush=True)`,
  ];
}

function pythonNumber(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
}
