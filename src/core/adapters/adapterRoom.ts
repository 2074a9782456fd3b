import { extractAdapter } from './archive/extract.ts';
import { inspectAdapter } from './inspect.ts';
import { measureAdapter, type MeasureOptions } from './measure/measure.ts';
import { recipesOf } from './recipe/recipes.ts';
import type { Measurements } from './report.ts';

/** What can be done with an adapter; to be loaded at first use. @param worker the script `measureWorker` */
export function createAdapterRoom(worker: string) {
  return {
    inspectAdapter,
    extractAdapter,
    recipesOf,
    measureAdapter: (file: string, options: Omit<MeasureOptions, 'worker'> = {}): Promise<Measurements> =>
      measureAdapter(file, { ...options, worker }),
  };
}
