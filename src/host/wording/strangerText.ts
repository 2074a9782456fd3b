import { cutAtWholeCharacters, toPlainLine } from '../../api/plainText.ts';

/**
 * A text of the service in a sentence of ours: one plain line, cut with an ellipsis, in which a notification finds no link
 * (VS Code makes `[text](address)` one, also to a command).
 */
export function strangerText(text: string, maxUnits = 60): string {
  const line = toPlainLine(text, maxUnits + 1).replaceAll('](', '] (');
  return line.length <= maxUnits ? line : `${cutAtWholeCharacters(line, maxUnits - 1).trimEnd()}…`;
}
