/** Whether everything is tested, as CI does once a week: `TESTS=full`. Naming a file of `test/ui` means it, too. */
export const isFull = process.env['TESTS'] === 'full';

/** Declares tests that take long, and whose parts other tests cover. `npm test` leaves them out. */
export function weekly(declare: () => void): void {
  if (isFull) declare();
}
