import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import captured from '../../pages/themes.json' with { type: 'json' };
import { at, sourceOf, walk, type Source } from './sources.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
/** The messages between the pages of a folder of media and the extension. */
const protocolOf = (folder: string) => `src/ui/${path.posix.basename(folder)}/protocol.ts`;
/** Names that can turn untrusted text into markup or code. */
const DANGEROUS =
  /^(innerHTML|outerHTML|insertAdjacentHTML|setHTMLUnsafe|document\.write|eval|srcdoc|Function)$/;

describe('webview pages', () => {
  const sources = readdirSync(path.join(ROOT, 'media'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `media/${name.replaceAll('\\', '/')}`)
    .sort()
    .map((file) => sourceOf(file, readFileSync(path.join(ROOT, file), 'utf8')));

  it('import only their own files, the shared ones, the types of their protocol, and plainText.ts', () => {
    assert.ok(sources.length > 5);
    for (const { file, imports } of sources)
      for (const { specifier, target, typeOnly } of imports) {
        const folder = path.posix.dirname(file);
        const isOwn = [folder, 'media/shared'].some((known) => target?.startsWith(`${known}/`));
        const isProtocol = target === protocolOf(folder);
        const isText = target === 'src/core/base/plainText.ts';
        assert.ok(isOwn || isText || (isProtocol && typeOnly), `${file} → ${specifier}`);
      }
  });

  it('never turn text into HTML', () => assert.deepEqual(sources.flatMap(dangers), []));

  it('contain no sentences', () => assert.deepEqual(sources.flatMap(sentences), []));

  it('have no module-level `let`', () => {
    for (const source of sources) {
      for (const statement of source.tree.statements)
        if (ts.isVariableStatement(statement))
          assert.ok((statement.declarationList.flags & ts.NodeFlags.Const) !== 0, at(source, statement));
    }
  });

  it('use only colors that each theme has, or say another one', () => {
    const missing = globSync('media/**/*.css', { cwd: ROOT }).flatMap((file) =>
      [...readFileSync(path.join(ROOT, file), 'utf8').matchAll(/var\(\s*(--vscode-[\w-]+)\s*\)/g)]
        .map(([, name = '']) => name)
        // Without a color there is no background, which is right in high contrast.
        .filter((name) => !/background$/i.test(name))
        .filter((name) => Object.values(captured.themes).some(({ variables }) => !(name in variables)))
        .map((name) => `${file}: ${name}`),
    );
    assert.deepEqual(missing, []);
  });

  it('have a protocol that consists only of types', () => {
    for (const file of new Set(sources.map((source) => protocolOf(path.posix.dirname(source.file))))) {
      const { tree } = sourceOf(file, readFileSync(path.join(ROOT, file), 'utf8'));
      for (const statement of tree.statements)
        assert.ok(
          ts.isInterfaceDeclaration(statement) ||
            ts.isTypeAliasDeclaration(statement) ||
            (ts.isImportDeclaration(statement) &&
              statement.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword),
          file,
        );
    }
  });

  it('are checked by rules that detect violations', () => {
    const count = (rule: (source: Source) => string[], text: string) =>
      rule(sourceOf('media/x.ts', text)).length;
    for (const text of [
      'x.innerHTML = y;',
      'document.write(x);',
      'eval(x);',
      'new Function(x);',
      "x['outerHTML'] = y;",
    ])
      assert.equal(count(dangers, text), 1, text);
    assert.equal(count(dangers, 'x.textContent = y;'), 0);
    assert.equal(count(sentences, "show('No such rows');"), 1);
    assert.equal(count(sentences, "show({ class: 'text code' });"), 0);
  });
});

function dangers(source: Source): string[] {
  const found: string[] = [];
  walk(source.tree, (node) => {
    const name = ts.isPropertyAccessExpression(node)
      ? [node.name.text, node.getText()]
      : ts.isIdentifier(node) && !ts.isPropertyAccessExpression(node.parent)
        ? [node.text]
        : ts.isStringLiteral(node)
          ? [node.text]
          : [];
    if (name.some((one) => DANGEROUS.test(one))) found.push(at(source, node));
  });
  return found;
}

/** Finds strings with two words or more, except class names. */
function sentences(source: Source): string[] {
  const found: string[] = [];
  walk(source.tree, (node) => {
    if (!ts.isStringLiteralLike(node) || !/[A-Za-z]{2,} [A-Za-z]{2,}/.test(node.text)) return;
    const { parent } = node;
    if (ts.isPropertyAssignment(parent) && parent.name.getText() === 'class') return;
    found.push(at(source, node));
  });
  return found;
}
