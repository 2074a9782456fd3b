/** Sentences of comments and documents have at most this many words. */
export const MAX_WORDS = 25;

/** Chains and riddles that were translated word by word: “Of which …”, “Who has …” for “Whoever has …”. */
const RIDDLE = /^["'“(]*Of (?:which|its|what|those|these)\b|(?:^["'“(]*|[,;:] )who (?:has|can|is|does)\b/i;

/** What makes a sentence hard to read; undefined if nothing does. */
export function hardToRead(sentence: string): string | undefined {
  const words = sentence.split(' ').filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
  if (words > MAX_WORDS) return `${words} words: ${sentence}`;
  return RIDDLE.test(sentence) ? `a riddle: ${sentence}` : undefined;
}

/** The sentences of Markdown: code is one word. */
export function proseSentences(text: string): string[] {
  return text
    .replace(/```[\s\S]*?(?:```|$)/g, '\n\n')
    .replace(/`[^`]*`/g, 'Code')
    .split(
      /\n\s*\n|\n(?=\s*(?:[-*•|]|\d+\.)\s)|(?<=^|\s)(?=@[a-z]+\b)|(?<=[.!?…]['"”’)\]]*)\s+(?=['"“‘([]*[A-Z\d])/,
    )
    .map((sentence) => sentence.trim().replace(/\s+/g, ' '));
}
