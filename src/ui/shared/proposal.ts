/** A submission that an agent proposes to the user. Only `ui/agents` makes one: other extensions can't pass it to a command. */
export class Proposal {
  /** In the agent's words. */
  readonly reason: string;
  /** Aborted when the agent withdraws it, which closes everything but an open modal dialog. */
  readonly signal: AbortSignal;
  /** Whether the user chose another dataset, which isn't the agent's proposal. */
  isReplaced = false;
  /** Whether nothing was sent because of an open submission; the user decides about that one instead. */
  metOpen = false;
  /** Whether its agent has the answer. Then nothing, such as a Retry button, may ask the user about it. */
  isOver = false;

  constructor(reason: string, signal: AbortSignal) {
    this.reason = reason;
    this.signal = signal;
  }
}
