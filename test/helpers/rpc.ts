type Message =
  | { call: number; name: string; args: unknown[] }
  | { answer: number; value?: unknown; error?: string };
type Methods = Record<string, (...args: never[]) => unknown>;

/** Calls methods between a process and its parent, in order. */
export class Rpc {
  readonly #send: (message: Message) => void;
  readonly #methods: () => Methods;
  readonly #calls: PromiseWithResolvers<unknown>[] = [];

  constructor(send: (message: Message) => void, methods: () => Methods) {
    this.#send = send;
    this.#methods = methods;
  }

  call(name: string, ...args: unknown[]): Promise<unknown> {
    const answered = Promise.withResolvers<unknown>();
    this.#send({ call: this.#calls.push(answered) - 1, name, args });
    return answered.promise;
  }

  async hear(message: unknown): Promise<void> {
    const heard = message as Message;
    if ('answer' in heard) {
      const { resolve, reject } = this.#calls[heard.answer]!;
      if (heard.error === undefined) resolve(heard.value);
      else reject(new Error(heard.error));
      return;
    }
    const { call: answer, name, args } = heard;
    try {
      const value = await this.#methods()[name]!(...(args as never[]));
      this.#send({ answer, value: value ?? null });
    } catch (error) {
      this.#send({ answer, error: `${name}: ${error instanceof Error ? error.stack : String(error)}` });
    }
  }

  /** Rejects all calls because the other side has ended. */
  end(error: Error): void {
    for (const { reject } of this.#calls) reject(error);
  }
}
