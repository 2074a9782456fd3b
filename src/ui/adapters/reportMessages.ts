import * as vscode from 'vscode';
import type { ArchiveFault, VerdictCode } from '../../core/adapters/faults.ts';
import type { AdapterConfig } from '../../core/adapters/peftConfig.ts';
import type { AdapterProblem, ProblemCode } from '../../core/adapters/problems.ts';
import type { AdapterReport, Measurements, WeightsReport } from '../../core/adapters/report.ts';
import { formatBytes, formatCount } from '../shared/format.ts';
import type { AdapterFact, AdapterFiles, AdapterNote, AdapterSection, AdapterVerdict } from './protocol.ts';

const MAX_NAMES = 20;

/** What the headers say of an adapter, and what measuring added to it. */
export function adapterOverview(report: AdapterReport, measurements: Measurements | undefined) {
  const { l10n } = vscode;
  const notes = report.problems.map(problemNote);
  const sections: AdapterSection[] = [
    ...(notes.length > 0 ? [{ title: l10n.t('Problems'), notes }] : []),
    { title: l10n.t('Facts'), facts: adapterFacts(report) },
  ];
  return { verdict: adapterVerdict(report, measurements), sections, files: adapterFiles(report) };
}

/** What the file is, what that means, and what to do next. */
export function adapterVerdict(
  report: AdapterReport,
  measurements: Measurements | undefined,
): AdapterVerdict {
  const { l10n } = vscode;
  const { verdict, config, problems } = report;
  if (verdict.code !== 'adapter') return unreadable(verdict.code, report);
  if (measurements !== undefined && measurements.broken.length > 0)
    return verdictOf(
      'error',
      l10n.t('Adapter with broken values'),
      l10n.t('Its answers are useless. Check the dataset, then train again.'),
    );
  if (problems.some(({ severity }) => severity === 'error'))
    return verdictOf(
      'error',
      problems.some(({ code }) => code === 'not-lora')
        ? l10n.t('Not a LoRA adapter')
        : l10n.t('Adapter with problems'),
      l10n.t('Tools reject it or load it incorrectly.'),
    );
  if (measurements?.hasNoEffect === true)
    return verdictOf(
      'warning',
      l10n.t('Complete LoRA adapter that learned nothing'),
      l10n.t('It has no effect. This is normal in the sandbox.'),
    );
  if (problems.length > 0)
    return verdictOf('warning', l10n.t('LoRA adapter with warnings'), l10n.t('Not every tool loads it.'));
  return verdictOf(
    'clean',
    l10n.t('Complete LoRA adapter'),
    config?.baseModel === undefined
      ? l10n.t('The weights match the config.')
      : l10n.t('The weights match the config. It only works with {0}.', config.baseModel),
  );
}

function verdictOf(kind: AdapterVerdict['kind'], title: string, ...sentences: string[]): AdapterVerdict {
  return { kind, title, sentences };
}

function unreadable(code: Exclude<VerdictCode, 'adapter'>, { verdict }: AdapterReport): AdapterVerdict {
  const { l10n } = vscode;
  const { fault, entry } = verdict;
  const again = l10n.t('Download it again.');
  const detail = [
    ...(fault === undefined ? [] : [faultText(fault)]),
    ...(entry === undefined ? [] : [l10n.t('Entry: {0}', entry)]),
  ];
  switch (code) {
    case 'not-an-archive':
      return verdictOf('error', l10n.t('Neither an archive nor safetensors'), again);
    case 'empty':
      return verdictOf('error', l10n.t('Empty'), again);
    case 'broken':
      return verdictOf('error', l10n.t('Damaged'), ...detail, again);
    case 'unsafe':
      return verdictOf('error', l10n.t('Not safe to unpack'), ...detail, l10n.t('Nothing was unpacked.'));
    case 'unsupported':
      return verdictOf(
        'error',
        l10n.t('Unsupported archive'),
        ...detail,
        l10n.t('Unpack it yourself, then inspect the folder.'),
      );
    case 'no-adapter':
      return verdictOf('error', l10n.t('No adapter found'), l10n.t('It has no safetensors weights.'));
    case 'full-model':
      return verdictOf('warning', l10n.t('A full model, not an adapter'));
    case 'pickle-only':
      return verdictOf(
        'warning',
        l10n.t('Only pickle weights'),
        l10n.t('Loading them can run code, so they were not opened.'),
      );
    case 'too-big':
      return verdictOf('error', l10n.t('Too large to inspect'), ...detail);
    case 'unreadable':
      return verdictOf('error', l10n.t('Can’t be read'), l10n.t('Check its permissions and the disk.'));
  }
}

/** What is wrong with an archive. */
export function faultText(fault: ArchiveFault): string {
  const { l10n } = vscode;
  switch (fault) {
    case 'truncated':
      return l10n.t('It is cut off.');
    case 'zip':
    case 'gzip':
    case 'tar':
    case 'safetensors':
      return l10n.t('Its {0} structure is damaged.', fault);
    case 'checksum':
      return l10n.t('A checksum doesn’t match.');
    case 'length':
      return l10n.t('A length doesn’t match.');
    case 'path':
      return l10n.t('It would write files outside its folder.');
    case 'name':
      return l10n.t('It contains invalid file names.');
    case 'link':
      return l10n.t('It contains links or special files.');
    case 'duplicate':
      return l10n.t('Two of its files have the same name.');
    case 'bomb':
      return l10n.t('It may be a zip bomb.');
    case 'encrypted':
      return l10n.t('It is encrypted.');
    case 'method':
      return l10n.t('It uses an unsupported format.');
    case 'too-large':
      return l10n.t('It is larger than any adapter.');
  }
}

/** A problem as a note of the page. */
export function problemNote(problem: AdapterProblem): AdapterNote {
  const { code, severity, count, examples } = problem;
  const rest = count - examples.length;
  return {
    severity,
    text: problemSentences(problem)[code],
    examples,
    more: rest > 0 && examples.length > 0 ? vscode.l10n.t('and {0} more', formatCount(rest)) : undefined,
  };
}

/** What is wrong. A colon leads to the examples. */
function problemSentences({ expected, actual }: AdapterProblem): Readonly<Record<ProblemCode, string>> {
  const { l10n } = vscode;
  const [wanted = '', found = ''] = [expected, actual].map((value) =>
    value?.toLocaleString(vscode.env.language),
  );
  return {
    'config-missing': l10n.t('adapter_config.json is missing.'),
    'config-not-json': l10n.t('adapter_config.json is not valid JSON.'),
    'config-wrong-type': l10n.t('Config values of the wrong type:'),
    'config-incomplete': l10n.t('Missing in the config:'),
    'not-lora': l10n.t('This is a {0} adapter, which only PEFT may load.', found),
    'base-model-is-path': l10n.t('The base model is a path: {0}. Use your own copy.', found),
    'base-changed': l10n.t('Training may have changed the base model (init_lora_weights: {0}).', found),
    'partner-missing': l10n.t('Modules without a matching A and B:'),
    'prefix-missing': l10n.t('PEFT ignores tensors whose names don’t start with “base_model.model.”:'),
    'tensor-unexpected': l10n.t('Tensors that aren’t part of LoRA:'),
    'dtype-unusual': l10n.t('Few tools load these tensor types:'),
    'rank-mismatch': l10n.t('The config says rank {0}, the weights have {1}:', wanted, found),
    'module-not-targeted': l10n.t('PEFT ignores modules that aren’t target modules:'),
    'module-without-weights': l10n.t('Target modules without weights:'),
    'saved-module-mismatch': l10n.t('Fully saved modules that config and weights disagree on:'),
    'config-mismatch': l10n.t('The weights contradict the config:'),
    'several-adapters': l10n.t('Not read, beside the adapter:'),
    'weights-name': l10n.t('Tools only find weights named adapter_model.safetensors:'),
    'pickle-present': l10n.t('Pickle files can run code, so they were not opened:'),
  };
}

function adapterFacts({ file, container, sizeBytes, config, weights }: AdapterReport): AdapterFact[] {
  const { l10n } = vscode;
  const fact = (name: string, value: string | undefined, hasCopy = false): AdapterFact[] =>
    value === undefined || value === '' ? [] : [{ name, value, ...(hasCopy ? { hasCopy } : {}) }];
  const dtypes = weights?.dtypes ?? [];
  return [
    ...fact(l10n.t('Base model'), config?.baseModel, true),
    ...fact(l10n.t('Type'), config && typeText(config)),
    ...fact(
      l10n.t('Rank'),
      weights && weights.maxRank > 0 ? rangeText(weights.minRank, weights.maxRank) : config?.rank?.toString(),
    ),
    ...fact(l10n.t('Alpha'), config?.alpha?.toLocaleString(vscode.env.language)),
    ...fact(l10n.t('Scaling'), weights && scalesText(weights)),
    ...fact(l10n.t('Fully saved modules'), weights && listText(weights.savedModules)),
    ...fact(
      l10n.t('Adapted modules'),
      weights && `${formatCount(weights.pairs.length)} (${listText(weights.modules)})`,
    ),
    ...fact(l10n.t('Layers'), weights && layersText(weights.layers)),
    ...fact(l10n.t('Parameters'), weights && formatCount(weights.parameters)),
    ...fact(
      l10n.t('Tensor types'),
      dtypes.length > 1
        ? dtypes.map(({ dtype, tensors }) => `${dtype} (${formatCount(tensors)})`).join(', ')
        : dtypes[0]?.dtype,
    ),
    ...fact(l10n.t('Size'), formatBytes(sizeBytes)),
    ...fact(l10n.t('Format'), container === 'folder' ? l10n.t('folder') : container),
    ...fact(l10n.t('Path'), file, true),
  ];
}

function typeText({ peftType, taskType, useDora, useRslora, isAlora }: AdapterConfig): string {
  const flags = [useRslora && 'rsLoRA', useDora && 'DoRA', isAlora && 'aLoRA', taskType];
  const type = peftType === 'LORA' ? 'LoRA' : (peftType ?? vscode.l10n.t('unknown'));
  return [type, ...flags.filter(Boolean)].join(', ');
}

function scalesText({ pairs }: WeightsReport): string | undefined {
  const scales = pairs.map(({ scale }) => scale).filter((scale) => scale !== undefined);
  if (scales.length === 0) return undefined;
  const [least, most] = [scales.reduce((a, b) => Math.min(a, b)), scales.reduce((a, b) => Math.max(a, b))];
  return rangeText(formatNorm(least), formatNorm(most));
}

export function rangeText(first: string | number, last: string | number): string {
  return first === last ? String(first) : vscode.l10n.t('{0} to {1}', first, last);
}

function listText(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).join(', ');
  const rest = names.length - MAX_NAMES;
  return rest <= 0 ? shown : vscode.l10n.t('{0} and {1} more', shown, formatCount(rest));
}

/** `32: 0 to 31`, or the numbers where there are gaps. */
function layersText(layers: readonly number[]): string | undefined {
  const [first, last] = [layers[0], layers.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const isRange = last - first + 1 === layers.length;
  const shown = isRange ? rangeText(first, last) : listText(layers.map(String));
  return `${formatCount(layers.length)}: ${shown}`;
}

/** A norm or a scale with three digits. */
export function formatNorm(value: number): string {
  if (value !== 0 && (Math.abs(value) < 0.001 || Math.abs(value) >= 1e6)) return value.toExponential(2);
  return value.toLocaleString(vscode.env.language, { maximumSignificantDigits: 3 });
}

/** The files of an archive or a folder. */
function adapterFiles({ container, entries, entryCount }: AdapterReport): AdapterFiles | undefined {
  const { l10n } = vscode;
  if (entries.length === 0 || container === 'safetensors') return undefined;
  const notes = {
    config: l10n.t('config'),
    weights: l10n.t('weights'),
    pickle: l10n.t('pickle, not opened'),
    other: undefined,
  };
  const rest = entryCount - entries.length;
  return {
    title: l10n.t('Files'),
    nameHeader: l10n.t('Name'),
    sizeHeader: l10n.t('Size'),
    rows: entries.map(({ name, sizeBytes, kind }) => ({
      name,
      size: formatBytes(sizeBytes),
      note: notes[kind],
    })),
    more: rest > 0 ? l10n.t('and {0} more', formatCount(rest)) : undefined,
  };
}
