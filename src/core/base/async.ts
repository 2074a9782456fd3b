/** Creates a value once, at its first use. After a failure, the next use tries again. */
export function lazy<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    }));
}

/** Creates a value for each key once, at its first use. Values must not depend on the caller. */
export function lazyBy<T>(make: (key: string) => T): (key: string) => T {
  const made = new Map<string, T>();
  return (key) => {
    const known = made.get(key) ?? make(key);
    made.set(key, known);
    return known;
  };
}

/** Returns a function that runs work one at a time, in call order; a failure doesn't stop later work. */
export function sequencer(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
}

/** Work that overlapping calls share. */
export interface Shared<T> {
  /** Starts the work, or joins it. Calls from before a `drop` get the result of the work after it. */
  (): Promise<T>;
  /** Makes the current work obsolete, so that the next call starts again. */
  drop(): void;
  isRunning(): boolean;
}

/**
 * Shares one run of `work`, its result or its error, among overlapping calls.
 * @param work must only store its result while `isCurrent` returns true: it was not dropped
 */
export function shared<T>(work: (isCurrent: () => boolean) => Promise<T>): Shared<T> {
  let running: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    const isCurrent = () => running === mine;
    const result = work(isCurrent);
    const mine: Promise<T> = Promise.allSettled([result]).then(() => {
      if (!isCurrent()) return call();
      running = undefined;
      return result;
    });
    return (running = mine);
  };
  const call = () => running ?? begin();
  return Object.assign(call, {
    drop: () => void (running = undefined),
    isRunning: () => running !== undefined,
  });
}
