import type * as vscode from 'vscode';
import type { Event } from '../../core/base/event.ts';

/** Rows that a feature shows above the runs in the Runs view. */
export interface RunsSection {
  /** Fires with the ID of a row that changed, or with undefined when rows were added or removed. */
  readonly onDidChange: Event<string | undefined>;
  /** In the order of the rows. */
  readonly rowIds: readonly string[];
  /** The rows whose text changes every second, without an event. */
  readonly tickingIds: readonly string[];
  item(id: string): vscode.TreeItem;
}
