/** Whether a wait resolves instead of timing out. */
export async function happens(waiting: Promise<unknown>): Promise<boolean> {
  return waiting.then(
    () => true,
    () => false,
  );
}
