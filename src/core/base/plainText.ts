/**
 * Cuts a text to at most this many UTF-16 units, never inside what a reader sees as one character. Only the part that
 * can survive is looked at, so a huge text costs no more than a short one.
 */
export function cutAtWholeCharacters(text: string, maxUnits: number): string {
  if (text.length <= maxUnits) return text;
  let end = 0;
  // A little more than can be kept: the segment at the border must be seen whole to know that it does not fit.
  for (const { index, segment } of new Intl.Segmenter().segment(text.slice(0, maxUnits + 64))) {
    if (index + segment.length > maxUnits) break;
    end = index + segment.length;
  }
  return text.slice(0, end);
}

/** Emoji and the letters of scripts in which an invisible joiner changes what is seen. */
const JOINED = String.raw`[[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}]--[\p{sc=Latn}\p{ASCII}]]`;
/**
 * What a reader does not see, or what turns the direction of writing around: control, bidi, zero-width and tag characters,
 * half characters, and the line ends that only some know. First what belongs to what is seen, and is no match of the group.
 */
const HIDDEN = new RegExp(
  String.raw`(?<=${JOINED})[\u200c\u200d](?=${JOINED})|(?<=\p{Emoji})[\ufe0e\ufe0f]|(?<=\p{sc=Han})[\ufe00-\ufe02]|([\p{DI}\p{Cc}\u2028\u2029\ufff9-\ufffb\p{Cs}])`,
  'gv',
);

/** Replaces each character of a text that a reader does not see, line breaks among them. */
export function replaceHidden(text: string, by: (character: string) => string): string {
  return text.replace(HIDDEN, (match, hidden: string | undefined) =>
    hidden === undefined ? match : by(hidden),
  );
}

/** The runs of such characters in a text of several lines, with where they begin. */
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
 * One line of plain text from a text that a stranger wrote: nothing that a reader does not see, blanks collapsed, cut to at
 * most `maxUnits` UTF-16 units.
 */
export function toPlainLine(text: string, maxUnits: number): string {
  // Cleaning looks at four times what is kept at most, so that a megabyte of blanks stays cheap.
  const visible = text.slice(0, maxUnits * 4).replace(/[\p{Cc}\s]+/gu, ' ');
  return cutAtWholeCharacters(replaceHidden(visible, () => '').trim(), maxUnits);
}
