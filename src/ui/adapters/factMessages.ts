import * as vscode from 'vscode';
import type { AdapterFact, AdapterFiles } from './protocol.ts';
import type { AdapterConfig, AdapterReport, Container, WeightsReport } from '../../core/adapters/report.ts';
import { formatBytes, formatCount } from '../shared/format.ts';

const MOST_NAMED_LAYERS = 6;

/** What the headers tell of an adapter, name by name. */
export function adapterFacts({ file, container, sizeBytes, config, weights }: AdapterReport): AdapterFact[] {
  const { l10n } = vscode;
  const facts: (AdapterFact | undefined)[] = [
    fact(l10n.t('Base model'), config?.baseModel, config?.baseModel),
    fact(l10n.t('Kind'), config && kindText(config)),
    ...(config === undefined ? [] : scalingFacts(config, weights)),
    fact(l10n.t('Target modules'), config && targetText(config.targetModules)),
    fact(l10n.t('Stored whole'), config && listText(config.modulesToSave)),
    fact(l10n.t('Dropout in training'), config?.dropout?.toLocaleString(vscode.env.language)),
    ...(weights === undefined ? [] : weightsFacts(weights)),
    fact(l10n.t('Made with PEFT'), config?.peftVersion),
    fact(l10n.t('On disk'), onDiskText(container, sizeBytes)),
    fact(l10n.t('Path'), file, file),
  ];
  return facts.filter((one) => one !== undefined);
}

/** The files of an archive or a folder. */
export function adapterFiles({ container, entries, entryCount }: AdapterReport): AdapterFiles | undefined {
  const { l10n } = vscode;
  if (entries.length === 0 || container === 'safetensors') return undefined;
  const notes = {
    config: l10n.t('the config'),
    weights: l10n.t('the weights'),
    pickle: l10n.t('pickle: never opened'),
    archive: l10n.t('an archive: not opened'),
    other: undefined,
  };
  const rest = entryCount - entries.length;
  return {
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

function fact(name: string, value: string | undefined, copy?: string): AdapterFact | undefined {
  if (value === undefined || value === '') return undefined;
  return { name, value, ...(copy === undefined ? {} : { copy }) };
}

function kindText({ peftType, taskType, useDora, useRslora, isAlora }: AdapterConfig): string {
  const kind = peftType === 'LORA' ? 'LoRA' : (peftType ?? vscode.l10n.t('not told'));
  const more = [
    useRslora ? 'rsLoRA' : undefined,
    useDora ? 'DoRA' : undefined,
    isAlora ? 'aLoRA' : undefined,
    taskType,
  ];
  return [kind, ...more.filter((one) => one !== undefined)].join(', ');
}

function scalingFacts(
  config: AdapterConfig,
  weights: WeightsReport | undefined,
): (AdapterFact | undefined)[] {
  const { l10n } = vscode;
  const { rank, alpha, useRslora } = config;
  const seen =
    weights === undefined || weights.minRank === 0
      ? undefined
      : weights.minRank === weights.maxRank
        ? String(weights.minRank)
        : l10n.t('{0} to {1}', weights.minRank, weights.maxRank);
  const scales = [
    ...new Set((weights?.pairs ?? []).map(({ scale }) => scale).filter((scale) => scale !== undefined)),
  ];
  const [scale] = scales;
  const formula = useRslora ? l10n.t('alpha ÷ √rank') : l10n.t('alpha ÷ rank');
  return [
    fact(
      l10n.t('Rank'),
      rank === undefined || (seen !== undefined && seen !== String(rank))
        ? seen && rank !== undefined
          ? l10n.t('{0} by the weights, {1} by the config', seen, rank)
          : seen
        : String(rank),
    ),
    fact(l10n.t('Alpha'), alpha?.toLocaleString(vscode.env.language)),
    fact(
      l10n.t('Scaling'),
      scale === undefined
        ? undefined
        : scales.length === 1
          ? `${formatNorm(scale)} (${formula})`
          : l10n.t(
              '{0} to {1} ({2})',
              formatNorm(scales.reduce((a, b) => Math.min(a, b))),
              formatNorm(scales.reduce((a, b) => Math.max(a, b))),
              formula,
            ),
    ),
  ];
}

function weightsFacts(weights: WeightsReport): (AdapterFact | undefined)[] {
  const { l10n } = vscode;
  const { pairs, layers, parameters, dtypes, modules } = weights;
  return [
    fact(l10n.t('Adapted modules'), `${formatCount(pairs.length)} (${shortList(modules, 8)})`),
    fact(l10n.t('Layers'), layers.length === 0 ? undefined : layersText(layers)),
    fact(l10n.t('Parameters'), formatCount(parameters)),
    fact(
      dtypes.length > 1 ? l10n.t('Types (tensors)') : l10n.t('Type'),
      dtypes.length === 1
        ? dtypes[0]?.dtype
        : dtypes.map(({ dtype, tensors }) => `${dtype} (${formatCount(tensors)})`).join(', '),
    ),
    fact(l10n.t('Weights'), formatBytes(weights.sizeBytes)),
  ];
}

function targetText(targets: AdapterConfig['targetModules']): string | undefined {
  return typeof targets === 'string' ? targets : targets && listText(targets);
}

function listText(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : shortList(names, 20);
}

function shortList(names: readonly string[], most: number): string {
  const shown = names.slice(0, most);
  const rest = names.length - shown.length;
  return rest === 0
    ? shown.join(', ')
    : vscode.l10n.t('{0} and {1} more', shown.join(', '), formatCount(rest));
}

/** `0 to 31 (32)`, or the numbers where there are gaps. */
function layersText(layers: readonly number[]): string {
  const first = layers[0] ?? 0;
  const last = layers.at(-1) ?? 0;
  const count = formatCount(layers.length);
  if (layers.length > 1 && last - first + 1 === layers.length)
    return vscode.l10n.t('{0}: {1} to {2}', count, first, last);
  const shown = layers.slice(0, MOST_NAMED_LAYERS).join(', ');
  return layers.length > MOST_NAMED_LAYERS
    ? vscode.l10n.t('{0}: {1}, …, {2}', count, shown, last)
    : vscode.l10n.t('{0}: {1}', count, shown);
}

function onDiskText(container: Container | undefined, sizeBytes: number): string {
  const { l10n } = vscode;
  const size = formatBytes(sizeBytes);
  switch (container) {
    case 'zip':
      return l10n.t('{0}, a ZIP', size);
    case 'tar':
      return l10n.t('{0}, a tar', size);
    case 'tar.gz':
      return l10n.t('{0}, a tar.gz', size);
    case 'safetensors':
      return l10n.t('{0}, a safetensors file', size);
    case 'folder':
      return l10n.t('{0}, a folder', size);
    case undefined:
      return size;
  }
}

/** A norm or a scale in as few digits as tell it. */
export function formatNorm(value: number): string {
  if (value !== 0 && (Math.abs(value) < 0.001 || Math.abs(value) >= 1e6)) return value.toExponential(2);
  return value.toLocaleString(vscode.env.language, { maximumSignificantDigits: 3 });
}
