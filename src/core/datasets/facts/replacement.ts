import { kindsIf, type Fact } from './fact.ts';

/** U+FFFD, which decoders write in place of bytes that they can't read. */
export const replacement: Readonly<Fact> = {
  name: 'replacement',
  kindsOf: ({ isWide, said }) =>
    kindsIf({ replacement: isWide && said.some(({ text }) => text.includes('\ufffd')) }),
};
