import * as vscode from 'vscode';
import type { Model } from '../../core/api/types.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import { followActive, type Sessions } from '../../core/runs/sessions.ts';
import { compact } from '../shared/format.ts';
import { VIEWS } from '../shared/ids.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { skippedText } from './linesAboveRows.ts';

/** Shows the base models of the active account by provider, and marks unavailable ones. */
export class ModelsTree implements vscode.TreeDataProvider<ProviderItem | ModelItem>, Disposable {
  readonly #sessions: Sessions;
  readonly #view: vscode.TreeView<ProviderItem | ModelItem>;
  readonly #subscription: Disposable;
  readonly #onDidChange = new vscode.EventEmitter<undefined>();

  readonly onDidChangeTreeData = this.#onDidChange.event;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
    this.#view = vscode.window.createTreeView(VIEWS.models, { treeDataProvider: this });
    this.#subscription = followActive(sessions, (session) => {
      this.#draw();
      return (
        session && [
          session.models.onDidChange(() => this.#draw()),
          session.onDidChangeState(() => this.#draw()),
        ]
      );
    });
  }

  getChildren(row?: ProviderItem | ModelItem): (ProviderItem | ModelItem)[] {
    if (row !== undefined) return row instanceof ProviderItem ? row.models : [];
    const session = this.#sessions.active;
    if (session === undefined || session.isLocked) return [];
    const providers = Map.groupBy(session.models.models ?? [], ({ provider }) => provider);
    return [...providers]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([provider, models]) => new ProviderItem(provider, models));
  }

  getTreeItem(row: ProviderItem | ModelItem): vscode.TreeItem {
    return row;
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#view.dispose();
    this.#onDidChange.dispose();
  }

  #draw(): void {
    const { active } = this.#sessions;
    const skipped = active === undefined || active.isLocked ? 0 : active.models.skipped;
    const message = skipped > 0 ? skippedText(skipped) : '';
    // Update the rows first: VS Code delays all but the first update by 200 ms.
    this.#onDidChange.fire(undefined);
    if ((this.#view.message ?? '') !== message) this.#view.message = message;
  }
}

class ProviderItem extends vscode.TreeItem {
  readonly models: ModelItem[];

  constructor(provider: string, models: readonly Model[]) {
    const name = sanitizeServiceText(provider) || vscode.l10n.t('Provider unknown');
    super(name, vscode.TreeItemCollapsibleState.Expanded);
    this.models = models.map((model) => new ModelItem(model));
    this.id = `provider:${provider}`;
    this.iconPath = new vscode.ThemeIcon('organization');
    const { length } = models;
    this.accessibilityInformation = {
      label:
        length === 1 ? vscode.l10n.t('{0}, 1 model', name) : vscode.l10n.t('{0}, {1} models', name, length),
    };
  }
}

class ModelItem extends vscode.TreeItem {
  /** Read by commands that get the row as their argument. */
  readonly model: Model;

  constructor(model: Model) {
    const { model_id, available, terms_url, use_policy_url } = model;
    const name = sanitizeServiceText(model.name);
    super(name);
    this.model = model;
    this.id = `model:${model_id}`;
    const unavailable = available ? '' : vscode.l10n.t('not available');
    this.description = unavailable;
    const nameAndId = vscode.l10n.t('{0} ({1})', name, sanitizeServiceText(model_id));
    this.tooltip = compact(nameAndId, unavailable).join(', ');
    this.iconPath = available
      ? new vscode.ThemeIcon('symbol-misc')
      : new vscode.ThemeIcon('circle-slash', new vscode.ThemeColor('disabledForeground'));
    const parts = ['model', available ? 'available' : 'unavailable'];
    if (terms_url !== undefined) parts.push('terms');
    if (use_policy_url !== undefined) parts.push('policy');
    this.contextValue = parts.join('.');
  }
}
