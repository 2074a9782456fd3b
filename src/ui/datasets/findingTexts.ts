import { l10n } from 'vscode';
import type { FactName, Finding } from '../../core/datasets/readFacts.ts';
import { formatCount, formatRows } from '../shared/format.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import type { PreviewFact } from './protocol.ts';

/** At most so many kinds of a finding are named, each in so many characters. */
const MOST_KINDS = 4;
const KIND_CHARACTERS = 40;

type Sentence = (rows: string, kinds: string) => string;

/** The name of each finding, and its sentence. The last two facts only describe. */
const FINDINGS: Readonly<Record<Exclude<FactName, 'withoutSystem' | 'refusals'>, [name: string, Sentence]>> =
  {
    templateMarks: [
      l10n.t('Template marks'),
      (rows, kinds) =>
        l10n.t('{0} with marks of a chat template besides those that the service adds: {1}', rows, kinds),
    ],
    messagesInText: [
      l10n.t('Messages in text'),
      (rows, kinds) =>
        l10n.t('{0} with messages inside a text, which are trained as plain text: {1}', rows, kinds),
    ],
    emptyWords: [
      l10n.t('Words of empty cells'),
      (rows, kinds) => l10n.t('{0} with a word for an empty cell in place of a text: {1}', rows, kinds),
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
      (rows) => l10n.t('{0} with characters that were read in a wrong encoding', rows),
    ],
    controls: [l10n.t('Control characters'), (rows) => l10n.t('{0} with control characters', rows)],
    replacement: [
      l10n.t('Lost characters'),
      (rows) => l10n.t('{0} with the sign � in place of lost characters', rows),
    ],
    openFences: [
      l10n.t('Open code fences'),
      (rows) => l10n.t('{0} with a code fence that is never closed', rows),
    ],
    cutAnswers: [
      l10n.t('Cut answers'),
      (rows) => l10n.t('{0} with a long answer that ends without a sentence mark, unlike most', rows),
    ],
    boilerplate: [
      l10n.t('Boilerplate'),
      (rows) => l10n.t('{0} with a phrase such as “As an AI language model” in an answer', rows),
    ],
    thinking: [
      l10n.t('Thinking'),
      (rows, kinds) => l10n.t('{0} unlike most in their thinking: {1}', rows, kinds),
    ],
    toolArguments: [
      l10n.t('Tool arguments'),
      (rows, kinds) => l10n.t('{0} with tool arguments in another form: {1}', rows, kinds),
    ],
    tools: [
      l10n.t('Tools'),
      (rows, kinds) => l10n.t('{0} with a call of a tool that the row doesn’t define: {1}', rows, kinds),
    ],
    columns: [
      l10n.t('Columns'),
      (rows, kinds) => l10n.t('{0} with another type in a column than most: {1}', rows, kinds),
    ],
  };

/** Kinds that have a name. Others are words of the file, or say no more than the sentence. */
const KINDS: Readonly<Record<string, string>> = {
  without: l10n.t('without thinking'),
  empty: l10n.t('empty'),
  unclosed: l10n.t('not closed'),
  missing: l10n.t('no tools'),
  unknown: l10n.t('another tool'),
  text: l10n.t('as text'),
  object: l10n.t('as an object'),
  python: l10n.t('in Python’s notation'),
};
/** The usual kind is named, too. */
const WITH_OTHERS: readonly FactName[] = ['thinking', 'toolArguments'];

/** What was found in the texts, each with its rows. */
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
    // A column follows its type.
    const word = kind.replace(/^(?:text|list|number|boolean|object) /, '');
    const name = KINDS[kind] ?? sanitizeServiceText(word, KIND_CHARACTERS);
    return sorted.length === 1 ? name : l10n.t('{0} ({1})', name, formatCount(rows));
  });
  const more = sorted.length - named.length;
  return [...named, ...(more > 0 ? [l10n.t('{0} more', formatCount(more))] : [])].join(', ');
}
