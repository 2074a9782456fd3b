import type { ChargedRun } from '../../core/money/spending.ts';
import { folded } from '../../core/runs/marker.ts';
import type { SpendColumn, SpendView } from './protocol.ts';

/** The runs that a search finds, in the order that the user wants; what is unknown comes last. */
export function listedRuns(
  charged: readonly ChargedRun[],
  { search, sortBy, isDescending }: Pick<SpendView, 'search' | 'sortBy' | 'isDescending'>,
  modelName: (modelId: string) => string,
): ChargedRun[] {
  const wanted = folded(search).trim();
  const found =
    wanted === ''
      ? charged
      : charged.filter((run) => textsOf(run, modelName).some((text) => folded(text).includes(wanted)));
  const keyed = found.map((run) => ({ run, key: keyOf(run, sortBy, modelName) }));
  const sign = isDescending ? -1 : 1;
  return keyed.sort((one, other) => compare(one.key, other.key, sign)).map(({ run }) => run);
}

function textsOf(
  { runId, label, modelId, plan, receipt }: ChargedRun,
  modelName: (id: string) => string,
): string[] {
  const { path = '', sha256 = '' } = receipt?.dataset ?? {};
  // The end of a path says more than its beginning.
  return [runId, label ?? '', modelId, modelName(modelId), plan ?? '', path.slice(-400), sha256];
}

type Key = string | number | undefined;

function keyOf(run: ChargedRun, column: SpendColumn, modelName: (id: string) => string): Key {
  const { receipt } = run;
  switch (column) {
    case 'date':
      // A run without a time was submitted just now.
      return run.createdAtMs ?? Infinity;
    case 'price':
      return run.priceCents;
    case 'label':
      return run.label;
    case 'model':
      return modelName(run.modelId);
    case 'dataset':
      return receipt?.dataset.filename;
    case 'queue':
      return receipt && Number(receipt.priority_processing);
    case 'plan':
      return run.plan;
    case 'balance':
      return receipt?.settled.run.balance_after_cents;
  }
}

function compare(one: Key, other: Key, sign: number): number {
  if (one === undefined || other === undefined)
    return Number(one === undefined) - Number(other === undefined);
  if (typeof one === 'string') return sign * one.localeCompare(String(other));
  return one === other ? 0 : sign * (one < Number(other) ? -1 : 1);
}
