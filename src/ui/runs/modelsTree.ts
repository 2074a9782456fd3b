import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import type { Model } from '../../core/api/types.ts';
import { VIEWS } from '../shared/ids.ts';
import { treeWords } from './messages.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { followActive } from '../shared/activeSession.ts';

/** A row of the Models view. Commands take the `model` rows as their argument. */
export type ModelsNode =
  { kind: 'provider'; provider: string; models: readonly Model[] } | { kind: 'model'; model: Model };

/** Shows the base models of the active account by provider, with what is not available marked. */
export class ModelsTree implements vscode.TreeDataProvider<ModelsNode>, Disposable {
  readonly #sessions: Sessions;
  readonly #view: vscode.TreeView<ModelsNode>;
  readonly #subscription: Disposable;
  readonly #onDidChange = new vscode.EventEmitter<undefined>();

  readonly onDidChangeTreeData = this.#onDidChange.event;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
    this.#view = vscode.window.createTreeView(VIEWS.models, { treeDataProvider: this });
    this.#subscription = followActive(sessions, (session) => {
      this.#draw();
      return session === undefined
        ? []
        : [session.models.onDidChange(() => this.#draw()), session.onDidChangeState(() => this.#draw())];
    });
  }

  getChildren(node?: ModelsNode): ModelsNode[] {
    if (node?.kind === 'model') return [];
    if (node?.kind === 'provider') return node.models.map((model) => ({ kind: 'model', model }));
    const session = this.#sessions.active;
    if (session === undefined || session.isLocked) return [];
    const providers = Map.groupBy(session.models.models ?? [], (model) => model.provider);
    return [...providers]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([provider, models]) => ({ kind: 'provider', provider, models }));
  }

  getTreeItem(node: ModelsNode): vscode.TreeItem {
    return node.kind === 'provider' ? providerItem(node.provider, node.models.length) : modelItem(node.model);
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#view.dispose();
    this.#onDidChange.dispose();
  }

  #draw(): void {
    const skipped = this.#sessions.active?.models.skipped ?? 0;
    this.#view.message = skipped > 0 ? treeWords.skipped(skipped) : '';
    this.#onDidChange.fire(undefined);
  }
}

function providerItem(provider: string, count: number): vscode.TreeItem {
  const name = sanitizeServiceText(provider) || treeWords.unknownProvider();
  const item = new vscode.TreeItem(name, vscode.TreeItemCollapsibleState.Expanded);
  item.id = `provider:${provider}`;
  item.iconPath = new vscode.ThemeIcon('organization');
  item.accessibilityInformation = { label: treeWords.provider(name, count) };
  return item;
}

function modelItem(model: Model): vscode.TreeItem {
  const item = new vscode.TreeItem(sanitizeServiceText(model.name));
  item.id = `model:${model.model_id}`;
  item.description = model.available ? '' : treeWords.unavailable();
  item.tooltip = treeWords.modelTooltip(
    sanitizeServiceText(model.name),
    sanitizeServiceText(model.model_id),
    model.available,
  );
  item.iconPath = model.available
    ? new vscode.ThemeIcon('symbol-misc')
    : new vscode.ThemeIcon('circle-slash', new vscode.ThemeColor('disabledForeground'));
  const parts = ['model', model.available ? 'available' : 'unavailable'];
  if (model.terms_url !== undefined) parts.push('terms');
  if (model.use_policy_url !== undefined) parts.push('policy');
  item.contextValue = parts.join('.');
  return item;
}
