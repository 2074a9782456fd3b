import { BrokenArchiveError, NotAnAdapterError } from '../faults.ts';
import { readSafetensorsHeader } from '../safetensors.ts';
import { readThrough, type Archive } from './archive.ts';
import { openArchive } from './openArchive.ts';

/** How a file was verified; `unread`: an archive or safetensors file that could not be checked; `unknown`: neither of the two. */
export type VerifiedKind = 'zip' | 'gzip' | 'tar' | 'safetensors' | 'unread' | 'unknown';

/**
 * Whether a file is complete, by what is in it: of a ZIP each CRC-32, and that its headers agree; of gzip CRC-32 and length;
 * of tar the checksums and the end; of safetensors the header and the lengths. Reads it once, in pieces.
 * An archive that is unsafe, encrypted or too big is not broken by that: it is `unread`, and inspecting it says more.
 * @throws BrokenArchiveError, CancelledError, and what the file system says
 */
export async function verifyArchive(
  file: string,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<VerifiedKind> {
  let archive: Archive | undefined;
  try {
    archive = await openArchive(file, signal);
    for await (const member of archive.members()) {
      if (archive.container === 'zip') await readThrough(member.open());
      else if (archive.container === 'safetensors')
        await readSafetensorsHeader(member.open(), member.sizeBytes);
    }
  } catch (error) {
    if (!(error instanceof NotAnAdapterError) || error.verdict.code === 'broken') throw error;
    if (error instanceof BrokenArchiveError) return 'unread';
    // A complete gzip file need not be a tar.
    if (archive === undefined) return 'unknown';
  } finally {
    await archive?.close();
  }
  const { container } = archive;
  return container === 'tar.gz' ? 'gzip' : container === 'folder' ? 'unknown' : container;
}
