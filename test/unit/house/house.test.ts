import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';
import ts from 'typescript';
import { at, readScanner, readSources, roomOf, sourceOf, walk, type Import, type Source } from './sources.ts';

/** A room's allowed imports besides its own files and Node's modules: rooms or single files, and packages. */
interface Rule {
  rooms: readonly string[];
  packages: readonly string[];
  /** The files of a room of core that others may import; undefined if each may be. */
  fronts: readonly string[] | undefined;
}

/**
 * The rules, as the table of modules in ARCHITECTURE.md says them: the fronts, then `rooms and files; packages`, of `core` without
 * its prefix.
 */
const RULES = readRules();
/** For a feature of `ui`, which may also import `vscode` and, as a type, the services. */
const FEATURES = 'ui/<feature>';

function readRules(): ReadonlyMap<string, Rule> {
  const rules = new Map<string, Rule>();
  const table = readFileSync(new URL('../../../ARCHITECTURE.md', import.meta.url), 'utf8');
  const rows = table.matchAll(/^\| `([\w/<>]+)` +\|[^|]+\| ([^|]+?) +\| ([^|]+?) +\|$/gm);
  for (const [, room = '', fronts = '', imports = ''] of rows) {
    if (room.startsWith('media/')) continue;
    const [rooms = [], packages = []] = imports
      .split('; ')
      .map((part) => part.replaceAll('`', '').split(', '));
    const above = [...rules.keys()].filter((one) => one.startsWith('core/'));
    const named = rooms.map((name) =>
      /\/|^sandbox/.test(name) ? name.replace(' besides', '') : `core/${name}`,
    );
    rules.set(room, {
      rooms: rooms[0] === 'all above' || rooms[0] === 'core' ? [...above, ...named] : named,
      packages,
      fronts: fronts === 'all' || fronts === '–' ? undefined : fronts.split(', '),
    });
  }
  return rules;
}

function ruleOf(room: string): Rule | undefined {
  const own = RULES.get(room);
  if (!room.startsWith('ui/')) return own;
  const feature = RULES.get(FEATURES);
  return feature && { ...feature, rooms: [...feature.rooms, ...(own?.rooms ?? [])] };
}

/** A ratchet: what has one user moves to it, and what has no text to `core`. The list of IDs may grow with each feature. */
const MOST_SHARED_LINES = 3_136;
/** A ratchet: the files of core that are imported from outside of their room, without `base`. */
const MOST_FRONTS = 60;
const IDS = 'src/ui/shared/ids.ts';

/** Files outside the rooms, which may import every room. */
const COMPOSITION_ROOT = ['src/extension.ts', 'src/services.ts', 'src/start.ts'];

describe('the source code', () => {
  const sources = readSources();

  it('consists of the known rooms and the composition root', () => {
    assert.ok(sources.length > 50);
    assert.deepEqual(
      sources.filter(({ room }) => room === '').map(({ file }) => file),
      COMPOSITION_ROOT,
    );
    for (const { file, room } of sources)
      assert.ok(room === '' || ruleOf(room) !== undefined, `${file} is in no room of ARCHITECTURE.md`);
  });

  it('makes a feature’s own objects in its folder, not in the services', () => {
    const services = sources.find(({ file }) => file === 'src/services.ts');
    const rooms =
      services?.imports.flatMap(({ target }) => (target === undefined ? [] : roomOf(target))) ?? [];
    assert.deepEqual(new Set(rooms.filter((room) => room.startsWith('ui/'))), new Set(['ui/shared']));
  });

  it('imports in each room only what the rules allow', () =>
    assert.deepEqual(sources.flatMap(forbiddenImports), []));

  it('imports from another room of core only its fronts, which others need', () => {
    assert.deepEqual(sources.flatMap(privateImports), []);
    const targets = sources.flatMap(({ room, imports }) =>
      imports.flatMap(({ target }) => (target === undefined || roomOf(target) === room ? [] : [target])),
    );
    const fronts = [...RULES].flatMap(([room, rule]) =>
      (rule.fronts ?? []).map((name) => `src/${room}/${name}.ts`),
    );
    assert.deepEqual(
      fronts.filter((front) => !targets.includes(front)),
      [],
    );
    assert.ok(fronts.length > 0 && fronts.length <= MOST_FRONTS, `core has ${fronts.length} fronts`);
  });

  it('sends a submission only from two commands, after a modal dialog', () => {
    const senders = sources.filter(({ tree }) => /\bsubmissions\s*\.(submit|resume)\(/.test(tree.text));
    assert.deepEqual(
      senders.map(({ file }) => file),
      ['src/ui/submission/continueSubmission.ts', 'src/ui/submission/submitDataset.ts'],
    );
    const QUESTION = 'src/ui/submission/confirmSubmission.ts';
    const askers = sources.filter(({ imports }) => imports.some(({ target }) => target === QUESTION));
    assert.deepEqual(
      askers.map(({ file }) => file),
      ['src/ui/submission/continueSubmission.ts', 'src/ui/submission/submissionSteps.ts'],
    );
    const textOf = (wanted: string) => sources.find(({ file }) => file === wanted)?.tree.text ?? '';
    assert.match(textOf(QUESTION), /return askModal\(\s*showWarning,\s*question, detail/);
    assert.match(textOf('src/ui/shared/notifications.ts'), /show\(question, \{ modal: true, detail \}/);
  });

  it('shows notifications and reads dates through the one file for each', () => {
    const { notifications, dates } = BYPASSES;
    for (const text of [
      'window.showErrorMessage(x)',
      'window["withProgress"](x)',
      'const { showWarningMessage: show } = window',
      'vscode.window[name](x)',
      'vscode["window"]',
    ])
      assert.equal(findAll(sourceOf('src/ui/runs/x.ts', text), notifications).length, 1, text);
    for (const text of ['Date.parse(x)', 'Date["parse"](x)', 'const { parse } = Date'])
      assert.equal(findAll(sourceOf('src/ui/runs/x.ts', text), dates).length, 1, text);
    const outside = (file: string) => sources.filter((source) => source.file !== file);
    // In a notification VS Code makes links of a stranger's text; this file prevents it.
    assert.deepEqual(
      outside('src/ui/shared/notifications.ts').flatMap((source) => findAll(source, notifications)),
      [],
    );
    // `Date.parse` reads a time without a zone as local.
    assert.deepEqual(
      outside('src/core/base/clock.ts').flatMap((source) => findAll(source, dates)),
      [],
    );
  });

  it('says in one file of ui whether a submission was charged', () => {
    const EXCEPT: Readonly<Record<string, string>> = {
      'src/ui/shared/chargeText.ts': 'the composer',
      'src/ui/submission/submissionText.ts': 'the table of open submissions',
      'src/ui/submission/notCharged.ts': 'why one wasn’t sent',
      'src/ui/submission/confirmSubmission.ts': 'the consent, and the price',
      'src/ui/sandbox/offeredScenarios.ts': 'scenarios',
      'src/ui/shared/datasetTexts.ts': 'earlier runs of a dataset',
      'src/ui/shared/notifyUnreadable.ts': 'files, whose submissions aren’t known',
      'src/ui/shared/serviceErrors.ts': 'the table of error codes',
      'src/ui/shared/priceText.ts': 'prices of runs',
      'src/ui/submission/budgetText.ts': 'prices of runs',
      'src/ui/runs/runPageView.ts': 'prices of runs',
      'src/ui/runs/showNotices.ts': 'prices of runs',
    };
    // What could be charged later isn't what was.
    const says = /l10n\.t\(\s*(['`])(?:(?!\1)[^\n])*\b(?<!could be |is )charged\b(?! separately)/i;
    const files = sources.filter(({ file, tree }) => file.startsWith('src/ui/') && says.test(tree.text));
    assert.deepEqual(
      files.map(({ file }) => file).filter((file) => EXCEPT[file] === undefined),
      [],
    );
    assert.ok(files.some(({ file }) => file === 'src/ui/shared/chargeText.ts'));
  });

  it('creates runs in one room only', () =>
    assert.deepEqual(
      sources.filter(({ tree }) => /\.createRun\(/.test(tree.text)).map(({ room }) => room),
      ['core/submission'],
    ));

  it('reads no environment variables, except those of a proxy', () =>
    assert.deepEqual(
      sources.filter(({ tree }) => /\bprocess\s*(\.\s*env\b|\[)/.test(tree.text)).map(({ file }) => file),
      ['src/ui/shared/settings.ts'],
    ));

  it('has no circular imports', () => assert.deepEqual(circleAmong([...sources, ...readScanner()]), []));

  it('has no module-level mutable state', () =>
    assert.deepEqual([...sources, ...readScanner()].flatMap(moduleState), []));

  it('has no barrels', () =>
    assert.deepEqual(
      sources.filter(isBarrel).map(({ file }) => file),
      [],
    ));

  it('imports only the scanner’s own modules in the scanner', () => {
    const scanner = readScanner();
    assert.ok(scanner.length > 10);
    for (const { file, imports } of scanner)
      for (const { specifier } of imports) assert.match(specifier, /^\.\/\w+$/, file);
  });

  it('shares in `ui` only what two features use', () => {
    const shared = sources.filter(({ room }) => room === 'ui/shared');
    assert.ok(shared.length > 10);
    assert.deepEqual(
      shared.filter((one) => !isShared(one, sources)).map(({ file }) => file),
      [],
    );
    const counted = shared.filter(({ file }) => file !== IDS);
    assert.equal(counted.length, shared.length - 1);
    const lines = counted.reduce((sum, { tree }) => sum + tree.getLineStarts().length - 1, 0);
    assert.ok(lines <= MOST_SHARED_LINES, `ui/shared has ${lines} lines besides the IDs`);
  });

  it('makes VS Code wait for nothing but text and buttons', () => {
    const waited = new Set(['src/extension.ts']);
    // A set also goes through what is added on the way.
    for (const file of waited)
      for (const source of sources.filter((one) => one.file === file))
        for (const target of staticImports(source)) waited.add(target);
    assert.deepEqual(
      [...waited].filter((file) => !['', 'ui/shared', 'core/base'].includes(roomOf(file))),
      [],
    );
  });

  it('has no catch-all files', () => {
    for (const { file } of [...sources, ...readScanner()])
      assert.doesNotMatch(file, /(util|helper|common|misc|manager|impl)s?\.ts$|\/index\.ts$/i);
  });

  it('makes sentences in `ui` only, and there only for translation', () =>
    assert.deepEqual(sources.flatMap(misplacedSentences), []));

  it('cites what is a heading of docs/service-api.md', () => {
    const cwd = path.join(import.meta.dirname, '../../..');
    const read = (file: string) => readFileSync(path.join(cwd, file), 'utf8');
    const headings = new Set(
      [...read('docs/service-api.md').matchAll(/^#{2,3} (.+)$/gm)].map(([, heading]) => heading),
    );
    const ours = globSync('{src,test,media}/**/*.ts', { cwd, exclude: ['**/node_modules'] });
    const cited = ours.flatMap((file) =>
      // A citation without quotes, or wrapped within them, has no heading.
      [...read(file).matchAll(/[(]spec:(?:[\s*]*"([^"\n]+)")?/g)].map(([text, heading]) => ({
        heading,
        at: `${file}: ${text}`,
      })),
    );
    assert.ok(cited.length > 20);
    assert.deepEqual(
      cited.filter(({ heading }) => !headings.has(heading)).map(({ at }) => at),
      [],
    );
  });

  describe('is checked by rules that detect', () => {
    const rules = (file: string, text: string) => forbiddenImports(sourceOf(file, text));

    it('forbidden imports', () => {
      for (const [file, text] of [
        ['src/core/base/x.ts', "import { x } from '../api/types.ts';"],
        ['src/core/api/x.ts', "import * as vscode from 'vscode';"],
        ['src/core/api/x.ts', "import type * as vscode from 'vscode';"],
        ['src/core/runs/x.ts', "export type X = import('vscode').Uri;"],
        ['src/core/runs/x.ts', "import type { Log } from '../../ui/shared/log.ts';"],
        ['src/core/runs/x.ts', "import type { Journal } from '../submission/journal.ts';"],
        ['src/core/runs/x.ts', "import { request } from 'undici/lib/api/api-request.js';"],
        ['src/core/runs/x.ts', "import { x } from '../../extension.ts';"],
        ['src/core/datasets/x.ts', "import x from 'left-pad';"],
        ['src/ui/runs/x.ts', "import type { X } from '../submission/y.ts';"],
        ['src/ui/shared/x.ts', "export * from '../runs/y.ts';"],
        ['src/ui/runs/x.ts', "import type { Sandbox } from '../../sandbox/sandbox.ts';"],
        ['src/sandbox/x.ts', "const x = await import('../core/api/client.ts');"],
        ['src/sandbox/x.ts', "import { readX } from '../core/api/response.ts';"],
      ] as const)
        assert.equal(rules(file, text).length, 1, text);
      for (const [file, text] of [
        ['src/ui/datasets/x.ts', "import type { DatasetFile } from '../../core/datasets/inspect.ts';"],
        ['src/ui/runs/x.ts', "import { Client } from '../../core/api/client.ts';"],
        ['src/ui/runs/x.ts', "import type { Services } from '../../services.ts';"],
        ['src/ui/runs/x.ts', "import { readFile } from 'node:fs/promises';"],
        ['src/sandbox/x.ts', "import { DatabaseSync } from 'node:sqlite';"],
      ] as const)
        assert.deepEqual(rules(file, text), []);
    });

    it('imports of what is private to a room', () => {
      const found = (file: string, text: string) => privateImports(sourceOf(file, text)).length;
      const text = "import type { CallKind } from '../../core/api/exchange.ts';";
      assert.equal(found('src/ui/runs/x.ts', text), 1);
      assert.equal(found('src/core/runs/x.ts', "const x = await import('../api/exchange.ts');"), 1);
      assert.equal(found('src/core/api/x.ts', "import { x } from './exchange.ts';"), 0);
      assert.equal(found('src/ui/runs/x.ts', "import { x } from '../../core/api/client.ts';"), 0);
      assert.equal(found('src/ui/runs/x.ts', "import { x } from '../../core/base/format.ts';"), 0);
    });

    it('module state', () => {
      const found = (text: string) => moduleState(sourceOf('src/core/base/x.ts', text)).length > 0;
      const changeable = [
        'let x = 1;',
        'const x = new Map();',
        'export const x: string[] = [];',
        'const x = { a: 1 };',
      ];
      const constant = [
        'const x = [1] as const;',
        'const x: ReadonlyMap<string, number> = new Map();',
        'function f() { let x = 1; return [x]; }',
      ];
      assert.deepEqual([...changeable, ...constant].filter(found), changeable);
    });

    it('barrels, circular imports, and sentences', () => {
      assert.ok(
        isBarrel(sourceOf('src/core/base/x.ts', "export * from './a.ts';\nexport { b } from './b.ts';")),
      );
      assert.ok(isBarrel(sourceOf('src/core/base/x.ts', "import { a } from './a.ts';\nexport { a };")));
      assert.ok(!isBarrel(sourceOf('src/core/base/x.ts', "export * from './a.ts';\nexport const b = 1;")));
      const circle = ['b', 'c', 'a'].map((next, index) =>
        sourceOf(`src/core/base/${'abc'[index]}.ts`, `import type { x } from './${next}.ts';`),
      );
      assert.equal(circleAmong(circle).length, 4);
      const count = (text: string) => sentences(sourceOf('src/ui/runs/x.ts', text)).length;
      assert.equal(
        count("show('No runs yet');") + count('show(`No runs ${x}`);') + count("x = { 'a key': 'of the' };"),
        4,
      );
      for (const text of ["show('runs', 'list.warningForeground');", "l10n.t('No runs yet, {0}', x);"])
        assert.equal(count(text), 0, text);
    });
  });
});

function forbiddenImports({ file, room, imports }: Source): string[] {
  const rule = ruleOf(room);
  if (rule === undefined) return [];
  return imports
    .filter((one) => !isAllowed(room, rule, one))
    .map(({ specifier, target }) => `${file} → ${target ?? specifier}`);
}

function isAllowed(room: string, { rooms, packages }: Rule, one: Import): boolean {
  const { specifier, target, typeOnly } = one;
  if (target === undefined) {
    const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
    return specifier.startsWith('node:')
      ? builtinModules.includes(specifier.slice(5)) || specifier === 'node:sqlite'
      : packages.includes(name);
  }
  // Features receive the services as an argument, so they import only the type.
  if (target === 'src/services.ts') return room.startsWith('ui/') && typeOnly;
  const other = roomOf(target);
  return other === room || rooms.includes(other) || rooms.includes(target.replace(/^src\//, ''));
}

/** Finds imports of files of another room that aren't its fronts. */
function privateImports({ file, room, imports }: Source): string[] {
  return imports.flatMap(({ target }) => {
    const other = target === undefined ? room : roomOf(target);
    const fronts = RULES.get(other)?.fronts;
    if (target === undefined || other === room || fronts === undefined) return [];
    return fronts.some((front) => target === `src/${other}/${front}.ts`) ? [] : [`${file} → ${target}`];
  });
}

/** Whether two features use a file of `ui/shared`, or what starts them all. */
function isShared(shared: Source, sources: readonly Source[]): boolean {
  const users = new Set<string>();
  // A set also goes through what is added on the way.
  const files = new Set([shared.file]);
  for (const file of files)
    for (const user of sources)
      if (user.imports.some(({ target }) => target === file))
        if (user.room === 'ui/shared') files.add(user.file);
        else users.add(user.room);
  return users.size > 1 || users.has('');
}

/** The files that are loaded with a file, without those that it imports at first use. */
function staticImports({ file, tree }: Source): string[] {
  return tree.statements.flatMap((one) => {
    if (!ts.isImportDeclaration(one) || !ts.isStringLiteral(one.moduleSpecifier)) return [];
    const { text } = one.moduleSpecifier;
    const isType = one.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
    return isType || !text.startsWith('.') ? [] : [path.posix.join(path.posix.dirname(file), text)];
  });
}

/** Outside `ui`, uses of `l10n`; inside, strings of two words that are not the text of an `l10n.t`. */
function misplacedSentences(source: Source): string[] {
  // Agents read English.
  if (source.room === 'ui/agents') return [];
  if (source.room.startsWith('ui/') || source.room === '') return sentences(source);
  return namesL10n(source) ? [`${source.file} makes sentences`] : [];
}

function namesL10n({ tree }: Source): boolean {
  let found = false;
  walk(tree, (node) => (found ||= ts.isIdentifier(node) && node.text === 'l10n'));
  return found;
}

/** Returns one import cycle, its first file repeated at the end, or nothing. */
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

/** Finds module-level variables that are reassignable or hold something mutable. */
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
  // An object that contains only functions is a namespace.
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

/** Finds strings with two words, which only users read, except the texts that `l10n.t` translates. */
function sentences(source: Source): string[] {
  const found: string[] = [];
  walk(source.tree, (node) => {
    const isText =
      ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
    if (isText && /[A-Za-z]{2,} [A-Za-z]{2,}|^[A-Za-z]+ [A-Za-z]+$/.test(node.text) && !isTranslated(node))
      found.push(at(source, node));
  });
  return found;
}

function isTranslated({ parent }: ts.Node): boolean {
  return ts.isCallExpression(parent) && /\bl10n\.t$/.test(parent.expression.getText());
}

/** Ways around the one file for notifications, and around the one for dates. */
const BYPASSES = {
  notifications: (node: ts.Node): boolean =>
    isMember(node, /(^|\.)window$/, /./, true) ||
    isMember(node, /./, /^(show(Information|Warning|Error)Message|withProgress)$/) ||
    isMember(node, /./, /^window$/, true),
  dates: (node: ts.Node): boolean => isMember(node, /^Date$/, /^parse$/),
};

/** Whether a node takes a member of an object: `object.name`, `object[…]` or `const { name } = object`. */
function isMember(node: ts.Node, object: RegExp, name: RegExp, onlyComputed = false): boolean {
  if (ts.isElementAccessExpression(node))
    return (
      object.test(node.expression.getText()) &&
      name.test(node.argumentExpression.getText().replace(/['"]/g, ''))
    );
  if (onlyComputed) return false;
  if (ts.isPropertyAccessExpression(node))
    return object.test(node.expression.getText()) && name.test(node.name.text);
  if (!ts.isBindingElement(node)) return false;
  const { initializer } = node.parent.parent as ts.VariableDeclaration;
  return (
    initializer !== undefined &&
    object.test(initializer.getText()) &&
    name.test((node.propertyName ?? node.name).getText())
  );
}

function findAll(source: Source, isWanted: (node: ts.Node) => boolean): string[] {
  const found: string[] = [];
  walk(source.tree, (node) => {
    if (isWanted(node)) found.push(at(source, node));
  });
  return found;
}
