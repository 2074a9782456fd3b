import * as vscode from 'vscode';
import type { AdapterGrid, GridCell, GridMeasure } from '../../core/adapters/adapterGrid.ts';
import type { Measurements } from '../../core/adapters/report.ts';
import { formatCount } from '../shared/format.ts';
import type { AdapterCell, AdapterNote, AdapterPicture, AdapterShade } from './protocol.ts';
import { formatNorm } from './reportMessages.ts';

/** Where each column had a header, they would overlap. */
const HEADER_EVERY = 4;
/** Up to here each column has a header. */
const ALL_HEADERS = 16;

/** The picture of an adapter. @param canMeasure whether to offer the button that measures */
export function adapterPicture(
  grid: AdapterGrid,
  measurements: Measurements | undefined,
  canMeasure: boolean,
): AdapterPicture {
  const { l10n } = vscode;
  const { columns, largestNorm } = grid;
  const rows = grid.rows.map(({ module, cells }) => ({
    name: module,
    cells: cells.map((cell, index) => cellOf(module, columns[index], cell, largestNorm)),
  }));
  return {
    title: l10n.t('Adapted Modules'),
    caption:
      measurements === undefined
        ? l10n.t('Which modules are adapted, by layer')
        : l10n.t('How much each module learned: the norm of B, which starts at zero'),
    hint: l10n.t('Arrow keys move between modules and layers.'),
    corner: l10n.t('Module'),
    columns: columns.map((layer, index) => ({
      name: layerName(layer),
      short:
        layer === undefined
          ? '–'
          : columns.length <= ALL_HEADERS || index % HEADER_EVERY === 0
            ? String(layer)
            : '',
    })),
    rows,
    legendTitle: l10n.t('Legend'),
    legend: legendOf(rows, largestNorm),
    tableTitle: l10n.t('Show as table'),
    cut:
      grid.hiddenColumns + grid.hiddenRows === 0
        ? undefined
        : l10n.t(
            'Not shown: {0} layers, {1} modules.',
            formatCount(grid.hiddenColumns),
            formatCount(grid.hiddenRows),
          ),
    findings: findingsOf(measurements),
    measure: canMeasure ? l10n.t('Measure') : undefined,
  };
}

function layerName(layer: number | undefined): string {
  return layer === undefined ? vscode.l10n.t('outside of layers') : vscode.l10n.t('layer {0}', layer);
}

function cellOf(
  module: string,
  layer: number | undefined,
  cell: GridCell | undefined,
  largestNorm: number,
): AdapterCell {
  const { l10n } = vscode;
  const place = l10n.t('{0}, {1}', module, layerName(layer));
  if (cell === undefined) return { shade: 'none', text: l10n.t('{0}: not adapted', place), value: '' };
  const { pairs, halves, minRank, maxRank, parameters, measured } = cell;
  const facts = [
    ...(pairs > 1 ? [l10n.t('{0} modules', formatCount(pairs))] : []),
    ...(halves === 0
      ? []
      : pairs === 1
        ? [l10n.t('A or B is missing')]
        : [l10n.t('A or B is missing in {0}', halves)]),
    minRank === maxRank ? l10n.t('rank {0}', minRank) : l10n.t('rank {0} to {1}', minRank, maxRank),
    l10n.t('{0} parameters', formatCount(parameters)),
    ...(measured === undefined ? [] : [measureText(measured, pairs)]),
  ];
  const rank = minRank === maxRank ? l10n.t('r {0}', minRank) : l10n.t('r {0}–{1}', minRank, maxRank);
  return {
    shade: halves > 0 ? 'half' : shadeOf(measured, pairs, largestNorm),
    text: l10n.t('{0}: {1}', place, facts.join(', ')),
    value: measured === undefined ? rank : valueOf(measured),
  };
}

function shadeOf(measured: GridMeasure | undefined, pairs: number, largestNorm: number): AdapterShade {
  if (measured === undefined) return 'adapted';
  const { norm, zeros, nonFinite } = measured;
  if (nonFinite > 0) return 'bad';
  if (norm === 0 || zeros === pairs) return 'zero';
  return norm === undefined ? 'unknown' : norm / largestNorm;
}

function measureText({ norm, zeros, nonFinite }: GridMeasure, pairs: number): string {
  const { l10n } = vscode;
  if (nonFinite > 0) return l10n.t('NaN or infinite values: {0}', formatCount(nonFinite));
  if (zeros === pairs) return l10n.t('all zero: learned nothing');
  return norm === undefined ? l10n.t('norm unknown') : l10n.t('norm {0}', formatNorm(norm));
}

function valueOf({ norm, nonFinite }: GridMeasure): string {
  return nonFinite > 0 ? vscode.l10n.t('NaN') : norm === undefined ? '' : formatNorm(norm);
}

/** Only what is in the picture. */
function legendOf(rows: AdapterPicture['rows'], largestNorm: number): AdapterPicture['legend'] {
  const { l10n } = vscode;
  const seen = new Set(rows.flatMap(({ cells }) => cells.map(({ shade }) => shade)));
  const all: { shade: AdapterShade; text: string }[] = [
    { shade: 'adapted', text: l10n.t('adapted') },
    { shade: 0.1, text: l10n.t('little') },
    { shade: 1, text: l10n.t('most ({0})', formatNorm(largestNorm)) },
    { shade: 'zero', text: l10n.t('all zero: learned nothing') },
    { shade: 'bad', text: l10n.t('NaN or infinity') },
    { shade: 'half', text: l10n.t('A or B is missing') },
    { shade: 'unknown', text: l10n.t('norm unknown') },
    { shade: 'none', text: l10n.t('not adapted') },
  ];
  const hasNorms = [...seen].some((shade) => typeof shade === 'number');
  return all.filter(({ shade }) => (typeof shade === 'number' ? hasNorms : seen.has(shade)));
}

/** What the pass over all values found, or would find. */
function findingsOf(measurements: Measurements | undefined): AdapterNote[] {
  const { l10n } = vscode;
  if (measurements === undefined) {
    const text = l10n.t('Measuring shows how much each module learned, and finds broken values.');
    return [{ severity: 'info', text }];
  }
  const { pairs, values, nans, infinities, nonFinite, hasNoEffect, notMeasured } = measurements;
  const zeros = pairs.filter(({ isZero }) => isZero).length;
  const notes: AdapterNote[] = [];
  const add = (severity: AdapterNote['severity'], text: string, examples: readonly string[] = []) =>
    notes.push({ severity, text, examples });
  if (nans + infinities > 0) {
    const counts = [nans, infinities].map(formatCount);
    add('error', l10n.t('NaN: {0}, infinite: {1}. They are in:', ...counts), nonFinite);
  } else add('info', l10n.t('None of the {0} values is NaN or infinite.', formatCount(values)));
  if (hasNoEffect) add('warning', l10n.t('Nothing was learned: in every module A or B is all zero.'));
  else if (zeros > 0) {
    const counts = [zeros, pairs.length].map(formatCount);
    add('warning', l10n.t('{0} of {1} modules learned nothing: A or B is all zero.', ...counts));
  }
  if (notMeasured.length > 0) {
    const types = notMeasured.map(({ dtype, tensors }) => `${dtype} (${formatCount(tensors)})`);
    add('info', l10n.t('These tensor types were not measured:'), types);
  }
  return notes;
}
