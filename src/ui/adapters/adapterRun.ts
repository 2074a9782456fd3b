import type { SystemMessage } from '../../core/adapters/recipes.ts';
import { holdOutBeside } from '../../core/answers/filesBeside.ts';
import { isStill } from '../../core/base/fileStamp.ts';
import { CheckError } from '../../core/datasets/report.ts';
import { RowFile } from '../../core/datasets/rowFile.ts';
import { userLabel } from '../../core/runs/marker.ts';
import type { Session } from '../../core/runs/session.ts';
import { receiptOf } from '../../core/submission/receipts.ts';
import type { Receipt } from '../../core/submission/submission.ts';
import type { Services } from '../../services.ts';
import { compact, formatDay } from '../shared/format.ts';
import { serviceText } from '../shared/runText.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';

/** A longer row isn't read for its system message. */
const ROW_BYTES = 256 * 1024;

/** What this machine knows of the run that trained an adapter. */
export interface AdapterRun {
  /** Its ID. */
  id: string;
  /** Its name, dataset, day and model, to be shown. */
  origin: string;
  /** The file of rows that were held out, if it is beside the dataset. */
  holdOut: string | undefined;
  /** Reads its dataset for its system message. @throws CancelledError */
  system: (signal: AbortSignal) => Promise<SystemMessage | undefined>;
}

/** Returns what is known of an adapter's run if this machine submitted it and downloaded the adapter. */
export async function adapterRun(
  {
    accounts,
    downloads,
    journal,
    openJournal,
    readings,
    sessions,
  }: Pick<Services, 'accounts' | 'downloads' | 'journal' | 'openJournal' | 'readings' | 'sessions'>,
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
        origin: originOf(receipt, sessions.find(id)),
        holdOut: await holdOutBeside(receipt.dataset.path),
        system: (signal) => systemMessageOf(receipt, readings, signal),
      };
  }
  return undefined;
}

/** A run without a label has only its model. */
function originOf({ created, dataset, label, model_id }: Receipt, session: Session | undefined): string {
  const name = userLabel(label);
  return compact(
    name && serviceText(name),
    sanitizeServiceText(dataset.filename),
    formatDay(created.localMs),
    serviceText(session?.models.nameOf(model_id) ?? model_id),
  ).join(' · ');
}

/** @throws CancelledError */
async function systemMessageOf(
  { dataset }: Pick<Receipt, 'dataset'>,
  readings: Services['readings'],
  signal: AbortSignal,
): Promise<SystemMessage | undefined> {
  if (!(await isStill(dataset.path, dataset))) return 'unknown';
  try {
    const { system } = await (await readings()).currentReport(dataset.path, signal);
    const { main, conversations } = system;
    if (main === undefined || 2 * main.rows <= conversations) return undefined;
    const text = await RowFile.readText(dataset, [main.row, 'system', ROW_BYTES], signal);
    return { text: text ?? '' };
  } catch (error) {
    // It changed or went meanwhile.
    if (error instanceof CheckError) return 'unknown';
    throw error;
  }
}
