import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { sourceOf } from './sources.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const MAX_WORDS = 30;

describe('the comments', () => {
  it(`have no sentence of more than ${MAX_WORDS} words`, () =>
    assert.deepEqual(
      commentedFiles().flatMap((file) => longSentences(file, readFileSync(path.join(ROOT, file), 'utf8'))),
      [],
    ));

  it('are searched for long sentences over lines, up to a sentence end, a tag or a list item', () => {
    const found = (text: string) => longSentences('src/core/x.ts', text).length;
    const words = (count: number) => Array.from({ length: count }, (_, at) => `W${at}`).join(' ');
    const half = words(16);
    for (const text of [
      `/** ${words(31)}. */`,
      `/**\n * ${half}\n * ${half}\n */`,
      `// ${half}\n// ${half}\nf();`,
      `f(); // ${words(31)}`,
      `f(\`\${/* ${words(31)} */ x}\`);`,
      `/** Short. ${half}: ${half}; ${half}. Short. */`,
      `/**\n * Short:\n * - short\n * - ${half}\n *   ${half}\n */`,
      `/** Short. @returns ${half} ${half} */`,
    ])
      assert.equal(found(text), 1, text);
    for (const text of [
      `/** ${words(30)}. */`,
      `/**\n * ${half}.\n * ${half}\n */`,
      `// ${half}\n\n// ${half}\nf();`,
      `f(); // ${half}\n// ${half}\ng();`,
      `/**\n * ${half}:\n * - ${half}\n * - ${half}\n */`,
      `/** ${half} @returns ${half} */`,
      `/** ${half}\n *\n * ${half} */`,
      `/** ${half} \`${half}\` */`,
      `/**\n * ${half}\n * \`\`\`ts\n * ${half}\n * \`\`\`\n */`,
      `f('// ${words(31)}', /\\/\\/ ${words(31)}/);`,
    ])
      assert.equal(found(text), 0, text);
  });
});

function commentedFiles(): string[] {
  const exclude = ['**/node_modules/**', 'test/env/vscode*/**', 'test/env/chromium*/**'];
  return globSync('{src,media,test}/**/*.ts', { cwd: ROOT, exclude }).map((file) =>
    file.replaceAll('\\', '/'),
  );
}

function longSentences(file: string, text: string): string[] {
  return commentsOf(sourceOf(file, text).tree).flatMap(({ line, comment }) =>
    sentencesOf(comment)
      .filter((sentence) => wordsOf(sentence) > MAX_WORDS)
      .map((sentence) => `${file}:${line} ${wordsOf(sentence)} words: ${sentence}`),
  );
}

/** The text of each block, and of the `//` lines that follow each other, without what marks it as a comment. */
function commentsOf(tree: ts.SourceFile): { line: number; comment: string }[] {
  const { text } = tree;
  const blocks: { pos: number; end: number }[] = [];
  const isFirstInLine = (pos: number) => /(?:^|\n)[ \t]*$/.test(text.slice(Math.max(0, pos - 200), pos));
  for (const range of rangesOf(tree)) {
    const last = blocks.at(-1);
    const isContinued =
      last !== undefined &&
      text.startsWith('//', range.pos) &&
      text.startsWith('//', last.pos) &&
      isFirstInLine(last.pos) &&
      /^\r?\n[ \t]*$/.test(text.slice(last.end, range.pos));
    if (isContinued) last.end = range.end;
    else blocks.push({ ...range });
  }
  return blocks.map(({ pos, end }) => ({
    line: tree.getLineAndCharacterOfPosition(pos).line + 1,
    comment: text
      .slice(pos, end)
      .replace(/\*\/$/, '')
      .replace(/^[ \t]*(?:\/\/|\/\*\*?|\*)/gm, ''),
  }));
}

function rangesOf(tree: ts.SourceFile): { pos: number; end: number }[] {
  const { text } = tree;
  const found = new Map<number, { pos: number; end: number }>();
  const visit = (node: ts.Node) => {
    if (ts.isJSDoc(node)) return;
    const children = node.getChildren(tree);
    if (children.length > 0) {
      children.forEach(visit);
      return;
    }
    for (const { pos, end } of [
      ...(ts.getLeadingCommentRanges(text, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.end) ?? []),
    ])
      found.set(pos, { pos, end });
  };
  visit(tree);
  return [...found.values()].sort((one, other) => one.pos - other.pos);
}

function sentencesOf(comment: string): string[] {
  return comment
    .replace(/```[\s\S]*?(?:```|$)/g, '\n\n')
    .replace(/`[^`]*`/g, 'Code')
    .split(
      /\n\s*\n|\n(?=\s*(?:[-*•|]|\d+\.)\s)|(?<=^|\s)(?=@[a-z]+\b)|(?<=[.!?…]['"”’)\]]*)\s+(?=['"“‘([]*[A-Z\d])/,
    )
    .map((sentence) => sentence.trim().replace(/\s+/g, ' '));
}

function wordsOf(sentence: string): number {
  return sentence.split(' ').filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}
