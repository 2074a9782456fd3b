import { kindsIf, type Fact } from './fact.ts';

const ENTITY =
  /&(?:amp|lt|gt|quot|apos|nbsp|[lr](?:[sda]quo|arr)|bull|middot|times|plusmn|frac\d\d|yen|cent|sect|para|iquest|iexcl|[nm]dash|hellip|copy|reg|trade|euro|pound|deg|szlig|#\d{2,6}|#x[\da-f]{2,5}|[a-z](?:uml|acute|grave|circ|tilde|cedil|ring|slash));/i;
/** Signs that a text is HTML, or about it. */
const HTML = /<\/?[a-z!][^>\n]*>|`|\b(?:html|xml|svg|entit(?:y|ies))\b/i;

export const entities: Readonly<Fact> = {
  name: 'entities',
  kindsOf: ({ answers }) =>
    kindsIf({
      entities: answers.some((text) => text.includes('&') && ENTITY.test(text) && !HTML.test(text)),
    }),
};
