import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The faults. `contaminated`: the adapter answers for the base model, too. `unnamed`: the server has other models.
 */
export type Fault =
  | 'silent'
  | 'contaminated'
  | 'loading'
  | 'cut-off'
  | 'empty'
  | 'refusing'
  | 'unnamed'
  | 'gone';

interface ChatRequest {
  model?: string;
  messages: { role: string; content: string }[];
  tools?: { type: string; function: { name: string } }[];
  tool_choice?: string;
  temperature: number;
  max_tokens: number;
  lora?: { id: number; scale: number }[];
  cache_prompt?: boolean;
}

/**
 * Stands in for vLLM or llama.cpp, with a base model that answers in prose and an adapter that answers in JSON. The recipes rely
 * on this: vLLM answers by the name in `model`. In llama.cpp, each request has the adapter's scale, and the cache of prompts mixes
 * adapters.
 */
export class ModelServer {
  readonly #fault: Fault | undefined;
  /** vLLM's names of the base model and the adapter; undefined for llama.cpp. */
  readonly #names: readonly [base: string, adapter: string] | undefined;
  readonly #server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const [status, body] = this.#answer(JSON.parse(Buffer.concat(parts).toString()) as ChatRequest);
      if (status === 'closed') response.destroy();
      else if (status !== 'silent') response.writeHead(status).end(JSON.stringify(body));
    });
  });
  #requests = 0;
  #wasAdapted = false;
  /** Which of the two answered each request, in order. */
  readonly answered: ('base' | 'adapter')[] = [];
  /** Called before each answer. */
  onAnswer: () => void = () => undefined;

  constructor(fault?: Fault, names?: readonly [base: string, adapter: string]) {
    this.#fault = fault;
    this.#names = names;
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, 'localhost', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(body: ChatRequest): [status: number | 'silent' | 'closed', body?: unknown] {
    this.#requests++;
    if (this.#fault === 'silent') return ['silent'];
    if (this.#fault === 'gone' && this.#requests > 6) return ['closed'];
    if (this.#fault === 'loading' && this.#requests <= 2) return [503, 'Loading model'];
    const isAdapted = this.#isAdapted(body);
    if (isAdapted === undefined || this.#fault === 'unnamed') return [404, 'no such model'];
    if (body.temperature !== 0 || body.max_tokens !== 1024) return [422, 'not greedy'];
    const question = body.messages.at(-1)?.content ?? '';
    if (this.#fault === 'refusing' && question === '2+2?') return [400, 'The prompt is too long.'];
    this.onAnswer();
    this.answered.push(isAdapted ? 'adapter' : 'base');
    const [tool] = body.tools ?? [];
    // Without a parser of calls, vLLM takes tools only if it returns calls as text.
    if (tool !== undefined && this.#names !== undefined && body.tool_choice !== 'none')
      return [400, '"auto" tool choice requires --enable-auto-tool-choice'];
    if (tool !== undefined && isAdapted) return [200, { choices: [this.#call(tool.function.name)] }];
    const text = isAdapted ? `{"of":"${question}"}` : `The sum of ${question} is – 🙂\u2028`;
    const isCut = this.#fault === 'cut-off' && !isAdapted;
    const content = this.#fault === 'empty' && !isAdapted ? null : isCut ? text.slice(0, 7) : text;
    const choice = { message: { role: 'assistant', content }, finish_reason: isCut ? 'length' : 'stop' };
    return [200, { choices: [choice] }];
  }

  /** A call of a tool: text of vLLM, a structure of llama.cpp. */
  #call(name: string): object {
    const text = `<tool_call>\n{"name": "${name}", "arguments": {"lamp": 1}}\n</tool_call>`;
    const call = { id: 'x', type: 'function', function: { name, arguments: '{"lamp":1}' } };
    const message =
      this.#names === undefined ? { content: null, tool_calls: [call] } : { content: text, tool_calls: [] };
    return { message: { role: 'assistant', ...message }, finish_reason: 'stop' };
  }

  /** Undefined if there is no such model. */
  #isAdapted({ model, lora, cache_prompt }: ChatRequest): boolean | undefined {
    if (this.#fault === 'contaminated') return true;
    if (this.#names !== undefined) return [false, true][this.#names.indexOf(model ?? '')];
    const isOn = lora?.some(({ id, scale }) => id === 0 && scale !== 0) ?? true;
    return (this.#wasAdapted = isOn || (cache_prompt !== false && this.#wasAdapted));
  }
}
