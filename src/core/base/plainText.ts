/**
 * Truncates a text to at most `maxUnits` UTF-16 units without splitting a grapheme. Only examines the part
 * that may remain, so a huge text costs no more than a short one.
 */
export function cutAtWholeCharacters(text: string, maxUnits: number): string {
  if (text.length <= maxUnits) return text;
  let end = 0;
  // Look a little beyond the limit to see whether the grapheme at the border fits completely.
  for (const { index, segment } of new Intl.Segmenter().segment(text.slice(0, maxUnits + 64))) {
    if (index + segment.length > maxUnits) break;
    end = index + segment.length;
  }
  return text.slice(0, end);
}

/** Emoji, and letters of scripts in which an invisible joiner affects the rendering. */
const JOINED = String.raw`[[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}]--[\p{sc=Latn}\p{ASCII}]]`;
/**
 * Invisible characters, and those that change the text direction: control, bidi, zero-width, and tag
 * characters, lone surrogates, and unusual line ends. Those with a visible effect match first, ungrouped.
 */
const HIDDEN = new RegExp(
  String.raw`(?<=${JOINED})[\u200c\u200d](?=${JOINED})|(?<=\p{Emoji})[\ufe0e\ufe0f]|(?<=\p{sc=Han})[\ufe00-\ufe02]|([\p{DI}\p{Cc}\u2028\u2029\ufff9-\ufffb\p{Cs}])`,
  'gv',
);

/** Replaces each hidden character of a text, including line breaks. */
export function replaceHidden(text: string, by: (character: string) => string): string {
  return text.replace(HIDDEN, (match, hidden: string | undefined) =>
    hidden === undefined ? match : by(hidden),
  );
}

/** Whether a text has no hidden characters, so that it may be copied: pasted into a terminal, they would act. */
export function isVisible(text: string): boolean {
  return replaceHidden(text, () => '') === text;
}

/** Returns the runs of hidden characters in a multiline text, with their positions. */
export function hiddenRuns(text: string): { at: number; run: string }[] {
  const runs: { at: number; run: string }[] = [];
  for (const { 1: hidden, index } of text.matchAll(HIDDEN)) {
    if (hidden === undefined || /[\t\n\r]/.test(hidden)) continue;
    const last = runs.at(-1);
    if (last !== undefined && last.at + last.run.length === index) last.run += hidden;
    else runs.push({ at: index, run: hidden });
  }
  return runs;
}

/**
 * Converts untrusted text to one line without hidden characters, with blanks collapsed, truncated to
 * `maxUnits` UTF-16 units.
 */
export function toPlainLine(text: string, maxUnits: number): string {
  // Examine at most four times the final length, so that a megabyte of blanks stays cheap.
  const visible = text.slice(0, maxUnits * 4).replace(/[\p{Cc}\s]+/gu, ' ');
  return cutAtWholeCharacters(replaceHidden(visible, () => '').trim(), maxUnits);
}

/** Whether a text looks like an ID; the contract's are UUIDs (spec: "Run creation result"). */
export function isPlainId(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(text);
}

/** How much of a text is compared: normalizing a megabyte of stacked accents takes minutes. */
const MAX_FOLDED_UNITS = 1024;

/** Folds a text for comparison and search: ignores case, width, and how accents are composed. */
export function foldText(text: string): string {
  return text.slice(0, MAX_FOLDED_UNITS).normalize('NFKC').toLowerCase();
}

/** Returns the folded words of a search, which a text must all contain. */
export function searchWords(text: string): string[] {
  return foldText(text)
    .split(/\s+/)
    .filter((word) => word !== '');
}
