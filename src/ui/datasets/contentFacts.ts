import { l10n } from 'vscode';
import { cutAtWholeCharacters } from '../../core/base/plainText.ts';
import type { Reading } from '../../core/datasets/readFacts.ts';
import type { ProblemChoice, Report } from '../../core/datasets/report.ts';
import { differenceSentences } from '../shared/differenceText.ts';
import { compact, formatCount, formatRows, percentOf } from '../shared/format.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import type { SinceLastRun } from './datasetRuns.ts';
import { findingFacts } from './findingTexts.ts';
import type { PreviewFact } from './protocol.ts';

/** Texts of the dataset that the card shows, as far as they were read. */
export interface CardTexts {
  answer?: string | undefined;
  system?: string | undefined;
  /** One for each of the report's labels. */
  labels?: readonly string[];
}

const FEWEST_CONVERSATIONS = 10;
/** The main system message is shown from the first share; above the second, rows without it come first. */
const SHOWN_SHARE = 0.2;
const MAIN_SHARE = 0.8;
const MOST_TEXTS = 1_000;
const TEXT_CHARACTERS = 60;
const LABEL_CHARACTERS = 40;
/** Scripts are listed from the first share, but only if one of them reaches the second. */
const LISTED_SHARE = 0.01;
const WRITING_SHARE = 0.05;
/** Above this share of scripts for which tokenizers differ, the number of tokens says so. */
const DIFFERING_SHARE = 0.2;

type Script = keyof Reading['scripts'];

const SCRIPT_NAMES: Readonly<Record<Script, string>> = {
  han: l10n.t('Han'),
  cyrillic: l10n.t('Cyrillic'),
  kana: l10n.t('Kana'),
  hangul: l10n.t('Hangul'),
  greek: l10n.t('Greek'),
  hebrew: l10n.t('Hebrew'),
  arabic: l10n.t('Arabic'),
  indic: l10n.t('Indic'),
  thai: l10n.t('Thai'),
  other: l10n.t('other scripts'),
};
/** Besides Latin, the scripts whose tokens the estimate predicts well. */
const ESTIMATED: readonly string[] = ['han', 'cyrillic', 'kana', 'hangul'] satisfies Script[];

/** Returns facts about a dataset's texts, with their rows if these are few. @param longest conversation, in messages */
export function contentFacts(reading: Reading, longest: number, texts: CardTexts): PreviewFact[] {
  const { conversations, singleExchanges, answers, findings, scripts, system } = reading;
  const refusals = findings.find(({ name }) => name === 'refusals');
  return compact(
    ...findingFacts(findings),
    system.conversations >= FEWEST_CONVERSATIONS && systemFact(reading, texts.system),
    refusals && {
      name: l10n.t('Refusals'),
      value: refusalsText(refusals.total, answers),
      rows: showRows('refusals', l10n.t('Refusals')),
    },
    answersFact(reading, texts),
    conversations > 0 && {
      name: l10n.t('Conversations'),
      value: conversationsText(singleExchanges, conversations, longest),
    },
    Object.values(scripts).some((share) => share >= WRITING_SHARE) && {
      name: l10n.t('Scripts'),
      value: writingText(scripts),
    },
  );
}

/** What changed since the last run, with the rows of this file. */
export function sinceFact({ difference, run }: SinceLastRun): PreviewFact {
  const rows = showRows('since-last-run', l10n.t('Added and changed rows'));
  return {
    name: l10n.t('Changes'),
    value: differenceSentences(difference, run),
    rows: difference.rows.total > 0 ? rows : undefined,
  };
}

/** Whether much of the text is in scripts for which tokenizers differ. */
export function isTokenCountVague({ scripts }: Pick<Reading, 'scripts'>): boolean {
  const shares = Object.entries(scripts).map(([script, share]) => (ESTIMATED.includes(script) ? 0 : share));
  return shares.reduce((sum, share) => sum + share, 0) > DIFFERING_SHARE;
}

/** Says how many rows a fact is about, if not all. */
export function inFirstRows(
  text: string,
  { rows, repeats }: Pick<Report, 'rows' | 'repeats'>,
  comparedRows = repeats.comparedRows,
): string {
  return comparedRows >= rows ? text : l10n.t('{0} (first {1} rows)', text, formatCount(comparedRows));
}

function showRows(choice: ProblemChoice, name: string): PreviewFact['rows'] {
  return { choice, name, text: l10n.t('Show Rows') };
}

function systemFact({ system }: Reading, text: string | undefined): PreviewFact {
  const { conversations, without, main } = system;
  const isMissing = without > 0 && (main?.rows ?? 0) > conversations * MAIN_SHARE;
  return {
    name: l10n.t('System message'),
    value: systemText(system, text, isMissing),
    rows: isMissing ? showRows('withoutSystem', l10n.t('No system message')) : undefined,
  };
}

function systemText(
  { conversations, without, texts, main }: Reading['system'],
  text: string | undefined,
  isMissing: boolean,
): string {
  if (main === undefined) return l10n.t('No system message');
  const quoted = `“${shortened(text)}”`;
  const [lacking, rows] = [formatRows(without), formatRows(main.rows)];
  if (isMissing) return l10n.t('Missing from {0}; {1} in {2}', lacking, quoted, rows);
  if (main.rows === conversations) return l10n.t('{0} in all conversations', quoted);
  const percent = percentOf(main.rows, conversations);
  if (main.rows < conversations * SHOWN_SHARE) {
    const all = formatRows(conversations - without);
    return without === 0
      ? l10n.t('{0} in {1}', textsText(texts), all)
      : l10n.t('{0} in {1}; missing from {2}', textsText(texts), all, lacking);
  }
  if (texts === 1) return l10n.t('{0} in {1}% of conversations; missing from {2}', quoted, percent, lacking);
  const others =
    texts === 2 ? l10n.t('1 other message') : l10n.t('{0} other messages', formatCount(texts - 1));
  return without === 0
    ? l10n.t('{0} in {1}% of conversations, {2}', quoted, percent, others)
    : l10n.t('{0} in {1}% of conversations, {2}; missing from {3}', quoted, percent, others, lacking);
}

function textsText(count: number): string {
  if (count === 1) return l10n.t('1 message');
  if (count > MOST_TEXTS) return l10n.t('more than {0} different messages', formatCount(MOST_TEXTS));
  return l10n.t('{0} different messages', formatCount(count));
}

/** Shortens a text to one line. */
function shortened(text = '', characters = TEXT_CHARACTERS): string {
  const line = sanitizeServiceText(text.slice(0, 4 * characters), 4 * characters);
  if (line.length > characters) return `${cutAtWholeCharacters(line, characters - 1).trimEnd()}…`;
  return line === '' ? '…' : line;
}

function refusalsText(refusals: number, answers: number): string {
  const percent = percentOf(refusals, answers);
  return refusals === 1
    ? l10n.t('1 answer begins like a refusal ({0}%)', percent)
    : l10n.t('{0} answers begin like a refusal ({1}%)', formatCount(refusals), percent);
}

/** Returns each label with its number of rows, if all labels were read and are short. */
export function labelCounts(
  { labels: counts }: Pick<Reading, 'labels'>,
  { labels = [] }: CardTexts,
): [label: string, rows: number][] {
  const areShort = labels.every((text) => text.trim() !== '' && Array.from(text).length <= LABEL_CHARACTERS);
  if (labels.length !== counts.length || !areShort) return [];
  return counts.map(({ rows }, index) => [shortened(labels[index]), rows]);
}

/** The labels, else the most common answer. */
function answersFact(reading: Reading, texts: CardTexts): PreviewFact | undefined {
  const labels = labelCounts(reading, texts);
  if (labels.length > 0) {
    const parts = labels.map(([label, rows]) => `${label} ${formatCount(rows)}`);
    return { name: l10n.t('Answers'), value: parts.join(' · ') };
  }
  const common = reading.answer;
  if (common === undefined) return undefined;
  const percent = Math.round(common.share * 100);
  const text = sanitizeServiceText(texts.answer ?? '');
  return {
    name: l10n.t('Most common answer'),
    value: text === '' ? l10n.t('{0}% of rows', percent) : l10n.t('“{0}” in {1}% of rows', text, percent),
  };
}

function conversationsText(single: number, conversations: number, longest: number): string {
  const percent = percentOf(single, conversations);
  return longest === 1
    ? l10n.t('1 message each')
    : l10n.t('{0}% have 1 exchange; longest: {1} messages', percent, formatCount(longest));
}

function writingText(scripts: Reading['scripts']): string {
  return (Object.entries(scripts) as [Script, number][])
    .filter(([, share]) => share >= LISTED_SHARE)
    .sort(([, one], [, other]) => other - one)
    .map(([script, share]) => l10n.t('{0}% {1}', Math.round(share * 100), SCRIPT_NAMES[script]))
    .join(', ');
}
