import { isUtf8 } from 'node:buffer';

/** What a text that isn't UTF-8 may be read as. Nothing in its bytes says which one is right, so the user is asked. */
export const ENCODINGS = ['windows-1252', 'windows-1250', 'windows-1251', 'gbk', 'shift_jis'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** What bytes from 0x80 are in Windows-1252: some versions of Node read them as Latin-1. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
const SHOWN_LINES = 3;
const SHOWN_BEFORE_BYTES = 20;
const SHOWN_BYTES = 80;
/** Bytes beyond ASCII, in a text of one unit a byte. */
const RUNS = /[\x80-\xff]+/g;

interface Readings {
  /** The first lines that aren't UTF-8, as each encoding reads them. */
  samples: string[];
  /** Whether most of what isn't ASCII is UTF-8: only the rest has another encoding. */
  isMixed: boolean;
}

export function readingsOf(chunks: Iterable<Uint8Array>): Readings {
  const shown: Buffer[] = [];
  let [valid, invalid] = [0, 0];
  for (const text of pieces(chunks)) {
    let from = 0;
    for (const { 0: run, index } of text.matchAll(RUNS)) {
      const isValid = isUtf8(Buffer.from(run, 'latin1'));
      if (isValid) valid += 1;
      else invalid += 1;
      if (isValid || shown.length === SHOWN_LINES || index < from) continue;
      const start = Math.max(text.lastIndexOf('\n', index) + 1, index - SHOWN_BEFORE_BYTES);
      const [end] = /.*/.exec(text.slice(start, start + SHOWN_BYTES)) ?? [''];
      from = start + end.length;
      if (text.slice(from, from + 1) !== '\n') from = Math.max(from, text.indexOf('\n', from));
      shown.push(Buffer.from(end, 'latin1'));
    }
  }
  const samples = ENCODINGS.map((encoding) =>
    shown.map((line) => readAs(new TextDecoder(encoding), encoding, line, true).trim()).join('\n'),
  );
  return { samples, isMixed: valid > invalid };
}

/** Returns the text in UTF-8. @throws TypeError at the first character that isn't valid in the encoding */
export function* decodedAs(
  chunks: Iterable<Uint8Array>,
  encoding: Encoding,
  isMixed: boolean,
): Generator<Uint8Array> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  if (isMixed) {
    const decode = (run: string) => {
      const bytes = Buffer.from(run, 'latin1');
      return isUtf8(bytes) ? run : Buffer.from(readAs(decoder, encoding, bytes, false)).toString('latin1');
    };
    for (const text of pieces(chunks)) yield Buffer.from(text.replace(RUNS, decode), 'latin1');
    return;
  }
  for (const chunk of chunks) yield Buffer.from(readAs(decoder, encoding, chunk, true));
  yield Buffer.from(readAs(decoder, encoding, new Uint8Array(), false));
}

/** Returns bytes as a text of one unit a byte, in pieces that don't end in what isn't ASCII, unless that is very long. */
function* pieces(chunks: Iterable<Uint8Array>): Generator<string> {
  let rest = '';
  for (const chunk of chunks) {
    const text = rest + Buffer.from(chunk).toString('latin1');
    let end = text.length;
    while (end > 0 && text.charCodeAt(end - 1) > 0x7f) end -= 1;
    if (end === 0) end = text.length;
    yield text.slice(0, end);
    rest = text.slice(end);
  }
  yield rest;
}

function readAs(
  decoder: InstanceType<typeof TextDecoder>,
  encoding: Encoding,
  bytes: Uint8Array,
  stream: boolean,
): string {
  const text = decoder.decode(bytes, { stream });
  if (encoding !== 'windows-1252') return text;
  return text.replace(/[\x80-\x9f]/g, (unit: string) => WINDOWS_1252.charAt(unit.charCodeAt(0) - 0x80));
}
