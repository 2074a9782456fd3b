/** Writes a text so that a program reads it unchanged. */
export type Quote = (text: string) => string;

/** One word of a POSIX shell. */
const posixWord: Quote = (text) =>
  /^[\w@%+:,./-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** One word of PowerShell, which also takes typographic quotation marks for its own. */
const powershellWord: Quote = (text) =>
  /^[A-Za-z0-9_:./\\][\w:./\\-]*$/.test(text) ? text : `'${text.replace(/['\u2018-\u201b]/g, '$&$&')}'`;

/**
 * One word of cmd on its command line, for programs that read their arguments as Microsoft's C library does. A percent sign
 * cannot be escaped there; a caret outside of the quotation marks keeps a variable's name from being one.
 */
const cmdWord: Quote = (text) => {
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

/** A shell that commands are written for. */
export interface Shell {
  name: 'sh' | 'powershell' | 'cmd';
  quote: Quote;
  /** Between the lines of one command. */
  joint: string;
  /** Goes to a folder, also on another drive. */
  cd: string;
}

export const SH: Readonly<Shell> = { name: 'sh', quote: posixWord, joint: ' \\\n  ', cd: 'cd' };
export const WINDOWS: readonly Shell[] = [
  { name: 'powershell', quote: powershellWord, joint: ' `\n  ', cd: 'Set-Location -LiteralPath' },
  { name: 'cmd', quote: cmdWord, joint: ' ^\n  ', cd: 'cd /d' },
];

/** The path of a Windows folder in WSL, unless that was set up otherwise. */
export function wslPath(folder: string): string {
  const drive = /^([A-Za-z]):[\\/]/.exec(folder);
  const path = folder.replaceAll('\\', '/');
  return drive === null ? path : `/mnt/${(drive[1] ?? '').toLowerCase()}${path.slice(2)}`;
}
