import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

type Calls = Pick<typeof fs, 'lstat' | 'readdir' | 'readFile' | 'rename' | 'rm'>;

/** For the tests of a `describe`: returns a function that replaces one of Node's functions until the test ends. */
export function useDiskCalls(): (
  name: keyof Calls,
  replace: (own: (...args: unknown[]) => Promise<unknown>) => (...args: never[]) => Promise<unknown>,
) => void {
  const replaced = new Map<keyof Calls, unknown>();
  afterEach(() => {
    for (const [name, own] of replaced) Object.assign(fs, { [name]: own });
    replaced.clear();
    syncBuiltinESMExports();
  });
  return (name, replace) => {
    const own = fs[name] as (...args: unknown[]) => Promise<unknown>;
    if (!replaced.has(name)) replaced.set(name, own);
    Object.assign(fs, { [name]: replace(own) });
    syncBuiltinESMExports();
  };
}
