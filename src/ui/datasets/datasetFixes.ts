import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import type { Preset } from '../../core/datasets/copyTypes.ts';
import {
  deleteRow,
  editorLines,
  isRepairable,
  isRowOrComment,
  removeBlankRow,
  removeBlankRows,
  removeBom,
  removeDuplicateRows,
  removeRowBoms,
  repaired,
  repairRow,
  repairRows,
  type LineEdit,
  type RepairableCode,
} from '../../core/datasets/fixes.ts';
import { isShownAsOne, isUntrainableCode, type ProblemCode } from '../../core/datasets/report.ts';
import type { Reports } from '../../core/datasets/reports.ts';
import { COMMANDS, EXTENSION_NAME, type CommandId } from '../shared/ids.ts';
import { TERMS } from '../shared/terms.ts';

const { QuickFix } = vscode.CodeActionKind;

/** Its edit is computed from the text at the time it is resolved, so no outdated report matters. */
class Fix extends vscode.CodeAction {
  readonly document: vscode.TextDocument;
  readonly makeEdit: (lines: readonly string[]) => LineEdit | undefined;

  constructor(title: string, document: vscode.TextDocument, makeEdit: Fix['makeEdit'], isPreferred = false) {
    super(title, QuickFix);
    this.document = document;
    this.makeEdit = makeEdit;
    this.isPreferred = isPreferred;
  }
}

/** Offers fixes that are always correct: edits that can be undone, or a changed copy of the file. */
export function offerFixes(reports: Reports): Disposable {
  const provider: vscode.CodeActionProvider = {
    provideCodeActions(document, _range, { diagnostics }) {
      const report = reports.get(document.uri.fsPath)?.report;
      return diagnostics
        .filter(({ source }) => source === EXTENSION_NAME)
        .flatMap((diagnostic) => {
          const group = report?.problems.find(({ code }) => code === diagnostic.code);
          const actions = actionsFor(document, diagnostic, group?.total === 1);
          if (report !== undefined && group !== undefined && isShownAsOne(group, report))
            actions.push(showAll(document, group.code));
          for (const action of actions) action.diagnostics = [diagnostic];
          return actions;
        });
    },
    resolveCodeAction(action) {
      if (!(action instanceof Fix)) return action;
      const { document, makeEdit } = action;
      action.edit = new vscode.WorkspaceEdit();
      const edit = makeEdit(editorLines(document.getText()));
      if (edit === undefined) return action;
      const range = new vscode.Range(edit.startLine, 0, edit.endLine, edit.endCharacter);
      action.edit.replace(document.uri, range, edit.text);
      return action;
    },
  };
  return vscode.languages.registerCodeActionsProvider({ scheme: 'file' }, provider, {
    providedCodeActionKinds: [QuickFix],
  });
}

/** @param isOnly whether the file has this problem only once */
function actionsFor(
  document: vscode.TextDocument,
  { code, range }: vscode.Diagnostic,
  isOnly: boolean,
): vscode.CodeAction[] {
  const { line, character } = range.start;
  switch (code) {
    case 'blank-line':
      return [
        new Fix(vscode.l10n.t('Remove blank line'), document, (lines) => removeBlankRow(lines, line), true),
        ...(isOnly ? [] : [new Fix(vscode.l10n.t('Remove all blank lines'), document, removeBlankRows)]),
      ];
    case 'bom-inside':
      return [
        new Fix(
          vscode.l10n.t('Remove byte order mark'),
          document,
          (lines) => removeBom(lines, line, character),
          true,
        ),
        ...(character === 0 && !isOnly
          ? [new Fix(vscode.l10n.t('Remove byte order marks from rows'), document, removeRowBoms)]
          : []),
      ];
    case 'duplicate-row':
      return [new Fix(vscode.l10n.t('Remove duplicate rows'), document, removeDuplicateRows)];
    case 'crlf':
    case 'cr-only': // The editor has changed them to CRLF.
      return document.eol === vscode.EndOfLine.CRLF ? [lineFeeds(document)] : [];
    // The editor hides these bytes, so no document edit can remove them.
    case 'bom-at-start':
      return copy(
        document,
        vscode.l10n.t('Save copy without byte order mark'),
        COMMANDS.prepareDataset,
        undefined,
        'clean' satisfies Preset,
      );
    case 'json-array':
    case 'pretty-json':
    case 'csv':
    case 'utf-16':
    case 'requests':
    case 'other-form':
    case 'invalid-utf8':
      return copy(document, TERMS.convertToJsonl, COMMANDS.convertToJsonl);
    default:
      if (isRepairable(code)) return repairs(document, line, code, isOnly);
      return isUntrainableCode(code) || code === 'unexpected-character' ? deletion(document, line) : [];
  }
}

/** Titles of the fixes of one row, and of all. */
const REPAIRS: Readonly<Record<RepairableCode, readonly [one: string, all: string]>> = {
  'trailing-comma': [vscode.l10n.t('Remove trailing comma'), vscode.l10n.t('Remove all trailing commas')],
  'comma-after-object': [vscode.l10n.t('Remove comma'), vscode.l10n.t('Remove all commas after objects')],
  'control-character': [
    vscode.l10n.t('Escape control character'),
    vscode.l10n.t('Escape all control characters'),
  ],
  'single-quote': [vscode.l10n.t('Use double quotes'), vscode.l10n.t('Use double quotes in all rows')],
  'typographic-quotes': [
    vscode.l10n.t('Use straight quotes'),
    vscode.l10n.t('Use straight quotes in all rows'),
  ],
};

/** Offers to repair a row, and all rows with the same problem, if that makes the row correct. */
function repairs(document: vscode.TextDocument, line: number, code: RepairableCode, isOnly: boolean): Fix[] {
  if (line >= document.lineCount || repaired(document.lineAt(line).text, code) === undefined) return [];
  const [one, all] = REPAIRS[code];
  return [
    new Fix(one, document, (lines) => repairRow(lines, line, code), true),
    ...(isOnly ? [] : [new Fix(all, document, (lines) => repairRows(lines, code))]),
  ];
}

/** Offers to delete a row that can't be trained on. In an unsaved document, that line may be another row. */
function deletion(document: vscode.TextDocument, line: number): Fix[] {
  if (document.isDirty || line >= document.lineCount) return [];
  const { text } = document.lineAt(line);
  if (!isRowOrComment(text)) return [];
  return [new Fix(vscode.l10n.t('Delete row'), document, (lines) => deleteRow(lines, line, text))];
}

function lineFeeds(document: vscode.TextDocument): vscode.CodeAction {
  const action = new vscode.CodeAction(vscode.l10n.t('Change all line endings to LF'), QuickFix);
  action.edit = new vscode.WorkspaceEdit();
  action.edit.set(document.uri, [vscode.TextEdit.setEndOfLine(vscode.EndOfLine.LF)]);
  action.isPreferred = true;
  return action;
}

function showAll({ uri }: vscode.TextDocument, problems: ProblemCode): vscode.CodeAction {
  const title = vscode.l10n.t('Show all in preview');
  const action = new vscode.CodeAction(title, QuickFix);
  action.command = { title, command: COMMANDS.previewDataset, arguments: [uri, undefined, { problems }] };
  return action;
}

/** Offers a command that copies the file on disk, and asks to save it first if the editor has changes. */
function copy(
  { uri }: vscode.TextDocument,
  title: string,
  command: CommandId,
  ...more: readonly unknown[]
): vscode.CodeAction[] {
  const action = new vscode.CodeAction(title, QuickFix);
  action.command = { title, command, arguments: [uri, ...more] };
  return [action];
}
