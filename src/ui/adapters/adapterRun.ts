import { holdOutBeside } from '../../core/answers/filesBeside.ts';
import { receiptOf } from '../../core/submission/receipts.ts';
import type { Services } from '../../services.ts';

/** What this machine knows of the run that trained an adapter. */
export interface AdapterRun {
  /** Rows that were held out of its dataset, if their file lies beside it. */
  holdOut: string | undefined;
  /** Addresses of its model's terms, as the service gave them. */
  termsUrls: readonly string[];
}

/** Returns what is known of an adapter's run, if this machine submitted it and downloaded the adapter. */
export async function adapterRun(
  {
    accounts,
    downloads,
    journal,
    openJournal,
  }: Pick<Services, 'accounts' | 'downloads' | 'journal' | 'openJournal'>,
  file: string,
): Promise<AdapterRun | undefined> {
  for (const { id } of accounts.accounts) {
    await downloads.open(id);
    const record = downloads.records(id).find(({ path }) => path === file);
    if (record === undefined) continue;
    await openJournal();
    const receipt = receiptOf(await journal.receipts(), id, record.runId);
    if (receipt !== undefined)
      return {
        holdOut: await holdOutBeside(receipt.dataset.path),
        termsUrls: receipt.consents.model_terms.urls,
      };
  }
  return undefined;
}
