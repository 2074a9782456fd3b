import { env, l10n } from 'vscode';
import type {
  AdapterConfig,
  AdapterReport,
  DtypeShare,
  Measurements,
  WeightsReport,
} from '../../core/adapters/report.ts';
import { isVisible } from '../../core/base/plainText.ts';
import { compact, formatBytes, formatCount } from '../shared/format.ts';
import { TERMS } from '../shared/terms.ts';
import { adapterVerdict, moreText, problemNote } from './adapterVerdict.ts';
import type { AdapterFact, AdapterFiles, AdapterNote, AdapterSection, AdapterValues } from './protocol.ts';

const MAX_NAMES = 20;

/** Describes an adapter by its headers and, if measured, its values. */
export function adapterOverview(
  report: AdapterReport,
  measurements: Measurements | undefined,
  isOnDisk: boolean,
) {
  // The verdict already names `not-lora`.
  const problems = report.problems.filter(({ code }) => code !== 'not-lora').map(problemNote);
  const sections = compact<AdapterSection>(
    problems.length > 0 && {
      title: problems.every(({ severity }) => severity === 'info') ? l10n.t('Notes') : TERMS.problems,
      notes: problems,
    },
    { title: l10n.t('Details'), facts: [...checkpointFact(report, isOnDisk), ...adapterFacts(report)] },
  );
  const verdict = adapterVerdict(report, measurements);
  const { root, checkpoints = [], isCheckpoint } = report;
  const number = formatCount(checkpoints.length + 1);
  const sentences = compact(
    isCheckpoint && l10n.t('This is {0}, the newest complete checkpoint of {1}.', root, number),
    ...verdict.sentences,
  );
  return { verdict: { ...verdict, sentences }, sections, files: adapterFiles(report) };
}

/** Offers to measure the weights, or describes what measuring found. @param canMeasure whether to offer it */
export function adapterValues(
  { pairs }: WeightsReport,
  measurements: Measurements | undefined,
  canMeasure: boolean,
): AdapterValues {
  const measure = canMeasure ? l10n.t('Measure') : undefined;
  const notes: AdapterNote[] = [];
  const add = (severity: AdapterNote['severity'], text: string, examples: readonly string[] = []) =>
    notes.push({ severity, text, examples });
  const values = { title: l10n.t('Weights'), notes, measure };
  if (measurements === undefined) {
    add('info', l10n.t('Measuring shows whether the adapter learned anything.'));
    return values;
  }
  const { zeroPairs, values: checked, nans, infinities, nonFinite, hasNoEffect, notMeasured } = measurements;
  if (nans + infinities > 0) {
    const counts = [nans, infinities].map(formatCount);
    add('error', l10n.t('NaN values: {0}, infinite values: {1}. Found in:', ...counts), nonFinite);
  } else if (checked > 0)
    add('info', l10n.t('No NaN or infinite values ({0} checked).', formatCount(checked)));
  if (hasNoEffect) add('warning', l10n.t('Nothing was learned because A or B is all zeros.'));
  else if (zeroPairs > 0) {
    const counts = [zeroPairs, pairs.length].map(formatCount);
    const nothing = l10n.t('{0} of {1} modules learned nothing.', ...counts);
    add('warning', pairs.length === 1 ? l10n.t('The only adapted module learned nothing.') : nothing);
  }
  if (notMeasured.length > 0)
    add('info', l10n.t('These tensor types weren’t measured:'), notMeasured.map(dtypeText));
  return values;
}

function dtypeText({ dtype, tensors }: DtypeShare): string {
  return `${dtype} (${formatCount(tensors)})`;
}

/** @param isOnDisk whether each is a folder that can be opened */
function checkpointFact({ checkpoints = [], isCheckpoint }: AdapterReport, isOnDisk: boolean): AdapterFact[] {
  if (checkpoints.length === 0) return [];
  const more = moreText(checkpoints.length - MAX_NAMES);
  const opens = isOnDisk ? { opens: checkpoints.slice(0, MAX_NAMES), more } : {};
  const name = isCheckpoint === true ? l10n.t('Other checkpoints') : l10n.t('Checkpoints');
  return [{ name, value: listText(checkpoints), ...opens }];
}

function adapterFacts(report: AdapterReport): AdapterFact[] {
  const { file, container, sizeBytes, config, weights } = report;
  const fact = (name: string, value: string | undefined, hasCopy = false): AdapterFact[] =>
    value === undefined || value === ''
      ? []
      : [{ name, value, ...(hasCopy && isVisible(value) ? { hasCopy } : {}) }];
  const targetModules = config?.targetModules;
  // “Adapted modules” says the same, unless the config has other names.
  const adapted = new Set(weights?.modules);
  const isAdapted =
    typeof targetModules === 'object' &&
    targetModules.length === adapted.size &&
    targetModules.every((one) => adapted.has(one));
  const targets = isAdapted ? undefined : targetModules;
  const dtypes = weights?.dtypes ?? [];
  // No version of PEFT loads other adapters.
  const isLoadable =
    report.verdict.code === 'adapter' &&
    report.problems.every(({ severity, code }) => severity !== 'error' || code === 'names-wrapped');
  const needsPeft = isLoadable ? config?.needsPeft : undefined;
  return [
    ...fact(l10n.t('Base model'), config?.baseModel, true),
    ...fact(l10n.t('Type'), config && typeText(config)),
    ...fact(l10n.t('Rank'), config && rankText(config, weights)),
    ...fact(l10n.t('Alpha'), config?.alpha?.toLocaleString(env.language)),
    ...fact(l10n.t('Scaling'), config && weights && scalingText(config, weights)),
    ...fact(l10n.t('Target modules'), typeof targets === 'string' ? targets : targets && listText(targets)),
    ...fact(l10n.t('Fully saved modules'), config && listText(config.modulesToSave)),
    ...fact(
      l10n.t('Adapted modules'),
      weights?.pairs.length
        ? `${formatCount(weights.pairs.length)} (${listText(weights.modules)})`
        : undefined,
    ),
    ...fact(l10n.t('Layers'), weights && layersText(weights.layers)),
    ...fact(l10n.t('Parameters'), weights && formatCount(weights.parameters)),
    ...fact(l10n.t('Tensor types'), dtypes.length > 1 ? dtypes.map(dtypeText).join(', ') : dtypes[0]?.dtype),
    ...fact(l10n.t('PEFT version'), config?.peftVersion),
    ...fact(l10n.t('Loading'), needsPeft && l10n.t('Needs PEFT {0} or newer.', needsPeft)),
    ...fact(TERMS.size, formatBytes(sizeBytes)),
    ...fact(l10n.t('Format'), container === 'folder' ? l10n.t('folder') : container),
    ...fact(l10n.t('Path'), file, true),
  ];
}

function typeText({ peftType, taskType, useDora, useRslora, isAlora }: AdapterConfig): string {
  const flags = [useRslora && 'rsLoRA', useDora && 'DoRA', isAlora && 'aLoRA', taskType];
  const type = peftType === 'LORA' ? 'LoRA' : (peftType ?? TERMS.unknown);
  return [type, ...flags.filter(Boolean)].join(', ');
}

function rankText({ rank }: AdapterConfig, weights: WeightsReport | undefined): string | undefined {
  const { minRank = 0, maxRank = 0 } = weights ?? {};
  if (maxRank === 0) return rank?.toString();
  const seen = rangeText(minRank, maxRank);
  return rank === undefined || seen === String(rank)
    ? seen
    : l10n.t('{0} in the weights, {1} in the config', seen, rank);
}

function scalingText({ useRslora }: AdapterConfig, { pairs }: WeightsReport): string | undefined {
  const scales = pairs.map(({ scale }) => scale).filter((scale) => scale !== undefined);
  if (scales.length === 0) return undefined;
  const [least, most] = [scales.reduce((a, b) => Math.min(a, b)), scales.reduce((a, b) => Math.max(a, b))];
  const formula = useRslora ? l10n.t('alpha ÷ √rank') : l10n.t('alpha ÷ rank');
  return `${rangeText(formatScale(least), formatScale(most))} (${formula})`;
}

/** Returns one value, or a range if the values differ. */
function rangeText(first: string | number, last: string | number): string {
  return first === last ? String(first) : l10n.t('{0} to {1}', first, last);
}

export function listText(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).join(', ');
  const rest = names.length - MAX_NAMES;
  return rest <= 0 ? shown : l10n.t('{0} and {1} more', shown, formatCount(rest));
}

/** Returns `32: 0 to 31`, or lists the numbers if there are gaps. */
function layersText(layers: readonly number[]): string | undefined {
  const [first, last] = [layers[0], layers.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const isRange = last - first + 1 === layers.length;
  const shown = isRange ? rangeText(first, last) : listText(layers.map(String));
  return `${formatCount(layers.length)}: ${shown}`;
}

/** Formats with three significant digits. */
function formatScale(value: number): string {
  if (value !== 0 && (Math.abs(value) < 0.001 || Math.abs(value) >= 1e6)) return value.toExponential(2);
  return value.toLocaleString(env.language, { maximumSignificantDigits: 3 });
}

function adapterFiles({ container, entries, entryCount }: AdapterReport): AdapterFiles | undefined {
  if (entries.length === 0 || container === 'safetensors') return undefined;
  const notes = {
    config: l10n.t('config'),
    weights: l10n.t('weights'),
    pickle: l10n.t('pickle, not opened'),
    archive: l10n.t('archive, not opened'),
    other: undefined,
  };
  const rest = entryCount - entries.length;
  return {
    title: l10n.t('Files'),
    nameHeader: l10n.t('Name'),
    sizeHeader: TERMS.size,
    rows: entries.map(({ name, sizeBytes, kind }) => ({
      name,
      size: formatBytes(sizeBytes),
      note: notes[kind],
    })),
    more: moreText(rest),
  };
}
