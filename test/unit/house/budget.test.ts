import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import budget from './budget.json' with { type: 'json' };
import { at, readScanner, readSources, walk, type Source } from './sources.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const ADVICE =
  'A change of test/unit/house/budget.json is a line in docs/decisions.md that says what pays for it.';

/** What may not grow; what has shrunk is written into the file, so that it stays so. */
function hold(name: 'linesOfSrc' | 'linesOfMedia' | 'exports', now: number): void {
  const limit = budget[name];
  assert.ok(now <= limit, `${name}: ${now}, ${now - limit} more than the budget. ${ADVICE}`);
  assert.ok(
    now > limit * 0.99,
    `${name}: ${now}. Set it in test/unit/house/budget.json: what was saved stays saved.`,
  );
}

describe('the budget', function () {
  let sources: Source[];

  before(() => {
    sources = [...readSources(), ...readScanner()];
  });

  it('holds the lines of code, without comments and blank lines', () => {
    hold('linesOfSrc', sum(sources.map(({ tree }) => linesOf(tree.text))));
    const media = readdirSync(path.join(ROOT, 'media'), { recursive: true, encoding: 'utf8' });
    const texts = media.filter((name) => /\.(ts|css)$/.test(name));
    hold(
      'linesOfMedia',
      sum(texts.map((name) => linesOf(readFileSync(path.join(ROOT, 'media', name), 'utf8')))),
    );
  });

  it('is measured on code that is at most 110 columns wide', () => {
    const { printWidth } = JSON.parse(readFileSync(path.join(ROOT, '.oxfmtrc.json'), 'utf8')) as {
      printWidth: number;
    };
    assert.equal(printWidth, 110, 'a longer line would hide code from the budget');
  });

  it('holds the number of exports, each of a name that is used once', () => {
    const places = new Map<string, string[]>();
    for (const source of sources)
      for (const { name, node } of exportsOf(source.tree))
        places.set(name, [...(places.get(name) ?? []), at(source, node)]);
    hold('exports', sum([...places.values()].map(({ length }) => length)));
    const twice = [...places].filter(([, found]) => new Set(found.map(fileOf)).size > 1);
    assert.deepEqual(
      twice.map(([name]) => name).sort(),
      budget.namesUsedTwice.toSorted(),
      `Name each by what it is:\n${twice.map(([name, found]) => `${name}: ${found.join(', ')}`).join('\n')}`,
    );
  });

  it(`holds classes to ${budget.mutableFields} private fields that change`, () => {
    const above: Record<string, number> = {};
    for (const { tree } of sources)
      walk(tree, (node) => {
        if (!ts.isClassLike(node)) return;
        const { length } = node.members.filter(isMutableField);
        if (length > budget.mutableFields) above[node.name?.text ?? tree.fileName] = length;
      });
    assert.deepEqual(above, budget.classesAbove, `Split a class that has more. ${ADVICE}`);
  });
});

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function fileOf(place: string): string {
  return place.slice(0, place.lastIndexOf(':'));
}

/** Counts the lines that are neither blank nor a comment, in the format that oxfmt gives them. */
function linesOf(text: string): number {
  return text.split('\n').filter((line) => !/^\s*($|\/\/|\/\*|\*(\s(?!\{)|\/|$))/.test(line)).length;
}

function hasModifier(node: ts.Node, kind: ts.SyntaxKind): boolean {
  return ts.canHaveModifiers(node) && ts.getModifiers(node)?.some((one) => one.kind === kind) === true;
}

function isMutableField(member: ts.ClassElement): boolean {
  if (!ts.isPropertyDeclaration(member) || hasModifier(member, ts.SyntaxKind.ReadonlyKeyword)) return false;
  return ts.isPrivateIdentifier(member.name) || hasModifier(member, ts.SyntaxKind.PrivateKeyword);
}

/** The names that a file declares and exports. */
function exportsOf(tree: ts.SourceFile) {
  return tree.statements.flatMap((statement): { name: string; node: ts.Node }[] => {
    if (!hasModifier(statement, ts.SyntaxKind.ExportKeyword)) return [];
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map((node) => ({ name: node.name.getText(), node }));
    const { name } = statement as ts.DeclarationStatement;
    return name === undefined ? [] : [{ name: name.text, node: statement }];
  });
}
