import type { Charge, Ledger } from './ledger.ts';
import type { Shown, Told } from './protocol.ts';

/** At a moment a window said that an intent was not charged. */
interface Claim {
  id: string;
  window: number;
  /** So many attempts had that window begun. */
  posts: number;
  /** So many requests had the service seen. */
  seq: number;
  how: string;
}

/** States by which the tree tells that nothing was charged. */
const NOTHING_CHARGED: ReadonlySet<string> = new Set(['unsent', 'refused', 'not-charged']);

/** What the person was told, held against what the service did: at once and at the end (I4). */
export class Claims {
  readonly #ledger: Ledger;
  readonly #violate: (text: string) => void;
  readonly #claims: Claim[] = [];
  readonly #resolved = new Set<string>();
  readonly #told: Told[] = [];

  constructor(ledger: Ledger, violate: (text: string) => void) {
    this.#ledger = ledger;
    this.#violate = violate;
  }

  /** Everything that was told. */
  get all(): readonly Told[] {
    return this.#told;
  }

  /** Whether the person was told how it ended, or gave it up. */
  isResolved(id: string): boolean {
    return this.#resolved.has(id);
  }

  discarded(id: string): void {
    this.#resolved.add(id);
  }

  /** What the tree shows. */
  shown(window: number, { id, state }: Shown, posts: number): void {
    if (!NOTHING_CHARGED.has(state)) return;
    this.#claim({ id, window, posts, seq: this.#ledger.seq, how: `shown as ${state}` });
  }

  told(window: number, told: Told, posts: number): void {
    this.#told.push(told);
    const { kind, id } = told;
    if (kind === 'charged') this.#checkCharged(told);
    if (id === undefined) return;
    if (kind === 'charged') this.#resolved.add(id);
    if (kind !== 'not-charged' && kind !== 'unsent') return;
    // One that two looks found uncharged is still open.
    if (told.kept === false) this.#resolved.add(id);
    this.#claim({ id, window, posts, seq: this.#ledger.seq, how: 'told' });
  }

  /** A receipt is told, too. */
  receipt(id: string, runId: string, priceCents: number | undefined): void {
    this.#checkCharged({
      kind: 'charged',
      id,
      run: { run_id: runId, ...(priceCents !== undefined && { price_cents: priceCents }) },
    });
  }

  /** Looks at every claim again. */
  verify(): void {
    for (const claim of this.#claims) this.#verify(claim);
  }

  #claim(claim: Claim): void {
    this.#claims.push(claim);
    this.#verify(claim);
  }

  #verify(claim: Claim): void {
    for (const charge of this.#ledger.chargesOf(claim.id))
      if (this.#isOfBefore(charge, claim))
        this.#violate(
          `I4: ${claim.how} by window ${claim.window} as not charged, but request ${charge.seq} was charged`,
        );
  }

  /** Whether what was charged had been sent when the claim was made; a window numbers its attempts itself. */
  #isOfBefore({ seq }: Charge, claim: Claim): boolean {
    const post = this.#ledger.posts.find((one) => one.seq === seq);
    if (post?.window === claim.window) return post.ordinal <= claim.posts;
    return seq <= claim.seq;
  }

  #checkCharged({ id, run }: Told): void {
    const charge = this.#ledger.charges.find(({ runId }) => runId === run?.run_id);
    if (charge === undefined) this.#violate('I4: told as charged, but the run was not');
    else if (id !== undefined && charge.idempotencyKey !== id)
      this.#violate('I4: told as charged with the run of another intent');
    else if (run?.price_cents !== undefined && run.price_cents !== charge.priceCents)
      this.#violate('I4: told as charged with another price');
  }
}
