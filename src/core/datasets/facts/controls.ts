import { kindsIf, type Fact } from './fact.ts';

/** All control characters but tab, LF, FF, CR, ESC, and NEL (a line end). */
const CONTROLS = /[\0-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]/;

export const controls: Readonly<Fact> = {
  name: 'controls',
  kindsOf: ({ raw, isWide, said }) =>
    kindsIf({
      controls: (isWide || raw.includes(String.raw`\b`)) && said.some(({ text }) => CONTROLS.test(text)),
    }),
};
