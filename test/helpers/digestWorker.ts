import { createRequire, syncBuiltinESMExports } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Worker as DigestThread } from './crash/digestThread.ts';

/** The source of the thread that hashes what is sent, as `ClientOptions.digestWorker`. */
export const DIGEST_WORKER = fileURLToPath(new URL('../../src/core/api/digestWorker.ts', import.meta.url));

/** Hashes without a thread in the tests of the `describe` that calls this: to start one for each attempt is most of their time. */
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
