import path from 'node:path';
import { MAX_LABEL_LENGTH } from '../api/types.ts';

/** Cuts a label to the service's 255, counted in UTF-16 units, at whole characters as a person sees them. */
export function cutLabel(text: string): string {
  if (text.length <= MAX_LABEL_LENGTH) return text;
  let cut = '';
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text)) {
    if (cut.length + segment.length > MAX_LABEL_LENGTH) break;
    cut += segment;
  }
  return cut;
}

/** The label that is offered for a file: its name without the extension. */
export function defaultLabel(fileName: string): string {
  return cutLabel(path.basename(fileName, path.extname(fileName)));
}
