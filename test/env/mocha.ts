import * as mocha from 'mocha';

/** Mocha's class, by the one name that is the same under `import` and `require`; the published types do not know it. */
export const Mocha = (mocha as unknown as { Mocha: typeof import('mocha') }).Mocha;
