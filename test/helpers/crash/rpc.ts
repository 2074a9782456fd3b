type Message =
  { call: number; name: string; args: unknown[] } | { answer: number; value?: unknown; error?: string };

/** Calls between a process and the one that forked it: each names a method of the other side. They arrive in order. */
export class Rpc {
  readonly #send: (message: Message) => void;
  readonly #methods: (name: string) => (...args: never[]) => unknown;
  readonly #calls = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  #count = 0;

  constructor(send: (message: Message) => void, methods: (name: string) => (...args: never[]) => unknown) {
    this.#send = send;
    this.#methods = methods;
  }

  call(name: string, ...args: unknown[]): Promise<unknown> {
    const call = ++this.#count;
    const answered = new Promise<unknown>((resolve, reject) => this.#calls.set(call, { resolve, reject }));
    this.#send({ call, name, args });
    return answered;
  }

  hear(message: unknown): void {
    const heard = message as Message;
    if ('call' in heard) {
      void this.#answer(heard.call, heard.name, heard.args);
      return;
    }
    const { answer, value, error } = heard;
    if (error === undefined) this.#calls.get(answer)?.resolve(value);
    else this.#calls.get(answer)?.reject(new Error(error));
    this.#calls.delete(answer);
  }

  /** The other side is gone. */
  end(error: Error): void {
    for (const { reject } of this.#calls.values()) reject(error);
    this.#calls.clear();
  }

  async #answer(answer: number, name: string, args: unknown[]): Promise<void> {
    try {
      const value = await this.#methods(name)(...(args as never[]));
      this.#send({ answer, value: value ?? null });
    } catch (error) {
      this.#send({
        answer,
        error: `${name}: ${error instanceof Error ? String(error.stack) : String(error)}`,
      });
    }
  }
}
