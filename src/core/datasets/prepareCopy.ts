import { open } from 'node:fs/promises';
import path from 'node:path';
import { onDisk } from '../base/diskError.ts';
import type { DatasetChecker } from './checker.ts';
import { modeOf, type DatasetFile } from './fileKind.ts';
import { NewFiles } from './newFiles.ts';
import type { PrepareChoices, PrepareCounts } from './prepare.ts';

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

/**
 * Writes a prepared copy of an inspected dataset beside it. The dataset isn't changed, no file is replaced, and none that is
 * incomplete gets a name.
 * @throws PrepareError; CheckError `changing`; DiskError; CancelledError
 */
export function prepareCopy(
  checker: Pick<DatasetChecker, 'prepare'>,
  source: DatasetFile,
  choices: PrepareChoices,
  options: PrepareOptions,
): Promise<Prepared> {
  return onDisk(copy(checker, source, choices, options));
}

async function copy(
  checker: Pick<DatasetChecker, 'prepare'>,
  source: DatasetFile,
  choices: PrepareChoices,
  { maxBytes, signal, onProgress }: PrepareOptions,
): Promise<Prepared> {
  const input = await open(source.path, 'r');
  try {
    const mode = await modeOf(input, source);
    const files = new NewFiles(source.path, mode);
    try {
      const main = await files.add();
      const holdOut = choices.holdOut && (await files.add());
      const counts = await checker.prepare(
        {
          fd: input.fd,
          sizeBytes: source.sizeBytes,
          ...{ choices, mainFd: main.fd, holdOutFd: holdOut?.fd, maxBytes },
        },
        { ...(signal && { signal }), ...(onProgress && { onProgress }) },
      );
      await modeOf(input, source);
      const name = nameOf(source.path);
      const names = [`${name}.${choices.trial === undefined ? 'prepared' : 'trial'}`];
      if (holdOut !== undefined) names.push(`${name}.holdout`);
      const [written = '', heldOut] = await files.name(names);
      return { main: written, holdOut: heldOut, counts };
    } finally {
      await files.dispose();
    }
  } finally {
    await input.close();
  }
}

/** Returns the name of a dataset without its ending, and without what an earlier copy added to it. */
function nameOf(file: string): string {
  return path.parse(file).name.replace(/\.(prepared|trial|holdout)(-\d+)?$/, '') || path.parse(file).name;
}
