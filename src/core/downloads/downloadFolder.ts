import { statSync } from 'node:fs';
import path from 'node:path';
import { safeFileName } from './fileName.ts';
import { withoutMarker } from '../runs/marker.ts';

/** The download directory as the person set it; `asked`: none is set. */
export type Directory =
  | { kind: 'asked' }
  /** Not an absolute path, or something that is no folder. */
  | { kind: 'unusable'; text: string }
  /** Nothing stands there: a drive that is not mounted, perhaps. */
  | { kind: 'missing'; path: string }
  | { kind: 'there'; path: string };

/** Longest part of a run's folder that its label gives, in characters. */
const MAX_LABEL_LENGTH = 60;

/** What the text of the setting means on this machine. @param home what `~` stands for */
export function directoryOf(text: string, home: string): Directory {
  const trimmed = text.trim();
  if (trimmed === '') return { kind: 'asked' };
  const directory = /^~(?=$|[/\\])/.test(trimmed) ? path.join(home, trimmed.slice(1)) : trimmed;
  if (!path.isAbsolute(directory)) return { kind: 'unusable', text: trimmed };
  const normal = path.normalize(directory);
  try {
    const stats = statSync(normal, { throwIfNoEntry: false });
    if (stats === undefined) return { kind: 'missing', path: normal };
    return stats.isDirectory() ? { kind: 'there', path: normal } : { kind: 'unusable', text: trimmed };
  } catch (error) {
    // What may not be looked at is found out by whoever writes there; else a file is in its way.
    return ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')
      ? { kind: 'there', path: normal }
      : { kind: 'unusable', text: trimmed };
  }
}

/** The name of a run's own folder in the download directory: for people its label, and what keeps runs apart. */
export function runFolderName(label: string | undefined, runId: string): string {
  const given = withoutMarker(label ?? '').replace(/[/\\]/g, '-');
  const start = Array.from(given).slice(0, MAX_LABEL_LENGTH).join('');
  return `${safeFileName(start, 'run')} ${safeFileName(runId.slice(0, 8), 'run')}`;
}
