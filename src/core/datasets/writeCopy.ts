import { open, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { onDisk } from '../base/diskError.ts';
import { throwIfCancelled } from '../base/errors.ts';
import { isStill, stampOf } from '../base/fileStamp.ts';
import { leavableOf, mayBeRepaired, mendableOf, NO_CHANGES } from './copyTypes.ts';
import type { Mendable, PrepareChoices, PrepareCounts, PrepareJob } from './copyTypes.ts';
import { MAX_TEXT_BYTES } from './facts/textRow.ts';
import { modeOf, type DatasetFile } from './fileKind.ts';
import { NewFiles } from './newFiles.ts';
import type { Reading } from './readFacts.ts';
import { CheckError, type Report } from './report.ts';
import { RowFile } from './rowFile.ts';

/** The new files, and what was done. */
export interface Prepared {
  /** To train on. */
  main: string;
  /** For evaluation. */
  holdOut: string | undefined;
  counts: PrepareCounts;
}

export interface PrepareOptions {
  /** The most that a file may have. */
  maxBytes: number;
  signal?: AbortSignal;
  /** Called with the fraction done, from 0 to 1. */
  onProgress?: (fraction: number) => void;
}

/** What runs a pass: a `DatasetChecker`. */
interface Passes {
  prepare(job: PrepareJob, options: Omit<PrepareOptions, 'maxBytes'>): Promise<PrepareCounts>;
}

/** `DatasetChecker.prepareCopy`. */
export function prepareCopy(
  checker: Passes,
  source: DatasetFile,
  choices: PrepareChoices,
  { maxBytes, ...following }: PrepareOptions,
): Promise<Prepared> {
  return onDisk(
    withInput(source, async (input, mode) => {
      const files = new NewFiles(source.path, mode);
      try {
        // The hold-out is named first: whatever happens, nobody has the file to train on without it.
        const holdOut = choices.holdOut && (await files.add());
        const main = await files.add();
        const heldOut = await heldOutFile(choices.withoutHeldOut);
        const job = { fd: input.fd, sizeBytes: source.sizeBytes, choices, heldOut, maxBytes };
        const fds = { mainFd: main.fd, holdOutFd: holdOut?.fd };
        const onProgress = (fraction: number) => {
          files.beginSync();
          following.onProgress?.(fraction);
        };
        const counts = await checker.prepare({ ...job, ...fds }, { ...following, onProgress });
        await modeOf(input, source);
        if (heldOut !== undefined && !(await isStill(heldOut.path, heldOut)))
          throw new CheckError('changing');
        const name = nameOf(source.path);
        const names = [`${name}.${choices.trial === undefined ? 'prepared' : 'trial'}`];
        if (holdOut !== undefined) names.unshift(`${name}.holdout`);
        throwIfCancelled(following.signal);
        const written = await files.name(names);
        return { main: written.at(-1) ?? '', holdOut: holdOut && written[0], counts };
      } finally {
        await files.dispose();
      }
    }),
  );
}

/** `DatasetChecker.mendableIn`. */
export async function mendableIn(
  checker: Passes,
  report: Report,
  reading: Reading | undefined,
  options: Omit<PrepareOptions, 'maxBytes'>,
): Promise<Mendable> {
  const mendable = mendableOf(report);
  const count = (choices: Partial<PrepareChoices>) =>
    onDisk(
      withInput(report, (input) => {
        const nothing = { mainFd: undefined, holdOutFd: undefined, maxBytes: 0 };
        const job = { fd: input.fd, sizeBytes: report.sizeBytes, ...nothing };
        return checker.prepare({ ...job, choices: { ...NO_CHANGES, ...choices } }, options);
      }),
    );
  const json = { repair: true, withoutErrors: true };
  return {
    ...mendable,
    repairableRows: mayBeRepaired(report) ? (await count(json)).repaired : 0,
    leavable: leavableOf(reading?.findings ?? []),
    system: reading && (await usualSystem(reading, options.signal)),
    convertsAll: mendable.convertsAll && (await count({ ...json, toChat: true })).leftOut.format === 0,
  };
}

/** A system message is the usual one if there are so many conversations, and more than this share have it. */
const FEWEST_CONVERSATIONS = 10;
const USUAL_SHARE = 0.8;

/** Returns the usual system message, and how many conversations have none. @throws CheckError `changing` */
async function usualSystem(
  reading: Reading,
  signal = new AbortController().signal,
): Promise<Mendable['system']> {
  const { conversations, main, without: rows } = reading.system;
  if (rows === 0 || main === undefined || conversations < FEWEST_CONVERSATIONS) return undefined;
  if (main.rows <= USUAL_SHARE * conversations) return undefined;
  const text = await RowFile.readText(reading, [main.row, 'system', MAX_TEXT_BYTES], signal);
  return text === undefined || text === '' ? undefined : { text, rows };
}

/** Opens the version of a file that was inspected. */
async function withInput<T>(
  source: DatasetFile,
  work: (input: FileHandle, mode: number) => Promise<T>,
): Promise<T> {
  const input = await open(source.path, 'r');
  try {
    return await work(input, await modeOf(input, source));
  } finally {
    await input.close();
  }
}

/** Returns the hold-out whose rows are left out. For a path, that is its present version. @throws CheckError `changing` if it is missing */
async function heldOutFile(file: string | DatasetFile | undefined): Promise<DatasetFile | undefined> {
  if (typeof file !== 'string') return file;
  const found = await stat(file, { bigint: true }).catch((cause: unknown) => {
    throw new CheckError('changing', { cause });
  });
  return { path: file, ...stampOf(found) };
}

/** Returns the name of a dataset without its extension, and without what an earlier copy added to it. */
function nameOf(file: string): string {
  return path.parse(file).name.replace(/\.(prepared|trial|holdout)(-\d+)?$/, '') || path.parse(file).name;
}
