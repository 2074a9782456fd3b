// A thread that hashes pieces in order, answers each one after reading it, and exits after the digest.
import { createHash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';

const sha256 = createHash('sha256');

/** `null` requests the digest. */
parentPort?.on('message', (piece: Uint8Array | null) => {
  if (piece !== null) {
    sha256.update(piece);
    parentPort?.postMessage('');
    return;
  }
  parentPort?.postMessage(sha256.digest('hex'));
  parentPort?.close();
});
