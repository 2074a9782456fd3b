import { open, type FileHandle } from 'node:fs/promises';
import { mock } from 'node:test';

/** For the tests of a `describe`: returns a function that makes each sync of a folder, or of a file, fail with a code. */
export function useFolderSyncs(): (code: string, of?: 'folder' | 'file') => void {
  let code: string | undefined;
  let isOfFolders = true;
  let watched: { mock: { restore(): void } };
  before(async () => {
    const handle = await open(import.meta.filename);
    const handles = Object.getPrototypeOf(handle) as { sync(): Promise<void> };
    await handle.close();
    const sync = Reflect.get(handles, 'sync');
    watched = mock.method(handles, 'sync', async function (this: FileHandle) {
      if (code !== undefined && (await this.stat()).isDirectory() === isOfFolders)
        throw Object.assign(new Error(code), { code, syscall: 'fsync' });
      return Reflect.apply(sync, this, []);
    });
  });
  afterEach(() => (code = undefined));
  after(() => watched.mock.restore());
  return (now, of = 'folder') => void ([code, isOfFolders] = [now, of === 'folder']);
}
