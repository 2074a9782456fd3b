import { isUtf8 } from 'node:buffer';

/** Encodings to read a text in if it isn't UTF-8. Its bytes don't say which one is right, so the user is asked. */
export const ENCODINGS = ['windows-1252', 'windows-1250', 'windows-1251', 'gbk', 'shift_jis'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** The characters of the bytes from 0x80 in Windows-1252: some versions of Node decode them as Latin-1. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
const SHOWN_LINES = 3;
const SHOWN_BEFORE_BYTES = 20;
const SHOWN_BYTES = 80;

/** Returns the first lines that aren't UTF-8, as each encoding reads them. */
export function readingsOf(chunks: Iterable<Uint8Array>): string[] {
  const shown: Buffer[] = [];
  const show = (line: string) => {
    const bytes = Buffer.from(line, 'latin1');
    if (shown.length === SHOWN_LINES || isUtf8(bytes)) return;
    const start = Math.max(0, line.search(/[\x80-\xff]/) - SHOWN_BEFORE_BYTES);
    shown.push(bytes.subarray(start, start + SHOWN_BYTES));
  };
  let rest = '';
  for (const chunk of chunks) {
    const lines = (rest + Buffer.from(chunk).toString('latin1')).split('\n');
    // If a line is longer than a chunk, each chunk counts as a line.
    rest = lines.length > 1 ? (lines.pop() ?? '') : '';
    lines.forEach(show);
  }
  show(rest);
  return ENCODINGS.map((encoding) => shown.map((line) => decoderOf(encoding, false)(line).trim()).join('\n'));
}

/** Returns a function that decodes a text part by part; a call without a part ends it. The function throws TypeError at invalid bytes. */
export function decoderOf(encoding: string, fatal = true): (part?: Uint8Array) => string {
  const decoder = new TextDecoder(encoding, { fatal });
  return (part) => {
    const text = decoder.decode(part, { stream: part !== undefined });
    if (encoding !== 'windows-1252') return text;
    return text.replace(/[\x80-\x9f]/g, (unit) => WINDOWS_1252.charAt(unit.charCodeAt(0) - 0x80));
  };
}
