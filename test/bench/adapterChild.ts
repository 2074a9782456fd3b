// A process of its own that does one thing with one adapter and says what it took: `adapterChild <task> <file> <worker>`.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { inspectAdapter } from '../../src/core/adapters/inspect.ts';
import { measureAdapter } from '../../src/core/adapters/measure/measure.ts';
import { verifyArchive } from '../../src/core/adapters/archive/verify.ts';
import type { Said } from './measure.ts';
import { peakBytes } from './peak.ts';

const [task = '', file = '', worker = ''] = process.argv.slice(2);

async function work(): Promise<void> {
  switch (task) {
    case 'inspect': {
      const { verdict, weights } = await inspectAdapter(file);
      if (verdict.code !== 'adapter' || weights?.pairs.length === 0) throw new Error('no adapter');
      break;
    }
    case 'verify':
      await verifyArchive(file);
      break;
    case 'measure': {
      const { pairs } = await measureAdapter(file, { worker });
      if (pairs.length === 0 || pairs.some(({ norm }) => norm === undefined)) throw new Error('not measured');
      break;
    }
    default:
      throw new Error(`unknown task ${task}`);
  }
}

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const startedMs = performance.now();
await work();
const said: Said = { workMs: performance.now() - startedMs, peakBytes: peakBytes() };
delay.disable();
process.stdout.write(
  JSON.stringify({ ...said, delayP99Ms: delay.percentile(99) / 1e6, delayMaxMs: delay.max / 1e6 }),
);
