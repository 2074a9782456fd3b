/** A way to write thinking. */
interface Spelling {
  opens: RegExp;
  /** With what begins the answer then. */
  closes: RegExp;
  /** It is ordinary language: without both marks in place it isn't thinking. */
  isProse?: true;
}

/**
 * The spellings of thinking; one row each. Sources: vllm-project/vllm vllm/reasoning, ggml-org/llama.cpp
 * common/chat.cpp, and the models' templates.
 */
const SPELLINGS: readonly Spelling[] = [
  // DeepSeek, Qwen; Anthropic's prompts; Seed; EXAONE. Granite 3.3 and ERNIE put the answer in <response>.
  {
    opens: /<(?:\w+:)?(?:think|thinking|thoughts?|reasoning)(?:\s[^<>/]*)?>/i,
    closes: /<\/(?:\w+:)?(?:think|thinking|thoughts?|reasoning)\s*>\s*(?:<response>)?/i,
  },
  // Magistral
  { opens: /\[THINK\]/, closes: /\[\/THINK\]/ },
  // Kimi
  { opens: /◁think▷/, closes: /◁\/think▷/ },
  // gpt-oss: what isn't for the user or a tool is thinking.
  {
    opens: /(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)(?! to=)[^<]*<\|message\|>/,
    closes:
      /(?:<\|end\|>)?(?:<\|start\|>assistant)?<\|channel\|>(?:final|commentary to=)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>/,
  },
  // The same without special tokens
  { opens: /analysis(?=[A-Z])/, closes: /assistantfinal/ },
  { opens: /analysis/, closes: /assistantfinal/, isProse: true },
  // Gemma 4
  { opens: /<\|channel>thought/, closes: /<channel\|>/ },
  // MedGemma
  { opens: /<unused94>(?:thought)?/, closes: /<unused95>/ },
  // Granite 3.2
  {
    opens: /Here(?:[’']s| is) my thought process:/,
    closes: /Here(?:[’']s| is) my response:/,
    isProse: true,
  },
  // Command
  { opens: /<\|START_THINKING\|>/, closes: /<\|END_THINKING\|>\s*(?:<\|START_(?:RESPONSE|TEXT)\|>)?/ },
  // OpenThinker
  { opens: /<\|begin_of_thought\|>/, closes: /<\|end_of_thought\|>\s*(?:<\|begin_of_solution\|>)?/ },
  // Apriel
  { opens: /Here are my reasoning steps:/, closes: /\[BEGIN FINAL RESPONSE\]/ },
];

/** What ends an answer after thinking. */
const ENDS =
  /(?:<\/response>|<\|(?:return|end|call|END_RESPONSE|END_TEXT|end_of_solution)\|>|\[END FINAL RESPONSE\])$/i;

const MARKS = SPELLINGS.map(({ opens, closes, isProse = false }) => ({
  opening: new RegExp(String.raw`\s*${opens.source}`, `y${opens.flags}`),
  all: new RegExp(`${opens.source}|(?<close>${closes.source})`, `g${opens.flags}`),
  isProse,
}));

/** What a model thought, and its answer. Only the answer is scored. */
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
    // One that isn't balanced is the last, so that no text is read twice.
    if (!found.isBalanced) break;
  }
  const thinking = thoughts.filter((thought) => thought !== '').join('\n\n');
  if (at > text.length) return { thinking, answer: '', isUnended: true };
  if (at === 0) return { thinking, answer: text, isUnended: false };
  const answer = text.slice(at).trimStart();
  const ended = answer.trimEnd();
  return { thinking, answer: ENDS.test(ended) ? ended.replace(ENDS, '') : answer, isUnended: false };
}

interface Block {
  from: number;
  to: number;
  /** Where the text goes on; beyond its end if the block doesn't end. */
  next: number;
  isBalanced: boolean;
}

/** Returns the thinking that begins at a place. At the start of a text, a template may have opened it. */
function blockAt(text: string, at: number): Block | undefined {
  for (const { opening, all, isProse } of MARKS) {
    opening.lastIndex = at;
    if (!opening.test(text)) continue;
    const block = blockFrom(text, opening.lastIndex, all);
    if (block.next <= text.length || !isProse) return block;
  }
  if (at > 0) return undefined;
  for (const { all, isProse } of MARKS) {
    const [first] = isProse ? [] : marksIn(text, 0, all);
    if (first?.groups?.['close'] !== undefined)
      return { from: 0, to: first.index, next: first.index + first[0].length, isBalanced: true };
  }
  return undefined;
}

/** Returns the block that was opened before a place. It may contain others; if not all are closed, the first mark ends it. */
function blockFrom(text: string, from: number, all: RegExp): Block {
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
    const before = text[mark.index - 1] ?? '';
    const isQuoted = '`\'"'.includes(before || ' ') && text[mark.index + mark[0].length] === before;
    if (!isQuoted) yield mark;
  }
}
