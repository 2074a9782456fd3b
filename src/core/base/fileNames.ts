import path from 'node:path';

/** Longest file name of common file systems in UTF-8 bytes, minus room for ` (99)` and `.damaged`. */
export const MAX_NAME_BYTES = 240;
/** UTF-16 units used from each end of a name: normalizing a megabyte of accents would take minutes. */
const KEPT_UNITS = 1024;
/** Names that Windows reserves for devices, even with blanks or an extension after them. */
export const DEVICE_NAME = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]) *(?:\.|$)/i;

/**
 * Reduces an untrusted file name to a safe base name. The result has no folder, isn't hidden, and isn't a
 * device name. It has only characters that all platforms accept, and at most 240 UTF-8 bytes.
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
  const safeStem = DEVICE_NAME.test(cleaned) ? `${fallback}-${stem}` : stem;
  const keptExtension = Buffer.byteLength(extension) <= 32 ? extension : '';
  const cutStem = cutToBytes(safeStem, MAX_NAME_BYTES - Buffer.byteLength(keptExtension));
  return cutStem.replace(/(?<![.\s])[.\s]+$/u, '') + keptExtension;
}

/** Names of files that programs act on, such as AGENTS.md and package.json. README.md is only for people. */
const OBEYED =
  /^(?!readme\.md$).*\.mdc?$|(?:rules|hints)$|^(?:(?:package|composer|deno|devbox|mcp|opencode|crush|[jt]sconfig.*|cmake.*)\.json|cmakelists\.txt)$/i;

/** Whether programs act on a file of this name just because it is in a folder. Such a name is never written. */
export function isObeyed(name: string): boolean {
  // File systems that ignore case also fold ligatures and the like.
  return OBEYED.test(name.normalize('NFKC'));
}

/** `adapter.zip` → `adapter (2).zip`. */
export function numberedFileName(name: string, number: number): string {
  const extension = path.extname(name);
  return `${name.slice(0, name.length - extension.length)} (${number})${extension}`;
}

/** Cuts a text to a number of UTF-8 bytes, at a whole character. */
export function cutToBytes(text: string, maxBytes: number): string {
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(maxBytes)).read);
}
