import { DEVICE_NAME, isObeyed } from '../../base/fileNames.ts';
import { BrokenArchiveError } from '../problems.ts';

/** Limit of entries in an archive or folder. */
export const MAX_ENTRIES = 10_000;
const MAX_PART_BYTES = 255;
const MAX_PARTS = 32;
const MAX_NAME_LENGTH = 1024;
/** Control characters, and characters that some platform rejects or treats specially. */
const ODD_CHARACTER = /[\p{Cc}\p{Cs}\\:*?"<>|]/u;

/** Splits a name into parts that stay in the folder on every platform. @throws BrokenArchiveError `path`, `name` */
export function safeParts(name: string): string[] {
  if (/^[/\\]|^[A-Za-z]:/.test(name)) throw new BrokenArchiveError('path', name);
  // Some tools treat backslashes as separators.
  if (name.split(/[/\\]/).includes('..')) throw new BrokenArchiveError('path', name);
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (name.length > MAX_NAME_LENGTH || parts.length > MAX_PARTS || parts.some(isOdd))
    throw new BrokenArchiveError('name', name);
  return parts;
}

/** Names of files that adapters and tokenizers consist of. Pickle files can run code and aren't needed. */
const NEEDED =
  /\.(?:safetensors|gguf|npz|json|txt|model(?:\.v\d\w*)?|jinja|tiktoken|spm|bpe|vocab)$|^readme\.md$/i;

/** Whether to unpack a file: tools need it, and no program runs or obeys it on finding it. */
export function isUnpacked(name: string): boolean {
  const parts = name.split('/');
  const base = parts.at(-1) ?? '';
  // Some file systems ignore format characters, so a name after one may begin with a dot.
  return NEEDED.test(base) && !isObeyed(base) && !parts.some((part) => /^\.|\p{Cf}/u.test(part));
}

function isOdd(part: string): boolean {
  return (
    ODD_CHARACTER.test(part) ||
    DEVICE_NAME.test(part) ||
    /[. ]$/.test(part) ||
    Buffer.byteLength(part) > MAX_PART_BYTES
  );
}

/** Checks that no two names of an archive collide, even on file systems that ignore case or normalization. */
export class EntryNames {
  /** By folded name. */
  readonly #taken = new Map<string, { name: string; isFolder: boolean }>();
  #count = 0;

  /** Adds a name and returns it with `/` between its parts, '' for the folder itself. @throws BrokenArchiveError */
  add(raw: string, isFolder: boolean): string {
    if (++this.#count > MAX_ENTRIES) throw new BrokenArchiveError('too-large');
    const parts = safeParts(raw);
    if (parts.length === 0 && !isFolder) throw new BrokenArchiveError('name', raw);
    parts.forEach((_, index) => {
      const isLast = index === parts.length - 1;
      this.#take(parts.slice(0, index + 1).join('/'), isFolder || !isLast);
    });
    return parts.join('/');
  }

  #take(name: string, isFolder: boolean): void {
    const folded = name.normalize('NFKC').toUpperCase().toLowerCase();
    const other = this.#taken.get(folded);
    if (other === undefined) this.#taken.set(folded, { name, isFolder });
    else if (other.name !== name) throw new BrokenArchiveError('duplicate', name);
    // Folders may be listed more than once.
    else if (!other.isFolder || !isFolder) throw new BrokenArchiveError('duplicate', name);
  }
}
