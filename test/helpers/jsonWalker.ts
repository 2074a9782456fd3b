// A second reading of RFC 8259, plain and slow, to compare the scanner with: over decoded text, one character at a time.

/** What stands in a JSON text. Positions are UTF-16 units from its start. */
export interface Walked {
  /** The first unit with which the text cannot go on as JSON, its length if it ends too early; undefined if it is JSON. */
  brokenAt: number | undefined;
  /** Keys that their object has already, as strings that are the same when decoded. */
  repeatedKeys: number[];
  numbers: { at: number; text: string }[];
  /** Escapes of surrogates without the other half. */
  loneSurrogates: number[];
}

/** Walks through a text up to where it is no JSON. */
export function walkJson(text: string): Walked {
  const walker = new Walker(text);
  try {
    walker.text();
  } catch (error) {
    if (!(error instanceof BrokenError)) throw error;
    walker.walked.brokenAt = error.at;
  }
  return walker.walked;
}

class BrokenError extends Error {
  readonly at: number;

  constructor(at: number) {
    super('no JSON');
    this.at = at;
  }
}

class Walker {
  readonly walked: Walked = { brokenAt: undefined, repeatedKeys: [], numbers: [], loneSurrogates: [] };
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  text(): void {
    this.#value();
    this.#space();
    if (this.#at < this.#text.length) throw new BrokenError(this.#at);
  }

  get #next(): string {
    return this.#text.charAt(this.#at);
  }

  #expect(pattern: RegExp): string {
    const found = this.#next;
    if (found === '' || !pattern.test(found)) throw new BrokenError(this.#at);
    this.#at++;
    return found;
  }

  #space(): void {
    while (/^[ \t\n\r]$/.test(this.#next)) this.#at++;
  }

  #value(): void {
    this.#space();
    if (this.#next === '{') this.#object();
    else if (this.#next === '[') this.#array();
    else if (this.#next === '"') this.#string();
    else if (/^[-0-9]$/.test(this.#next)) this.#number();
    else {
      const word = ['true', 'false', 'null'].find((name) => name.startsWith(this.#next || '-'));
      for (const letter of word ?? '-') this.#expect(new RegExp(`^${letter}$`));
    }
  }

  #object(): void {
    const keys = new Set<string>();
    this.#at++;
    this.#space();
    if (this.#next === '}') {
      this.#at++;
      return;
    }
    for (;;) {
      this.#space();
      const start = this.#at;
      const key = this.#string();
      if (keys.has(key)) this.walked.repeatedKeys.push(start);
      keys.add(key);
      this.#space();
      this.#expect(/^:$/);
      this.#value();
      this.#space();
      if (this.#expect(/^[,}]$/) === '}') return;
    }
  }

  #array(): void {
    this.#at++;
    this.#space();
    if (this.#next === ']') {
      this.#at++;
      return;
    }
    do {
      this.#value();
      this.#space();
    } while (this.#expect(/^[,\]]$/) === ',');
  }

  #string(): string {
    const start = this.#at;
    this.#expect(/^"$/);
    const surrogates: { at: number; unit: number }[] = [];
    for (;;) {
      const character = this.#expect(/^[^\u0000-\u001f]$/);
      if (character === '"') break;
      if (character !== '\\') continue;
      const escape = this.#at - 1;
      if (this.#expect(/^["\\/bfnrtu]$/) !== 'u') continue;
      let digits = '';
      while (digits.length < 4) digits += this.#expect(/^[0-9a-fA-F]$/);
      const unit = parseInt(digits, 16);
      if (unit >= 0xd800 && unit < 0xe000) surrogates.push({ at: escape, unit });
    }
    for (let index = 0; index < surrogates.length; index++) {
      const [one, other] = [surrogates[index]!, surrogates[index + 1]];
      const isPair = one.unit < 0xdc00 && other?.at === one.at + 6 && other.unit >= 0xdc00;
      if (isPair) index++;
      else this.walked.loneSurrogates.push(one.at);
    }
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  #number(): void {
    const start = this.#at;
    if (this.#next === '-') this.#at++;
    if (this.#expect(/^[0-9]$/) !== '0') this.#digits();
    if (this.#next === '.') {
      this.#at++;
      this.#expect(/^[0-9]$/);
      this.#digits();
    }
    if (/^[eE]$/.test(this.#next)) {
      this.#at++;
      if (/^[-+]$/.test(this.#next)) this.#at++;
      this.#expect(/^[0-9]$/);
      this.#digits();
    }
    this.walked.numbers.push({ at: start, text: this.#text.slice(start, this.#at) });
  }

  #digits(): void {
    while (/^[0-9]$/.test(this.#next)) this.#at++;
  }
}
