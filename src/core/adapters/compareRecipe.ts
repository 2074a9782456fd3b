import { pythonString } from './quoting.ts';

/** Stands for the file of held-out rows if none is known. */
export const HOLD_OUT = 'HOLDOUT.jsonl';

interface Compared {
  /** The base model's name in vLLM. */
  base: string;
  /** The adapter's name in vLLM, and in the name of the file of answers. */
  name: string;
  /** ID of the run that trained the adapter. The answers name it, so their prompts are compared with its data. */
  run: string | undefined;
  /** llama.cpp multiplies the adapter's effect by this to match training. */
  scale: number;
  /** Python that loads `tokenizer` and `model`, a PEFT model. */
  loading: readonly string[];
  /** Path of the rows as each program sees it; undefined if there is none. */
  holdOut: Readonly<Record<'here' | 'vllm', string | undefined>>;
}

/**
 * Python scripts that ask the base model and the adapter the same 50 rows, in turn and greedily. They write both
 * answers row by row into a new file (`core/answers` relies on the 50 and on its name). They need no packages
 * besides the tool, and users can read them first. Values that may be changed come first.
 *
 * `disable_adapter`: huggingface/peft src/peft/peft_model.py. vLLM chooses the side by the name in `model`,
 * llama.cpp by the scale in the request. Its prompt cache mixes adapters: ggml-org/llama.cpp
 * tools/server/README.md ("lora"), issue 26207.
 */
export function compareScripts({ base, name, run, scale, loading, holdOut }: Compared) {
  const named = run === undefined ? '' : `, "run": ${pythonString(run)}`;
  const script = (rows: string | undefined, unthinking: string, answer: string, sides: readonly string[]) => [
    `max_tokens = 1024
thinking = {}
# thinking = ${unthinking}  # no thinking, if the model has it
rows = ${pythonString(rows ?? HOLD_OUT)}

${READING}

${answer}

name, number = rows.removesuffix(".jsonl") + ${pythonString(`.${name}`)}, 1
while os.path.lexists(path := name + (f"-{number}" if number > 1 else "") + "${ENDING}"):
    number += 1
with open(path, "x") as out:
    for messages, tools, expected in asked:
        answers = {**answer("base", ${sides[0]}, messages, tools), **answer("adapter", ${sides[1]}, messages, tools)}
        print(json.dumps({"messages": messages, "expected": expected, **answers${named}}), file=out, flush=True)
print(f"Answered: {len(asked)}, in {path}", file=sys.stderr)`,
  ];
  // Without a parser of the model's calls, vLLM takes tools only if it returns calls as text.
  const vllm = requesting(8000, '"model": chosen', ', "tool_choice": "none"');
  const llamacpp = requesting(8080, '"cache_prompt": False, "lora": [{"id": 0, "scale": chosen}]', '');
  const peft = [...loading, GENERATING].join('\n');
  const inTemplate = '{"enable_thinking": False}';
  const inRequest = `{"chat_template_kwargs": ${inTemplate}}`;
  return {
    peft: script(holdOut.here, inTemplate, peft, ['model.disable_adapter', 'nullcontext']),
    vllm: script(holdOut.vllm, inRequest, vllm, [pythonString(base), pythonString(name)]),
    llamacpp: script(holdOut.here, inRequest, llamacpp, ['0.0', pythonNumber(scale)]),
  };
}

/**
 * Python that asks PEFT. Chat templates take the arguments of calls as values, not as text. If a template refuses
 * a row, its reason becomes the answer.
 */
const GENERATING = `from contextlib import nullcontext

def values_in(call):
    return {**call, "arguments": parsed(call["arguments"])} if "arguments" in call else call

def answer(side, chosen, messages, tools):
    chat = json.loads(json.dumps(messages), object_hook=values_in)
    options = {"add_generation_prompt": True, "return_tensors": "pt", "return_dict": True, **thinking}
    try:
        inputs = tokenizer.apply_chat_template(chat, tools=tools or None, **options).to(model.device)
    except Exception as error:
        return {side: str(error), f"{side}_end": "error"}
    with chosen():
        output = model.generate(**inputs, max_new_tokens=max_tokens, do_sample=False)
    tokens = output[0, inputs["input_ids"].shape[1] :]
    text = tokenizer.decode(tokens, skip_special_tokens=True)
    return {side: text, f"{side}_end": "length" if len(tokens) == max_tokens else "stop"}`;

/**
 * Python that asks a server on this machine. Unlike `urllib`, it uses no proxy. It waits while the model loads
 * (503). The reason of a refusal (400, 500) becomes the row's answer. Other errors end the script.
 * @param fields fields of the request that choose base or adapter by `chosen`
 * @param toolFields more fields of a request with tools
 */
function requesting(port: number, fields: string, toolFields: string): string {
  return `import time
from http.client import HTTPConnection

def answer(side, chosen, messages, tools):
    body = {"messages": messages, "temperature": 0, "max_tokens": max_tokens, ${fields}, **thinking}
    body |= {"tools": tools${toolFields}} if tools else {}
    server = HTTPConnection("localhost", ${port}, timeout=600)
    server.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    response = server.getresponse()
    if response.status == 503:
        time.sleep(2)
        return answer(side, chosen, messages, tools)
    if response.status in (400, 500):
        return {side: response.read().decode(), f"{side}_end": "error"}
    assert response.status == 200, response.read()
    choice = json.load(response)["choices"][0]
    return {side: answer_of(choice["message"]), f"{side}_end": choice["finish_reason"]}`;
}

/**
 * Python that reads the rows, the same for each tool. It reads rows as `core/datasets/toChat.ts` does, and tools
 * as well; a test compares its names with the table of formats. A row without prompt or answer, or with more
 * than text, is counted by its reason.
 */
const READING = String.raw`import json
import os
import sys
from collections import Counter

roles = {
    "system": "system", "developer": "developer", "user": "user human", "call": "tool_call function_call",
    "assistant": "assistant gpt chatgpt bard bing claude model ai bot",
    "tool": "tool function ipython tool_response observation"}
pairs = [
    ("prompt", [], ["completion"]),
    ("instruction", ["input", "context"], ["output", "response"]),
    ("question", ["context"], ["answer"])]

def parsed(text):
    try:
        return json.loads(text)
    except (RecursionError, TypeError, ValueError):
        return text

def filled(value):
    return value.strip() if isinstance(value, str) else value

def text_of(content):
    texts = []
    for part in content if isinstance(content, list) else [content or ""]:
        if isinstance(part, dict):
            part = part.get("text", part.get("value") if part.get("type") == "text" else None)
        assert isinstance(part, str), "a content that isn't text"
        texts.append(part)
    return "".join(texts)

def call_of(call):
    function = call.get("function", call)
    arguments = function.get("arguments")
    arguments = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    function = {"name": function["name"], "arguments": arguments}
    return {"id": call.get("id") or "call00000", "type": "function", "function": function}

def answer_of(message):
    calls = [call["function"] for call in message.get("tool_calls") or []]
    calls = [{"name": call["name"], "arguments": parsed(call["arguments"])} for call in calls]
    return "\n".join(filter(None, [message.get("content"), calls and json.dumps(calls, ensure_ascii=False)]))

def pair_of(row):
    first, others, answers = next((pair for pair in pairs if pair[0] in row or pair[2][0] in row), ("", [], []))
    answer = next((row[name] for name in answers if name in row), None)
    assert answer is not None and not row.get("choices") and not row.get("options"), "no prompt with an answer"
    assert row.get("label") is not False, "an answer that is labeled as bad"
    other = next((row[name] for name in others if filled(row.get(name))), None)
    prompt = [part for part in (row.get(first), other) if filled(part)]
    asked = prompt[0] if prompt and isinstance(prompt[0], list) else [{"role": "user", "content": "\n\n".join(prompt)}]
    return asked + (answer if isinstance(answer, list) else [{"role": "assistant", "content": answer}])

def question(line):
    """Returns the prompt, the tools and the expected answer of a row in any form of training data."""
    row = parsed(line)
    assert isinstance(row, dict), "not an object"
    assert not any(row.get(name) for name in ("image", "images", "audio", "audios", "video", "videos")), "images, audio or video"
    turns = parsed(row.get("messages") or row.get("conversations"))
    turns = pair_of(row) if turns is None else turns
    tools = parsed(row.get("tools")) or row.get("functions") or []
    assert isinstance(turns, list) and all(isinstance(tool, dict) for tool in tools), "messages or tools that aren't a list"
    history = [{"role": "system", "content": row["system"]}] if filled(row.get("system")) else []
    for asked, answered in row.get("history") or []:
        history += [{"role": "user", "content": asked}, {"role": "assistant", "content": answered}]
    messages = []
    for at, turn in enumerate(history + turns, -len(history)):
        if isinstance(turn, str):
            turn = {"role": ("user", "assistant")[at % 2], "content": turn}
        name = str(turn.get("from") or turn.get("role")).lower()
        role = next((role for role, names in roles.items() if name in names.split()), None)
        content = text_of(turn["value"] if "value" in turn else turn.get("content"))
        calls = parsed(turn.get("tool_calls")) or turn.get("function_call") or []
        message = {"role": role, "content": content, **({"name": turn["name"]} if turn.get("name") else {})}
        assert role, "an unknown role"
        if role == "call":
            calls = parsed(content)
            is_joined = messages and messages[-1]["role"] == "assistant"
            message = messages.pop() if is_joined else {"role": "assistant", "content": ""}
        if role == "tool":
            message["tool_call_id"] = turn.get("tool_call_id") or "call00000"
        if calls:
            calls = calls if isinstance(calls, list) else [calls]
            message["tool_calls"] = message.get("tool_calls", []) + [call_of(call) for call in calls]
        messages.append(message)
    *messages, last = messages or [{}]
    expected = answer_of(last)
    assert last.get("role") == "assistant" and expected.strip(), "no answer at the end"
    assert any(filled(message["content"]) for message in messages), "no prompt"
    tools = [{"type": "function", **(tool if "function" in tool else {"function": tool})} for tool in tools]
    return messages, tools, expected

asked, refused = [], Counter()
with open(rows, encoding="utf-8-sig", errors="replace", newline="\n") as lines:
    for line in filter(str.strip, lines):
        if len(asked) == 50:
            break
        try:
            asked.append(question(line))
        except Exception as error:
            refused[str(error) if isinstance(error, AssertionError) else "an unknown form"] += 1
for reason, number in refused.items():
    print(f"Not asked: {number} ({reason})", file=sys.stderr)
if not asked:
    sys.exit(f"Nothing was asked: {rows} has no row with a prompt and an answer.")`;

const ENDING = '.answers.jsonl';

/** Returns the name of the file of answers, which is written beside the rows. */
export function answersName(rows: string, name: string): string {
  return `${rows.replace(/\.jsonl$/, '')}.${name}${ENDING}`;
}

function pythonNumber(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
}
