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
export function itOnPosix(title: string, test: Mocha.AsyncFunc): void {
  itIf(process.platform !== 'win32', title, test);
}

/** For `/dev/full`, on which every write fails. */
export function itOnLinux(title: string, test: Mocha.AsyncFunc): void {
  itIf(process.platform === 'linux', title, test);
}

/** Mocha gives each test file another `it`, and a process runs several files: one that is kept from the first adds no tests. */
function itIf(isPossible: boolean, title: string, test: Mocha.AsyncFunc): void {
  if (isPossible) it(title, test);
  else it.skip(title, test);
}

/** Lets the tests of a `describe` see another system: what is shown differs by it. */
export function usePlatform(platform: NodeJS.Platform): void {
  const own = Object.getOwnPropertyDescriptor(process, 'platform')!;
  beforeEach(() => void Object.defineProperty(process, 'platform', { ...own, value: platform }));
  afterEach(() => void Object.defineProperty(process, 'platform', own));
}
