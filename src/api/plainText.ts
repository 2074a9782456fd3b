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

/**
 * One line of plain text from a text that a stranger wrote: no control characters, nothing that turns the direction of
 * writing around, blanks collapsed, cut to at most `maxUnits` UTF-16 units.
 */
export function toPlainLine(text: string, maxUnits: number): string {
  // Cleaning looks at four times what is kept at most, so that a megabyte of blanks stays cheap.
  const line = text
    .slice(0, maxUnits * 4)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\p{Surrogate}/gu, '')
    .trim();
  return cutAtWholeCharacters(line, maxUnits);
}
