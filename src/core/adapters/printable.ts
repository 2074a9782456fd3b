const MAX_LENGTH = 200;

/** A text that somebody else chose, fit for a screen: no control, format or lone surrogate characters, at most 200 long. */
export function printable(text: string): string {
  if (/^[ -~]{0,200}$/.test(text)) return text;
  const cleaned = text.slice(0, 4 * MAX_LENGTH).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029]/gu, '\ufffd');
  return cleaned.length <= MAX_LENGTH
    ? cleaned
    : `${cleaned.slice(0, MAX_LENGTH - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
