// The worker thread, which runs one task on one adapter and exits.
import { parentPort, workerData } from 'node:worker_threads';
import { NotAnAdapterError } from './problems.ts';
import { inspectAdapter } from './inspect.ts';
import { measurePass } from './measurePass.ts';
import type { Progress } from './report.ts';
import type { Tasks, WorkerAnswer } from './runInWorker.ts';

function post(answer: WorkerAnswer): void {
  parentPort?.postMessage(answer);
}

async function run({ task, file }: { task: keyof Tasks; file: string }): Promise<void> {
  const onProgress = (progress: Progress) => post({ kind: 'progress', progress });
  try {
    const result = task === 'inspect' ? await inspectAdapter(file) : await measurePass(file, onProgress);
    post({ kind: 'done', result });
  } catch (error) {
    if (!(error instanceof NotAnAdapterError)) throw error;
    post({ kind: 'failed', verdict: error.verdict });
  }
}

void run(workerData as { task: keyof Tasks; file: string });
