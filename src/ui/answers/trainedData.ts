import path from 'node:path';
import { l10n } from 'vscode';
import { trainedBeside } from '../../core/answers/filesBeside.ts';
import { isSameStamp, type FileStamp } from '../../core/base/fileStamp.ts';
import { inspectDataset } from '../../core/datasets/fileKind.ts';
import type { Fingerprints, TrainedData } from '../../core/datasets/fingerprints.ts';
import { userLabel } from '../../core/runs/marker.ts';
import { isCharged, runsOf, type ChargedReceipt } from '../../core/submission/submission.ts';
import type { Services } from '../../services.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';

/** The data with which the prompts of a file of answers are compared. */
export interface ComparedData {
  data: TrainedData;
  /** The name of its run, or else of its file, sanitized; several names for several data. */
  name: string;
  /** Whether a run was charged for it: nothing else is called training data. */
  isTraining: boolean;
  /** The name of the run's file, if it has changed since and is compared as it is now. */
  changed: string | undefined;
}

/** Names of a run that was charged on this machine. */
export interface RunNames {
  name: string | undefined;
  label: string | undefined;
}

/** What `trainedData` needs of the services. */
export interface SubmittedData extends Pick<Services, 'openJournal'> {
  journal: Pick<Services['journal'], 'receipts'>;
  fingerprints: Pick<Fingerprints, 'find' | 'has'>;
}

/**
 * Finds the data that was trained on before the answers were given. If they name a run, no other run's data is taken.
 * Otherwise it is that of the newest charge for a file beside them. Without data of a run, it is a copy beside them.
 * @param answers the file, and when it was last written
 * @param runs IDs of the runs that the rows name; several count as unknown
 * @returns `run`: names of their run, if it was charged on this machine
 * @throws errors of the journal
 */
export async function trainedData(
  { fingerprints, journal, openJournal }: SubmittedData,
  answers: Pick<FileStamp, 'mtimeMs'> & { path: string },
  runs: readonly string[],
): Promise<{ run: RunNames; compared: ComparedData | undefined }> {
  await openJournal();
  const receipts = (await journal.receipts()).filter(isCharged);
  const isNamed = ({ charge }: ChargedReceipt) => runsOf(charge).some(({ run_id }) => run_id === runs[0]);
  const named = runs.length === 1 ? receipts.find(isNamed) : undefined;
  const files = trainedBeside(answers.path);
  const beside = receipts.filter(
    ({ created, dataset }) => files.includes(dataset.path) && created.localMs < answers.mtimeMs,
  );
  const run = { name: named && runNameOf(named), label: named && labelOf(named) };
  for (const receipt of named !== undefined ? [named] : runs.length > 0 ? [] : beside) {
    const compared = await submittedData(receipt, fingerprints, receipt === named);
    if (compared !== undefined) return { run, compared };
  }
  return { run, compared: (await fileData(files[0])) ?? (await fileData(files[1])) };
}

/** @param allowsChanged whether to take a file that has changed since */
async function submittedData(
  receipt: ChargedReceipt,
  fingerprints: SubmittedData['fingerprints'],
  allowsChanged: boolean,
): Promise<ComparedData | undefined> {
  const { dataset, id } = receipt;
  const known = { name: runNameOf(receipt), isTraining: true, changed: undefined };
  if (await fingerprints.has(id)) return { ...known, data: { fingerprints: id } };
  const file = await inspectDataset(dataset.path, Infinity);
  if (typeof file === 'string') return undefined;
  if (isSameStamp(dataset, file)) return { ...known, data: { file } };
  return allowsChanged ? { ...known, data: { file }, changed: fileNameOf(file.path) } : undefined;
}

/** Returns a file as data without a known run; undefined if it can't be read. */
export async function fileData(file: string): Promise<ComparedData | undefined> {
  const found = await inspectDataset(file, Infinity);
  if (typeof found === 'string') return undefined;
  return { data: { file: found }, name: fileNameOf(file), isTraining: false, changed: undefined };
}

export function fileNameOf(file: string): string {
  return sanitizeServiceText(path.basename(file));
}

function runNameOf(receipt: ChargedReceipt): string {
  const label = labelOf(receipt);
  return label === undefined
    ? l10n.t('run {0}', sanitizeServiceText(receipt.charge.run.run_id.slice(0, 8)))
    : l10n.t('run “{0}”', label);
}

function labelOf({ label }: ChargedReceipt): string | undefined {
  const chosen = userLabel(label);
  return chosen && sanitizeServiceText(chosen);
}

/** Describes the data of two files of answers; undefined without any. */
export function eitherData([one, other]: readonly ComparedData[]): ComparedData | undefined {
  if (one === undefined || other === undefined || one.name === other.name) return one;
  const name = l10n.t('{0} or {1}', one.name, other.name);
  const isTraining = one.isTraining && other.isTraining;
  return { ...one, name, isTraining, changed: one.changed ?? other.changed };
}
