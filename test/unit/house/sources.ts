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
    .map((file) => sourceOf(file, readFileSync(path.join(ROOT, file), 'utf8')));
}

/** Reads the dataset scanner, which is written in AssemblyScript: a separate program with its own globals. */
export function readScanner(): Source[] {
  return sourceFiles()
    .filter(isAssemblyScript)
    .map((file) => sourceOf(file, readFileSync(path.join(ROOT, file), 'utf8')));
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
  const typeOnly = typeOnlyImports(tree);
  const imports = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName, pos }) => ({
    specifier: fileName,
    target: targetOf(file, fileName),
    typeOnly: typeOnly.some((node) => node.pos <= pos && pos < node.end),
  }));
  return { file, room: roomOf(file), tree, imports };
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
  const sentences: string[] = [];
  walk(tree, (node) => {
    if (!ts.isCallExpression(node) || !/\bl10n\.t$/.test(node.expression.getText())) return;
    const [text] = node.arguments;
    if (text !== undefined && ts.isStringLiteralLike(text)) sentences.push(text.text);
  });
  return sentences;
}

/** The source file for translations, which maps each sentence to itself. */
export function l10nBundle(sources: readonly Source[]): string {
  const sentences = [...new Set(sources.flatMap(({ tree }) => sentencesOf(tree)))].sort();
  return `${JSON.stringify(Object.fromEntries(sentences.map((one) => [one, one])), undefined, 2)}\n`;
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
