/** By program: how it escapes characters in JSON that need no escape; undefined for others. */
export const ESCAPING_WRITERS: Readonly<Record<string, (character: string) => string | undefined>> = {
  PHP: (character) => (character === '/' ? String.raw`\/` : undefined),
  '.NET': (character) => (`+"'&<>\``.includes(character) ? unit(character, true) : undefined),
  Gson: (character) => (`=<>&'`.includes(character) ? unit(character) : undefined),
  Go: (character) => ('<>&'.includes(character) ? unit(character) : undefined),
};

/** Returns a text as a program writes it in a JSON string. At a depth, it is in JSON in a string in JSON. */
export function written(text: string, escape: (character: string) => string | undefined, depth = 1): string {
  const once = Array.from(
    text,
    (character) => escape(character) ?? JSON.stringify(character).slice(1, -1),
  ).join('');
  return depth > 1 ? written(once, escape, depth - 1) : once;
}

/** Returns JSON with all characters beyond ASCII as escapes, as Python's `json.dumps` writes it. */
export function escaped(json: string): string {
  return json.replaceAll(/[\u0080-\uffff]/g, (character) => unit(character));
}

function unit(character: string, inUpperCase = false): string {
  const digits = character.charCodeAt(0).toString(16).padStart(4, '0');
  return String.raw`\u` + (inUpperCase ? digits.toUpperCase() : digits);
}
