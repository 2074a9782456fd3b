import { fileURLToPath } from 'node:url';

/** The source of the thread that hashes what is sent, as `ClientOptions.digestWorker`. */
export const DIGEST_WORKER = fileURLToPath(new URL('../../src/core/api/digestWorker.ts', import.meta.url));
