import { kindsIf, type Fact } from './fact.ts';

/** Conversations without a system message. */
export const withoutSystem: Readonly<Fact> = {
  name: 'withoutSystem',
  kindsOf: ({ system }) => kindsIf({ without: system === '' }),
};
