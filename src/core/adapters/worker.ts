// The worker thread, which runs one task on one adapter and exits.
import { serveThread } from '../base/thread.ts';
import { inspectionReport } from './inspect.ts';
import { measurePass } from './measurePass.ts';
import { NotAnAdapterError } from './problems.ts';
import type { Progress, Tasks } from './report.ts';

serveThread(
  ({ task, file }: { task: keyof Tasks; file: string }, onProgress: (progress: Progress) => void) =>
    task === 'inspect' ? inspectionReport(file) : measurePass(file, onProgress),
  (error) => (error instanceof NotAnAdapterError ? error.verdict : undefined),
);
