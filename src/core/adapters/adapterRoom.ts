import { extractAdapter } from './archive/extract.ts';
import { inspectAdapter } from './inspect.ts';
import { measureAdapter, type MeasureOptions } from './measure/measure.ts';

/** Everything that reads adapters. @param worker the script `measureWorker` */
export function createAdapterRoom(worker: string) {
  return {
    inspectAdapter,
    extractAdapter,
    measureAdapter: (file: string, options: Omit<MeasureOptions, 'worker'> = {}) =>
      measureAdapter(file, { ...options, worker }),
  };
}
