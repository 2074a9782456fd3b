import * as mocha from 'mocha';

/** Mocha's class, by the only name that works with both `import` and `require` but is missing in the published types. */
export const Mocha = (mocha as unknown as { Mocha: typeof import('mocha') }).Mocha;

/** Prefix of lines that tests in the extension host print, to tell them from the window's own output. */
export const testLineMark = 'test> ';
