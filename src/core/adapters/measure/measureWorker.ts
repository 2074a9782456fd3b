// The worker thread: it measures one adapter and ends.
import { parentPort, workerData } from 'node:worker_threads';
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
  const result = await measurePass(file, onProgress);
  post(
    'verdict' in result
      ? { kind: 'failed', verdict: result.verdict }
      : { kind: 'done', measurements: result },
  );
}

void run(workerData as { file: string });
