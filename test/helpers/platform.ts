/** Runs `work` while `process.platform` names another system. */
export async function onPlatform<T>(platform: NodeJS.Platform, work: () => T | Promise<T>): Promise<T> {
  const own = Object.getOwnPropertyDescriptor(process, 'platform')!;
  Object.defineProperty(process, 'platform', { ...own, value: platform });
  try {
    return await work();
  } finally {
    Object.defineProperty(process, 'platform', own);
  }
}

/** Declares a test of something that Windows lacks: pipes, devices, permission bits, links that anyone may create. */
export function itOnPosix(title: string, test: Mocha.AsyncFunc): void {
  itIf(process.platform !== 'win32', title, test);
}

/** Declares a test that needs `/dev/full`, on which every write fails. */
export function itOnLinux(title: string, test: Mocha.AsyncFunc): void {
  itIf(process.platform === 'linux', title, test);
}

/**
 * Mocha gives each test file its own `it`, and a process runs several files. So read it each time: that of an
 * earlier file adds no tests.
 */
function itIf(isPossible: boolean, title: string, test: Mocha.AsyncFunc): void {
  if (isPossible) it(title, test);
  else it.skip(title, test);
}

/** Lets the tests of a `describe` see another system, since texts differ by it. */
export function usePlatform(platform: NodeJS.Platform): void {
  const own = Object.getOwnPropertyDescriptor(process, 'platform')!;
  beforeEach(() => void Object.defineProperty(process, 'platform', { ...own, value: platform }));
  afterEach(() => void Object.defineProperty(process, 'platform', own));
}
