import { l10n } from 'vscode';
import type { FactName, Finding } from '../../core/datasets/readFacts.ts';
import { formatCount, formatRows } from '../shared/format.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import type { PreviewFact } from './protocol.ts';

/** How many kinds of a finding are named, and their longest names. */
const MOST_KINDS = 4;
const KIND_CHARACTERS = 40;

type Sentence = (rows: string, kinds: string) => string;

/** The name and the sentence of each finding. The two excluded facts only describe. */
const FINDINGS: Readonly<Record<Exclude<FactName, 'withoutSystem' | 'refusals'>, [name: string, Sentence]>> =
  {
    templateMarks: [
      l10n.t('Template tokens'),
      (rows, kinds) =>
        l10n.t('{0} with chat template tokens besides those that the service adds: {1}', rows, kinds),
    ],
    messagesInText: [
      l10n.t('Messages in a text field'),
      (rows, kinds) =>
        l10n.t('{0} with messages inside a text field, which train as plain text: {1}', rows, kinds),
    ],
    emptyWords: [
      l10n.t('Empty-cell placeholders'),
      (rows, kinds) => l10n.t('{0} with an empty-cell placeholder instead of text: {1}', rows, kinds),
    ],
    escapedTwice: [
      l10n.t('Escaped twice'),
      (rows) => l10n.t('{0} with escapes such as \\n in the text of an answer', rows),
    ],
    entities: [
      l10n.t('HTML entities'),
      (rows) => l10n.t('{0} with HTML entities such as &amp; in an answer', rows),
    ],
    mojibake: [
      l10n.t('Wrong encoding'),
      (rows) => l10n.t('{0} with characters read in the wrong encoding', rows),
    ],
    controls: [l10n.t('Control characters'), (rows) => l10n.t('{0} with control characters', rows)],
    replacement: [
      l10n.t('Lost characters'),
      (rows) => l10n.t('{0} with � in place of lost characters', rows),
    ],
    openFences: [
      l10n.t('Unclosed code fences'),
      (rows) => l10n.t('{0} with a code fence that is never closed', rows),
    ],
    cutAnswers: [
      l10n.t('Truncated answers'),
      (rows) => l10n.t('{0} with a long answer that ends without punctuation, unlike most', rows),
    ],
    boilerplate: [
      l10n.t('Boilerplate'),
      (rows) => l10n.t('{0} with a phrase such as “As an AI language model” in an answer', rows),
    ],
    thinking: [
      l10n.t('Thinking'),
      (rows, kinds) => l10n.t('{0} whose thinking differs from most: {1}', rows, kinds),
    ],
    toolArguments: [
      l10n.t('Tool arguments'),
      (rows, kinds) => l10n.t('{0} with tool arguments in a different form: {1}', rows, kinds),
    ],
    tools: [
      l10n.t('Tools'),
      (rows, kinds) => l10n.t('{0} with a call to a tool that the row doesn’t define: {1}', rows, kinds),
    ],
    columns: [
      l10n.t('Columns'),
      (rows, kinds) => l10n.t('{0} where a column’s type differs from most: {1}', rows, kinds),
    ],
  };

/** Names of kinds. Other kinds are words of the file, or add nothing to the sentence. */
const KINDS: Readonly<Record<string, string>> = {
  without: l10n.t('without thinking'),
  empty: l10n.t('empty'),
  unclosed: l10n.t('not closed'),
  missing: l10n.t('no tools defined'),
  unknown: l10n.t('only other tools defined'),
  text: l10n.t('as text'),
  object: l10n.t('as an object'),
  python: l10n.t('in Python syntax'),
};
/** For these, the usual kind is named as well. */
const WITH_OTHERS: readonly FactName[] = ['thinking', 'toolArguments'];

/** Returns each finding in the texts with its rows. */
export function findingFacts(findings: readonly Finding[]): PreviewFact[] {
  return findings.flatMap(({ name, total, kinds, others }) => {
    if (name === 'withoutSystem' || name === 'refusals') return [];
    const [title, sentence] = FINDINGS[name];
    const value = sentence(
      formatRows(total),
      kindsText({ ...kinds, ...(WITH_OTHERS.includes(name) && others) }),
    );
    return [{ name: title, value, rows: { choice: name, name: title, text: l10n.t('Show Rows') } }];
  });
}

function kindsText(kinds: Finding['kinds']): string {
  const sorted = Object.entries(kinds).sort(([, one], [, other]) => other - one);
  const named = sorted.slice(0, MOST_KINDS).map(([kind, rows]) => {
    // A column's name follows its type.
    const word = kind.replace(/^(?:text|list|number|boolean|object) /, '');
    const name = KINDS[kind] ?? sanitizeServiceText(word, KIND_CHARACTERS);
    return sorted.length === 1 ? name : l10n.t('{0} ({1})', name, formatCount(rows));
  });
  const more = sorted.length - named.length;
  return [...named, ...(more > 0 ? [l10n.t('{0} more', formatCount(more))] : [])].join(', ');
}
