import { l10n } from 'vscode';
import { foldText, searchWords } from '../../core/base/plainText.ts';
import type { ChargedRun } from '../../core/money/spending.ts';
import type { Session } from '../../core/runs/session.ts';
import type { ChargedReceipt } from '../../core/submission/submission.ts';
import {
  compact,
  formatBytes,
  formatCount,
  formatMoney,
  formatRows,
  formatRuns,
  formatTime,
} from '../shared/format.ts';
import { runStatus, serviceText } from '../shared/runText.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { factLine, TERMS } from '../shared/terms.ts';
import type { SpendButton, SpendColumn, SpendRow, SpendRuns, SpendView } from './protocol.ts';

/** The table of runs: searched, sorted, and as far as shown. */
export function runsSection(
  charged: readonly ChargedRun[],
  session: Session | undefined,
  view: SpendView,
  maxRows: number,
): SpendRuns {
  const { search, sortBy, isDescending } = view;
  const nameOf = (modelId: string) => session?.models.nameOf(modelId) ?? modelId;
  const listed = listedRuns(charged, view, nameOf);
  const shown = listed.slice(0, maxRows);
  const rows = shown.map((run) => rowOf(run, session));
  const [first] = rows;
  // A search neither hides nor shows columns. The first one has the button of the run.
  const isSame = COLUMNS.map(
    (column, at) =>
      at > 0 &&
      charged.length > 1 &&
      new Set(charged.map((run) => KEYS[column](run, nameOf))).size === 1 &&
      rows.every(({ cells }) => cells[at] === first?.cells[at]),
  );
  const differs = (_: unknown, at: number) => isSame[at] !== true;
  const same = COLUMNS.flatMap((column, at) => {
    const cell = first?.cells[at] ?? TERMS.unknown;
    return isSame[at] && cell !== TERMS.unknown ? [factLine(COLUMN_NAMES[column], cell)] : [];
  });
  const counts = [formatCount(shown.length), formatCount(listed.length)] as const;
  return {
    title: l10n.t('Runs'),
    searchWords: l10n.t('Search runs'),
    columns: COLUMNS.filter(differs).map((column) => ({
      column,
      words: COLUMN_NAMES[column],
      sort: column !== sortBy ? 'none' : isDescending ? 'descending' : 'ascending',
    })),
    rows: rows.map((row) => ({ ...row, cells: row.cells.filter(differs) })),
    same: same.length === 0 ? undefined : l10n.t('Same for all runs: {0}', same.join(' · ')),
    count:
      listed.length === 0 && search !== ''
        ? l10n.t('No matching runs')
        : shown.length < listed.length
          ? l10n.t('{0} of {1} runs', ...counts)
          : formatRuns(listed.length),
    more: shown.length < listed.length ? spendButton('showMore', TERMS.loadMore) : undefined,
    note:
      compact(
        shown.some(({ isCurrencyAssumed }) => isCurrencyAssumed) &&
          l10n.t('* Currency assumed from the balance.'),
        shown.some(isCurrencyUnknown) && l10n.t('** Currency unknown.'),
      ).join(' ') || undefined,
  };
}

/** In the order of the table's columns. */
const COLUMN_NAMES: Readonly<Record<SpendColumn, string>> = {
  date: TERMS.submitted,
  price: TERMS.price,
  balance: l10n.t('Balance after'),
  label: TERMS.label,
  status: TERMS.status,
  model: TERMS.model,
  dataset: TERMS.dataset,
  queue: TERMS.queue,
  plan: TERMS.plan,
};
export const COLUMNS = Object.keys(COLUMN_NAMES) as readonly SpendColumn[];

function isCurrencyUnknown({ priceCents, currency }: ChargedRun): boolean {
  return priceCents !== undefined && currency === undefined;
}

function rowOf(run: ChargedRun, session: Session | undefined): SpendRow {
  const { runId, createdAtMs, priceCents, currency, isCurrencyAssumed, label, modelId, plan } = run;
  const { isElsewhere, receipt } = run;
  const unknown = TERMS.unknown;
  const afterCents = receipt?.charge.run.balance_after_cents;
  const mark = isCurrencyAssumed ? '*' : isCurrencyUnknown(run) ? '**' : '';
  const date = createdAtMs === undefined ? TERMS.justNow : formatTime(createdAtMs);
  const cells: Readonly<Record<SpendColumn, string>> = {
    date,
    price: formatMoney(priceCents, currency) + mark,
    label: label === undefined ? '–' : serviceText(label),
    status: statusText(run) ?? unknown,
    model: modelName(modelId, session),
    dataset: receipt ? datasetText(receipt.dataset) : isElsewhere ? l10n.t('submitted elsewhere') : unknown,
    queue: receipt === undefined ? unknown : receipt.priority_processing ? TERMS.priority : TERMS.standard,
    plan: plan === undefined ? unknown : serviceText(plan),
    balance: afterCents === undefined ? unknown : formatMoney(afterCents, currency),
  };
  return {
    key: `run ${runId}`,
    cells: COLUMNS.map((column) => cells[column]),
    iso: createdAtMs === undefined ? undefined : new Date(createdAtMs).toISOString(),
    show: spendButton('showRun', date, { target: runId }),
  };
}

function statusText({ status, phase }: ChargedRun): string | undefined {
  return status === undefined || phase === undefined ? undefined : runStatus(status, phase);
}

/** Allows line breaks only between the facts, not within them. */
function datasetText({ filename, sizeBytes, rows }: ChargedReceipt['dataset']): string {
  const facts = compact(formatBytes(sizeBytes), rows !== undefined && formatRows(rows));
  return [sanitizeServiceText(filename), ...facts.map((one) => one.replaceAll(' ', '\u00a0'))].join(' · ');
}

/** Returns the runs that match the search, in the selected order; runs with an unknown value are last. */
function listedRuns(
  charged: readonly ChargedRun[],
  { search, sortBy, isDescending }: Pick<SpendView, 'search' | 'sortBy' | 'isDescending'>,
  modelName: (modelId: string) => string,
): ChargedRun[] {
  const words = searchWords(search);
  const found = charged.filter((run) => {
    const text = textsOf(run, modelName).map(foldText).join('\n');
    return words.every((word) => text.includes(word));
  });
  const keyed = found.map((run) => ({ run, key: KEYS[sortBy](run, modelName) }));
  const sign = isDescending ? -1 : 1;
  return keyed.sort((one, other) => compare(one.key, other.key, sign)).map(({ run }) => run);
}

function textsOf(run: ChargedRun, modelName: (id: string) => string): string[] {
  const { runId, label, modelId, plan, receipt } = run;
  const { path = '', sha256 = '' } = receipt?.dataset ?? {};
  // The end of a path is more specific than its beginning.
  return [
    runId,
    label ?? '',
    modelId,
    modelName(modelId),
    plan ?? '',
    statusText(run) ?? '',
    path.slice(-400),
    sha256,
  ];
}

type Key = string | number | undefined;

/** The values that the columns sort by. */
const KEYS: Readonly<Record<SpendColumn, (run: ChargedRun, modelName: (id: string) => string) => Key>> = {
  // A run without a time was just submitted.
  date: ({ createdAtMs }) => createdAtMs ?? Infinity,
  price: ({ priceCents }) => priceCents,
  balance: ({ receipt }) => receipt?.charge.run.balance_after_cents,
  label: ({ label }) => label,
  status: statusText,
  model: ({ modelId }, modelName) => modelName(modelId),
  dataset: ({ receipt }) => receipt?.dataset.filename,
  queue: ({ receipt }) => receipt && Number(receipt.priority_processing),
  plan: ({ plan }) => plan,
};

function compare(one: Key, other: Key, sign: number): number {
  if (one === undefined || other === undefined)
    return Number(one === undefined) - Number(other === undefined);
  if (typeof one === 'string') return sign * one.localeCompare(String(other));
  return one === other ? 0 : sign * (one < Number(other) ? -1 : 1);
}

export function modelName(modelId: string, session: Session | undefined): string {
  return serviceText(session?.models.nameOf(modelId) ?? modelId) || TERMS.unknown;
}

export function spendButton(
  action: SpendButton['action'],
  words: string,
  more: Pick<Partial<SpendButton>, 'isDisabled' | 'target'> = {},
): SpendButton {
  return { action, target: '', words, ...more };
}
