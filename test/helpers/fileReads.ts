import { open, type FileHandle } from 'node:fs/promises';
import { mock } from 'node:test';

/** For the tests of a `describe`: returns a function whose argument is awaited before each read of a FileHandle. */
export function useFileReads(): (before: () => unknown) => void {
  let ahead: (() => unknown) | undefined;
  let watched: { mock: { restore(): void } };
  before(async () => {
    const handle = await open(import.meta.filename);
    const handles = Object.getPrototypeOf(handle) as { read(...given: unknown[]): Promise<unknown> };
    await handle.close();
    const read = Reflect.get(handles, 'read');
    watched = mock.method(handles, 'read', async function (this: FileHandle, ...given: unknown[]) {
      await ahead?.();
      return Reflect.apply(read, this, given);
    });
  });
  afterEach(() => (ahead = undefined));
  after(() => watched.mock.restore());
  return (now) => (ahead = now);
}
