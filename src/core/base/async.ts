/** Makes something at its first use, once. Where that fails, the next use tries again. */
export function lazy<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    }));
}

/** Makes something at its first use for each key, and keeps it: only what is the same whoever asks. */
export function lazyBy<T>(make: (key: string) => T): (key: string) => T {
  const made = new Map<string, T>();
  return (key) => {
    const known = made.get(key) ?? make(key);
    made.set(key, known);
    return known;
  };
}

/** Runs pieces of work one at a time, in the order of the calls; one that fails keeps none of the others from running. */
export function sequencer(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
}

/** A piece of work that calls share while it runs. */
export interface Shared<T> {
  /** Starts the work, or joins it while it runs; who began it before a `drop` gets the end of what came after. */
  (): Promise<T>;
  /** What runs now no longer counts: the next call starts again. */
  drop(): void;
  isRunning(): boolean;
}

/**
 * Lets calls that overlap share one piece of work, its result or its error.
 * @param work stores what it learned only while `isCurrent`: it was not dropped
 */
export function shared<T>(work: (isCurrent: () => boolean) => Promise<T>): Shared<T> {
  let running: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    const isCurrent = () => running === mine;
    const end = (settle: () => T): T | Promise<T> => {
      if (!isCurrent()) return call();
      running = undefined;
      return settle();
    };
    const mine: Promise<T> = work(isCurrent).then(
      (value) => end(() => value),
      (error: unknown) =>
        end(() => {
          throw error;
        }),
    );
    running = mine;
    return mine;
  };
  const call = () => running ?? begin();
  return Object.assign(call, {
    drop: () => void (running = undefined),
    isRunning: () => running !== undefined,
  });
}
