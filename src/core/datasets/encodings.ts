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

export interface Readings {
  /** The first lines that aren't UTF-8, as each encoding reads them. */
  samples: string[];
  /** Whether most of what isn't ASCII is UTF-8: only the rest has another encoding. */
  isMixed: boolean;
}

export function readingsOf(chunks: Iterable<Uint8Array>): Readings {
  const shown: Buffer[] = [];
  let [valid, invalid] = [0, 0];
  for (const chunk of chunks) {
    const bytes = Buffer.from(chunk);
    let from = 0;
    for (const { 0: run, index } of bytes.toString('latin1').matchAll(RUNS)) {
      const isCut = index === 0 || index + run.length === bytes.length;
      if (isUtf8(Buffer.from(run, 'latin1'))) valid += 1;
      else if (!isCut || bytes.length < SHOWN_BYTES) {
        invalid += 1;
        if (shown.length === SHOWN_LINES || index < from) continue;
        const start = Math.max(bytes.lastIndexOf(0x0a, index) + 1, index - SHOWN_BEFORE_BYTES);
        const end = bytes.indexOf(0x0a, index);
        from = Math.min(end === -1 ? Infinity : end, start + SHOWN_BYTES);
        shown.push(bytes.subarray(start, from));
      }
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
  let rest = '';
  for (const chunk of chunks)
    if (isMixed) {
      const text = rest + Buffer.from(chunk).toString('latin1');
      rest = /[\x80-\xff]*$/.exec(text)?.[0] ?? '';
      yield ofRuns(text.slice(0, text.length - rest.length), encoding);
    } else yield Buffer.from(readAs(decoder, encoding, chunk, true));
  yield isMixed ? ofRuns(rest, encoding) : Buffer.from(readAs(decoder, encoding, new Uint8Array(), false));
}

/** Decodes what isn't UTF-8 in a text of one unit a byte. */
function ofRuns(text: string, encoding: Encoding): Uint8Array {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const runs = text.replace(RUNS, (run) => {
    const bytes = Buffer.from(run, 'latin1');
    return isUtf8(bytes) ? run : Buffer.from(readAs(decoder, encoding, bytes, false)).toString('latin1');
  });
  return Buffer.from(runs, 'latin1');
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
