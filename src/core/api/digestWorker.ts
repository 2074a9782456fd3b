// A thread that hashes what it is given, in order, answers each piece once it has read it, and ends after the last.
import { createHash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';

const sha256 = createHash('sha256');

/** `null` asks for the digest. */
parentPort?.on('message', (piece: Uint8Array | null) => {
  if (piece !== null) {
    sha256.update(piece);
    parentPort?.postMessage('');
    return;
  }
  parentPort?.postMessage(sha256.digest('hex'));
  parentPort?.close();
});
