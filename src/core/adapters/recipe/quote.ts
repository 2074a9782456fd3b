/** How a text is written so that a program reads it as it is. */
export type Quote = (text: string) => string;

/** One word of a POSIX shell. */
export const posixWord: Quote = (text) =>
  /^[\w@%+:,./-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** One word of PowerShell; also the quotation marks that it takes for its own. */
export const powershellWord: Quote = (text) =>
  /^[A-Za-z0-9_:./\\][\w:./\\-]*$/.test(text) ? text : `'${text.replace(/['\u2018-\u201b]/g, '$&$&')}'`;

/**
 * One word of cmd on its command line, for programs that read their arguments as Microsoft's C library does. A percent sign
 * cannot be escaped there; a caret outside of the quotation marks keeps a variable's name from being one.
 */
export const cmdWord: Quote = (text) => {
  if (/^[A-Za-z0-9_:./\\-]+$/.test(text)) return text;
  const escaped = text.replace(/(?<!\\)(\\*)"/g, '$1$1\\"').replace(/(?<!\\)(\\+)$/, '$1$1');
  return `"${escaped.replaceAll('%', '"^%"')}"`;
};

/** A string literal of Python. */
export const pythonString: Quote = (text) => {
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replace(/[\p{Cc}\u2028\u2029]/gu, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `"${escaped}"`;
};
