import { setTimeout as delay } from 'node:timers/promises';
import { withCancellableProgress } from './progress.ts';

/** What takes less is done before anybody would have read of it. */
const QUIET_MS = 300;

/** Like `withCancellableProgress`, but work that is done at once shows nothing. */
export async function withLateProgress<T>(
  title: string,
  work: (signal: AbortSignal, report: (fraction: number) => void) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  let fraction = 0;
  let tell: ((fraction: number) => void) | undefined;
  const done = work(stop.signal, (next) => {
    fraction = next;
    tell?.(next);
  });
  const quiet = new AbortController();
  try {
    const isDone = await Promise.race([
      done.then(() => true),
      delay(QUIET_MS, false, { ref: false, signal: quiet.signal }).catch(() => true),
    ]);
    if (isDone) return await done;
  } finally {
    quiet.abort();
  }
  return withCancellableProgress(title, (signal, report) => {
    signal.addEventListener('abort', () => stop.abort());
    tell = (next) => report(percent(next), next);
    tell(fraction);
    return done;
  });
}

function percent(fraction: number): string {
  return `${Math.floor(fraction * 100)} %`;
}
