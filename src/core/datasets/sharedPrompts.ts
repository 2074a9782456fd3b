// Finds rows whose prompts are also in other data, in a worker thread. Prompts are compared by what they say (`scanner/texts.ts`).
import type { FoundRows, KeptRef } from './comparisonTypes.ts';
import type { DatasetFile } from './fileKind.ts';
import { HashIndex } from './hashIndex.ts';
import { fingerprintOfHash, PROMPT, readKept } from './keptFingerprints.ts';
import { hashesIn, isNone, readHashes, type HashReader } from './rowHashes.ts';
import { HASH_ANSWERS, HASH_NORMALIZED } from './scanner/codes.ts';

/** An answer of so many characters is rarely given twice by chance. */
const LONG_ANSWER = 80;
/** A long answer in more rows is a common one, so it proves nothing. */
const FEW_ROWS = 3;

type Reader = Omit<HashReader, 'hashing'>;

/**
 * Counts the rows of a file whose prompts are also in another file. Only the prompts of the smaller file are kept in memory.
 * @throws as `readHashes`
 */
export function countShared(reader: Reader, file: DatasetFile, other: DatasetFile): number {
  const index = new HashIndex(reader.shouldContinue);
  const read = { ...reader, hashing: HASH_NORMALIZED };
  let count = 0;
  if (other.sizeBytes <= file.sizeBytes) {
    readHashes(other, read, ({ prompt }) => index.add(...prompt));
    readHashes(file, read, ({ prompt }) => (count += Number(index.find(...prompt) !== -1)));
  } else {
    const rows: number[] = [];
    readHashes(file, read, ({ prompt }) => {
      const number = index.add(...prompt);
      rows[number] = (rows[number] ?? 0) + 1;
    });
    readHashes(other, read, ({ prompt }) => {
      const number = index.find(...prompt);
      if (number === -1) return;
      count += rows[number] ?? 0;
      rows[number] = 0;
    });
  }
  index.clear();
  return count;
}

/**
 * Finds the rows of a chat dataset in memory whose prompts are in a file or in stored fingerprints. Returns undefined if these
 * have no prompts or can't be read.
 * @throws as `readHashes`
 */
export function findRows(
  reader: Reader,
  rows: Uint8Array,
  data: DatasetFile | KeptRef,
): FoundRows | undefined {
  const prompts = new HashIndex(reader.shouldContinue);
  const answers = new HashIndex(reader.shouldContinue);
  const read = { ...reader, hashing: HASH_ANSWERS };
  const lines = Buffer.from(rows.buffer, rows.byteOffset, rows.length).toString('utf8').split('\n');
  const all: ({ prompt: number; answer: number | undefined } | undefined)[] = [];
  hashesIn(rows, read, ({ row, prompt, text }) => {
    const hash = 'key' in data ? fingerprintOfHash(data.key, prompt, PROMPT) : prompt;
    const isLong = !isNone(text) && lengthOfAnswer(lines[row - 1] ?? '') >= LONG_ANSWER;
    all[row - 1] = { prompt: prompts.add(...hash), answer: isLong ? answers.add(...text) : undefined };
  });
  const found = new Set<number>();
  const rowsOfAnswer: number[] = [];
  const take = (number: number) => number !== -1 && found.add(number);
  if ('key' in data) {
    const { pairs = new Uint32Array(), prompts: known = 0 } = readKept(data) ?? {};
    if (known === 0) return undefined;
    for (let at = 0; at < pairs.length; at += 4) take(prompts.find(pairs[at] ?? 0, pairs[at + 1] ?? 0));
  } else {
    let known = 0;
    readHashes(data, read, ({ prompt, hasPrompt, text }) => {
      if (hasPrompt) known++;
      take(prompts.find(...prompt));
      const answer = isNone(text) ? -1 : answers.find(...text);
      if (answer !== -1) rowsOfAnswer[answer] = (rowsOfAnswer[answer] ?? 0) + 1;
    });
    if (known === 0) return undefined;
  }
  const isFound = Array.from(all, (one) => one !== undefined && found.has(one.prompt));
  const isCopied = (answer = -1) =>
    (rowsOfAnswer[answer] ?? 0) > 0 && (rowsOfAnswer[answer] ?? 0) <= FEW_ROWS;
  const sameAnswer = all.filter((one, index) => isFound[index] === false && isCopied(one?.answer)).length;
  return { isFound, sameAnswer };
}

/** Returns how many characters the last message of a chat row has. */
function lengthOfAnswer(line: string): number {
  const { messages } = JSON.parse(line) as { messages: readonly { content: unknown }[] };
  const content = messages.at(-1)?.content;
  return typeof content === 'string' ? content.trim().length : JSON.stringify(content).length;
}
