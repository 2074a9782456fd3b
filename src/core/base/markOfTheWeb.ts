import { writeFile } from 'node:fs/promises';

/**
 * Marks a file as coming from the internet, as browsers do: Windows then warns before it opens it. Never rejects:
 * not every file system can store the mark.
 */
export async function markOfTheWeb(file: string): Promise<void> {
  if (process.platform !== 'win32') return;
  await writeFile(`${file}:Zone.Identifier`, '[ZoneTransfer]\r\nZoneId=3\r\n').catch(() => undefined);
}
