import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { RepairableCode } from '../../src/core/datasets/fixes.ts';
import { problemSentence } from '../../src/ui/datasets/problemTexts.ts';

const BOM = '\uFEFF';
const GOOD = '{"messages":[{"role":"user","content":"2+2?"},{"role":"assistant","content":"4"}]}';
const other = (n: number) => GOOD.replace('2+2', `${n}+${n}`);

/** Waits for a condition, because VS Code does many things asynchronously. */
async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const giveUpAt = Date.now() + 60_000;
  while (Date.now() < giveUpAt) {
    if (await isSo()) return;
    await sleep(20);
  }
  assert.fail(what);
}

/** Writes a file until VS Code has noticed it: it may not watch the file yet. */
async function rewriteUntil(uri: vscode.Uri, text: string, isNoticed: () => boolean): Promise<void> {
  await until(async () => {
    await writeFile(uri.fsPath, text);
    for (let looks = 0; looks < 20 && !isNoticed(); looks++) await sleep(100);
    return isNoticed();
  }, 'the change was not noticed');
}

describe('datasets in the editor', () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'dataset-editor-'));
    await vscode.extensions.getExtension('fine-tuning-tools.fine-tuning')?.activate();
  });
  afterEach(() => vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor'));
  after(() => rm(folder, { recursive: true, force: true }));

  const uriOf = (name: string) => vscode.Uri.file(path.join(folder, name));
  const problems = (uri: vscode.Uri) =>
    vscode.languages.getDiagnostics(uri).filter(({ source }) => source === 'Fine-Tuning');
  const codes = (uri: vscode.Uri) => problems(uri).map(({ code }) => code as string);

  async function written(name: string, text: string | Buffer): Promise<vscode.Uri> {
    await writeFile(path.join(folder, name), text);
    return uriOf(name);
  }
  async function opened(name: string, text: string | Buffer): Promise<vscode.TextDocument> {
    return (await vscode.window.showTextDocument(await written(name, text))).document;
  }
  const check = (uri: vscode.Uri) => vscode.commands.executeCommand('fineTuning.checkDataset', uri);
  async function hasCodes(uri: vscode.Uri, ...expected: string[]): Promise<void> {
    await until(
      () => JSON.stringify(codes(uri).sort()) === JSON.stringify(expected.sort()),
      `${expected.join()} were expected`,
    ).catch((error: unknown) => {
      assert.deepEqual(codes(uri).sort(), expected);
      throw error;
    });
  }
  async function lenses(uri: vscode.Uri): Promise<string[]> {
    const found = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      'vscode.executeCodeLensProvider',
      uri,
      10,
    );
    return found.map(({ command }) => command?.title ?? '');
  }
  async function fixes(uri: vscode.Uri, code: string): Promise<vscode.CodeAction[]> {
    const diagnostic = problems(uri).find((problem) => problem.code === code);
    assert.ok(diagnostic, code);
    return vscode.commands.executeCommand(
      'vscode.executeCodeActionProvider',
      uri,
      diagnostic.range,
      vscode.CodeActionKind.QuickFix.value,
      20,
    );
  }
  async function applyFix(uri: vscode.Uri, code: string, title: string): Promise<void> {
    const fix = (await fixes(uri, code)).find((action) => action.title === title);
    assert.ok(fix?.edit, title);
    assert.ok(await vscode.workspace.applyEdit(fix.edit));
  }

  async function runCommandOf(fix: vscode.CodeAction | undefined): Promise<void> {
    assert.ok(fix?.command);
    const [uri] = fix.command.arguments as [vscode.Uri];
    await vscode.commands.executeCommand(fix.command.command, uri);
  }

  it('are checked when opened, with each problem at its location in the editor’s units', async () => {
    const faulty = `{"text": "😀é", "a": 1,}`;
    const { uri } = await opened('faults.jsonl', `${GOOD}\n${faulty}\n\n${GOOD}\n[1]\n`);
    await hasCodes(uri, 'trailing-comma', 'blank-line', 'duplicate-row', 'not-an-object');
    const at = (code: string) => problems(uri).find((problem) => problem.code === code)!;
    const { range, severity, message } = at('trailing-comma');
    assert.deepEqual([range.start.line, range.start.character], [1, faulty.indexOf(',}')]);
    assert.equal(severity, vscode.DiagnosticSeverity.Error);
    assert.equal(message, problemSentence({ code: 'trailing-comma', detail: undefined }));
    assert.equal(at('blank-line').severity, vscode.DiagnosticSeverity.Warning);
    assert.equal(at('blank-line').range.start.line, 2);
    assert.match(at('duplicate-row').message, /row 1;/);
    assert.equal(at('not-an-object').range.start.line, 4);
  });

  it('have problems at the right text, even after unusual bytes', async () => {
    const odd = [
      Buffer.from([0xff, 0xe2, 0x82, 0xf0, 0x9f, 0x98, 0xed, 0xa0, 0x80, 0xc0, 0xaf]),
      Buffer.from('😀é日\u00a0'),
      Buffer.from(`${BOM}x`),
      Buffer.from('", "c": "'),
    ];
    const rows = odd.map((bytes, index) =>
      Buffer.concat([
        Buffer.from(`${index === 2 ? BOM : ''}{"text":${index === 3 ? ' \r' : ''} "`),
        bytes,
        Buffer.from('", "b": nope}\n'),
      ]),
    );
    const others = Buffer.from('{}\n'.repeat(20));
    const { uri } = await opened('odd.jsonl', Buffer.concat([...rows, others]));
    await check(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    const shown = (code: string) =>
      problems(uri)
        .filter((problem) => problem.code === code)
        .map(({ range }) => document.getText(range.with(undefined, range.start.translate(0, 4))));
    assert.deepEqual(shown('bad-literal'), ['nope', 'nope', 'nope', 'nope']);
    assert.deepEqual(shown('bom-inside'), [`${BOM}{"t`]);
    for (const text of shown('invalid-utf8')) assert.equal(text[0], '\ufffd');
  });

  it('show their verdict above the first line, marked “saved version” if there are unsaved changes', async () => {
    const { uri } = await opened('verdict.jsonl', `${GOOD}\n${other(3)}\n\n`);
    await until(async () => (await lenses(uri))[0] === '3 rows · chat · 1 warning', 'no verdict');
    assert.deepEqual((await lenses(uri)).slice(1), ['Preview', 'Submit to Sandbox…', 'Prepare Copy…']);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(uri, new vscode.Position(0, 0), ' ');
    await vscode.workspace.applyEdit(edit);
    assert.equal((await lenses(uri))[0], '3 rows · chat · 1 warning · saved version');
  });

  it('lose problems after quick fixes, which can be undone, and a save', async () => {
    const text = `${GOOD}\n\n${GOOD}\n  \n${BOM}${other(3)}\n${other(3)}\n`;
    const document = await opened('fixes.jsonl', text);
    const { uri } = document;
    await hasCodes(uri, 'blank-line', 'blank-line', 'duplicate-row', 'bom-inside');
    await applyFix(uri, 'blank-line', 'Remove blank line');
    assert.equal(document.getText(), text.replace('\n\n', '\n'));
    await vscode.commands.executeCommand('undo');
    assert.equal(document.getText(), text);
    await applyFix(uri, 'blank-line', 'Remove all blank lines');
    await applyFix(uri, 'duplicate-row', 'Remove duplicate rows');
    assert.equal(document.getText(), `${GOOD}\n${BOM}${other(3)}\n${other(3)}\n`);
    assert.equal(await readFile(uri.fsPath, 'utf8'), text);
    await document.save();
    await hasCodes(uri, 'bom-inside');
    await applyFix(uri, 'bom-inside', 'Remove byte order mark');
    await document.save();
    await hasCodes(uri, 'duplicate-row');
    await applyFix(uri, 'duplicate-row', 'Remove duplicate rows');
    await document.save();
    await hasCodes(uri);
    assert.equal(await readFile(uri.fsPath, 'utf8'), `${GOOD}\n${other(3)}\n`);
  });

  it('offer to delete a row unusable for training, and nothing for all rows if one has the problem', async () => {
    const question = '{"messages":[{"role":"user","content":"Hi"}]}';
    const faulty = other(3).replace(']}', '],}');
    const document = await opened('delete.jsonl', `${GOOD}\n${question}\n${faulty}\n${other(4)}\n`);
    const { uri } = document;
    await hasCodes(uri, 'no-assistant', 'trailing-comma');
    assert.deepEqual(
      (await fixes(uri, 'trailing-comma')).map(({ title }) => title),
      ['Remove trailing comma'],
    );
    await applyFix(uri, 'no-assistant', 'Delete row');
    assert.equal(document.getText(), `${GOOD}\n${faulty}\n${other(4)}\n`);
    // This line may be another row now.
    assert.deepEqual(await fixes(uri, 'no-assistant'), []);
  });

  it('are repaired by fixes of one row or all', async () => {
    const faults: [RepairableCode, (row: string) => string, one: string, all: string][] = [
      [
        'trailing-comma',
        (row) => row.replace(']}', '],}'),
        'Remove trailing comma',
        'Remove all trailing commas',
      ],
      ['comma-after-object', (row) => `${row},`, 'Remove comma', 'Remove all commas after objects'],
      [
        'control-character',
        (row) => row.replace('{', '{"tab":"\t",'),
        'Escape control character',
        'Escape all control characters',
      ],
      [
        'single-quote',
        (row) => row.replace('"messages"', "'messages'"),
        'Use double quotes',
        'Use double quotes in all rows',
      ],
      [
        'typographic-quotes',
        (row) => row.replace('"messages"', '“messages”'),
        'Use straight quotes',
        'Use straight quotes in all rows',
      ],
    ];
    const rows = faults.flatMap(([, fault]) => [5, 6, 7].map((n) => fault(other(n))));
    const document = await opened('repairs.jsonl', `${GOOD}\n${rows.join('\n')}\n`);
    const { uri } = document;
    // Most rows aren't objects yet: nothing is shown before the check.
    await check(uri);
    await hasCodes(uri, ...faults.flatMap(([code]) => [code, code, code]));
    for (const [code, , one, all] of faults) {
      const before = document.getText();
      await applyFix(uri, code, one);
      assert.notEqual(document.getText(), before);
      await vscode.commands.executeCommand('undo');
      await applyFix(uri, code, all);
    }
    await document.save();
    await check(uri);
    // Most rows are: shown once.
    await hasCodes(uri, 'duplicate-row');
  });

  it('with CR line endings get LF by a fix', async () => {
    const document = await opened('mac.jsonl', `${GOOD}\r${other(3)}\r`);
    await check(document.uri);
    await hasCodes(document.uri, 'cr-only');
    const [fix] = await fixes(document.uri, 'cr-only');
    assert.equal(fix?.title, 'Change all line endings to LF');
    await vscode.window.showTextDocument(document, { selection: problems(document.uri)[0]!.range });
    // An editor that doesn't know the selection and its problems yet ignores the command.
    await until(async () => {
      if (!document.isDirty) await vscode.commands.executeCommand('editor.action.autoFix');
      return document.isDirty;
    }, 'not fixed');
    await document.save();
    await hasCodes(document.uri);
    assert.equal(await readFile(document.uri.fsPath, 'utf8'), `${GOOD}\n${other(3)}\n`);
  });

  it('with CRLF have one problem, and get LF by a fix', async () => {
    const document = await opened('windows.jsonl', [1, 2, 3].map((n) => `${other(n)}\r\n`).join(''));
    await hasCodes(document.uri, 'crlf');
    assert.match(problems(document.uri)[0]?.message ?? '', / \(3 rows\)\./);
    assert.equal((await fixes(document.uri, 'crlf'))[0]?.title, 'Change all line endings to LF');
    // The command above loses line ends in its result. Select the problem's range, or autoFix would not choose a fix.
    const { range } = problems(document.uri)[0]!;
    await vscode.window.showTextDocument(document, { selection: range });
    // An editor that doesn't know the selection and its problems yet ignores the command.
    await until(async () => {
      if (!document.isDirty) await vscode.commands.executeCommand('editor.action.autoFix');
      return document.isDirty;
    }, 'not fixed');
    await document.save();
    await hasCodes(document.uri);
    assert.equal(await readFile(document.uri.fsPath, 'utf8'), [1, 2, 3].map((n) => `${other(n)}\n`).join(''));
  });

  it('are not changed by a fix for a line that has changed', async () => {
    const document = await opened('stale.jsonl', `\n${GOOD}\n`);
    await hasCodes(document.uri, 'blank-line');
    const edit = new vscode.WorkspaceEdit();
    edit.delete(document.uri, new vscode.Range(0, 0, 1, 0));
    await vscode.workspace.applyEdit(edit);
    const stale = (await fixes(document.uri, 'blank-line')).filter(({ edit }) => (edit?.size ?? 0) > 0);
    assert.deepEqual(stale, []);
    assert.equal(document.getText(), `${GOOD}\n`);
  });

  it('get a copy without the byte order mark at the start, which no edit can remove', async () => {
    const { uri } = await opened('bom.jsonl', `${BOM}${GOOD}\n`);
    await hasCodes(uri, 'bom-at-start');
    const [fix] = await fixes(uri, 'bom-at-start');
    assert.equal(fix?.title, 'Save copy without byte order mark');
    await runCommandOf(fix);
    assert.equal(await readFile(uriOf('bom.prepared.jsonl').fsPath, 'utf8'), `${GOOD}\n`);
    assert.equal(await readFile(uri.fsPath, 'utf8'), `${BOM}${GOOD}\n`);
    assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, uriOf('bom.prepared.jsonl').fsPath);
  });

  it('that are a JSON array are converted to lines in a new file', async () => {
    const array = JSON.stringify([JSON.parse(GOOD), JSON.parse(other(3))], null, 2);
    const { uri } = await opened('array.jsonl', array);
    await check(uri);
    assert.deepEqual(codes(uri), ['json-array']);
    const titles = ['a JSON array, not JSONL', 'Preview', 'Convert to JSONL'];
    assert.deepEqual(await lenses(uri), titles);
    const [fix] = await fixes(uri, 'json-array');
    await runCommandOf(fix);
    const lines = (await readFile(uriOf('array.lines.jsonl').fsPath, 'utf8')).trimEnd().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line) as unknown),
      JSON.parse(array),
    );
    assert.equal(await readFile(uri.fsPath, 'utf8'), array);
  });

  it('that are in UTF-16, and a table, have a fix that converts them to JSONL in UTF-8', async () => {
    const table = `prompt,completion\r\n"a, b",c\r\n`;
    for (const [name, content, kind, made, expected] of [
      ['wide.jsonl', Buffer.from(`\uFEFF${GOOD}\r\n`, 'utf16le'), 'utf-16', 'wide.utf-8.jsonl', `${GOOD}\n`],
      ['table.csv', table, 'csv', 'table.jsonl', '{"prompt":"a, b","completion":"c"}\n'],
    ] as const) {
      const { uri } = await opened(name, content);
      await check(uri);
      const [fix] = await fixes(uri, kind);
      assert.equal(fix?.title, 'Convert to JSONL');
      await runCommandOf(fix);
      assert.equal(await readFile(uriOf(made).fsPath, 'utf8'), expected);
    }
  });

  it('show a fault of many rows as one problem, each secret, and at most 200 problems', async () => {
    const keyed = (n: number) =>
      other(n)
        .replace('4"', `4 service_${'a1'.repeat(12)}"`)
        .replace(']}', '],}');
    const { uri } = await opened(
      'many.jsonl',
      Array.from({ length: 300 }, (_, n) => `${keyed(n)}\n`).join(''),
    );
    await check(uri);
    assert.equal(problems(uri).length, 200);
    assert.equal(codes(uri).filter((code) => code === 'api-key').length, 198);
    const [comma] = problems(uri);
    assert.match(comma?.message ?? '', / \(300 rows\)\./);
    assert.match(problems(uri).at(-1)?.message ?? '', /^Only 199 of 301 problems/);
    const all = (await fixes(uri, 'trailing-comma')).find(({ title }) => title === 'Show all in preview');
    assert.deepEqual(all?.command?.arguments?.slice(1), [undefined, { problems: 'trailing-comma' }]);
  });

  it('are recognized by their rows, a setting, or the user’s check; other files are ignored', async () => {
    const settings = vscode.workspace.getConfiguration('fineTuning');
    const set = (name: string, value: unknown) =>
      settings.update(name, value, vscode.ConfigurationTarget.Workspace);
    const log = { uri: await written('log.jsonl', 'started\n{"level":"info","text":"a"}\nstopped\n') };
    await vscode.window.showTextDocument(log.uri, { preview: false });
    const chat = await opened('rows.jsonl', `${GOOD}\n\n`);
    try {
      await hasCodes(chat.uri, 'blank-line');
      assert.deepEqual([codes(log.uri), await lenses(log.uri)], [[], []]);
      await set('datasetFiles', { '**/*.jsonl': true, '**/rows.*': false });
      await until(() => codes(log.uri).length > 0, 'not taken for a dataset');
      await hasCodes(chat.uri);
      assert.deepEqual([(await lenses(log.uri)).length, await lenses(chat.uri)], [4, []]);
      await set('datasetFiles', undefined);
      await hasCodes(log.uri);
      await check(log.uri);
      assert.ok(codes(log.uri).length > 0);
      await set('codeLens', false);
      await until(async () => (await lenses(log.uri)).length === 0, 'lenses in spite of the setting');
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    } finally {
      await set('datasetFiles', undefined);
      await set('codeLens', undefined);
    }
  });

  it('lose problems when deleted, or when closed unless the user asked for the check', async () => {
    // Created early, because a watcher does not report a file that is created and deleted at once.
    const inWorkspace = vscode.Uri.joinPath(vscode.workspace.workspaceFolders![0]!.uri, 'deleted.jsonl');
    await writeFile(inWorkspace.fsPath, '\n{}\n');

    const { uri } = await opened('closed.jsonl', `\n\n${GOOD}\n`);
    await until(() => problems(uri).length > 0, 'not checked');
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
    await until(() => problems(uri).length === 0, 'still there');

    await check(uri);
    assert.ok(problems(uri).length > 0);
    await vscode.window.showTextDocument(uri);
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
    await sleep(500);
    assert.ok(problems(uri).length > 0);

    await check(inWorkspace);
    assert.ok(problems(inWorkspace).length > 0);
    await rm(inWorkspace.fsPath);
    await until(() => problems(inWorkspace).length === 0, 'still there after it was deleted');
  });

  it('are checked again when another program changes them', async () => {
    const { uri } = await opened('written.jsonl', `${GOOD}\n`);
    await until(async () => (await lenses(uri))[0] === '1 row · chat · no problems', 'not checked');
    await rewriteUntil(uri, `${GOOD}\n\n`, () => codes(uri).join() === 'blank-line');
  });

  it('are checked as saved while the editor has unsaved changes', async () => {
    const document = await opened('dirty.jsonl', `${GOOD}\n`);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(0, 0), 'nonsense\n');
    await vscode.workspace.applyEdit(edit);
    await check(document.uri);
    assert.deepEqual(codes(document.uri), []);
  });

  it('are not checked automatically above the size in the setting', async () => {
    const settings = vscode.workspace.getConfiguration('fineTuning');
    await settings.update('checkAutomaticallyUpToMB', 0, vscode.ConfigurationTarget.Global);
    try {
      const { uri } = await opened('alone.jsonl', '\n{}\n');
      await sleep(500);
      assert.deepEqual([codes(uri), await lenses(uri)], [[], []]);
      // A report that the user asked for stays after the file is opened, until it changes.
      const asked = await written('asked.jsonl', '\n{}\n');
      await check(asked);
      const found = codes(asked);
      assert.ok(found.length > 0);
      await vscode.window.showTextDocument(asked);
      await sleep(500);
      assert.deepEqual(codes(asked), found);
      await rewriteUntil(asked, '\n{}\n\n', () => codes(asked).length === 0);
      assert.equal((await lenses(asked))[0], 'Check Dataset');
    } finally {
      await settings.update('checkAutomaticallyUpToMB', undefined, vscode.ConfigurationTarget.Global);
    }
  });

  it('have commands that do not fail for invalid arguments', async () => {
    for (const argument of [5, null, {}, 'x', vscode.Uri.parse('untitled:x.jsonl'), uriOf('no-such.jsonl')])
      for (const command of ['showDatasetProblems', 'checkDataset'] as const)
        if (argument instanceof vscode.Uri || command === 'showDatasetProblems')
          await vscode.commands.executeCommand(`fineTuning.${command}`, argument);
  });
});
