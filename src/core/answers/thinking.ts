/** How thinking is marked: first and last mark, and whether they are ordinary words, which count only as a pair. */
type Spelling = readonly [opens: RegExp, closes: RegExp, areWords?: true];

/**
 * All spellings of thinking. The last mark includes what begins the answer. Sources: vllm-project/vllm
 * vllm/reasoning, ggml-org/llama.cpp common/chat.cpp, and the models' templates.
 */
const SPELLINGS: readonly Spelling[] = [
  // DeepSeek, Qwen; Anthropic's prompts; Seed; EXAONE. Granite 3.3 and ERNIE put the answer in <response>.
  [
    /<(?:\w+:)?(?:think|thinking|thoughts?|reasoning)(?:\s[^<>/]*)?>/i,
    /<\/(?:\w+:)?(?:think|thinking|thoughts?|reasoning)\s*>\s*(?:<response>)?/i,
  ],
  // Magistral
  [/\[THINK\]/, /\[\/THINK\]/],
  // Kimi
  [/◁think▷/, /◁\/think▷/],
  // gpt-oss: everything that is neither for the user nor for a tool
  [
    /(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)(?! to=)[^<]*<\|message\|>/,
    /(?:<\|end\|>)?(?:<\|start\|>assistant)?<\|channel\|>(?:final|commentary to=)[^<]*(?:<\|constrain\|>\w*)?<\|message\|>/,
  ],
  // The same without special tokens
  [/analysis(?=[A-Z])/, /assistantfinal/],
  [/analysis/, /assistantfinal/, true],
  // Gemma 4
  [/<\|channel>thought/, /<channel\|>/],
  // MedGemma
  [/<unused94>(?:thought)?/, /<unused95>/],
  // Granite 3.2
  [/Here(?:[’']s| is) my thought process:/, /Here(?:[’']s| is) my response:/, true],
  // Command
  [/<\|START_THINKING\|>/, /<\|END_THINKING\|>\s*(?:<\|START_(?:RESPONSE|TEXT)\|>)?/],
  // OpenThinker
  [/<\|begin_of_thought\|>/, /<\|end_of_thought\|>\s*(?:<\|begin_of_solution\|>)?/],
  // Apriel
  [/Here are my reasoning steps:/, /\[BEGIN FINAL RESPONSE\]/],
];

/** Marks that end an answer after thinking. */
const ENDS =
  /(?:<\/response>|<\|(?:return|end|call|END_RESPONSE|END_TEXT|end_of_solution)\|>|\[END FINAL RESPONSE\])$/i;

const MARKS = SPELLINGS.map(([opens, closes, areWords = false]) => ({
  opening: new RegExp(String.raw`\s*${opens.source}`, `y${opens.flags}`),
  all: new RegExp(`${opens.source}|(?<close>${closes.source})`, `g${opens.flags}`),
  areWords,
}));

/** A model's thinking and its answer. Only the answer is scored. */
export interface ThoughtAnswer {
  /** Trimmed; empty if there is none. */
  thinking: string;
  answer: string;
  /** Whether the thinking doesn't end, so that there is no answer. */
  isUnended: boolean;
}

/** Splits off the thinking at the start of an answer. One of its two marks may be missing. */
export function splitThinking(text: string): ThoughtAnswer {
  const thoughts: string[] = [];
  let at = 0;
  for (let found = blockAt(text, 0); found !== undefined; found = blockAt(text, at)) {
    thoughts.push(text.slice(found.from, found.to).trim());
    at = found.next;
    // An unbalanced block is the last, so that no text is read twice.
    if (!found.isBalanced) break;
  }
  const thinking = thoughts.filter((thought) => thought !== '').join('\n\n');
  if (at > text.length) return { thinking, answer: '', isUnended: true };
  if (at === 0) return { thinking, answer: text, isUnended: false };
  const answer = text.slice(at).trimStart();
  const ended = answer.trimEnd();
  return { thinking, answer: ENDS.test(ended) ? ended.replace(ENDS, '') : answer, isUnended: false };
}

/** Returns the thinking that begins at a place. At the start of a text, a template may have opened it. */
function blockAt(text: string, at: number): ReturnType<typeof blockFrom> | undefined {
  for (const { opening, all, areWords } of MARKS) {
    opening.lastIndex = at;
    if (!opening.test(text)) continue;
    const block = blockFrom(text, opening.lastIndex, all);
    if (block.next <= text.length || !areWords) return block;
  }
  if (at > 0) return undefined;
  for (const { all, areWords } of MARKS) {
    const [first] = areWords ? [] : marksIn(text, 0, all);
    if (first?.groups?.['close'] === undefined) continue;
    // A mark in an open block of code is only quoted.
    if (text.slice(0, first.index).split('```').length % 2 === 1)
      return { from: 0, to: first.index, next: first.index + first[0].length, isBalanced: true };
  }
  return undefined;
}

/**
 * Returns the block that was opened before a place. It may contain others; if not all are closed, the first mark ends
 * it. `next` is beyond the end of the text if none does.
 */
function blockFrom(text: string, from: number, all: RegExp) {
  let depth = 1;
  let end: RegExpExecArray | undefined;
  for (const mark of marksIn(text, from, all)) {
    const isClosing = mark.groups?.['close'] !== undefined;
    depth += isClosing ? -1 : 1;
    if (isClosing && (end === undefined || depth === 0)) end = mark;
    if (depth === 0) break;
  }
  if (end === undefined) return { from, to: text.length, next: text.length + 1, isBalanced: false };
  return { from, to: end.index, next: end.index + end[0].length, isBalanced: depth === 0 };
}

/** Returns the marks from a place on, without those that are only quoted. */
function* marksIn(text: string, from: number, all: RegExp): Generator<RegExpExecArray> {
  all.lastIndex = from;
  for (const mark of text.matchAll(all)) {
    const before = text[mark.index - 1] ?? ' ';
    if (!'`\'"'.includes(before) || text[mark.index + mark[0].length] !== before) yield mark;
  }
}
