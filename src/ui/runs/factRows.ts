import * as vscode from 'vscode';
import { asText, explain } from '../shared/serviceErrors.ts';
import { runFacts, treeWords, type Fact } from './messages.ts';
import type { Session } from '../../core/runs/session.ts';
import type { RunsNode } from './runsNodes.ts';

/** The rows below a run: its details, which are read unless they are known, or why they could not be. Never rejects. */
export async function factRows({ runs, models, balance }: Session, runId: string): Promise<RunsNode[]> {
  try {
    const held = runs.detail(runId);
    // What was read stays worth showing where reading it once more failed.
    const failure = held === undefined ? runs.detailFailure(runId) : undefined;
    if (failure !== undefined) return [failureFact(runId, failure)];
    const detail = held ?? (await runs.loadDetail(runId));
    const facts = runFacts(detail, models.nameOf(detail.model_id), balance.current?.currency);
    return facts.map((fact) => ({ kind: 'fact', runId, fact }));
  } catch (error) {
    return [failureFact(runId, error)];
  }
}

function failureFact(runId: string, error: unknown): RunsNode {
  const name = treeWords.detailsFailed(asText(explain(error)));
  return { kind: 'fact', runId, fact: { icon: 'warning', name, value: '' } };
}

export function factItem(runId: string, fact: Fact): vscode.TreeItem {
  const item = new vscode.TreeItem(fact.name);
  item.id = `fact:${runId}:${fact.name}`;
  item.description = fact.value;
  item.tooltip = fact.value === '' ? fact.name : `${fact.name}: ${fact.value}`;
  item.iconPath = new vscode.ThemeIcon(fact.icon);
  item.contextValue = 'fact';
  return item;
}
