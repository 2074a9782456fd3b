import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { CancelledError } from '../base/errors.ts';
import { textOf } from '../base/json.ts';
import type { DatasetFile } from '../datasets/fileKind.ts';
import type { Fingerprints } from '../datasets/fingerprints.ts';
import { toChat } from '../datasets/toChat.ts';
import { messagesOf, parseObject, type Message } from './answerRow.ts';
import { byteLines, readBeginning } from './answersFile.ts';

const ENDING = /\.(jsonl|ndjson)$/i;
/** What a copy or a hold-out adds to a file's name, with a number if the name was taken. */
const COPY = /\.(?:prepared|trial|holdout)(-\d+)?$/;
/** In the name of answers to a hold-out. */
const HOLD_OUT = /\.holdout(-\d+)?(?=\.|$)/;
/** Rows that the recipe's program answers. */
const RECIPE_ROWS = 50;

/** Whether a file has a name like `train.answers.jsonl`. Its contents decide: see `isAnswersFile`. */
export function isAnswersName(file: string): boolean {
  return /\.answers\.(jsonl|ndjson)$/i.test(file);
}

/**
 * Returns the newest file of answers beside a dataset or hold-out: `train.holdout.my-run.answers.jsonl` for
 * `train.jsonl`, `train.prepared.jsonl` and `train.holdout.jsonl`. The adapter's name may be missing. The
 * answers may be to the rows of the file itself or of its source. Undefined if there is none. Never rejects.
 */
export async function answersBeside(dataset: string): Promise<string | undefined> {
  const { whole, stem, number } = partsOfName(dataset);
  const own = [whole, `${stem}.holdout${number}`, stem];
  const names = await readdir(path.dirname(dataset)).catch((): string[] => []);
  const answersOwn = (file: string) => {
    // The adapter's name, and another dataset's, may contain dots.
    const rows = beginningsOf(partsOfName(file).whole).find(
      (one) => own.includes(one) || COPY.test(one) || names.includes(`${one}.jsonl`),
    );
    return rows !== undefined && own.includes(rows);
  };
  const found = names
    .filter((one) => isAnswersName(one) && answersOwn(one))
    .map(async (one) => {
      const file = path.join(path.dirname(dataset), one);
      const stats = await stat(file).catch(() => undefined);
      return stats?.isFile() === true ? [{ file, writtenMs: stats.mtimeMs }] : [];
    });
  const newestFirst = (await Promise.all(found)).flat().sort((a, b) => b.writtenMs - a.writtenMs);
  return newestFirst[0]?.file;
}

/**
 * Returns the hold-out beside a dataset or a file of answers: `train.holdout.jsonl` for `train.jsonl`,
 * `train.prepared.jsonl`, `train.answers.jsonl` and `train.holdout.my-run.answers.jsonl`. Answers to the rows
 * of `train.jsonl` itself get that file. Undefined if there is none. Never rejects.
 */
export function holdOutBeside(file: string): Promise<string | undefined> {
  const { whole } = partsOfName(file);
  const areAnswers = isAnswersName(file);
  // Answers to a hold-out are not to the rows of its source.
  const ofHoldOut = HOLD_OUT.exec(whole);
  const minLength = ofHoldOut === null ? 0 : ofHoldOut.index + ofHoldOut[0].length;
  const wholes = areAnswers ? beginningsOf(whole).filter(({ length }) => length >= minLength) : [whole];
  const names = wholes
    .map(partsOfName)
    .flatMap((one) => [`${one.stem}.holdout${one.number}`, ...(areAnswers ? [one.whole] : [])]);
  return firstFile(file, names);
}

/**
 * Returns the files that may have been trained on before these answers: `train.prepared.jsonl`, `train.trial.jsonl`
 * and their source `train.jsonl` for `train.holdout.my-run.answers.jsonl`. The source contains its own hold-out.
 * Copies for `holdout-2` have its number. The files may not exist.
 */
export function trainedBeside(answers: string): [prepared: string, trial: string, source: string] {
  const { whole } = partsOfName(answers);
  const holdOut = HOLD_OUT.exec(whole);
  const [name, number] = [whole.slice(0, holdOut?.index), holdOut?.[1] ?? ''];
  const beside = (file: string) => path.join(path.dirname(answers), `${file}.jsonl`);
  return [beside(`${name}.prepared${number}`), beside(`${name}.trial${number}`), beside(name)];
}

/** A hold-out, and how many rows of its dataset have prompts that are also there. */
export interface HeldOut {
  path: string;
  /** The path, or the file with the stamp that was allowed. */
  source: string | DatasetFile;
  rows: number;
}

/**
 * Counts the rows of a dataset that are also in the hold-out beside it. Undefined if it has none. A failure is logged,
 * and gives undefined, too.
 * @param allowed returns what may be read: a path, a file whose stamp shows if a link replaces it, or nothing
 * @throws CancelledError
 */
export async function heldOutOf(
  file: DatasetFile,
  parts: { fingerprints: Pick<Fingerprints, 'alsoIn'>; log: { error(what: string, error: unknown): void } },
  signal: AbortSignal,
  allowed = (holdOut: string): Promise<string | DatasetFile | undefined> => Promise.resolve(holdOut),
): Promise<HeldOut | undefined> {
  const holdOut = await holdOutBeside(file.path);
  if (holdOut === undefined || holdOut === file.path) return undefined;
  const source = await allowed(holdOut);
  if (source === undefined) return undefined;
  try {
    return { path: holdOut, source, rows: await parts.fingerprints.alsoIn(source, file, signal) };
  } catch (error) {
    if (error instanceof CancelledError) throw error;
    parts.log.error('hold-out', error);
    return undefined;
  }
}

/** `a.b.c`, `a.b`, `a`. */
function beginningsOf(name: string): string[] {
  const parts = name.split('.');
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('.'));
}

interface NameParts {
  /** Without folder and endings. */
  whole: string;
  /** Also without what a copy adds: `train` of `train.prepared-2`. */
  stem: string;
  /** The copy's number: "" or "-2". */
  number: string;
}

function partsOfName(file: string): NameParts {
  const whole = path
    .basename(file)
    .replace(ENDING, '')
    .replace(/\.answers$/i, '');
  const copy = COPY.exec(whole);
  return { whole, stem: whole.slice(0, copy?.index), number: copy?.[1] ?? '' };
}

/** Returns the first of some files that exists beside another one. */
async function firstFile(beside: string, names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    const file = path.join(path.dirname(beside), `${name}.jsonl`);
    const found = await stat(file).catch(() => undefined);
    if (found?.isFile() === true) return file;
  }
  return undefined;
}

/**
 * Returns how many rows a file that is being written will have, if that is certain. The recipe's program
 * answers every row of a hold-out with at most 50, if each is chat or can become it. Never rejects.
 */
export async function expectedRows(holdOut: string): Promise<number | undefined> {
  const rows = await rowsOf(holdOut);
  const isAsked = ({ messages, text }: (typeof rows)[number]) =>
    messages.length > 0 || typeof toChat(text) === 'object';
  return rows.length > 0 && rows.length <= RECIPE_ROWS && rows.every(isAsked) ? rows.length : undefined;
}

/**
 * Returns the line of a hold-out, from 1, with these messages and then the answer. In other formats than chat it is
 * the first row with their texts. Undefined if its first 8 MB have none. Never rejects.
 */
export async function lineInHoldOut(
  holdOut: string,
  messages: readonly Message[],
): Promise<number | undefined> {
  const rows = await rowsOf(holdOut);
  const found = rows.find(({ messages: all, texts }) => {
    const isSame = ({ role, text }: Message, index: number) =>
      role === all[index]?.role && text === all[index]?.text;
    if (all.length > 0) return all.length - messages.length <= 1 && messages.every(isSame);
    return messages.every(({ text }) => text === '' || texts.includes(`\n\n${text}\n\n`));
  });
  return found?.line;
}

/**
 * Returns the rows of a file that are JSON; none if it can't be read. `messages` is empty if a row isn't chat. `texts` has
 * blank lines around each, as between an instruction and its input.
 */
async function rowsOf(file: string) {
  const read = await readBeginning(file).catch(() => 'unreadable' as const);
  if (typeof read === 'string') return [];
  return Array.from(byteLines(read.bytes)).flatMap(({ number, text }) => {
    const row = parseObject(text);
    if (row === undefined) return [];
    const texts = Object.values(row)
      .flat()
      .map((value) => textOf(value) ?? '');
    return [{ line: number, text, messages: messagesOf(row) ?? [], texts: `\n\n${texts.join('\n\n')}\n\n` }];
  });
}
