import { BrokenArchiveError, verdictOf } from '../faults.ts';
import { FileBytes } from '../fileBytes.ts';
import { gunzipped } from './inflate.ts';
import { firstBytes } from './openArchive.ts';
import { readSafetensorsHeader } from '../safetensors.ts';
import { beginsAsTar, readThrough, TarBytes, tarMembers } from './tar.ts';
import { openZip } from './zip.ts';

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
  const bytes = await FileBytes.open(file, signal);
  try {
    return await verify(bytes, signal);
  } catch (error) {
    if (error instanceof BrokenArchiveError && verdictOf(error).code !== 'broken') return 'unread';
    throw error;
  } finally {
    await bytes.close();
  }
}

async function verify(bytes: FileBytes, signal: AbortSignal | undefined): Promise<VerifiedKind> {
  const kind = await firstBytes(bytes);
  switch (kind) {
    case 'zip':
      await (await openZip(bytes, signal)).check();
      return kind;
    case 'tar':
      await readThrough(tarMembers(TarBytes.ofFile(bytes)));
      return kind;
    case 'gzip':
      await verifyGzip(bytes);
      return kind;
    case 'safetensors':
      await readSafetensorsHeader(bytes.chunks(0, bytes.sizeBytes), bytes.sizeBytes, signal);
      return kind;
    default:
      return 'unknown';
  }
}

/** Also the tar in it, where there is one. */
async function verifyGzip(bytes: FileBytes): Promise<void> {
  const tar = TarBytes.ofStream(gunzipped(bytes.chunks(0, bytes.sizeBytes)));
  try {
    await readThrough(beginsAsTar(await tar.peek()) ? tarMembers(tar) : tar.rest());
  } finally {
    await tar.close();
  }
}
