import { cmdWord, posixWord, powershellWord, type Quote } from './quote.ts';
import type { BlockPurpose, RecipeBlock } from '../report.ts';

interface Shell {
  language: 'sh' | 'powershell' | 'cmd';
  quote: Quote;
  /** At the end of a line that goes on. */
  goesOn: string;
  /** Goes to a folder, also on another drive. */
  enter: (folder: string) => string;
}

const SH: Readonly<Shell> = {
  language: 'sh',
  quote: posixWord,
  goesOn: ' \\',
  enter: (folder) => `cd ${posixWord(folder)}`,
};
const WINDOWS: readonly Shell[] = [
  {
    language: 'powershell',
    quote: powershellWord,
    goesOn: ' `',
    enter: (folder) => `Set-Location -LiteralPath ${powershellWord(folder)}`,
  },
  { language: 'cmd', quote: cmdWord, goesOn: ' ^', enter: (folder) => `cd /d ${cmdWord(folder)}` },
];

/** The shells of a platform, for which commands are written. */
export class Shells {
  readonly isWindows: boolean;
  /** What Python is called: without an environment many systems have no `python`, and Windows no `python3`. */
  readonly python: string;
  readonly #shells: readonly Shell[];

  constructor(platform: string) {
    this.isWindows = platform === 'win32';
    this.python = this.isWindows ? 'python' : 'python3';
    this.#shells = this.isWindows ? WINDOWS : [SH];
  }

  /** A block for each shell; one where they are all the same. */
  blocks(
    purpose: BlockPurpose,
    write: (shell: Shell) => string,
    placeholders: readonly string[] = [],
  ): RecipeBlock[] {
    const blocks = this.#shells.map((shell) => ({
      purpose,
      language: shell.language,
      text: write(shell),
      placeholders,
    }));
    const isSame = blocks.every(({ text }) => text === blocks[0]?.text);
    return isSame ? blocks.slice(0, 1) : blocks;
  }
}

/** A command whose options stand on lines of their own. */
export function lines({ goesOn }: Shell, first: string, ...options: readonly string[]): string {
  return [first, ...options].join(`${goesOn}\n  `);
}

/** The POSIX shell, also on Windows: that of WSL. */
export function posixBlock(
  purpose: BlockPurpose,
  write: (shell: Shell) => string,
  placeholders: readonly string[],
): RecipeBlock {
  return { purpose, language: 'sh', text: write(SH), placeholders };
}

/** Where WSL has a drive of Windows, unless it was set up otherwise. */
export function wslPath(folder: string): string {
  const drive = /^([A-Za-z]):[\\/]/.exec(folder);
  const path = folder.replaceAll('\\', '/');
  return drive === null ? path : `/mnt/${(drive[1] ?? '').toLowerCase()}${path.slice(2)}`;
}
