import { homedir } from 'node:os';
import { directoryOf } from '../../core/downloads/localFiles.ts';
import { downloadDirectorySetting, downloadWhenCompleteSetting } from './settings.ts';

/** The folder that adapters of completed runs are downloaded into without a question; undefined where the user wants to be asked. */
export function autoDownloadFolder(): string | undefined {
  if (downloadWhenCompleteSetting() !== 'always') return undefined;
  const directory = directoryOf(downloadDirectorySetting(), homedir());
  return directory.kind === 'there' ? directory.path : undefined;
}
