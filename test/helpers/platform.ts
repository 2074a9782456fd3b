/** Runs `work` while `process.platform` says that this is another system. */
export async function onPlatform<T>(platform: NodeJS.Platform, work: () => T | Promise<T>): Promise<T> {
  const own = Object.getOwnPropertyDescriptor(process, 'platform')!;
  Object.defineProperty(process, 'platform', { ...own, value: platform });
  try {
    return await work();
  } finally {
    Object.defineProperty(process, 'platform', own);
  }
}

/** For what Windows lacks: pipes, devices, permission bits, links that anyone may create. */
export const itOnPosix = process.platform === 'win32' ? it.skip : it;

/** For `/dev/full`, on which every write fails. */
export const itOnLinux = process.platform === 'linux' ? it : it.skip;

/** Lets the tests of a `describe` see another system: what is shown differs by it. */
export function usePlatform(platform: NodeJS.Platform): void {
  const own = Object.getOwnPropertyDescriptor(process, 'platform')!;
  beforeEach(() => void Object.defineProperty(process, 'platform', { ...own, value: platform }));
  afterEach(() => void Object.defineProperty(process, 'platform', own));
}
