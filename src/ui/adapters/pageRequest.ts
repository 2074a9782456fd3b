import type { AdapterRequest } from './protocol.ts';

/** More than any recipe has. */
const MOST_COPIED = 100_000;

/** A message of the page as the request that it is, or undefined where the protocol has none such. */
export function adapterRequestOf(message: unknown): AdapterRequest | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  const { type, elsewhere, id, text } = message as Record<string, unknown>;
  switch (type) {
    case 'ready':
    case 'reload':
    case 'measure':
    case 'cancel':
      return { type };
    case 'unpack':
      return typeof elsewhere === 'boolean' ? { type, elsewhere } : undefined;
    case 'copy':
      return typeof id === 'string' && typeof text === 'string' && text.length <= MOST_COPIED
        ? { type, id, text }
        : undefined;
    default:
      return undefined;
  }
}

/** The file of a page that VS Code kept over a reload, as the page remembered it; undefined where it is none. */
export function rememberedFile(state: unknown): string | undefined {
  if (typeof state !== 'object' || state === null || !('file' in state)) return undefined;
  return typeof state.file === 'string' && state.file !== '' ? state.file : undefined;
}
