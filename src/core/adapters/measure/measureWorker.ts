// A thread that measures one adapter and ends.
import { parentPort, workerData } from 'node:worker_threads';
import { measurePass } from './measurePass.ts';
import type { MeasureAnswer } from './measure.ts';

const PROGRESS_MS = 100;

const { file } = workerData as { file: string };

function say(answer: MeasureAnswer): void {
  parentPort?.postMessage(answer);
}

async function run(): Promise<void> {
  let toldMs = 0;
  const result = await measurePass(file, (progress) => {
    const nowMs = performance.now();
    if (nowMs - toldMs < PROGRESS_MS && progress.doneBytes < progress.totalBytes) return;
    toldMs = nowMs;
    say({ kind: 'progress', progress });
  });
  say(
    'verdict' in result
      ? { kind: 'failed', verdict: result.verdict }
      : { kind: 'done', measurements: result },
  );
}

void run();
