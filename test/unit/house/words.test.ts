import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { hardToRead, proseSentences } from './prose.ts';
import { at, readSources, sentencesOf, sourceOf, textsForTranslators, walk, type Source } from './sources.ts';

/** Unidiomatic phrases, which tend to come back. */
const IN_SENTENCES =
  /\b(not told|is told|told you|tells you|stands (in|at|for)|is whole|was whole|as a whole|anew|any more|no more|all the same|looked (at|for)|be it|the person|goes on|go on|by itself|play money|came home|is no [a-z]|are no [a-z])\b/i;
const IN_CODE = /\b(told|tells|anew|any more|all the same|be it|persons?|goes on|came home)\b/i;

const nls = JSON.parse(readFileSync(new URL('../../../package.nls.json', import.meta.url), 'utf8')) as Record<
  string,
  string
>;

describe('the words', () => {
  it('of the interface are idiomatic', () => {
    const sentences = [...readSources().flatMap(({ tree }) => sentencesOf(tree)), ...Object.values(nls)];
    assert.ok(sentences.length > 300);
    assert.deepEqual(
      sentences.filter((sentence) => IN_SENTENCES.test(sentence)),
      [],
    );
    assert.deepEqual(
      sentences
        .flatMap(proseSentences)
        .map(hardToRead)
        .filter((found) => found !== undefined),
      [],
    );
  });

  it('of the interface say to translators what each argument is', () => {
    const { contents } = JSON.parse(textsForTranslators(readSources(), nls)) as {
      contents: { bundle: Record<string, string | { comment: string[] }> };
    };
    const bare = Object.entries(contents.bundle).filter(([sentence, text]) =>
      [...sentence.matchAll(/\{\d+\}/g)].some(
        ([argument]) =>
          typeof text === 'string' ||
          !text.comment.some((one) => one.startsWith(`${argument}: `) && !one.endsWith('?')),
      ),
    );
    assert.deepEqual(bare, []);
    const source = sourceOf(
      'src/ui/runs/x.ts',
      "l10n.t('{0} of {1} {2}', one(x), ...rest); l10n.t('plain');",
    );
    const { bundle } = (JSON.parse(textsForTranslators([source], {})) as { contents: { bundle: unknown } })
      .contents;
    assert.deepEqual(bundle, {
      plain: 'plain',
      '{0} of {1} {2}': {
        message: '{0} of {1} {2}',
        comment: ['{0}: one(x)', '{1}: rest[0]', '{2}: rest[1]'],
      },
    });
  });

  it('of the interface are complete sentences, each a literal and none concatenated', () => {
    const calls = (text: string) => unfitForTranslation(sourceOf('src/ui/runs/x.ts', text)).length;
    for (const text of [
      'l10n.t(text)',
      '`, ${l10n.t("a")}`',
      'a + l10n.t("a")',
      '`${x ? l10n.t("a") : ""} b`',
    ])
      assert.equal(calls(text), 1, text);
    for (const text of [
      'l10n.t("a {0}", x)',
      '[l10n.t("a"), l10n.t("b")].join(" ")',
      'l10n.t("{0} b", `${x}`)',
    ])
      assert.equal(calls(text), 0, text);
    assert.deepEqual(readSources().flatMap(unfitForTranslation), []);
  });

  it('of code and comments are standard terms', () => assert.deepEqual(readSources().flatMap(oldWords), []));
});

/** Finds calls whose text is not exported, or whose result is concatenated with other text. */
function unfitForTranslation(source: Source): string[] {
  const found: string[] = [];
  walk(source.tree, (node) => {
    if (!ts.isCallExpression(node) || !/\bl10n\.t$/.test(node.expression.getText())) return;
    const [text] = node.arguments;
    let { parent } = node;
    while (ts.isConditionalExpression(parent) || ts.isParenthesizedExpression(parent)) ({ parent } = parent);
    const isGlued =
      ts.isTemplateSpan(parent) ||
      (ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.PlusToken);
    if (isGlued || text === undefined || !ts.isStringLiteralLike(text)) found.push(at(source, node));
  });
  return found;
}

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
