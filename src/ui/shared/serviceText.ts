import { cutAtWholeCharacters, replaceHidden } from '../../core/base/plainText.ts';

/**
 * A text of the service, a file name or a label as it may stand on the screen: one line in which VS Code finds no link and
 * no icon, and in which nothing is hidden; cut in the middle, so that the end of a file name stays.
 */
export function sanitizeServiceText(text: string, maxUnits = 60): string {
  const line = harmless(
    ends(text, maxUnits * 2)
      .replace(/\s+/g, ' ')
      .trim(),
  );
  if (line.length <= maxUnits) return line;
  const tail = lastWholeCharacters(line, Math.floor((maxUnits - 1) / 2)).trimStart();
  return `${cutAtWholeCharacters(line, maxUnits - 1 - tail.length).trimEnd()}…${tail}`;
}

/** A text of several lines, ours with what strangers wrote in it: as `sanitizeServiceText`, and whole. */
export function sanitizeText(text: string): string {
  return text.split('\n').map(harmless).join('\n');
}

/**
 * VS Code makes a link of `[text](address)` in notifications and input boxes, also to a command, and an icon of `$(name)` in
 * lists and in the status bar. No sentence of ours has either.
 */
function harmless(line: string): string {
  const visible = replaceHidden(line, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
  });
  return visible.replaceAll('](', '] (').replaceAll('$(', '$ (');
}

/** What can be left of a text that is cut in the middle, so that a huge one costs no more than a short one. */
function ends(text: string, units: number): string {
  return text.length <= 2 * units ? text : text.slice(0, units) + text.slice(-units);
}

function lastWholeCharacters(text: string, maxUnits: number): string {
  const from = text.length - maxUnits;
  for (const { index } of new Intl.Segmenter().segment(text)) if (index >= from) return text.slice(index);
  return '';
}
