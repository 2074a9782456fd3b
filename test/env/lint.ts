// `npm run lint`: types, ESLint and Prettier. TypeScript and ESLint share one program for each tsconfig.json, which each would
// otherwise build and check for itself. With --changed, ESLint and Prettier see only the files that differ from the main branch.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { ESLint, type Linter } from 'eslint';
import ts from 'typescript';
import { groupEnd, startGroup } from './processes.ts';
import { fail, root } from './project.ts';

/** The part that runs beside the rest, on the other core: what shares no program with it. */
const BESIDE = '--beside';

async function main(): Promise<void> {
  const changed = process.argv.includes('--changed') ? changedFiles() : undefined;
  const typed = changed?.filter((file) => /\.(ts|js)$/.test(file));
  const isSound = process.argv.includes(BESIDE)
    ? [
        await isClean('media/tsconfig.json', typed?.filter((file) => file.startsWith('media/')) ?? ['media']),
        await isFormatted(changed ?? ['.']),
      ]
    : await Promise.all([
        succeeds([import.meta.filename, BESIDE, ...process.argv.slice(2)]),
        isClean('tsconfig.json', typed ?? ['.'], ['media/']),
      ]);
  if (!isSound.every(Boolean)) process.exitCode = 1;
}

/** Prints what TypeScript finds in a program, and ESLint in files and folders. @returns whether they find nothing */
async function isClean(
  configuration: string,
  files: string[],
  ignorePatterns: string[] = [],
): Promise<boolean> {
  const program = readProgram(configuration);
  const hasTypes = reportTypes(program);
  return (await reportRules(files, program, ignorePatterns)) && hasTypes;
}

function readProgram(configuration: string): ts.Program {
  const host: ts.ParseConfigFileHost = {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: (problem) => {
      throw new Error(ts.flattenDiagnosticMessageText(problem.messageText, '\n'));
    },
  };
  const read = ts.getParsedCommandLineOfConfigFile(path.join(root, configuration), {}, host);
  if (read === undefined) throw new Error(`${configuration} can't be read`);
  return ts.createProgram({
    rootNames: read.fileNames,
    options: read.options,
    configFileParsingDiagnostics: read.errors,
  });
}

/** Prints what TypeScript finds in a program. @returns whether it finds nothing */
function reportTypes(program: ts.Program): boolean {
  const problems = ts.getPreEmitDiagnostics(program);
  const format = {
    getCurrentDirectory: () => root,
    getCanonicalFileName: (name: string) => name,
    getNewLine: () => '\n',
  };
  process.stdout.write(ts.formatDiagnostics(problems, format));
  return problems.length === 0;
}

async function reportRules(files: string[], program: ts.Program, ignorePatterns: string[]): Promise<boolean> {
  if (files.length === 0) return true;
  rememberTypes(program.getTypeChecker());
  // What is in no program, such as a new file in an ignored folder, is an error of the parser.
  const shared: Linter.Config = {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: false, programs: [program] } },
  };
  const eslint = new ESLint({ cwd: root, overrideConfig: [shared], ignorePatterns, warnIgnored: false });
  const found = await eslint.lintFiles(files);
  const formatter = await eslint.loadFormatter('stylish');
  process.stdout.write(await formatter.format(found));
  return found.every(({ errorCount, warningCount }) => errorCount + warningCount === 0);
}

/** Half of what the rules ask for was asked by another rule, and TypeScript finds out most of it each time. */
function rememberTypes(checker: ts.TypeChecker): void {
  const types = new Map<ts.Node, ts.Type>();
  const typeAt = checker.getTypeAtLocation.bind(checker);
  checker.getTypeAtLocation = (node) => {
    const type = types.get(node) ?? typeAt(node);
    types.set(node, type);
    return type;
  };
  const expected = new Map<ts.Node, ts.Type | undefined>();
  const expectedAt = checker.getContextualType.bind(checker);
  checker.getContextualType = (node) => {
    if (!expected.has(node)) expected.set(node, expectedAt(node));
    return expected.get(node);
  };
}

async function isFormatted(files: readonly string[]): Promise<boolean> {
  if (files.length === 0) return true;
  const prettier = path.join(root, 'node_modules/prettier/bin/prettier.cjs');
  const args = [prettier, '--check', '--log-level=warn', '--ignore-unknown', ...files];
  return succeeds(args);
}

/** Runs a script. @returns whether it ends with exit code 0 */
async function succeeds(args: readonly string[]): Promise<boolean> {
  return (await groupEnd(startGroup(process.execPath, args, { cwd: root, stdio: 'inherit' }))) === 0;
}

/** The files that differ from the main branch, committed or not. On the main branch, those that its remote doesn't have. */
function changedFiles(): string[] {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  const isKnown = (branch: string): boolean => {
    try {
      return git('rev-parse', '--verify', '--quiet', branch) !== '';
    } catch {
      return false;
    }
  };
  const main = ['origin/main', 'main'].find(isKnown) ?? 'HEAD';
  const names = [
    git('diff', '--name-only', git('merge-base', main, 'HEAD')),
    git('ls-files', '--others', '--exclude-standard'),
  ];
  return names
    .join('\n')
    .split('\n')
    .filter((name) => name !== '' && existsSync(path.join(root, name)));
}

main().catch(fail);
