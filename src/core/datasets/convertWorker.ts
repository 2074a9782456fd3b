// The thread that converts one file and ends.
import { parentPort, workerData } from 'node:worker_threads';
import type { ConvertAnswer } from './convert.ts';
import { ConvertError } from './convertError.ts';
import { convertRows, type ConvertJob } from './convertRows.ts';
import { CheckError } from './report.ts';

const PROGRESS_MS = 100;

function post(answer: ConvertAnswer): void {
  parentPort?.postMessage(answer);
}

async function run(job: ConvertJob): Promise<void> {
  let reportedMs = -Infinity;
  const onProgress = (bytes: number) => {
    if (performance.now() - reportedMs < PROGRESS_MS) return;
    reportedMs = performance.now();
    post({ kind: 'progress', fraction: bytes / job.sizeBytes });
  };
  try {
    post({ kind: 'done', counts: await convertRows(job, onProgress) });
  } catch (error) {
    if (error instanceof ConvertError) post({ kind: 'failed', code: error.code, row: error.row });
    else if (error instanceof CheckError) post({ kind: 'changing' });
    // An error of the file system keeps its code.
    else throw error;
  }
}

void run(workerData as ConvertJob);
