import * as vscode from 'vscode';
import type { AdapterGrid, GridCell } from '../../core/adapters/adapterGrid.ts';
import type { Measurements } from '../../core/adapters/report.ts';
import { formatCount } from '../shared/format.ts';
import type { AdapterCell, AdapterNote, AdapterPicture, AdapterShade } from './protocol.ts';
import { formatNorm, rangeText } from './reportMessages.ts';

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
        ? l10n.t('By module and layer')
        : l10n.t('How much each module learned (norm of B)'),
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
  const shade = shadeOf(cell, largestNorm);
  const state = typeof shade === 'string' ? shadeTexts()[shade] : '';
  if (cell === undefined) return { shade, text: l10n.t('{0}: {1}', place, state), value: '' };
  const { pairs, minRank, maxRank, parameters, measured } = cell;
  const [rank, norm] = [rangeText(minRank, maxRank), measured?.norm];
  const facts = [
    ...(pairs > 1 ? [l10n.t('{0} modules', formatCount(pairs))] : []),
    l10n.t('rank {0}', rank),
    l10n.t('{0} parameters', formatCount(parameters)),
    ...(shade === 'adapted' ? [] : [state || l10n.t('norm {0}', formatNorm(norm ?? 0))]),
  ];
  return {
    shade,
    text: l10n.t('{0}: {1}', place, facts.join(', ')),
    value: measured === undefined ? rank : norm === undefined ? state : formatNorm(norm),
  };
}

function shadeOf(cell: GridCell | undefined, largestNorm: number): AdapterShade {
  if (cell === undefined) return 'none';
  if (cell.halves > 0) return 'half';
  if (cell.measured === undefined) return 'adapted';
  const { norm, zeros, isBroken } = cell.measured;
  if (isBroken) return 'bad';
  if (norm === 0 || zeros === cell.pairs) return 'zero';
  return norm === undefined ? 'unknown' : norm / largestNorm;
}

function shadeTexts(): Readonly<Record<Exclude<AdapterShade, number>, string>> {
  const { l10n } = vscode;
  return {
    adapted: l10n.t('adapted'),
    zero: l10n.t('all zero: learned nothing'),
    bad: l10n.t('NaN or infinity'),
    half: l10n.t('A or B is missing'),
    unknown: l10n.t('norm unknown'),
    none: l10n.t('not adapted'),
  };
}

/** Only what is in the picture. */
function legendOf(rows: AdapterPicture['rows'], largestNorm: number): AdapterPicture['legend'] {
  const { l10n } = vscode;
  const seen = new Set(rows.flatMap(({ cells }) => cells.map(({ shade }) => shade)));
  const all: { shade: AdapterShade; text: string }[] = [
    { shade: 0.1, text: l10n.t('little') },
    { shade: 1, text: l10n.t('most ({0})', formatNorm(largestNorm)) },
    ...Object.entries(shadeTexts()).map(([shade, text]) => ({ shade: shade as AdapterShade, text })),
  ];
  const hasNorms = [...seen].some((shade) => typeof shade === 'number');
  return all.filter(({ shade }) => (typeof shade === 'number' ? hasNorms : seen.has(shade)));
}

/** What the pass over all values found, or would find. */
function findingsOf(measurements: Measurements | undefined): AdapterNote[] {
  const { l10n } = vscode;
  if (measurements === undefined)
    return [{ severity: 'info', text: l10n.t('Measuring shows how much each module learned.') }];
  const { pairs, broken, hasNoEffect, notMeasured } = measurements;
  const zeros = pairs.filter(({ isZero }) => isZero).length;
  const notes: AdapterNote[] = [];
  const add = (severity: AdapterNote['severity'], text: string, examples: readonly string[] = []) =>
    notes.push({ severity, text, examples });
  if (broken.length > 0) add('error', l10n.t('NaN or infinite values in:'), broken);
  else add('info', l10n.t('No value is NaN or infinite.'));
  if (zeros > 0 && !hasNoEffect) {
    const counts = [zeros, pairs.length].map(formatCount);
    add('warning', l10n.t('{0} of {1} modules learned nothing.', ...counts));
  }
  if (notMeasured.length > 0) {
    const types = notMeasured.map(({ dtype, tensors }) => `${dtype} (${formatCount(tensors)})`);
    add('info', l10n.t('Not measured:'), types);
  }
  return notes;
}
