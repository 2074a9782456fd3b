import { l10n } from 'vscode';
import type { FactName, Finding } from '../../core/datasets/readFacts.ts';
import { formatCount } from '../shared/format.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import type { PreviewFact } from './protocol.ts';

/** At most so many kinds of a finding are named, each in so many characters. */
const MOST_KINDS = 4;
const KIND_CHARACTERS = 40;

/** The name of each finding, and its sentences for one row and for several. The last two facts describe, and have none. */
const FINDINGS: Readonly<
  Record<Exclude<FactName, 'withoutSystem' | 'refusals'>, readonly [name: string, one: string, many: string]>
> = {
  templateMarks: [
    l10n.t('Template marks'),
    l10n.t('1 row has marks of a chat template besides those that the service adds'),
    l10n.t('{0} rows have marks of a chat template besides those that the service adds', '{0}'),
  ],
  messagesInText: [
    l10n.t('Messages in text'),
    l10n.t('1 row has messages inside a text, which is trained as it stands'),
    l10n.t('{0} rows have messages inside a text, which is trained as it stands', '{0}'),
  ],
  emptyWords: [
    l10n.t('Words of empty cells'),
    l10n.t('1 row has a word for an empty cell in place of a text'),
    l10n.t('{0} rows have a word for an empty cell in place of a text', '{0}'),
  ],
  escapedTwice: [
    l10n.t('Escaped twice'),
    l10n.t('1 answer has escapes such as \\n as its text'),
    l10n.t('{0} answers have escapes such as \\n as their text', '{0}'),
  ],
  entities: [
    l10n.t('HTML entities'),
    l10n.t('1 answer has HTML entities such as &amp;'),
    l10n.t('{0} answers have HTML entities such as &amp;', '{0}'),
  ],
  mojibake: [
    l10n.t('Wrong encoding'),
    l10n.t('1 row has characters that were read in the wrong encoding'),
    l10n.t('{0} rows have characters that were read in the wrong encoding', '{0}'),
  ],
  controls: [
    l10n.t('Control characters'),
    l10n.t('1 row has control characters'),
    l10n.t('{0} rows have control characters', '{0}'),
  ],
  replacement: [
    l10n.t('Lost characters'),
    l10n.t('1 row has the sign � in place of lost characters'),
    l10n.t('{0} rows have the sign � in place of lost characters', '{0}'),
  ],
  openFences: [
    l10n.t('Open code fences'),
    l10n.t('1 answer opens a code fence and never closes it'),
    l10n.t('{0} answers open a code fence and never close it', '{0}'),
  ],
  cutAnswers: [
    l10n.t('Cut answers'),
    l10n.t('1 long answer ends without a sentence mark, unlike the others'),
    l10n.t('{0} long answers end without a sentence mark, unlike the others', '{0}'),
  ],
  boilerplate: [
    l10n.t('Boilerplate'),
    l10n.t('1 answer has a phrase such as “As an AI language model”'),
    l10n.t('{0} answers have phrases such as “As an AI language model”', '{0}'),
  ],
  thinking: [
    l10n.t('Thinking'),
    l10n.t('1 row is unlike the others in its thinking'),
    l10n.t('{0} rows are unlike the others in their thinking', '{0}'),
  ],
  toolArguments: [
    l10n.t('Tool arguments'),
    l10n.t('1 row writes tool arguments in another form'),
    l10n.t('{0} rows write tool arguments in another form', '{0}'),
  ],
  tools: [
    l10n.t('Tools'),
    l10n.t('1 row calls a tool that it doesn’t define'),
    l10n.t('{0} rows call a tool that they don’t define', '{0}'),
  ],
  columns: [
    l10n.t('Columns'),
    l10n.t('1 row has another type in a column than most rows'),
    l10n.t('{0} rows have another type in a column than most rows', '{0}'),
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
const WITH_KINDS: readonly FactName[] = [
  ...(['templateMarks', 'messagesInText', 'emptyWords', 'thinking'] as const),
  ...(['toolArguments', 'tools', 'columns'] as const),
];
/** The usual kind is named, too. */
const WITH_OTHERS: readonly FactName[] = ['thinking', 'toolArguments'];

/** What was found in the texts, each with its rows. */
export function findingFacts(findings: readonly Finding[]): PreviewFact[] {
  return findings.flatMap(({ name, total, kinds, others }) => {
    if (name === 'withoutSystem' || name === 'refusals') return [];
    const [title, one, many] = FINDINGS[name];
    const sentence = total === 1 ? one : many.replace('{0}', formatCount(total));
    const value = WITH_KINDS.includes(name)
      ? l10n.t('{0}: {1}', sentence, kindsText({ ...kinds, ...(WITH_OTHERS.includes(name) && others) }))
      : sentence;
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
