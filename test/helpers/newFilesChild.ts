// A separate process that writes pairs of files beside a dataset again and again, as a window that makes copies does. Its argument is
// the dataset's path. Each line of a pair has the pair's number, which shows whether the pair is complete.
import { NewFiles } from '../../src/core/datasets/newFiles.ts';

export const LINES = 20_000;

export function textOf(side: string): string {
  return `${side}\n`.repeat(LINES);
}

async function writePair(source: string): Promise<void> {
  const files = new NewFiles(source, 0o644);
  try {
    for (const side of ['prepared', 'holdout']) {
      const text = textOf(side);
      const handle = await files.add();
      for (let from = 0; from < text.length; from += 10_000)
        await handle.writeFile(text.slice(from, from + 10_000));
    }
    await files.name(['train.prepared', 'train.holdout']);
  } finally {
    await files.dispose();
  }
}

async function run(source: string): Promise<void> {
  process.stdout.write('\n'); // signals the start
  for (;;) await writePair(source);
}

const [, , source] = process.argv;
if (import.meta.filename === process.argv[1] && source !== undefined) void run(source);
