/** Quotes a text so that a program reads it unchanged. */
type Quote = (text: string) => string;

/** Characters that break lines, act on a terminal even inside quotes, or make a text read differently. */
const INVISIBLE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** One word of a POSIX shell; with invisible characters, of bash, zsh and ksh. */
const posixWord: Quote = (text) => {
  if (/^[\w@%+:,./-]+$/.test(text) && !text.startsWith('-')) return text;
  if (text.search(INVISIBLE) < 0) return `'${text.replaceAll("'", "'\\''")}'`;
  // Old shells read an exclamation mark as history after an escaped quote.
  const escaped = text.replace(/[\\'!]/g, bytesOf).replace(INVISIBLE, bytesOf);
  return `$'${escaped}'`;
};

/** Returns the escapes of a character's bytes in UTF-8, which mean the same in every locale. */
function bytesOf(character: string): string {
  return Buffer.from(character)
    .toString('hex')
    .replace(/../g, String.raw`\x$&`);
}

/** One word of PowerShell, which also treats typographic quotation marks as quotes. */
const powershellWord: Quote = (text) => {
  if (/^[A-Za-z0-9_:./\\][\w:./\\-]*$/.test(text)) return text;
  const quoted = `'${text.replace(/['\u2018-\u201b]/g, '$&$&')}'`;
  // Windows PowerShell has no escape for all of them.
  const joined = quoted.replace(INVISIBLE, (one) => `' + [char]0x${one.charCodeAt(0).toString(16)} + '`);
  return joined === quoted ? quoted : `(${joined})`;
};

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

/** Returns the WSL path of a Windows folder: inside WSL, or below the default mount point. */
export function wslPath(folder: string): string {
  const drive = /^([A-Za-z]):[\\/]/.exec(folder);
  const path = folder.replaceAll('\\', '/');
  const inside = /^\/\/(?:\?\/UNC\/)?wsl(?:\$|\.localhost)\/[^/]+(\/.*)?$/i.exec(path);
  if (inside !== null) return inside[1] ?? '/';
  return drive === null ? path : `/mnt/${(drive[1] ?? '').toLowerCase()}${path.slice(2)}`;
}
