/** Whether what is waited for comes within its time. */
export async function happens(waiting: Promise<unknown>): Promise<boolean> {
  return waiting.then(
    () => true,
    () => false,
  );
}
