// The thread that converts one file and ends.
import { serveThread, throttled } from '../base/thread.ts';
import type { ConvertFault } from './convert.ts';
import { ConvertError } from './convertError.ts';
import { convertRows, type ConvertJob } from './convertRows.ts';
import { CheckError } from './report.ts';

serveThread((job: ConvertJob, onProgress: (fraction: number) => void) => {
  const report = throttled(onProgress);
  return convertRows(job, (bytes) => report(bytes / job.sizeBytes));
}, faultOf);

/** An error of the file system keeps its code. */
function faultOf(error: unknown): ConvertFault | undefined {
  if (error instanceof ConvertError) return { code: error.code, row: error.row };
  return error instanceof CheckError ? 'changing' : undefined;
}
