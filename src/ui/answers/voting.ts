import type { AnswersFile, Side } from '../../core/answers/answersFile.ts';
import {
  leftSide,
  tallyVotes,
  VOTE_ROWS,
  voteOf,
  voteOrder,
  type Choice,
  type Vote,
  type Votes,
  type VoteTally,
} from '../../core/answers/votes.ts';
import type { ShownAnswers } from './answersDocument.ts';

/** What the page shows while the user votes. */
export type VoteStep =
  | { kind: 'row'; index: number; left: Side; choice: Choice | undefined; at: number }
  | { kind: 'end' };

/** Owns the votes on one version of a file, and the row that is voted on. Nothing stores votes. */
export class Voting {
  readonly #sha256: string;
  readonly #rows: AnswersFile['rows'];
  readonly #order: readonly number[];
  /** By the line of the row; also those on rows that don't count now. */
  readonly #votes: Map<number, Vote>;
  readonly #lines: ReadonlySet<number | undefined>;
  #limit: number;
  /** A position in the order; at the limit, all rows have been shown. Undefined while the user doesn't vote. */
  #at: number | undefined;

  /** @param earlier the votes on the same version; those on rows that were trained don't count, but return with their rows */
  constructor(
    { file: { sha256, rows }, scores, trained }: Pick<ShownAnswers, 'file' | 'scores' | 'trained'>,
    earlier?: Voting,
  ) {
    this.#sha256 = sha256;
    this.#rows = rows;
    this.#order = voteOrder(sha256, rows, scores, trained);
    this.#lines = new Set(this.#order.map((index) => rows[index]?.line));
    this.#votes = new Map(earlier === undefined ? [] : earlier.#votes);
    this.#limit = Math.min(VOTE_ROWS, this.total);
  }

  /** Those that count. */
  get votes(): Votes {
    return new Map(Array.from(this.#votes).filter(([line]) => this.#lines.has(line)));
  }

  /** Undefined without votes. */
  get tally(): VoteTally | undefined {
    const { votes } = this;
    return votes.size === 0 ? undefined : tallyVotes(votes.values());
  }

  /** The rows that can be voted on. */
  get total(): number {
    return this.#order.length;
  }

  /** The rows of this session. */
  get limit(): number {
    return this.#limit;
  }

  /** The rows that the next `begin` adds; 0 if this session has rows without a vote, or all have one. */
  get more(): number {
    return this.#firstOpen() < this.#limit ? 0 : Math.min(VOTE_ROWS, this.total - this.#limit);
  }

  /** Whether rows of this session have no vote. */
  get isUnfinished(): boolean {
    return this.#firstOpen() < this.#limit;
  }

  /** Undefined while the user doesn't vote. */
  get step(): VoteStep | undefined {
    const at = this.#at;
    if (at === undefined) return undefined;
    const index = at < this.#limit ? this.#order[at] : undefined;
    const line = index === undefined ? undefined : this.#rows[index]?.line;
    if (index === undefined || line === undefined) return { kind: 'end' };
    const left = leftSide(this.#sha256, line);
    const vote = this.#votes.get(line);
    const choices = (['left', 'right', 'equal'] as const).filter((choice) => voteOf(choice, left) === vote);
    return { kind: 'row', index, left, choice: choices[0], at };
  }

  /** Shows the first row without a vote; if each has one, adds more. */
  begin(): void {
    this.#limit += this.more;
    this.#at = this.#firstOpen();
  }

  /** @param line of the shown row; a vote on another one comes too late */
  choose(line: number, choice: Choice): boolean {
    const { step } = this;
    if (step?.kind !== 'row' || this.#rows[step.index]?.line !== line) return false;
    this.#votes.set(line, voteOf(choice, step.left));
    this.#at = step.at + 1;
    return true;
  }

  back(): void {
    if (this.#at !== undefined) this.#at = Math.max(0, this.#at - 1);
  }

  /** Shows the result of the votes; from there, or without votes, the rows. */
  end(): void {
    this.#at = this.step?.kind === 'row' && this.tally !== undefined ? this.#limit : undefined;
  }

  discard(): void {
    this.#votes.clear();
    this.#limit = Math.min(VOTE_ROWS, this.total);
    this.#at = undefined;
  }

  /** The position of the first row of the session without a vote, or its end. */
  #firstOpen(): number {
    const shown = this.#order.slice(0, this.#limit);
    const open = shown.findIndex((index) => !this.#votes.has(this.#rows[index]?.line ?? 0));
    return open === -1 ? this.#limit : open;
  }
}
