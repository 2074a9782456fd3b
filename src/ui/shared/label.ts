import path from 'node:path';
import { cutAtWholeCharacters } from '../../core/base/plainText.ts';
import { MAX_LABEL_LENGTH } from '../../core/api/types.ts';

/** Cuts a label to the service's 255, counted in UTF-16 units, or less, at whole characters as a reader sees them. */
export function cutLabel(text: string, maxLength = MAX_LABEL_LENGTH): string {
  return cutAtWholeCharacters(text, maxLength);
}

/** The label that is offered for a file: its name without the extension. */
export function defaultLabel(fileName: string): string {
  return cutLabel(path.basename(fileName, path.extname(fileName)));
}
