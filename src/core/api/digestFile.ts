import { throwIfCancelled } from '../base/errors.ts';
import { Digest } from './digest.ts';
import { OpenDataset } from './openDataset.ts';

export interface DigestFileOptions {
  /** The script of the thread that hashes, as in `ClientOptions.digestWorker`. */
  worker: string;
  signal?: AbortSignal;
  /** Called for each MiB. */
  onProgress?: (hashedBytes: number, totalBytes: number) => void;
}

/**
 * The SHA-256 of a file in lower-case hexadecimal, as a submission names it, read and hashed beside the main thread.
 * @throws DatasetChangedError when it cannot be read, is no file or changes meanwhile; DigestError, CancelledError
 */
export async function sha256OfFile(
  path: string,
  { worker, signal, onProgress }: DigestFileOptions,
): Promise<string> {
  const dataset = await OpenDataset.open(path);
  try {
    const digest = new Digest(worker);
    const cancel = () => void digest.dispose();
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      throwIfCancelled(signal);
      let hashedBytes = 0;
      for await (const chunk of dataset.chunks(digest)) {
        throwIfCancelled(signal);
        onProgress?.((hashedBytes += chunk.byteLength), dataset.sizeBytes);
      }
      return await digest.read();
    } finally {
      signal?.removeEventListener('abort', cancel);
      await digest.dispose();
    }
  } finally {
    await dataset.close();
  }
}
