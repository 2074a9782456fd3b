import { open, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { onDisk } from '../base/diskError.ts';
import { throwIfCancelled } from '../base/errors.ts';
import { isStill, stampOf } from '../base/fileStamp.ts';
import { modeOf, type DatasetFile } from './fileKind.ts';
import { NewFiles } from './newFiles.ts';
import type { PrepareChoices, PrepareCounts, PrepareJob } from './copyTypes.ts';
import { CheckError } from './report.ts';

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

/** Runs a pass: the checker does. */
interface Passes {
  prepare(
    file: Omit<PrepareJob, 'segments'>,
    options: Omit<PrepareOptions, 'maxBytes'>,
  ): Promise<PrepareCounts>;
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
        // Named first: whoever has the file to train on has the other one, whatever happens.
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

/** `DatasetChecker.canConvertAll`. */
export function canConvertAll(
  checker: Passes,
  source: DatasetFile,
  options: Omit<PrepareOptions, 'maxBytes'>,
): Promise<boolean> {
  return onDisk(
    withInput(source, async (input) => {
      const job = { fd: input.fd, sizeBytes: source.sizeBytes, choices: ONLY_TO_CHAT };
      const nothing = { mainFd: undefined, holdOutFd: undefined, maxBytes: 0 };
      const { leftOut } = await checker.prepare({ ...job, ...nothing }, options);
      return leftOut.format === 0;
    }),
  );
}

const ONLY_TO_CHAT: Readonly<PrepareChoices> = {
  ...{ withoutErrors: true, withoutUntrainable: false, withoutDuplicates: false, toChat: true },
  ...{ withoutHeldOut: undefined, holdOut: undefined, trial: undefined },
  mask: { secrets: false, personal: false },
};

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

/** Returns the hold-out whose rows are left out, as it is now, or was. @throws CheckError `changing` if it can't be found */
async function heldOutFile(file: string | DatasetFile | undefined): Promise<DatasetFile | undefined> {
  if (typeof file !== 'string') return file;
  const found = await stat(file, { bigint: true }).catch((cause: unknown) => {
    throw new CheckError('changing', { cause });
  });
  return { path: file, ...stampOf(found) };
}

/** Returns the name of a dataset without its ending, and without what an earlier copy added to it. */
function nameOf(file: string): string {
  return path.parse(file).name.replace(/\.(prepared|trial|holdout)(-\d+)?$/, '') || path.parse(file).name;
}
