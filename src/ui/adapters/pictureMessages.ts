import * as vscode from 'vscode';
import type { AdapterGrid, GridCell, GridMeasure } from '../../core/adapters/adapterGrid.ts';
import type { AdapterCell, AdapterNote, AdapterPicture, AdapterShade } from './protocol.ts';
import type { Measurements } from '../../core/adapters/report.ts';
import { formatNorm } from './factMessages.ts';
import { moreNames } from './problemMessages.ts';
import { formatCount } from '../shared/format.ts';

/** A short header over every so many columns: all of them would run into each other. */
const HEADER_EVERY = 4;
/** Up to here each column has a header. */
const ALL_HEADERS = 16;

/** The picture of an adapter. @param canMeasure whether the button that measures is offered */
export function adapterPicture(
  grid: AdapterGrid,
  measurements: Measurements | undefined,
  canMeasure: boolean,
): AdapterPicture {
  const { l10n } = vscode;
  const rows = grid.rows.map(({ module, cells, total }) => ({
    name: module,
    cells: cells.map((cell, index) => cellOf(module, grid.columns[index], cell, grid.largestNorm)),
    total: total && totalText(total),
  }));
  if (grid.totals !== undefined) {
    const all = l10n.t('all modules');
    rows.push({
      name: all,
      cells: totalCells(all, grid, grid.totals),
      total: measurements && updateText(measurements),
    });
  }
  return {
    type: 'picture',
    caption:
      measurements === undefined
        ? l10n.t('Which modules of which layers are adapted')
        : l10n.t('How much is added to each module of each layer (Frobenius norm)'),
    corner: l10n.t('Module'),
    columns: grid.columns.map((layer, index) => ({
      name: layerName(layer),
      short: shortHeader(grid, layer, index),
    })),
    rows,
    legend: legendOf(rows, grid.largestNorm),
    cut: cutText(grid),
    measure: canMeasure ? l10n.t('Measure') : undefined,
    findings: measurements === undefined ? [measuringTells()] : findingsOf(measurements),
  };
}

/** The norm of everything together, which is none where a value is no number. */
function updateText({ update, nans, infinities }: Measurements): string {
  return nans + infinities > 0 ? vscode.l10n.t('NaN') : formatNorm(update);
}

function layerName(layer: number | undefined): string {
  return layer === undefined ? vscode.l10n.t('outside of layers') : vscode.l10n.t('layer {0}', layer);
}

function shortHeader({ columns }: AdapterGrid, layer: number | undefined, index: number): string {
  if (layer === undefined) return '–';
  return columns.length <= ALL_HEADERS || index % HEADER_EVERY === 0 ? String(layer) : '';
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
  const told = [
    ...(pairs > 1 ? [l10n.t('{0} modules', formatCount(pairs))] : []),
    ...(halves === 0
      ? []
      : pairs === 1
        ? [l10n.t('A or B is missing')]
        : [l10n.t('A or B is missing in {0}', halves)]),
    minRank === maxRank ? l10n.t('rank {0}', minRank) : l10n.t('rank {0} to {1}', minRank, maxRank),
    l10n.t('{0} parameters', formatCount(parameters)),
    ...(measured === undefined ? [] : measureTexts(measured, pairs)),
  ];
  const rank = minRank === maxRank ? l10n.t('r {0}', minRank) : l10n.t('r {0}–{1}', minRank, maxRank);
  return {
    shade: halves > 0 ? 'half' : shadeOf(measured, pairs, largestNorm),
    text: l10n.t('{0}: {1}', place, told.join(', ')),
    value: measured === undefined ? rank : (totalText(measured) ?? rank),
  };
}

function totalCells(
  all: string,
  { columns, largestNorm }: AdapterGrid,
  totals: readonly GridMeasure[],
): AdapterCell[] {
  const largest = Math.max(largestNorm, ...totals.map(({ norm }) => norm ?? 0));
  return totals.map((total, index) => ({
    shade: total.norm === undefined && total.nonFinite === 0 ? 'none' : shadeOf(total, 0, largest),
    text: vscode.l10n.t('{0}, {1}: {2}', all, layerName(columns[index]), measureTexts(total, 0).join(', ')),
    value: totalText(total) ?? '',
  }));
}

function shadeOf(measured: GridMeasure | undefined, pairs: number, largestNorm: number): AdapterShade {
  if (measured === undefined) return 'adapted';
  const { norm, zeros, nonFinite } = measured;
  if (nonFinite > 0) return 'bad';
  if (norm === 0 || (pairs > 0 && zeros === pairs)) return 'zero';
  return norm === undefined || largestNorm === 0 ? 'unknown' : Math.min(1, norm / largestNorm);
}

function measureTexts({ norm, isBound, zeros, nonFinite }: GridMeasure, pairs: number): string[] {
  const { l10n } = vscode;
  const texts: string[] = [];
  if (nonFinite > 0) texts.push(l10n.t('NaN or infinite values: {0}', formatCount(nonFinite)));
  if (zeros > 0 && zeros === pairs) texts.push(l10n.t('all zero: changes nothing'));
  else if (norm !== undefined)
    texts.push(isBound ? l10n.t('norm at most {0}', formatNorm(norm)) : l10n.t('norm {0}', formatNorm(norm)));
  else if (nonFinite === 0) texts.push(l10n.t('norm not known'));
  return texts;
}

function totalText({ norm, isBound, nonFinite }: GridMeasure): string | undefined {
  if (nonFinite > 0) return vscode.l10n.t('NaN');
  if (norm === undefined) return undefined;
  return isBound ? `≤ ${formatNorm(norm)}` : formatNorm(norm);
}

/** Only what is in the picture. */
function legendOf(rows: AdapterPicture['rows'], largestNorm: number): AdapterPicture['legend'] {
  const { l10n } = vscode;
  const seen = new Set(
    rows.flatMap(({ cells }) => cells.map(({ shade }) => (typeof shade === 'number' ? 'norm' : shade))),
  );
  const legend: { shade: AdapterShade; text: string }[] = [];
  if (seen.has('adapted')) legend.push({ shade: 'adapted', text: l10n.t('adapted') });
  if (seen.has('norm'))
    legend.push(
      { shade: 0.1, text: l10n.t('little') },
      { shade: 1, text: l10n.t('most ({0})', formatNorm(largestNorm)) },
    );
  if (seen.has('zero')) legend.push({ shade: 'zero', text: l10n.t('all zero: changes nothing') });
  if (seen.has('bad')) legend.push({ shade: 'bad', text: l10n.t('NaN or infinity') });
  if (seen.has('half')) legend.push({ shade: 'half', text: l10n.t('A or B is missing') });
  if (seen.has('unknown')) legend.push({ shade: 'unknown', text: l10n.t('norm not known') });
  if (seen.has('none')) legend.push({ shade: 'none', text: l10n.t('not adapted') });
  return legend;
}

function cutText({ hiddenColumns, hiddenRows }: AdapterGrid): string | undefined {
  const { l10n } = vscode;
  const [layers, modules] = [formatCount(hiddenColumns), formatCount(hiddenRows)];
  if (hiddenColumns === 0)
    return hiddenRows === 0
      ? undefined
      : l10n.t('There are more modules, which are not shown: {0}.', modules);
  return hiddenRows === 0
    ? l10n.t('There are more layers, which are not shown: {0}.', layers)
    : l10n.t('There are more, which are not shown: {0} layers and {1} modules.', layers, modules);
}

function measuringTells(): AdapterNote {
  return {
    severity: 'info',
    text: vscode.l10n.t(
      'So far only the headers were read. Measuring reads all values once, and tells how much each module is changed, and whether values are broken.',
    ),
    examples: [],
    more: undefined,
  };
}

/** What the pass over all values found. */
function findingsOf(measurements: Measurements): AdapterNote[] {
  const { l10n } = vscode;
  const { pairs, update, values, nans, infinities, nonFinite, zeroPairs, hasNoEffect, notMeasured } =
    measurements;
  const notes: AdapterNote[] = [];
  const add = (severity: AdapterNote['severity'], text: string, examples: readonly string[] = []) =>
    notes.push({ severity, text, examples, more: undefined });
  if (nans + infinities > 0)
    notes.push({
      severity: 'error',
      text: l10n.t(
        'NaN: {0}, infinite: {1}. The adapter is of no use. Such values are in:',
        formatCount(nans),
        formatCount(infinities),
      ),
      examples: nonFinite,
      more: moreNames(0, nonFinite),
    });
  if (hasNoEffect)
    add('warning', l10n.t('This adapter changes nothing: in every module A or B is all zero.'));
  else if (zeroPairs > 0)
    add(
      'warning',
      l10n.t(
        '{0} of {1} modules are not changed: their A or B is all zero.',
        formatCount(zeroPairs),
        formatCount(pairs.length),
      ),
    );
  if (notMeasured.length > 0)
    add(
      'info',
      l10n.t('Tensors that were not measured, since their type is not known here:'),
      notMeasured.map(({ dtype, tensors }) => `${dtype} (${formatCount(tensors)})`),
    );
  if (nans + infinities > 0) return notes;
  add('info', l10n.t('{0} values were read; none is NaN or infinite.', formatCount(values)));
  if (!hasNoEffect && update > 0)
    add('info', l10n.t('The norm of all updates together is {0}.', formatNorm(update)));
  return notes;
}
