import { createHash } from 'node:crypto';
import { Breath } from '../base/breath.ts';
import {
  baseOf,
  chooseAdapter,
  readContents,
  WEIGHTS_NAME,
  type Choice,
  type Contents,
} from './archive/contents.ts';
import { isSystemError } from '../base/diskError.ts';
import { BrokenArchiveError, verdictOf } from './faults.ts';
import { checkConfig, findMisfits } from './fit.ts';
import { isForeign, openArchive, UnknownFileError, type Known } from './archive/openArchive.ts';
import { pairsOf, sortTensors, type Sorted } from './pairs.ts';
import { readConfig } from './peftConfig.ts';
import { Problems } from './problems.ts';
import { printable } from './printable.ts';
import type { AdapterConfig, AdapterEntry, AdapterReport, LoraPair, Verdict } from './report.ts';
import { roleOf } from './tensorName.ts';
import { weightsReport, type WeightsFile } from './weights.ts';

const MAX_ENTRIES_TOLD = 200;
const KINDS: readonly AdapterEntry['kind'][] = ['config', 'weights', 'pickle', 'archive', 'other'];

export interface InspectOptions {
  signal?: AbortSignal | undefined;
}

/** A report, and what a measuring pass needs besides. */
export interface Inspection {
  report: AdapterReport;
  files: readonly WeightsFile[];
  sorted: Sorted;
  pairs: readonly LoraPair[];
}

/**
 * Tells what an adapter is by its config and the headers of its weights: an archive, a safetensors file or a folder. What is
 * none, is broken or unsafe has a verdict.
 * @throws CancelledError
 */
export async function inspectAdapter(file: string, { signal }: InspectOptions = {}): Promise<AdapterReport> {
  return (await inspect(file, signal)).report;
}

/** @throws CancelledError */
export async function inspect(file: string, signal?: AbortSignal): Promise<Inspection> {
  let known: Known = { sizeBytes: 0 };
  try {
    const archive = await openArchive(file, signal, (told) => (known = told));
    try {
      known = { container: archive.container, sizeBytes: archive.sizeBytes };
      return await inspectContents(file, known, await readContents(archive, signal), signal);
    } finally {
      await archive.close();
    }
  } catch (error) {
    return withoutWeights({ ...emptyReport(file, known), verdict: verdictFor(error) });
  }
}

function verdictFor(error: unknown): Verdict {
  if (error instanceof BrokenArchiveError) return verdictOf(error);
  if (error instanceof UnknownFileError)
    return {
      code: error.kind === 'pickle' ? 'pickle-only' : error.kind === 'empty' ? 'empty' : 'not-an-archive',
    };
  if (isForeign(error)) return { code: 'not-an-archive' };
  if (isSystemError(error)) return { code: 'unreadable' };
  throw error;
}

function emptyReport(file: string, known: Known): AdapterReport {
  return {
    file,
    verdict: { code: 'no-adapter' },
    ...known,
    entries: [],
    entryCount: 0,
    root: '',
    problems: [],
  };
}

function withoutWeights(report: AdapterReport): Inspection {
  return { report, files: [], sorted: { parts: [], saved: [], biases: [], unknown: [] }, pairs: [] };
}

async function inspectContents(
  file: string,
  known: Known,
  contents: Contents,
  signal: AbortSignal | undefined,
): Promise<Inspection> {
  const problems = new Problems();
  const choice = chooseAdapter(contents);
  const config = choice && configOf(choice, contents, problems);
  const base: AdapterReport = {
    ...emptyReport(file, known),
    entries: entriesTold(contents.entries),
    entryCount: contents.entries.length,
    root: choice?.root ?? '',
    ...(config === undefined ? {} : { config }),
  };
  if (choice === undefined || choice.weights.length === 0)
    return withoutWeights({
      ...base,
      verdict: verdictWithoutWeights(contents.entries),
      problems: problems.list(),
    });
  tellOthers(choice, contents.entries, problems);
  const files = choice.weights.map((name): WeightsFile => {
    const header = contents.weights.get(name);
    if (header === undefined || header instanceof BrokenArchiveError)
      throw header ?? new BrokenArchiveError('safetensors-header', name);
    return { name, header };
  });
  const breath = new Breath(signal);
  const tensors = files.flatMap(({ header }) => header.tensors);
  const sorted = await sortTensors(tensors, breath);
  const pairs = await pairsOf(sorted, config, breath);
  const foreign = pairs.length === 0 && (config === undefined || isLora(config));
  if (foreign && sorted.saved.length === 0) {
    // Names of a whole model's tensors are not in an adapter's form.
    const isModel = tensors.some(({ name }) => roleOf(name) === undefined && /\.weight$/.test(name));
    const verdict: Verdict = { code: isModel ? 'full-model' : 'no-adapter' };
    return withoutWeights({ ...base, verdict, problems: problems.list() });
  }
  const weights = await weightsReport(files, sorted, pairs, breath);
  if (config === undefined || isLora(config)) await findMisfits(sorted, weights, config, problems, breath);
  const report: AdapterReport = {
    ...base,
    verdict: { code: 'adapter' },
    sample: sampleOf(choice, contents),
    weights,
    problems: problems.list(),
  };
  return { report, files, sorted, pairs };
}

function sampleOf({ config, weights }: Choice, { configs, samples }: Contents): string {
  const parts = [config && configs.get(config), ...weights.map((name) => samples.get(name))];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

function isLora({ peftType }: AdapterConfig): boolean {
  return peftType === undefined || peftType.toUpperCase() === 'LORA';
}

function configOf(choice: Choice, { configs }: Contents, problems: Problems): AdapterConfig | undefined {
  if (choice.config === undefined) {
    problems.add('config-missing', 'error');
    return undefined;
  }
  const text = configs.get(choice.config);
  if (text === undefined) {
    problems.add('config-too-large', 'error', choice.config);
    return undefined;
  }
  const config = readConfig(text, problems);
  if (config !== undefined) checkConfig(config, problems);
  return config;
}

function tellOthers(choice: Choice, entries: readonly AdapterEntry[], problems: Problems): void {
  // Weights alone have no name yet by which a tool would look for them.
  if (choice.config !== undefined)
    for (const name of choice.weights)
      if (baseOf(name) !== WEIGHTS_NAME) problems.add('weights-name', 'error', name);
  for (const name of choice.otherConfigs) problems.add('several-configs', 'info', name);
  for (const name of choice.otherWeights) problems.add('several-weights', 'warning', name);
  for (const { kind, name } of entries) {
    if (kind === 'pickle') problems.add('pickle-present', 'warning', name);
    if (kind === 'archive') problems.add('nested-archive', 'info', name);
  }
}

function verdictWithoutWeights(entries: readonly AdapterEntry[]): Verdict {
  if (entries.length === 0) return { code: 'empty' };
  const pickle = entries.find(({ kind }) => kind === 'pickle');
  if (pickle === undefined) return { code: 'no-adapter' };
  return { code: 'pickle-only', entry: printable(pickle.name) };
}

function entriesTold(entries: readonly AdapterEntry[]): AdapterEntry[] {
  return entries
    .toSorted((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind))
    .slice(0, MAX_ENTRIES_TOLD)
    .map((entry) => ({ ...entry, name: printable(entry.name) }));
}
