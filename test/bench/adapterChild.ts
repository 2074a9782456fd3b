// Does one thing with one adapter.
import { verifyArchive } from '../../src/core/adapters/archive/verify.ts';
import { inspectAdapter } from '../../src/core/adapters/inspect.ts';
import { runInWorker } from '../../src/core/adapters/runInWorker.ts';
import { argument, report } from './child.ts';

export interface AdapterJob {
  task: 'inspect' | 'verify' | 'measure';
  file: string;
  worker: string;
}

const { task, file, worker } = argument() as AdapterJob;

const TASKS = {
  async inspect() {
    const { verdict, weights } = await inspectAdapter(file);
    if (verdict.code !== 'adapter' || weights?.pairs.length === 0) throw new Error('no adapter');
  },
  async verify() {
    await verifyArchive(file);
  },
  async measure() {
    const { pairs } = await runInWorker('measure', file, { worker });
    if (pairs.length === 0 || pairs.some(({ norm }) => norm === undefined)) throw new Error('not measured');
  },
};

await report(() => TASKS[task]());
