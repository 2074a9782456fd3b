import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const ROOT = path.join(import.meta.dirname, '../../..');

export interface Import {
  /** As written in the source. */
  specifier: string;
  /** The imported file, as in `Source.file`; undefined for a package. */
  target: string | undefined;
  /** Whether the import is erased at compile time. */
  typeOnly: boolean;
}

/** A file of `src`. */
export interface Source {
  /** Relative to the repository, with `/`. */
  file: string;
  /** `core/<room>`, `ui/<feature>`, or `sandbox`; empty for the composition root. */
  room: string;
  tree: ts.SourceFile;
  imports: readonly Import[];
}

/** Reads every TypeScript file of `src` except declarations of third-party code. */
export function readSources(): Source[] {
  return sourceFiles()
    .filter((file) => !isAssemblyScript(file))
    .map(readSource);
}

/** Reads the dataset scanner, which is written in AssemblyScript: a separate program. */
export function readScanner(): Source[] {
  return sourceFiles().filter(isAssemblyScript).map(readSource);
}

const read = new Map<string, Source>();

/** Reads a file once: to parse all of them takes seconds, and several tests want them. */
function readSource(file: string): Source {
  const source = read.get(file) ?? sourceOf(file, readFileSync(path.join(ROOT, file), 'utf8'));
  read.set(file, source);
  return source;
}

function sourceFiles(): string[] {
  return readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .map((name) => `src/${name.replaceAll('\\', '/')}`)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
    .sort();
}

/** The scanner's `codes.ts` is valid in both languages. */
function isAssemblyScript(file: string): boolean {
  return file.startsWith('src/core/datasets/scanner/') && !file.endsWith('/codes.ts');
}

export function sourceOf(file: string, text: string): Source {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  let imports: Import[] | undefined;
  return {
    file,
    room: roomOf(file),
    tree,
    get imports() {
      return (imports ??= importsOf(file, tree));
    },
  };
}

function importsOf(file: string, tree: ts.SourceFile): Import[] {
  const typeOnly = typeOnlyImports(tree);
  return ts.preProcessFile(tree.text, true, true).importedFiles.map(({ fileName, pos }) => ({
    specifier: fileName,
    target: targetOf(file, fileName),
    typeOnly: typeOnly.some((node) => node.pos <= pos && pos < node.end),
  }));
}

/** The scanner's imports have no ending. */
function targetOf(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  const target = path.posix.join(path.posix.dirname(file), specifier);
  return isAssemblyScript(file) ? `${target}.ts` : target;
}

export function roomOf(file: string): string {
  const [, first = '', ...below] = file.split('/');
  if (below.length === 0) return '';
  return first === 'core' || first === 'ui' ? `${first}/${below[0] ?? ''}` : first;
}

/** The English texts that a file passes to `l10n.t`. */
export function sentencesOf(tree: ts.SourceFile): string[] {
  return callsOf(tree).map(({ sentence }) => sentence);
}

function callsOf(tree: ts.SourceFile): { sentence: string; values: ts.Expression[] }[] {
  const calls: { sentence: string; values: ts.Expression[] }[] = [];
  walk(tree, (node) => {
    if (!ts.isCallExpression(node) || !/\bl10n\.t$/.test(node.expression.getText())) return;
    const [text, ...values] = node.arguments;
    if (text !== undefined && ts.isStringLiteralLike(text)) calls.push({ sentence: text.text, values });
  });
  return calls;
}

/**
 * The file for translators, in the format of VS Code's language packs: every sentence and the texts of `package.nls.json`. Each
 * argument has a comment with its expression in the code.
 */
export function textsForTranslators(
  sources: readonly Source[],
  nls: Readonly<Record<string, string>>,
): string {
  const comments = new Map<string, Set<string>>();
  for (const { sentence, values } of sources.flatMap(({ tree }) => callsOf(tree)))
    comments.set(sentence, new Set([...(comments.get(sentence) ?? []), ...commentsOf(sentence, values)]));
  const bundle = [...comments].sort(([one], [other]) => (one < other ? -1 : 1));
  const contents = {
    package: nls,
    bundle: Object.fromEntries(
      bundle.map(([message, comment]) => [
        message,
        comment.size === 0 ? message : { message, comment: [...comment].sort() },
      ]),
    ),
  };
  return `${JSON.stringify({ version: '1.0.0', contents }, undefined, 2)}\n`;
}

const MAX_COMMENT = 120;

function commentsOf(sentence: string, values: readonly ts.Expression[]): string[] {
  const numbers = new Set([...sentence.matchAll(/\{(\d+)\}/g)].map(([, number]) => Number(number)));
  const spread = values.findIndex((value) => ts.isSpreadElement(value));
  return [...numbers].map((number) => {
    const isSpread = spread !== -1 && number >= spread;
    const value = values[isSpread ? spread : number]?.getText().replace(/\s+/g, ' ') ?? '?';
    const meaning = isSpread ? `${value.replace('...', '')}[${number - spread}]` : value;
    return `{${number}}: ${meaning.length > MAX_COMMENT ? `${meaning.slice(0, MAX_COMMENT)}…` : meaning}`;
  });
}

/** Calls `visit` for a node and all its descendants. */
export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  node.forEachChild((child) => walk(child, visit));
}

export function at({ file, tree }: Source, node: ts.Node): string {
  return `${file}:${tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1}`;
}

function typeOnlyImports(tree: ts.SourceFile): ts.Node[] {
  const found: ts.Node[] = [];
  walk(tree, (node) => {
    if (ts.isImportTypeNode(node)) found.push(node);
    if (ts.isExportDeclaration(node) && node.isTypeOnly) found.push(node);
    if (ts.isImportDeclaration(node) && node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword)
      found.push(node);
  });
  return found;
}
