import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { hardToRead, MAX_WORDS, proseSentences } from './prose.ts';
import { sourceOf, walk } from './sources.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

describe('the comments', () => {
  it(`have no riddles, and no sentence of more than ${MAX_WORDS} words`, () =>
    assert.deepEqual(
      commentedFiles().flatMap((file) => hardSentences(file, readFileSync(path.join(ROOT, file), 'utf8'))),
      [],
    ));

  it('are searched for hard sentences over lines, up to a sentence end, a tag or a list item', () => {
    const found = (text: string) => hardSentences('src/core/x.ts', text).length;
    const words = (count: number) => Array.from({ length: count }, (_, at) => `W${at}`).join(' ');
    const half = words(14);
    for (const text of [
      `/** ${words(26)}. */`,
      `/**\n * ${half}\n * ${half}\n */`,
      `// ${half}\n// ${half}\nf();`,
      `f(); // ${words(26)}`,
      `f(\`\${/* ${words(26)} */ x}\`);`,
      `/** Short. ${half}: ${half}; ${half}. Short. */`,
      `/**\n * Short:\n * - short\n * - ${half}\n *   ${half}\n */`,
      `/** Short. @returns ${half} ${half} */`,
      '/** Of which nothing is left. */',
      '/** Short. Who has a key is asked. */',
      '// It is asked; who can, answers.',
    ])
      assert.equal(found(text), 1, text);
    for (const text of [
      `/** ${words(25)}. */`,
      '/** Asks a user who has a key, and one of which nothing is known. */',
      `/**\n * ${half}.\n * ${half}\n */`,
      `// ${half}\n\n// ${half}\nf();`,
      `f(); // ${half}\n// ${half}\ng();`,
      `/**\n * ${half}:\n * - ${half}\n * - ${half}\n */`,
      `/** ${half} @returns ${half} */`,
      `/** ${half}\n *\n * ${half} */`,
      `/** ${half} \`${half}\` */`,
      `/**\n * ${half}\n * \`\`\`ts\n * ${half}\n * \`\`\`\n */`,
      `f('// ${words(26)}', /\\/\\/ ${words(26)}/);`,
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

function hardSentences(file: string, text: string): string[] {
  return commentsOf(sourceOf(file, text).tree).flatMap(({ line, comment }) =>
    proseSentences(comment)
      .map(hardToRead)
      .filter((found) => found !== undefined)
      .map((found) => `${file}:${line} ${found}`),
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

/** What stands between literals, in which `//` and `/*` aren't comments. */
function rangesOf(tree: ts.SourceFile): { pos: number; end: number }[] {
  const { text } = tree;
  const pieces: string[] = [];
  let at = 0;
  walk(tree, (node) => {
    if (!ts.isLiteralExpression(node) && !ts.isTemplateMiddleOrTemplateTail(node) && !ts.isTemplateHead(node))
      return;
    const from = node.getStart(tree);
    pieces.push(text.slice(at, from), 'x'.repeat(node.end - from));
    at = node.end;
  });
  const code = [...pieces, text.slice(at)].join('');
  return [...code.matchAll(/\/\*[\s\S]*?\*\/|\/\/.*/g)].map(({ index, 0: { length } }) => ({
    pos: index,
    end: index + length,
  }));
}
