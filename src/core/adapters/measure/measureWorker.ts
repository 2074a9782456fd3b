// The worker thread: it measures one adapter and ends.
import { parentPort, workerData } from 'node:worker_threads';
import { BrokenArchiveError, NotAnAdapterError } from '../faults.ts';
import type { Progress } from '../report.ts';
import type { MeasureAnswer } from './measure.ts';
import { measurePass } from './measurePass.ts';

const PROGRESS_MS = 100;

function post(answer: MeasureAnswer): void {
  parentPort?.postMessage(answer);
}

async function run({ file }: { file: string }): Promise<void> {
  let postedAtMs = 0;
  const onProgress = (progress: Progress) => {
    const nowMs = performance.now();
    if (nowMs - postedAtMs < PROGRESS_MS && progress.doneBytes < progress.totalBytes) return;
    postedAtMs = nowMs;
    post({ kind: 'progress', progress });
  };
  try {
    post({ kind: 'done', measurements: await measurePass(file, onProgress) });
  } catch (error) {
    if (!(error instanceof BrokenArchiveError || error instanceof NotAnAdapterError)) throw error;
    post({ kind: 'failed', verdict: error.verdict });
  }
}

void run(workerData as { file: string });
