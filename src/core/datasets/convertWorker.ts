// The thread that converts one file and ends.
import { serveThread, throttled } from '../base/thread.ts';
import { ConvertError, type ConvertFault, type ConvertJob } from './convert.ts';
import { convertRows } from './convertRows.ts';
import { CheckError } from './report.ts';

serveThread((job: ConvertJob, onProgress: (fraction: number) => void) => {
  const report = throttled(onProgress);
  return convertRows(job, (bytes) => report(bytes / job.sizeBytes));
}, faultOf);

/** Returns an expected error as plain data; undefined for any other one. */
function faultOf(error: unknown): ConvertFault | undefined {
  if (error instanceof ConvertError) return { code: error.code, row: error.row, choices: error.choices };
  return error instanceof CheckError ? 'changing' : undefined;
}
