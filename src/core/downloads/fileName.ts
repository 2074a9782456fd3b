import path from 'node:path';

/** Names that Windows keeps for devices, with or without an extension. */
const DEVICE_NAME = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])$/i;
/** Longest name of common file systems, in UTF-8 bytes, less room for ` (99)`. */
const MAX_NAME_BYTES = 240;
/** As much of the start and of the end of a name as can matter: normalizing a megabyte of accents takes minutes. */
const KEPT_UNITS = 1024;

/**
 * A file name that somebody else chose, reduced to a safe base name: no folder, nothing hidden, no device, no characters
 * that a platform refuses, at most 240 UTF-8 bytes with the extension kept.
 */
export function safeFileName(text: string | undefined, fallback: string): string {
  const base = (text ?? '').split(/[/\\]/).at(-1) ?? '';
  const cut = base.length > 2 * KEPT_UNITS ? base.slice(0, KEPT_UNITS) + base.slice(-KEPT_UNITS) : base;
  const cleaned = cut
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}<>:"|?*]/gu, '')
    .replace(/^[.\s]+|(?<![.\s])[.\s]+$/gu, '');
  if (cleaned === '') return fallback;
  const extension = path.extname(cleaned);
  const stem = cleaned.slice(0, cleaned.length - extension.length);
  // Windows ignores blanks before the dot.
  const safeStem = DEVICE_NAME.test((cleaned.split('.', 1)[0] ?? '').trimEnd())
    ? `${fallback}-${stem}`
    : stem;
  const keptExtension = Buffer.byteLength(extension) <= 32 ? extension : '';
  const cutStem = cutToBytes(safeStem, MAX_NAME_BYTES - Buffer.byteLength(keptExtension));
  return cutStem.replace(/(?<![.\s])[.\s]+$/u, '') + keptExtension;
}

/** `adapter.zip` → `adapter (2).zip`. */
export function numberedFileName(name: string, number: number): string {
  const extension = path.extname(name);
  return `${name.slice(0, name.length - extension.length)} (${number})${extension}`;
}

function cutToBytes(text: string, maxBytes: number): string {
  let cut = '';
  let bytes = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > maxBytes) break;
    cut += character;
  }
  return cut;
}
