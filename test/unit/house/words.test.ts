import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { at, readSources, sentencesOf, walk, type Source } from './sources.ts';

/** Phrases of translated English, which came back whenever nobody looked for them. */
const IN_SENTENCES =
  /\b(not told|is told|told you|tells you|stands (in|at|for)|is whole|was whole|as a whole|anew|any more|no more|all the same|looked (at|for)|be it|the person|goes on|go on|by itself|play money|came home|is no [a-z]|are no [a-z])\b/i;
const IN_CODE = /\b(told|tells|anew|any more|all the same|be it|persons?|goes on|came home)\b/i;

describe('the words', () => {
  it('of the interface are idiomatic', () => {
    const texts = Object.values(
      JSON.parse(readFileSync(new URL('../../../package.nls.json', import.meta.url), 'utf8')) as object,
    ) as string[];
    const sentences = [...readSources().flatMap(({ tree }) => sentencesOf(tree)), ...texts];
    assert.ok(sentences.length > 300);
    assert.deepEqual(
      sentences.filter((sentence) => IN_SENTENCES.test(sentence)),
      [],
    );
  });

  it('of code and comments are the ones of the field', () =>
    assert.deepEqual(readSources().flatMap(oldWords), []));
});

function oldWords(source: Source): string[] {
  const found: string[] = [];
  for (const [index, line] of source.tree.text.split('\n').entries()) {
    const comment = /(?:\/\/|^\s*\/?\*)(.*)/.exec(line)?.[1];
    if (comment !== undefined && IN_CODE.test(comment))
      found.push(`${source.file}:${index + 1}: ${comment.trim()}`);
  }
  walk(source.tree, (node) => {
    if (!ts.isIdentifier(node)) return;
    const words = node.text.replace(/([a-z])([A-Z])/g, '$1 $2');
    if (/\b(told|tells?|untold|beat|breath|looks|sight|doubt)\b/i.test(words))
      found.push(`${at(source, node)}: ${node.text}`);
  });
  return found;
}
