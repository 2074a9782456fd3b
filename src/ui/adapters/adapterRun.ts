import type { SystemMessage } from '../../core/adapters/recipes.ts';
import { holdOutBeside } from '../../core/answers/filesBeside.ts';
import { isSameStamp, isStill } from '../../core/base/fileStamp.ts';
import { CheckError } from '../../core/datasets/report.ts';
import { RowFile } from '../../core/datasets/rowFile.ts';
import type { Receipt } from '../../core/submission/intent.ts';
import { receiptOf } from '../../core/submission/receipts.ts';
import type { Services } from '../../services.ts';

/** A longer row isn't read for its system message. */
const ROW_BYTES = 256 * 1024;

/** What this machine knows of the run that trained an adapter. */
export interface AdapterRun {
  /** Its ID. */
  id: string;
  /** Rows that were held out of its dataset, if their file lies beside it. */
  holdOut: string | undefined;
  /** Reads its dataset for its system message; checks it before, if this window hasn't. @throws CancelledError */
  system: (signal: AbortSignal) => Promise<SystemMessage | undefined>;
}

/** Returns what is known of an adapter's run, if this machine submitted it and downloaded the adapter. */
export async function adapterRun(
  {
    accounts,
    downloads,
    journal,
    openJournal,
    reports,
  }: Pick<Services, 'accounts' | 'downloads' | 'journal' | 'openJournal' | 'reports'>,
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
        id: record.runId,
        holdOut: await holdOutBeside(receipt.dataset.path),
        system: (signal) => systemMessageOf(receipt, reports, signal),
      };
  }
  return undefined;
}

/** @throws CancelledError */
async function systemMessageOf(
  { dataset }: Pick<Receipt, 'dataset'>,
  reports: Services['reports'],
  signal: AbortSignal,
): Promise<SystemMessage | undefined> {
  if (!(await isStill(dataset.path, dataset))) return 'unknown';
  let file: RowFile | undefined;
  try {
    const { system } = (await (await reports()).currentReport(dataset.path, signal)).content;
    const { main, conversations } = system;
    if (main === undefined || 2 * main.rows <= conversations) return undefined;
    file = await RowFile.open(dataset.path);
    await file.count(signal, () => undefined);
    const text = await file.textOf(main.row, 'system', ROW_BYTES);
    return isSameStamp(dataset, file.stamp) ? { text: text ?? '' } : 'unknown';
  } catch (error) {
    // It changed or went meanwhile.
    if (error instanceof CheckError) return 'unknown';
    throw error;
  } finally {
    file?.dispose();
  }
}
