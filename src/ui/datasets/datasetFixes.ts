import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import {
  isBlankRow,
  linesOf,
  removeBlankRows,
  removeDuplicateRows,
  removeLine,
  removeRowBoms,
  type LineEdit,
} from '../../core/datasets/fixes.ts';
import { COMMANDS, EXTENSION_NAME, type CommandId } from '../shared/ids.ts';
import { fixMessages } from './messages.ts';

const BOM = '\uFEFF';

/** Its edit is computed when it is chosen, from the text at that moment: it never relies on an outdated report. */
class Fix extends vscode.CodeAction {
  readonly makeEdits: (lines: readonly string[]) => LineEdit[];
  readonly document: vscode.TextDocument;

  constructor(title: string, document: vscode.TextDocument, makeEdits: Fix['makeEdits']) {
    super(title, vscode.CodeActionKind.QuickFix);
    this.document = document;
    this.makeEdits = makeEdits;
  }
}

/** Offers fixes that are always right, as edits that can be undone or in a new file. */
export class DatasetFixes implements vscode.CodeActionProvider, Disposable {
  readonly #registration = vscode.languages.registerCodeActionsProvider({ scheme: 'file' }, this, {
    providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
  });

  dispose(): void {
    this.#registration.dispose();
  }

  provideCodeActions(
    document: vscode.TextDocument,
    _range: vscode.Range,
    { diagnostics }: vscode.CodeActionContext,
  ): vscode.CodeAction[] {
    return diagnostics
      .filter(({ source }) => source === EXTENSION_NAME)
      .flatMap((diagnostic) =>
        actionsFor(document, diagnostic).map((action) => {
          action.diagnostics = [diagnostic];
          return action;
        }),
      );
  }

  resolveCodeAction(action: vscode.CodeAction): vscode.CodeAction {
    if (!(action instanceof Fix)) return action;
    const { document, makeEdits } = action;
    action.edit = new vscode.WorkspaceEdit();
    for (const edit of makeEdits(linesOf(document.getText()))) {
      const range = new vscode.Range(edit.startLine, edit.startCharacter, edit.endLine, edit.endCharacter);
      action.edit.replace(document.uri, range, edit.text);
    }
    return action;
  }
}

function actionsFor(document: vscode.TextDocument, { code, range }: vscode.Diagnostic): vscode.CodeAction[] {
  const { line, character } = range.start;
  switch (code) {
    case 'blank-line':
      return [
        preferred(
          new Fix(fixMessages.removeBlankLine(), document, (lines) =>
            isBlankRow(lines, line) ? removeLine(lines, line) : [],
          ),
        ),
        new Fix(fixMessages.removeBlankLines(), document, removeBlankRows),
      ];
    case 'bom-inside':
      return [
        preferred(
          new Fix(fixMessages.removeBom(), document, (lines) =>
            lines[line]?.[character] === BOM
              ? [
                  {
                    startLine: line,
                    startCharacter: character,
                    endLine: line,
                    endCharacter: character + 1,
                    text: '',
                  },
                ]
              : [],
          ),
        ),
        ...(character === 0 ? [new Fix(fixMessages.removeBoms(), document, removeRowBoms)] : []),
      ];
    case 'duplicate-row':
      return [new Fix(fixMessages.removeDuplicates(), document, removeDuplicateRows)];
    case 'crlf':
      return document.eol === vscode.EndOfLine.CRLF ? [lineFeeds(document)] : [];
    // An editor does not show these bytes, and no edit of a document reaches them.
    case 'bom-at-start':
      return copy(document, fixMessages.withoutBom(), COMMANDS.copyWithoutByteOrderMark);
    case 'json-array':
      return copy(document, fixMessages.convertArray(), COMMANDS.writeArrayAsLines);
    default:
      return [];
  }
}

function preferred(action: vscode.CodeAction): vscode.CodeAction {
  action.isPreferred = true;
  return action;
}

function lineFeeds(document: vscode.TextDocument): vscode.CodeAction {
  const action = new vscode.CodeAction(fixMessages.lineFeeds(), vscode.CodeActionKind.QuickFix);
  action.edit = new vscode.WorkspaceEdit();
  action.edit.set(document.uri, [vscode.TextEdit.setEndOfLine(vscode.EndOfLine.LF)]);
  return preferred(action);
}

/** A new file is made of the one on disk. */
function copy(document: vscode.TextDocument, title: string, command: CommandId): vscode.CodeAction[] {
  if (document.isDirty) return [];
  const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
  action.command = { title, command, arguments: [document.uri] };
  return [action];
}
