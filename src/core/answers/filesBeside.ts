import type { Message } from './answerRow.ts';

/** Whether a file is named as one of answers: `train.answers.jsonl`. What it has decides, see `isAnswersFile`. */
export function isAnswersName(path: string): boolean {
  throw new Error(`not implemented ${path}`);
}

/**
 * Returns the file of answers beside a dataset or hold-out: of `train.jsonl`, `train.prepared.jsonl` or `train.holdout.jsonl` it is
 * `train.answers.jsonl` or `train.holdout.answers.jsonl`. The newest; undefined if there is none. Never rejects.
 */
export function answersBeside(dataset: string): Promise<string | undefined> {
  throw new Error(`not implemented ${dataset}`);
}

/**
 * Returns the hold-out beside a dataset or a file of answers: `train.holdout.jsonl`. Undefined if there is none. Never rejects.
 */
export function holdOutBeside(path: string): Promise<string | undefined> {
  throw new Error(`not implemented ${path}`);
}

/**
 * Returns how many rows the file will have that is being written, as far as that is certain: those of a hold-out with at most 50, all
 * of which the recipe's program answers. Undefined otherwise. Never rejects.
 */
export function expectedRows(holdOut: string): Promise<number | undefined> {
  throw new Error(`not implemented ${holdOut}`);
}

/**
 * Returns the line of a hold-out, from 1, whose prompt these messages are. Undefined if there is none in its first 32 MB. Never
 * rejects.
 */
export function lineInHoldOut(holdOut: string, messages: readonly Message[]): Promise<number | undefined> {
  throw new Error(`not implemented ${holdOut} ${messages.length}`);
}
