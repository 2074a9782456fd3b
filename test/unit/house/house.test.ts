import assert from 'node:assert/strict';
import { builtinModules } from 'node:module';
import ts from 'typescript';
import { at, readScanner, readSources, sourceOf, walk, type Import, type Source } from './sources.ts';

/**
 * What each room may import besides itself. `rooms`: everything; `types`: nothing that is left when the program runs;
 * `files`: these files. Node's own modules are everybody's.
 */
interface Rule {
  rooms: readonly string[];
  types: readonly string[];
  files: readonly string[];
  packages: readonly string[];
}
const API_VALUES = ['src/api/types.ts', 'src/api/errors.ts'];
const FACE: Rule = {
  rooms: ['host', 'runs', 'dataset', 'adapter', 'base'],
  types: ['api'],
  files: API_VALUES,
  packages: ['vscode'],
};
const RULES: Readonly<Record<string, Rule>> = {
  base: { rooms: [], types: [], files: [], packages: [] },
  api: { rooms: ['base'], types: [], files: [], packages: ['undici', 'valibot'] },
  dataset: { rooms: ['base'], types: [], files: [], packages: [] },
  adapter: { rooms: ['base'], types: [], files: [], packages: [] },
  runs: { rooms: ['api', 'adapter', 'base'], types: [], files: [], packages: ['valibot'] },
  sandbox: { rooms: [], types: [], files: ['src/api/types.ts'], packages: ['@fastify/busboy', 'yazl'] },
  host: { rooms: ['base', 'api'], types: ['dataset', 'adapter'], files: [], packages: ['vscode'] },
  views: FACE,
  commands: FACE,
};
/** They see every room. */
const COMPOSITION_ROOT = ['src/commandTable.ts', 'src/extension.ts', 'src/lazySandbox.ts'];
/** The only file that loads undici, and nothing but re-exports for that reason. */
const BARREL = 'src/api/undici.ts';
const NO_VSCODE = ['base', 'api', 'dataset', 'adapter', 'runs', 'sandbox'];

describe('the house', () => {
  const sources = readSources();

  it('has its rooms, and nothing beside them but the composition root', () => {
    assert.ok(sources.length > 50);
    assert.deepEqual(
      sources.filter(({ room }) => room === '').map(({ file }) => file),
      COMPOSITION_ROOT,
    );
    for (const { file, room } of sources)
      assert.ok(room === '' || room in RULES, `${file} is in no known room`);
  });

  it('lets rooms import only what they may', () => assert.deepEqual(sources.flatMap(forbiddenImports), []));

  it('keeps commands apart from each other', () => {
    const between = sources
      .filter(({ room }) => room === 'commands')
      .flatMap(({ file, imports }) =>
        imports
          .filter(({ target }) => target?.startsWith('src/commands/'))
          .map(({ target }) => `${file} → ${target}`),
      );
    assert.deepEqual(between, []);
  });

  it('sends a submission from two commands, which ask a person in a modal dialog first', () => {
    const senders = sources.filter(({ tree }) => /\bsubmitter\s*\.(submit|resume)\(/.test(tree.text));
    assert.deepEqual(
      senders.map(({ file }) => file),
      ['src/commands/continueSubmission.ts', 'src/commands/submitDataset.ts'],
    );
    const QUESTION = 'src/host/dialogs/confirmDialogs.ts';
    const askers = sources.filter(({ imports }) => imports.some(({ target }) => target === QUESTION));
    assert.deepEqual(
      askers.map(({ file }) => file),
      ['src/commands/continueSubmission.ts', 'src/host/dialogs/consentSteps.ts'],
    );
    assert.match(sources.find(({ file }) => file === QUESTION)?.tree.text ?? '', /modal: true/);
  });

  it('imports only files that exist', () => {
    const files = new Set(sources.map(({ file }) => file));
    for (const { file, imports } of sources)
      for (const { target } of imports)
        if (target !== undefined) assert.ok(files.has(target), `${file} → ${target}`);
  });

  it('has no circle of imports', () => assert.deepEqual(circleAmong(sources), []));

  it('keeps no state in modules', () => assert.deepEqual(sources.flatMap(moduleState), []));

  it('has no barrels', () =>
    assert.deepEqual(
      sources.filter(isBarrel).map(({ file }) => file),
      [BARREL],
    ));

  it('keeps the scanner to itself', () => {
    const scanner = readScanner();
    assert.ok(scanner.length > 10);
    for (const { file, imports } of scanner)
      for (const { specifier } of imports) assert.match(specifier, /^\.\/\w+$/, file);
  });

  it('has no file for everything', () => {
    for (const { file } of [...sources, ...readScanner()])
      assert.doesNotMatch(file, /(util|helper|common|misc|manager|impl)s?\.ts$|\/index\.ts$/i);
  });

  it('writes nothing to the console', () => {
    for (const source of sources)
      walk(source.tree, (node) => {
        if (ts.isPropertyAccessExpression(node) && node.expression.getText() === 'console')
          assert.fail(at(source, node));
      });
  });

  it('reaches notifications and progress in one file only, by whatever way', () =>
    assert.deepEqual(
      sources.filter(({ file }) => file !== 'src/host/notifications.ts').flatMap(notifications),
      [],
    ));

  describe('makes sentences in host only', () => {
    it('with l10n', () => {
      for (const source of sources.filter(({ room }) => room !== 'host'))
        walk(source.tree, (node) => {
          if (ts.isIdentifier(node) && node.text === 'l10n') assert.fail(at(source, node));
        });
    });

    it('and no words in views and commands', () =>
      assert.deepEqual(
        sources.filter(({ room }) => ['views', 'commands', ''].includes(room)).flatMap(sentences),
        [],
      ));
  });

  describe('is held by rules that see', () => {
    const rules = (file: string, text: string) => forbiddenImports(sourceOf(file, text));

    it('imports', () => {
      for (const [file, text] of [
        ['src/base/x.ts', "import { x } from '../api/types.ts';"],
        ['src/api/x.ts', "import * as vscode from 'vscode';"],
        ['src/api/x.ts', "import type * as vscode from 'vscode';"],
        ['src/runs/x.ts', "export type X = import('vscode').Uri;"],
        ['src/runs/x.ts', "import type { Log } from '../host/log.ts';"],
        ['src/host/x.ts', "import type { Run } from '../runs/runStore.ts';"],
        ['src/host/x.ts', "import { inspectDataset } from '../dataset/inspect.ts';"],
        ['src/views/x.ts', "import { x } from '../commands/y.ts';"],
        ['src/commands/x.ts', "export * from '../views/y.ts';"],
        ['src/commands/x.ts', "import { Client } from '../api/client.ts';"],
        ['src/commands/x.ts', "import type { Sandbox } from '../sandbox/sandbox.ts';"],
        ['src/sandbox/x.ts', "const x = await import('../api/client.ts');"],
        ['src/sandbox/x.ts', "import { readX } from '../api/schemas.ts';"],
        ['src/runs/x.ts', "import { request } from 'undici/lib/api/api-request.js';"],
        ['src/runs/x.ts', "import { x } from '../extension.ts';"],
        ['src/dataset/x.ts', "import x from 'left-pad';"],
      ] as const)
        assert.equal(rules(file, text).length, 1, text);
      for (const [file, text] of [
        ['src/host/x.ts', "import type { DatasetFile } from '../dataset/inspect.ts';"],
        ['src/commands/x.ts', "import type { Client } from '../api/client.ts';"],
        ['src/commands/x.ts', "import { readFile } from 'node:fs/promises';"],
        ['src/sandbox/x.ts', "import { DatabaseSync } from 'node:sqlite';"],
      ] as const)
        assert.deepEqual(rules(file, text), []);
    });

    it('notifications', () => {
      const count = (text: string) => notifications(sourceOf('src/views/x.ts', text)).length;
      for (const text of [
        "vscode.window.showErrorMessage('x');",
        "vscode.window['showErrorMessage']('x');",
        'const { withProgress } = vscode.window;',
        "const { window } = vscode; window[name]('x');",
        "vscode['window'][`show${kind}Message`]('x');",
      ])
        assert.ok(count(text) > 0, text);
      for (const text of [
        'vscode.window.showQuickPick([]);',
        "showError('x');",
        "import { withProgress } from '../host/notifications.ts';",
      ])
        assert.equal(count(text), 0, text);
    });

    it('module state', () => {
      const count = (text: string) => moduleState(sourceOf('src/base/x.ts', text)).length;
      for (const text of [
        'let x = 1;',
        'export let x: number;',
        'var x = 1;',
        'const x = new Map();',
        'const x = new Set([1]);',
        'export const x: string[] = [];',
        'const x = [1];',
        'const x = { a: 1 };',
      ])
        assert.equal(count(text), 1, text);
      for (const text of [
        'const x = 1;',
        'const x = [1] as const;',
        'const x: readonly number[] = [1];',
        'const x: ReadonlyMap<string, number> = new Map();',
        'const x: Readonly<Record<string, number>> = { a: 1 };',
        'function f() { let x = 1; return [x]; }',
      ])
        assert.equal(count(text), 0, text);
    });

    it('barrels, circles and sentences', () => {
      assert.ok(isBarrel(sourceOf('src/base/x.ts', "export * from './a.ts';\nexport { b } from './b.ts';")));
      assert.ok(isBarrel(sourceOf('src/base/x.ts', "import { a } from './a.ts';\nexport { a };")));
      assert.ok(!isBarrel(sourceOf('src/base/x.ts', "export * from './a.ts';\nexport const b = 1;")));
      const circle = ['b', 'c', 'a'].map((next, index) =>
        sourceOf(`src/base/${'abc'[index]}.ts`, `import type { x } from './${next}.ts';`),
      );
      assert.equal(circleAmong(circle).length, 4);
      const count = (text: string) => sentences(sourceOf('src/views/x.ts', text)).length;
      assert.equal(
        count("show('No runs yet');") + count('show(`No runs ${x}`);') + count("x = { 'a key': 'of the' };"),
        4,
      );
      assert.equal(count("show('runs', 'list.warningForeground');"), 0);
    });
  });
});

function forbiddenImports({ file, room, imports }: Source): string[] {
  const rule = RULES[room];
  if (rule === undefined) return [];
  return imports
    .filter((one) => !isAllowed(room, rule, one))
    .map(({ specifier }) => `${file} → ${specifier}`);
}

function isAllowed(room: string, { rooms, types, files, packages }: Rule, one: Import): boolean {
  const { specifier, target, typeOnly } = one;
  if (target === undefined) {
    const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
    if (name === 'vscode' && NO_VSCODE.includes(room)) return false;
    return specifier.startsWith('node:')
      ? builtinModules.includes(specifier.slice(5)) || specifier === 'node:sqlite'
      : packages.includes(name);
  }
  const [, other = '', ...below] = target.split('/');
  if (below.length === 0) return false;
  return (
    other === room || rooms.includes(other) || files.includes(target) || (typeOnly && types.includes(other))
  );
}

/** Places where VS Code's own notifications and progress are named, or where any member of `window` is taken by its name. */
function notifications(source: Source): string[] {
  const found: string[] = [];
  walk(source.tree, (node) => {
    const isNamed =
      ts.isElementAccessExpression(node) &&
      (/\bwindow$/.test(node.expression.getText()) ||
        /['"]window['"]$/.test(node.argumentExpression.getText()));
    const isText = ts.isIdentifier(node) || ts.isStringLiteralLike(node);
    const isDirect =
      isText &&
      (/^show(Information|Warning|Error)Message$/.test(node.text) ||
        (node.text === 'withProgress' &&
          (ts.isBindingElement(node.parent) || ts.isPropertyAccessExpression(node.parent))));
    if (isNamed || isDirect) found.push(at(source, node));
  });
  return found;
}

/** One circle, its first file again at its end, or nothing. */
function circleAmong(sources: readonly Source[]): string[] {
  const byFile = new Map(sources.map((source) => [source.file, source]));
  const done = new Set<string>();
  const visit = (file: string, way: readonly string[]): string[] => {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const { target } of byFile.get(file)?.imports ?? []) {
      const circle = target === undefined ? [] : visit(target, [...way, file]);
      if (circle.length > 0) return circle;
    }
    done.add(file);
    return [];
  };
  for (const { file } of sources) {
    const circle = visit(file, []);
    if (circle.length > 0) return circle;
  }
  return [];
}

/** Variables of a module that can change, or that hold something that can. */
function moduleState(source: Source): string[] {
  return source.tree.statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) =>
      declarationList.declarations
        .filter(
          (declaration) =>
            (declarationList.flags & ts.NodeFlags.Const) === 0 ||
            (isMutable(declaration.initializer) &&
              !/^(readonly |Readonly|Intl\.)/.test(declaration.type?.getText() ?? '')),
        )
        .map((declaration) => at(source, declaration)),
    );
}

function isMutable(value: ts.Expression | undefined): boolean {
  if (value === undefined) return false;
  if (ts.isArrayLiteralExpression(value)) return true;
  // An object of functions alone is a name for them.
  if (ts.isObjectLiteralExpression(value))
    return value.properties.some(
      (property) =>
        !ts.isMethodDeclaration(property) &&
        !(ts.isPropertyAssignment(property) && ts.isArrowFunction(property.initializer)),
    );
  return ts.isNewExpression(value) && /^(Weak)?(Map|Set)$/.test(value.expression.getText());
}

function isBarrel({ tree: { statements } }: Source): boolean {
  const exportsOnly = statements.every((one) => ts.isExportDeclaration(one) || ts.isImportDeclaration(one));
  return exportsOnly && statements.some(ts.isExportDeclaration);
}

/** Texts with two words: such as only a person reads. */
function sentences(source: Source): string[] {
  const found: string[] = [];
  walk(source.tree, (node) => {
    const isText =
      ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
    if (isText && /[A-Za-z]{2,} [A-Za-z]{2,}|^[A-Za-z]+ [A-Za-z]+$/.test(node.text))
      found.push(at(source, node));
  });
  return found;
}
