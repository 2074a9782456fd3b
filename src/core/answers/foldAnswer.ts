/** More combining marks in a row than real texts have. Normalizing them takes quadratic time. */
const STACKED = /\p{M}{64}/u;

/** Prepares an answer for comparison: NFC, white space folded to one blank, trimmed. */
export function foldAnswer(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const isAscii = !/[^ -~]/.test(line);
  return isAscii || STACKED.test(line) ? line : line.normalize('NFC');
}

/** Returns how many code points a text has, without blanks around it. */
export function codePointsIn(text: string): number {
  return text.trim().replace(/[\u{10000}-\u{10ffff}]/gu, '.').length;
}
