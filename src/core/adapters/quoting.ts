/** Quotes a text so that a program reads it unchanged. */
type Quote = (text: string) => string;

/** One word of a POSIX shell. */
const posixWord: Quote = (text) =>
  /^[\w@%+:,./-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** One word of PowerShell, which also treats typographic quotation marks as quotes. */
const powershellWord: Quote = (text) =>
  /^[A-Za-z0-9_:./\\][\w:./\\-]*$/.test(text) ? text : `'${text.replace(/['\u2018-\u201b]/g, '$&$&')}'`;

/** What breaks lines, or lets a text read otherwise than it is. */
const INVISIBLE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** Returns the escape that Python and JSON have in common. */
function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** A string literal of Python. */
export const pythonString: Quote = (text) => {
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replace(INVISIBLE, escapeOf);
  return `"${escaped}"`;
};

/** JSON on one line. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(INVISIBLE, escapeOf);
}

export interface Shell {
  quote: Quote;
  /** Joins the lines of one command. */
  joint: string;
  /** Changes to a folder, even on another drive. */
  cd: string;
}

export const SH: Readonly<Shell> = { quote: posixWord, joint: ' \\\n  ', cd: 'cd' };
export const POWERSHELL: Readonly<Shell> = {
  quote: powershellWord,
  joint: ' `\n  ',
  cd: 'Set-Location -LiteralPath',
};

/** Returns the WSL path of a Windows folder, assuming the default mount point. */
export function wslPath(folder: string): string {
  const drive = /^([A-Za-z]):[\\/]/.exec(folder);
  const path = folder.replaceAll('\\', '/');
  return drive === null ? path : `/mnt/${(drive[1] ?? '').toLowerCase()}${path.slice(2)}`;
}
