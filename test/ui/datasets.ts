import { open } from 'node:fs/promises';

/** More than the buffers between the extension and a service hold while the service does not read. */
const BIG_BYTES = 60 * 1024 * 1024;

/** A valid dataset of one small row, which depends on the name. */
export function smallDataset(name: string): string {
  return row(name, 0, '4');
}

/** Writes a valid dataset slightly larger than `BIG_BYTES`, with few rows so that its check is fast, and no duplicates. */
export async function writeBigDataset(file: string): Promise<void> {
  const answer = 'Four, as it has always been. '.repeat(10_000);
  const handle = await open(file, 'w');
  try {
    for (let index = 0, bytes = 0; bytes < BIG_BYTES; index++)
      bytes += (await handle.write(row(file, index, answer))).bytesWritten;
  } finally {
    await handle.close();
  }
}

function row(name: string, index: number, answer: string): string {
  const messages = [
    { role: 'user', content: `${name}, ${index}: 2 + 2?` },
    { role: 'assistant', content: answer },
  ];
  return `${JSON.stringify({ messages })}\n`;
}
