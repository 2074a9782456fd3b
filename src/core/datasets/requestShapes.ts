import { isObject, textOf } from '../base/json.ts';
import { isNumber } from './toChat.ts';

/** Why an answer isn't used. `failed`: an error. `cut-off`: at the limit of tokens. `empty`: neither text nor tool calls. */
type UnusableAnswer = 'failed' | 'cut-off' | 'filtered' | 'refused' | 'empty';

/**
 * Why a row isn't in the new file. `no-request`: the batch's input has no request with its ID. `tools`: tools that aren't in
 * OpenAI's form. `template`: a text already has a chat template. `incomplete`: a text is missing, or the ID of a message's
 * conversation. `ragged`: more or fewer values than the header.
 */
export type LeftOutRow = UnusableAnswer | UnusableRow | 'unrecognized' | 'not-json' | 'too-long';
type UnusableRow = 'no-request' | 'tools' | 'media' | 'template' | 'incomplete' | 'ragged';

/** A chat row, and what was left out of it. JSON omits undefined fields. */
export interface AnsweredRequest {
  chat: { messages: readonly unknown[]; tools?: unknown; functions?: unknown };
  /** Whether it is the first of several answers. */
  isOneOfSeveral?: boolean;
  /** How many messages of tools, and hidden ones, an export has besides. */
  hidden?: number;
}

export type Fields = Readonly<Record<string, unknown>>;

type Shape = readonly [request: string, answer: string];

/** Shapes of batches. The request is in the batch's input, a file of its own. */
const OPENAI = ['body', 'response.body'] as const;
const ANTHROPIC = ['params', 'result.message'] as const;

/** Where a row has its messages and its answer: a path of fields; '' is the row itself. */
const SHAPES: readonly Shape[] = [
  ...[OPENAI, ANTHROPIC],
  ['request', 'response'],
  ['request.body', 'response.body'],
  ['requestBody', 'responseBody'],
  ['request_body', 'response_body'],
  ['reqPayload', 'respPayload'],
  ['', 'response'],
  ['', ''],
  ['input', 'output'],
  ['inputs', 'outputs'],
  ['span_data.input', 'span_data.output'],
];

/** How services say why an answer ended, if it can't be used then. */
const ENDS: readonly (readonly [UnusableAnswer, RegExp])[] = [
  ['cut-off', /^(?:length|max_(?:output_)?tokens)$/i],
  ['filtered', /^(?:content_filter|SAFETY|RECITATION|BLOCKLIST|PROHIBITED_CONTENT|SPII)$/],
  ['refused', /^refusal$/],
];
const END_PLACES: readonly string[] = [
  'finish_reason',
  'stop_reason',
  'finishReason',
  'incomplete_details.reason',
];

/** Whether a file that begins with this row has requests and answers of a chat API, or exported conversations. */
export function isRequestRow(row: unknown): boolean {
  const has = (name: string) => valueAt(row, name) !== undefined;
  const places = ['error', ...OPENAI, ...ANTHROPIC].map((place) => place.split('.')[0] ?? '');
  if (batchId(row) !== undefined && places.some(has)) return true;
  const found = answeredRequest(row, () => undefined);
  // Datasets may have empty columns with these names.
  if (found === 'failed') return !has('messages');
  return found !== 'unrecognized' && found !== 'no-request';
}

/** Whether a row of a batch has only the request. */
export function isOnlyRequest(row: unknown): boolean {
  const has = (name: string) => valueAt(row, name) !== undefined;
  return (
    batchId(row) !== undefined && (has('body') || has('params')) && !['response', 'result', 'error'].some(has)
  );
}

/** Returns the ID that joins a batch's input and output. */
export function batchId(row: unknown): string | undefined {
  const id = valueAt(row, 'custom_id');
  return typeof id === 'string' ? id : undefined;
}

/**
 * Makes a chat row of a request and its answer, or returns why that isn't possible.
 * @param row a parsed row
 * @param find returns the row of the batch's input with an ID; called only if needed
 */
export function answeredRequest(row: unknown, find: (id: string) => unknown): AnsweredRequest | LeftOutRow {
  // An export of ChatGPT or Claude: a row is a conversation.
  if (isFields(row) && (isFields(row['mapping']) || Array.isArray(row['chat_messages'])))
    return exported(row);
  const [id, hasFailed] = [batchId(row), isFailed(row)];
  const shape = SHAPES.find(([request, answer]) => {
    const found = valueAt(row, answer === '' ? 'choices' : answer) ?? undefined;
    return messagesAt(row, request) !== undefined && (hasFailed || found !== undefined);
  });
  if (shape === undefined && id === undefined) return 'unrecognized';
  if (hasFailed) return 'failed';
  // Without a request, the row is from a batch's output: the input has the request.
  const [requestAt, answerAt] = shape ?? (valueAt(row, 'result') === undefined ? OPENAI : ANTHROPIC);
  const answer = answerOf(valueAt(row, answerAt));
  if (typeof answer === 'string') return answer;
  const source = shape === undefined && id !== undefined ? find(id) : row;
  const messages = messagesAt(source, requestAt) ?? 'no-request';
  if (typeof messages === 'string') return messages;
  const listAt = (name: string) => {
    const list = valueAt(valueAt(source, requestAt), name);
    return Array.isArray(list) && list.length > 0 ? { [name]: list as unknown } : {};
  };
  // `functions` is the older name of `tools`.
  const lists = { ...listAt('tools'), ...listAt('functions') };
  if ([lists.tools].flat().some(isForeignTool)) return 'tools';
  return { ...answer, chat: { messages: [...messages, ...answer.chat.messages], ...lists } };
}

/** Whether a tool has the form of Anthropic, Gemini, or OpenAI's Responses API. */
function isForeignTool(tool: unknown): boolean {
  const has = (name: string) => valueAt(tool, name) !== undefined;
  return has('input_schema') || has('functionDeclarations') || (has('type') && !has('function'));
}

/** Reads `choices`, `candidates`, `output`, an assistant's message, or a list that ends with one. */
function answerOf(value: unknown): AnsweredRequest | LeftOutRow {
  const choices = valueAt(value, 'choices') ?? valueAt(value, 'candidates');
  const choice: unknown = Array.isArray(choices) ? choices[0] : value;
  if (isFields(valueAt(value, 'promptFeedback')) && choice === value) return 'filtered';
  if (Array.isArray(choices) && choice === undefined) return 'empty';
  const ends = END_PLACES.map((place) => textOf(valueAt(choice, place)) ?? '');
  const unusable = ENDS.find(([, spelled]) => ends.some((end) => spelled.test(end)))?.[0];
  const isOneOfSeveral = Array.isArray(choices) && choices.length > 1;
  const output = valueAt(choice, 'output');
  const parts = valueAt(value, 'candidates') && (valueAt(choice, 'content.parts') ?? '');
  if (Array.isArray(output) || parts !== undefined || isOfAnthropic(choice)) {
    const content = parts ?? valueAt(choice, 'content');
    const turns: unknown[] = Array.isArray(output) ? output : [{ role: 'assistant', content }];
    const messages = unusable ?? textMessages(turns, undefined);
    if (typeof messages === 'string') return messages;
    const isSaid = messages.some((one) => hasText(valueAt(one, 'content')));
    return isSaid ? { chat: { messages }, isOneOfSeveral } : 'empty';
  }
  const list: readonly unknown[] = Array.isArray(choice) ? choice : [valueAt(choice, 'message') ?? choice];
  const [before, last] = [list.slice(0, -1), list.at(-1)];
  if (!isFields(last) || last['role'] !== 'assistant' || !before.every(isMessage)) return 'unrecognized';
  if (unusable !== undefined) return unusable;
  const { content, refusal, tool_calls: calls, function_call: call } = last;
  if (hasText(refusal)) return 'refused';
  const tool_calls = Array.isArray(calls) && calls.length > 0 ? calls : undefined;
  const function_call = isObject(call) ? call : undefined;
  if (tool_calls === undefined && function_call === undefined && !hasText(content)) return 'empty';
  const message = { role: 'assistant', content, tool_calls, function_call };
  return { chat: { messages: [...before, message] }, isOneOfSeveral };
}

/** Whether it is a message of Anthropic. */
function isOfAnthropic(message: unknown): boolean {
  const hasEnd = valueAt(message, 'stop_reason') !== undefined;
  return hasForeignParts([message]) || (hasEnd && Array.isArray(valueAt(message, 'content')));
}

function isFailed(row: unknown): boolean {
  const response = valueAt(row, 'response');
  const error = valueAt(response, 'error') ?? valueAt(response, 'body.error') ?? valueAt(row, 'error');
  const status = valueAt(response, 'status_code') ?? valueAt(row, 'status_code');
  const type = valueAt(row, 'result.type');
  // Vertex writes an empty response for a failed request.
  const isNothing = isFields(response) && Object.keys(response).length === 0;
  // Some services write a string. An exact number is an object; the plain one was judged before.
  const isStatus = typeof status !== 'object' && Number(status) >= 400;
  const isEnded = type === undefined || type === 'succeeded';
  return response === null || isNothing || isFields(error) || isStatus || !isEnded;
}

/** Returns messages in OpenAI's form, or why they can't be converted; undefined if there are none. */
export function messagesAt(row: unknown, place: string): readonly unknown[] | LeftOutRow | undefined {
  const value = valueAt(row, place);
  const fields: Fields = isFields(value) ? value : { messages: value };
  const { messages, contents, input, system, instructions } = fields;
  if (Array.isArray(contents) && contents.length > 0)
    return textMessages(contents, fields['systemInstruction'] ?? fields['system_instruction']);
  if (Array.isArray(messages) && messages.length > 0 && messages.every(isMessage))
    return system !== undefined || hasForeignParts(messages) ? textMessages(messages, system) : messages;
  const isInput = typeof input === 'string' ? input !== '' : Array.isArray(input) && input.length > 0;
  if (place === '' || !isInput) return undefined;
  return textMessages(Array.isArray(input) ? input : [{ content: input }], instructions);
}

/** Whether contents have parts that aren't OpenAI's. */
function hasForeignParts(messages: readonly unknown[]): boolean {
  const types =
    /^(?:tool_use|tool_result|thinking|redacted_thinking|document|image|(?:in|out)put_(?:text|image|file))$/;
  const isForeign = (part: unknown) => types.test(textOf(valueAt(part, 'type')) ?? '');
  return messages.some((message) => [valueAt(message, 'content')].flat().some(isForeign));
}

/** Returns messages that have only texts, or why that isn't possible. Leaves out thinking. */
function textMessages(turns: readonly unknown[], system: unknown): readonly unknown[] | LeftOutRow {
  const messages: unknown[] = [];
  for (const turn of [...(system ? [{ role: 'system', content: system }] : []), ...turns]) {
    const { type = 'message', role = 'user', content, parts = content }: Fields = isFields(turn) ? turn : {};
    const text = type === 'message' ? textIn(valueAt(parts, 'parts') ?? parts) : textIn(turn);
    if (typeof text === 'string') return text;
    if (type === 'message') messages.push({ role: role === 'model' ? 'assistant' : role, content: text[0] });
  }
  return messages;
}

/** Returns the text of a content or a part, or why it isn't text. */
function textIn(content: unknown): readonly [text: string] | LeftOutRow {
  if (typeof content === 'string') return [content];
  if (Array.isArray(content)) {
    const texts = content.map(textIn);
    return texts.find((text) => typeof text === 'string') ?? [texts.map(([text]) => text).join('')];
  }
  if (!isFields(content)) return 'unrecognized';
  // Gemini names parts by their field.
  const { type, text, thought } = content;
  const kind = typeof type === 'string' ? type : Object.keys(content).join();
  if (thought === true || /thinking|reasoning/.test(kind)) return [''];
  if (typeof text === 'string') return [text];
  if (/refusal/.test(kind)) return 'refused';
  if (/tool|call|function|code/i.test(kind)) return 'tools';
  return /image|audio|video|file|data|document/i.test(kind) ? 'media' : 'unrecognized';
}

/** Types of contents that ChatGPT showed. Claude's contents have none. */
const SHOWN_TYPES: readonly unknown[] = [undefined, 'text', 'multimodal_text'];

/** Converts an exported conversation, along its last branch. */
function exported(row: Fields): AnsweredRequest | LeftOutRow {
  const messages: { role: unknown; content: string }[] = [];
  let hidden = 0;
  for (const message of branchOf(row).filter(isFields)) {
    const speaker = valueAt(message, 'author.role') ?? message['sender'];
    const role = speaker === 'human' ? 'user' : speaker;
    const own = [valueAt(message, 'content.parts') ?? message['content'] ?? []].flat();
    const parts = own.length > 0 ? own : [message['text']];
    const texts = parts.filter((part) => typeof part === 'string' || valueAt(part, 'type') === 'text');
    const isSaid =
      (role === 'user' || role === 'assistant') &&
      (message['recipient'] ?? 'all') === 'all' &&
      SHOWN_TYPES.includes(valueAt(message, 'content.content_type')) &&
      valueAt(message, 'metadata.is_visually_hidden_from_conversation') !== true;
    hidden += isSaid ? parts.length - texts.length : 1;
    if (!isSaid) continue;
    const files = [message['attachments'], message['files']].flat().filter(isFields);
    if (files.length > 0 || parts.some((part) => valueAt(part, 'asset_pointer') !== undefined))
      return 'media';
    const content = texts.map((part) => valueAt(part, 'text') ?? part).join('\n\n');
    if (hasText(content)) messages.push({ role, content });
  }
  return messages.some(({ role }) => role === 'assistant') ? { chat: { messages }, hidden } : 'empty';
}

/** Returns the messages that lead to the last one. */
function branchOf({
  mapping,
  chat_messages: list,
  current_node,
  current_leaf_message_uuid,
}: Fields): unknown[] {
  const nodes = isFields(mapping)
    ? Object.entries(mapping)
    : [list].flat().map((message) => {
        return [
          valueAt(message, 'uuid'),
          { message, parent: valueAt(message, 'parent_message_uuid') },
        ] as const;
      });
  const areInTurn = !nodes.some(([, node]) => typeof valueAt(node, 'parent') === 'string');
  if (areInTurn) return nodes.map(([, node]) => valueAt(node, 'message'));
  const byId = new Map<unknown, unknown>(nodes);
  const branch: unknown[] = [];
  for (let at = current_node ?? current_leaf_message_uuid ?? nodes.at(-1)?.[0]; byId.has(at);) {
    const node = byId.get(at);
    branch.push(valueAt(node, 'message'));
    byId.delete(at);
    at = valueAt(node, 'parent');
  }
  return branch.reverse();
}

function isMessage(value: unknown): boolean {
  const { role, content, tool_calls, function_call } = isFields(value) ? value : {};
  return typeof role === 'string' && [content, tool_calls, function_call].some((one) => one !== undefined);
}

/** Whether a content isn't blank: a string, or parts. */
function hasText(content: unknown): boolean {
  const texts = [content].flat().map((part) => valueAt(part, 'text') ?? part);
  return texts.some((text) => typeof text === 'string' && text.trim() !== '');
}

export function valueAt(row: unknown, place: string): unknown {
  if (place === '') return row;
  return place.split('.').reduce((value, name) => (isFields(value) ? value[name] : undefined), row);
}

/** Whether it is a JSON object. An exact number (`withExactNumbers`) isn't. */
export function isFields(value: unknown): value is Fields {
  return isObject(value) && !isNumber(value);
}
