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
