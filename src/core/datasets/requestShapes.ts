import { isObject } from '../base/json.ts';
import { isNumber } from './toChat.ts';

/** Why an answer isn't trained on: an error, `cut-off` at the limit of tokens; `empty`: neither text nor tool calls. */
type UnusableAnswer = 'failed' | 'cut-off' | 'filtered' | 'refused' | 'empty';

/**
 * Why a row of requests and answers has no chat row. `no-request`: the batch's input has none with its `custom_id`;
 * `other-endpoint`: a body without `choices`; `unrecognized`: none of the shapes.
 */
export type LeftOutRequest =
  | UnusableAnswer
  | 'no-request'
  | 'other-endpoint'
  | 'unrecognized'
  | 'not-json'
  | 'too-long';

/** Of requests and answers: rows left out, by the reason, and rows written that have the first of several answers. */
export interface RequestCounts {
  leftOut: Readonly<Partial<Record<LeftOutRequest, number>>>;
  several: number;
}

/** A chat row, and whether it has the first of several answers. JSON has no place for what is undefined. */
export interface AnsweredRequest {
  chat: { messages: readonly unknown[]; tools?: unknown; functions?: unknown };
  isOneOfSeveral: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** Where a row has its messages, and its answer; '' is the row itself. Of a batch, the first place is in its input. */
const SHAPES: readonly (readonly [request: string, answer: string])[] = [
  ['body', 'response.body'],
  ['request.body', 'response.body'],
  ['request', 'response'],
  ['requestBody', 'responseBody'],
  ['request_body', 'response_body'],
  ['reqPayload', 'respPayload'],
  ['', 'response'],
  ['', ''],
  ['input', 'output'],
  ['inputs', 'outputs'],
  ['span_data.input', 'span_data.output'],
];

/** Whether a file whose first row this is has requests and answers of a chat API. No other row decides that. */
export function isRequestRow(row: unknown): boolean {
  const isOfBatch = batchId(row) !== undefined;
  if (isOfBatch && ['response', 'error', 'body'].some((name) => valueAt(row, name) !== undefined))
    return true;
  const found = answeredRequest(row, () => undefined);
  // Datasets may have columns with these names that are empty.
  if (found === 'failed') return valueAt(row, 'messages') === undefined;
  return found !== 'unrecognized' && found !== 'other-endpoint' && found !== 'no-request';
}

/** Whether a row of a batch has only the request. */
export function isOnlyRequest(row: unknown): boolean {
  const has = (name: string) => valueAt(row, name) !== undefined;
  return batchId(row) !== undefined && has('body') && !has('response') && !has('error');
}

/** Returns the ID by which a batch's input and output are joined. */
export function batchId(row: unknown): string | undefined {
  const id = valueAt(row, 'custom_id');
  return typeof id === 'string' ? id : undefined;
}

/**
 * Returns what a row and its request become, or why there is nothing.
 * @param row the value of a row of JSON
 * @param find returns the row of the batch's input with an ID; called only if it is needed
 */
export function answeredRequest(
  row: unknown,
  find: (id: string) => unknown,
): AnsweredRequest | LeftOutRequest {
  const [id, hasFailed] = [batchId(row), isFailed(row)];
  const own = SHAPES.find(([request, answer]) => {
    const found = valueAt(row, answer === '' ? 'choices' : answer) ?? undefined;
    return messagesAt(row, request) !== undefined && (hasFailed || found !== undefined);
  });
  if (own === undefined && id === undefined) return 'unrecognized';
  if (hasFailed) return 'failed';
  const [requestAt, answerAt] = own ?? ['body', 'response.body'];
  const answer = answerOf(valueAt(row, answerAt));
  if (typeof answer === 'string') return answer;
  const source = own === undefined && id !== undefined ? find(id) : row;
  const messages = messagesAt(source, requestAt);
  if (messages === undefined) return 'no-request';
  const listAt = (name: string) => {
    const list = valueAt(valueAt(source, requestAt), name);
    return Array.isArray(list) && list.length > 0 ? { [name]: list as unknown } : {};
  };
  // `functions` are what `tools` were called before.
  const lists = { ...listAt('tools'), ...listAt('functions') };
  return { ...answer, chat: { messages: [...messages, ...answer.chat.messages], ...lists } };
}

/** Reads `choices`, an assistant's message, or a list that ends with one. */
function answerOf(value: unknown): AnsweredRequest | LeftOutRequest {
  const choices = valueAt(value, 'choices');
  const choice: unknown = Array.isArray(choices) ? choices[0] : value;
  if (Array.isArray(choices) && choice === undefined) return 'empty';
  const list: readonly unknown[] = Array.isArray(choice) ? choice : [valueAt(choice, 'message') ?? choice];
  const [before, last] = [list.slice(0, -1), list.at(-1)];
  if (!isFields(last) || last['role'] !== 'assistant' || !before.every(isMessage))
    return isFields(value) ? 'other-endpoint' : 'unrecognized';
  const end = valueAt(choice, 'finish_reason');
  if (end === 'length') return 'cut-off';
  if (end === 'content_filter') return 'filtered';
  const { content, refusal, tool_calls: calls, function_call: call } = last;
  if (hasText(refusal)) return 'refused';
  const tool_calls = Array.isArray(calls) && calls.length > 0 ? calls : undefined;
  const function_call = isObject(call) ? call : undefined;
  if (tool_calls === undefined && function_call === undefined && !hasText(content)) return 'empty';
  const message = { role: 'assistant', content, tool_calls, function_call };
  const isOneOfSeveral = Array.isArray(choices) && choices.length > 1;
  return { chat: { messages: [...before, message] }, isOneOfSeveral };
}

function isFailed(row: unknown): boolean {
  const response = valueAt(row, 'response');
  const error = valueAt(response, 'error') ?? valueAt(row, 'error');
  const status = valueAt(response, 'status_code') ?? valueAt(row, 'status_code');
  // Some write a string. A number with its spelling is read as a plain one before.
  return response === null || isFields(error) || (typeof status !== 'object' && Number(status) >= 400);
}

/** Returns messages as OpenAI has them: a list, or an object with one. */
function messagesAt(row: unknown, place: string): readonly unknown[] | undefined {
  const value = valueAt(row, place);
  const messages = Array.isArray(value) ? value : valueAt(value, 'messages');
  return Array.isArray(messages) && messages.length > 0 && messages.every(isMessage) ? messages : undefined;
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

function valueAt(row: unknown, place: string): unknown {
  if (place === '') return row;
  return place.split('.').reduce((value, name) => (isFields(value) ? value[name] : undefined), row);
}

/** Whether it is an object of JSON: a number with its spelling is none. */
function isFields(value: unknown): value is Fields {
  return isObject(value) && !isNumber(value);
}
