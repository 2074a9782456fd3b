// A simple, slow parser of RFC 8259 to compare the scanner with. It reads decoded text, one character at a time.

/** The findings in a JSON text. Positions are UTF-16 units from its start. */
export interface Walked {
  /** The first invalid unit, or the text's length if it ends too early; undefined if it is JSON. */
  brokenAt: number | undefined;
  /** Keys that, when decoded, already occurred in their object. */
  repeatedKeys: number[];
  numbers: { at: number; text: string }[];
  /** Escapes of unpaired surrogates. */
  loneSurrogates: number[];
}

/** Parses a text up to its end or the first error. */
export function walkJson(text: string): Walked {
  const walked: Walked = { brokenAt: undefined, repeatedKeys: [], numbers: [], loneSurrogates: [] };
  let at = 0;

  /** Consumes one character that matches, or throws. */
  function expect(pattern: RegExp): string {
    const found = text.charAt(at);
    if (found === '' || !pattern.test(found)) throw new BrokenError();
    at++;
    return found;
  }
  function skip(pattern: RegExp): void {
    while (at < text.length && pattern.test(text.charAt(at))) at++;
  }
  const space = () => skip(/[ \t\n\r]/);
  function isNext(character: string): boolean {
    const isIt = text.charAt(at) === character;
    if (isIt) at++;
    return isIt;
  }

  function value(): void {
    space();
    if (isNext('{')) members('}', new Set());
    else if (isNext('[')) members(']', undefined);
    else if (text.charAt(at) === '"') string();
    else if (/[-0-9]/.test(text.charAt(at))) number();
    else {
      const word = ['true', 'false', 'null'].find((name) => name[0] === text.charAt(at)) ?? '-';
      for (const letter of word) expect(new RegExp(letter));
    }
  }

  /** The members of an object, which has `keys`, or of an array. */
  function members(end: string, keys: Set<string> | undefined): void {
    space();
    if (isNext(end)) return;
    do {
      space();
      if (keys !== undefined) {
        const start = at;
        const key = string();
        if (keys.has(key)) walked.repeatedKeys.push(start);
        keys.add(key);
        space();
        expect(/:/);
      }
      value();
      space();
    } while (expect(new RegExp(`[,\\${end}]`)) === ',');
  }

  function string(): string {
    const start = at;
    expect(/"/);
    for (;;) {
      const character = expect(/[^\u0000-\u001f]/);
      if (character === '"') break;
      if (character === '\\' && expect(/["\\/bfnrtu]/) === 'u')
        for (let digit = 0; digit < 4; digit++) expect(/[0-9a-fA-F]/);
    }
    // Matches escapes from the left: a surrogate that is not in a pair is unpaired.
    const escapes = /\\(?:u([dD][89abAB]..)(?:\\u[dD][c-fC-F]..)|(u[dD][89a-fA-F]..)|u....|.)/gs;
    for (const { index, 2: half } of text.slice(start, at).matchAll(escapes))
      if (half !== undefined) walked.loneSurrogates.push(start + index);
    return JSON.parse(text.slice(start, at)) as string;
  }

  function number(): void {
    const start = at;
    isNext('-');
    if (expect(/[0-9]/) !== '0') skip(/[0-9]/);
    if (isNext('.')) digits();
    if (isNext('e') || isNext('E')) {
      if (!isNext('-')) isNext('+');
      digits();
    }
    walked.numbers.push({ at: start, text: text.slice(start, at) });
  }
  function digits(): void {
    expect(/[0-9]/);
    skip(/[0-9]/);
  }

  try {
    value();
    space();
    if (at < text.length) throw new BrokenError();
  } catch (error) {
    if (!(error instanceof BrokenError)) throw error;
    walked.brokenAt = at;
  }
  return walked;
}

class BrokenError extends Error {}
