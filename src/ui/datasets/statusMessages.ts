import * as vscode from 'vscode';
import type { Summary } from '../../core/datasets/summary.ts';
import { verdictLine } from './messages.ts';

/** What stands in the language status of a JSONL document. */
export interface DatasetStatusWords {
  name: string;
  text: string;
  detail: string;
  /** What a click does: `show` where there is something to see, else a check. */
  action: string;
}

/** @param isDirty the editor holds what is not on disk, which is what was checked */
export function datasetStatus(
  summary: Summary | undefined,
  isBusy: boolean,
  isDirty: boolean,
): DatasetStatusWords {
  const { l10n } = vscode;
  const name = l10n.t('Dataset Check');
  const detail = isDirty && summary !== undefined ? l10n.t('as saved') : '';
  const check = summary === undefined ? l10n.t('Check Dataset') : l10n.t('Check Again');
  const action = summary === undefined || summary.verdict === 'clean' ? check : l10n.t('Show Problems');
  const text = summary === undefined ? l10n.t('Dataset not checked') : verdictLine(summary);
  return { name, text: isBusy ? l10n.t('Checking the dataset…') : text, detail, action };
}

/** The words above the first line; `verdict` leads to the problems, or checks. */
export function lensWords(
  summary: Summary | undefined,
  isBusy: boolean,
  isDirty: boolean,
): { verdict: string; preview: string; submit: string } {
  const { l10n } = vscode;
  const { text, detail } = datasetStatus(summary, isBusy, isDirty);
  const check = summary === undefined && !isBusy ? l10n.t('Check Dataset') : text;
  return {
    verdict: detail === '' || isBusy ? check : `${check} · ${detail}`,
    preview: l10n.t('Preview'),
    submit: l10n.t('Submit…'),
  };
}
