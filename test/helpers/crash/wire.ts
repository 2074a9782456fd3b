import { NetworkError } from '../../../src/core/api/errors.ts';
import type { HttpAnswer, HttpRequest, Timeouts } from '../../../src/core/api/exchange.ts';
import { Transport } from '../../../src/core/api/transport.ts';
import { lieOf, type LieName, type Send } from './lies.ts';
import type { AttemptPlan } from './protocol.ts';
import type { CrashSeam } from './seams.ts';

/** Where the closing boundary does not arrive in time anyway, nobody waits for it in real time. */
const SHORT: Partial<Timeouts> = { pricingMs: 120, stallMs: 120, bodyMs: 400, answerMs: 400 };
const LONG: Partial<Timeouts> = {
  connectMs: 5000,
  pricingMs: 8000,
  stallMs: 8000,
  bodyMs: 8000,
  answerMs: 8000,
};
const DIRECT = { strictSsl: true, systemCertificates: false, env: {} };

/** So much of the body has left when a process is killed in its middle. */
const MIDDLE_BYTES = 60_000;

/**
 * The real transport, which says beforehand that an attempt is coming, numbers it, and may end in the middle of its body.
 * How long an attempt may take is part of what happens to it.
 */
export class CountingTransport extends Transport {
  readonly #short = new Transport(DIRECT, { timeouts: SHORT });
  readonly #long = new Transport(DIRECT, { timeouts: LONG });
  readonly #window: number;
  readonly #seam: CrashSeam;
  readonly #lie: LieName | undefined;
  readonly #plan: (ordinal: number) => Promise<AttemptPlan>;
  #posts = 0;

  constructor(
    window: number,
    seam: CrashSeam,
    lie: LieName | undefined,
    plan: (ordinal: number) => Promise<AttemptPlan>,
  ) {
    super(DIRECT);
    this.#window = window;
    this.#seam = seam;
    this.#lie = lie;
    this.#plan = plan;
  }

  /** How many attempts this process has begun. */
  get posts(): number {
    return this.#posts;
  }

  override async send(request: HttpRequest): Promise<HttpAnswer> {
    const headers = { ...request.headers, 'x-window': String(this.#window) };
    if (request.method === 'GET') return this.#long.send({ ...request, headers });
    this.#posts += 1;
    const ordinal = this.#posts;
    const plan = await this.#plan(ordinal);
    if (plan.connect === 'dns') throw new NetworkError('dns', 'ENOTFOUND');
    const url = plan.insteadOf === undefined ? request.url : new URL(request.url.pathname, plan.insteadOf);
    const { body } = request;
    const sound: Send = (sent) => (plan.isSilent ? this.#short : this.#long).send(sent);
    const { send } = lieOf(this.#lie);
    const attempt = {
      ...request,
      url,
      headers: { ...headers, 'x-post': String(ordinal) },
      ...(body && { body: this.#watched(body, ordinal) }),
    };
    return send === undefined ? sound(attempt) : send(sound, attempt, ordinal);
  }

  override dispose(): void {
    super.dispose();
    this.#short.dispose();
    this.#long.dispose();
  }

  async *#watched(body: AsyncIterable<Uint8Array>, attempt: number): AsyncGenerator<Uint8Array> {
    let sentBytes = 0;
    for await (const chunk of body) {
      yield chunk;
      sentBytes += chunk.byteLength;
      if (sentBytes > MIDDLE_BYTES) await this.#seam.reach('mid-body', attempt);
    }
  }
}
