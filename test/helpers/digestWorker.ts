import { createRequire, syncBuiltinESMExports } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Worker as DigestThread } from './crash/digestThread.ts';

/** The hashing thread's source file, for `ClientOptions.digestWorker`. */
export const DIGEST_WORKER = fileURLToPath(new URL('../../src/core/api/digestWorker.ts', import.meta.url));

/** Hashes without a thread in the `describe` that calls this: starting one per attempt would be most of the tests' time. */
export function useNoDigestThread(): void {
  const threads = createRequire(import.meta.url)('node:worker_threads') as { Worker: unknown };
  const { Worker } = threads;
  const hashIn = (worker: unknown) => {
    threads.Worker = worker;
    syncBuiltinESMExports();
  };
  before(() => hashIn(DigestThread));
  after(() => hashIn(Worker));
}
