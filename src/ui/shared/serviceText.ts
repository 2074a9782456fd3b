import { cutAtWholeCharacters, replaceHidden } from '../../core/base/plainText.ts';

/**
 * Sanitizes a service text, file name, or label for display: one line with hidden characters made visible. VS
 * Code finds no link and no icon in it. Truncates in the middle to keep the end of a file name.
 */
export function sanitizeServiceText(text: string, maxUnits = 60): string {
  const line = sanitizeLine(
    ends(text, maxUnits * 2)
      .replace(/\s+/g, ' ')
      .trim(),
  );
  if (line.length <= maxUnits) return line;
  const tail = lastWholeCharacters(line, Math.floor((maxUnits - 1) / 2)).trimStart();
  return `${cutAtWholeCharacters(line, maxUnits - 1 - tail.length).trimEnd()}…${tail}`;
}

/** Like `sanitizeServiceText`, but for a multiline text that includes untrusted parts, and without truncation. */
export function sanitizeText(text: string): string {
  return text.split('\n').map(sanitizeLine).join('\n');
}

/**
 * In notifications and input boxes, VS Code turns `[text](address)` into a link, even to a command. In lists
 * and the status bar, `$(name)` becomes an icon. The extension's sentences contain neither.
 */
function sanitizeLine(line: string): string {
  const visible = replaceHidden(line, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
  });
  return visible.replaceAll('](', '] (').replaceAll('$(', '$ (');
}

/** Drops the middle, which truncation removes anyway, so that a huge text costs no more than a short one. */
function ends(text: string, units: number): string {
  return text.length <= 2 * units ? text : text.slice(0, units) + text.slice(-units);
}

function lastWholeCharacters(text: string, maxUnits: number): string {
  const from = text.length - maxUnits;
  for (const { index } of new Intl.Segmenter().segment(text)) if (index >= from) return text.slice(index);
  return '';
}
