/** Runs `work` while `process.platform` says that this is Windows. */
export async function onWindows<T>(work: () => Promise<T>): Promise<T> {
  const platform = Object.getOwnPropertyDescriptor(process, 'platform')!;
  Object.defineProperty(process, 'platform', { ...platform, value: 'win32' });
  try {
    return await work();
  } finally {
    Object.defineProperty(process, 'platform', platform);
  }
}
