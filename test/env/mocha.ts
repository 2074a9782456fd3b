import * as mocha from 'mocha';

/** Mocha's class, by the one name that is the same under `import` and `require`; the published types do not know it. */
export const Mocha = (mocha as unknown as { Mocha: typeof import('mocha') }).Mocha;

/** Begins each line that the tests inside the extension host print, so that it can be told from what the window prints. */
export const testLineMark = 'test> ';
