import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { isSystemError } from '../base/diskError.ts';
import {
  baseOf,
  chooseAdapter,
  readContents,
  type FormingFiles,
  type Contents,
  type Weights,
} from './archive/contents.ts';
import { openArchive } from './archive/openArchive.ts';
import { checkConfig, findMisfits, isLora } from './fit.ts';
import { readConfig, type AdapterConfig } from './peftConfig.ts';
import {
  BrokenArchiveError,
  NotAnAdapterError,
  type InspectionVerdict,
  printable,
  Problems,
} from './problems.ts';
import type { AdapterEntry, AdapterReport } from './report.ts';
import { WEIGHTS_NAME } from './safetensors.ts';
import { otherFormatOf, withPeftNames } from './tensorNames.ts';
import { tensorRoleOf, pairsOf, sortTensors, weightsReport, type ModuleTensors } from './tensors.ts';

const MAX_ENTRIES = 200;
const KINDS: readonly AdapterEntry['kind'][] = ['config', 'weights', 'pickle', 'archive', 'other'];

/** A report, and the data needed for measuring. */
export interface Inspection {
  report: AdapterReport;
  /** Undefined if there is no adapter. `pairs` are in the order of `WeightsReport.pairs`. */
  weights?: { name: string; header: Weights; pairs: readonly ModuleTensors[] };
}

/** Inspects an archive, a safetensors file, or a folder. The verdict says if it is broken, unsafe, or no adapter. */
export async function inspectionReport(file: string): Promise<AdapterReport> {
  return (await inspect(file)).report;
}

export async function inspect(file: string): Promise<Inspection> {
  const none = { entries: [], entryCount: 0, root: '', problems: [] };
  let report: AdapterReport = { file, verdict: { code: 'no-adapter' }, sizeBytes: 0, ...none };
  try {
    report.sizeBytes = (await stat(file)).size;
    const archive = await openArchive(file);
    try {
      report = { ...report, container: archive.container, sizeBytes: archive.sizeBytes };
      return inspectContents(report, await readContents(archive));
    } finally {
      await archive.close();
    }
  } catch (error) {
    return { report: { ...report, verdict: verdictFor(error) } };
  }
}

function verdictFor(error: unknown): InspectionVerdict {
  if (error instanceof NotAnAdapterError) return error.verdict;
  if (isSystemError(error)) return { code: 'unreadable' };
  throw error;
}

function inspectContents(empty: AdapterReport, contents: Contents): Inspection {
  const problems = new Problems();
  if (contents.hasExtraBytes) problems.add('extra-bytes', 'warning');
  const choice = chooseAdapter(contents);
  const configText = contents.configs.get(choice?.config ?? '');
  const config = configText === undefined ? undefined : readConfig(configText, problems);
  if (choice?.config !== undefined && configText === undefined)
    problems.add('config-too-large', 'error', choice.config);
  const root = choice?.root ?? '';
  const own = contents.entries.filter(({ name }) => root === '' || name.startsWith(`${root}/`));
  const base: AdapterReport = {
    ...empty,
    ...(empty.container === 'folder' && { sizeBytes: own.reduce((sum, one) => sum + one.sizeBytes, 0) }),
    entries: shownEntries(contents.entries),
    entryCount: contents.entries.length,
    root,
    ...(config && { config }),
    ...(choice?.checkpoints.length && {
      checkpoints: choice.checkpoints.map(printable),
      isCheckpoint: choice.isCheckpoint,
    }),
  };
  const name = choice?.weights;
  const header = name === undefined ? undefined : contents.weights.get(name);
  if (header instanceof BrokenArchiveError) throw header;
  const sample = createHash('sha256')
    .update(JSON.stringify([configText, header?.sample]))
    .digest('hex');
  const emptyTensors = header?.tensors.filter(({ parameters }) => parameters === 0);
  if (header?.tensors.length === 0) problems.add('weights-empty', 'error');
  for (const one of emptyTensors ?? []) problems.add('weights-empty', 'error', one.name);
  if (emptyTensors !== undefined && emptyTensors.length === header?.tensors.length)
    return { report: { ...base, verdict: { code: 'adapter' }, sample, problems: problems.list() } };
  const writer = otherFormat(config, header, own);
  if (writer !== undefined)
    return { report: { ...base, verdict: { code: 'other-format', detail: writer }, sample } };
  if (choice === undefined || name === undefined || header === undefined) {
    const verdict = verdictWithoutWeights(contents.entries, empty.container);
    return { report: { ...base, verdict, problems: problems.list() } };
  }
  if (choice.config === undefined) problems.add('config-missing', 'error');
  else if (config !== undefined) checkConfig(config, problems);
  checkFiles(choice, contents.entries, problems);
  return inspectWeights({ ...base, sample }, { name, header }, problems);
}

/** MLX may store its weights as NumPy, and its config may stay beside weights that were converted. */
function otherFormat(
  config: AdapterConfig | undefined,
  header: Weights | undefined,
  entries: readonly AdapterEntry[],
): string | undefined {
  const isPeft = header?.tensors.some(({ name }) => tensorRoleOf(name) !== undefined);
  const isNumpy = header === undefined && entries.some(({ name }) => baseOf(name) === 'adapters.npz');
  if (isNumpy || (config?.isMlx && !isPeft)) return 'MLX';
  return header && otherFormatOf(header.tensors);
}

function inspectWeights(
  base: AdapterReport,
  { name, header }: { name: string; header: Weights },
  problems: Problems,
): Inspection {
  const { config } = base;
  const isOther = config !== undefined && !isLora(config);
  const { tensors = header.tensors, renames } = isOther ? {} : withPeftNames(header.tensors, problems);
  const sorted = sortTensors(tensors);
  const pairs = pairsOf(sorted, config);
  if (pairs.length === 0 && sorted.saved.size === 0 && !isOther) {
    // A full model is recognized by tensor names that an adapter doesn't use.
    const isModel = tensors.some(
      (one) => tensorRoleOf(one.name) === undefined && one.name.endsWith('.weight'),
    );
    const verdict: InspectionVerdict = { code: isModel ? 'full-model' : 'no-adapter' };
    return { report: { ...base, verdict, problems: problems.list() } };
  }
  const weights = weightsReport(tensors, sorted, pairs);
  if (!isOther && header.tensors.every(({ parameters }) => parameters > 0))
    findMisfits(sorted, weights, config, problems);
  const report: AdapterReport = {
    ...base,
    verdict: { code: 'adapter' },
    isFromSandbox: header.isFromSandbox,
    weights,
    ...(renames !== undefined && { renames }),
    problems: problems.list(),
  };
  return { report, weights: { name, header: { ...header, tensors }, pairs: sorted.pairs } };
}

function checkFiles(choice: FormingFiles, entries: readonly AdapterEntry[], problems: Problems): void {
  // Without a config, the weights may have a name that tools don't look for.
  const { config, weights = '' } = choice;
  if (config !== undefined && baseOf(weights) !== WEIGHTS_NAME)
    problems.add('weights-name', 'error', weights);
  for (const name of choice.otherWeights) problems.add('several-weights', 'warning', name);
  for (const { kind, name } of entries)
    if (kind === 'pickle') problems.add('pickle-present', 'warning', name);
}

function verdictWithoutWeights(
  entries: readonly AdapterEntry[],
  container: AdapterReport['container'],
): InspectionVerdict {
  // A folder may have its files further inside.
  if (entries.length === 0 && container !== 'folder') return { code: 'empty' };
  const pickle = entries.find(({ kind }) => kind === 'pickle');
  if (pickle === undefined) return { code: 'no-adapter' };
  return { code: 'pickle-only', entry: printable(pickle.name) };
}

function shownEntries(entries: readonly AdapterEntry[]): AdapterEntry[] {
  return entries
    .toSorted((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind))
    .slice(0, MAX_ENTRIES)
    .map((entry) => ({ ...entry, name: printable(entry.name) }));
}
