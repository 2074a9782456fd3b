import { kindsIf, type Fact } from './fact.ts';

/** Conversations without a system message, which may be as many as have one. */
export const withoutSystem: Readonly<Fact> = {
  name: 'withoutSystem',
  kindsOf: ({ system }) => kindsIf({ without: system === '' }),
};
