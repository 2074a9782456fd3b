import { BrokenArchiveError } from '../faults.ts';
import { FileBytes } from '../fileBytes.ts';
import { readSafetensorsHeader } from '../safetensors.ts';
import { readThrough } from './archive.ts';
import { gunzipped } from './inflate.ts';
import { firstBytes } from './openArchive.ts';
import { beginsAsTar, TarFile, tarMembers, TarStream } from './tar.ts';
import { zipMembers } from './zip.ts';

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
    return await verify(bytes);
  } catch (error) {
    if (error instanceof BrokenArchiveError && error.verdict.code !== 'broken') return 'unread';
    throw error;
  } finally {
    await bytes.close();
  }
}

async function verify(bytes: FileBytes): Promise<VerifiedKind> {
  const kind = await firstBytes(bytes);
  switch (kind) {
    case 'zip':
      for await (const member of zipMembers(bytes)) await readThrough(member.open());
      return kind;
    case 'tar':
      await readThrough(tarMembers(new TarFile(bytes)));
      return kind;
    case 'gzip': {
      const tar = new TarStream(gunzipped(bytes.all()));
      // Also the tar in it, where there is one.
      const isTar = beginsAsTar(await tar.peek());
      await readThrough(isTar ? tarMembers(tar) : tar.rest()).finally(() => tar.close());
      return kind;
    }
    case 'safetensors':
      await readSafetensorsHeader(bytes.all(), bytes.sizeBytes);
      return kind;
    default:
      return 'unknown';
  }
}
