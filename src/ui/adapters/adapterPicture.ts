import { l10n } from 'vscode';
import type { LoraPair, Measurements, PairMeasure, WeightsReport } from '../../core/adapters/report.ts';
import { compact, formatCount } from '../shared/format.ts';
import type { AdapterCell, AdapterNote, AdapterPicture, AdapterShade } from './protocol.ts';
import { formatNorm, rangeText } from './adapterOverview.ts';

/** Limits that keep the page responsive. */
const MAX_COLUMNS = 200;
const MAX_ROWS = 60;
/** If there are many columns, only every fourth has a header, so that headers don't overlap. */
const HEADER_EVERY = 4;
/** Up to this many columns, each has a header. */
const ALL_HEADERS = 16;

/** A layer; undefined for modules outside of layers. */
type Layer = number | undefined;

/** The pairs of one module in one layer: usually one, or several with experts. */
interface Cell {
  pairs: readonly LoraPair[];
  measures: readonly PairMeasure[];
  /** Root of the sum of the squared norms; undefined if none is known. */
  norm: number | undefined;
}

/** Shows which modules are adapted in which layers. @param canMeasure whether to offer measuring */
export function adapterPicture(
  { pairs, layers }: WeightsReport,
  measurements: Measurements | undefined,
  canMeasure: boolean,
): AdapterPicture {
  const measures = measurements && new Map(measurements.pairs.map((measure) => [measure.path, measure]));
  const byModule = [...Map.groupBy(pairs, ({ module }) => module)];
  const hasOutside = pairs.some(({ layer }) => layer === undefined);
  const allColumns: readonly Layer[] = [...columnsOf(layers), ...(hasOutside ? [undefined] : [])];
  const columns = allColumns.slice(0, MAX_COLUMNS);
  const cells = byModule.slice(0, MAX_ROWS).map(([module, its]) => {
    const byLayer = Map.groupBy(its, ({ layer }) => layer);
    return { module, cells: columns.map((layer) => cellOf(byLayer.get(layer), measures)) };
  });
  const largestNorm = Math.max(0, ...cells.flatMap((row) => row.cells.map((cell) => cell?.norm ?? 0)));
  const rows = cells.map(({ module, cells: its }) => ({
    name: module,
    cells: its.map((cell, index) => drawn(module, columns[index], cell, largestNorm, measures !== undefined)),
  }));
  const hidden = [allColumns.length - columns.length, byModule.length - rows.length];
  return {
    title: l10n.t('Adapted Modules'),
    caption:
      measurements === undefined
        ? l10n.t('Which modules are adapted, by layer')
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
    cut: hidden.every((count) => count === 0)
      ? undefined
      : l10n.t('Not shown: {0} layers, {1} modules.', ...hidden.map(formatCount)),
    findings: findingsOf(measurements),
    measure: canMeasure ? l10n.t('Measure') : undefined,
  };
}

/** Includes layers without any pair, unless the layer numbers are too far apart. */
function columnsOf(layers: readonly number[]): readonly number[] {
  const [first, last] = [layers[0], layers.at(-1)];
  if (first === undefined || last === undefined || last - first >= MAX_COLUMNS) return layers;
  const from = last < MAX_COLUMNS ? 0 : first;
  return Array.from({ length: last - from + 1 }, (_, index) => from + index);
}

function cellOf(
  pairs: readonly LoraPair[] | undefined,
  measured: ReadonlyMap<string, PairMeasure> | undefined,
): Cell | undefined {
  if (pairs === undefined) return undefined;
  const measures = pairs.flatMap(({ path }) => measured?.get(path) ?? []);
  const norms = measures.map(({ norm }) => norm).filter((norm) => norm !== undefined);
  const sum = norms.reduce((squares, norm) => squares + norm ** 2, 0);
  return { pairs, measures, norm: norms.length === 0 ? undefined : Math.sqrt(sum) };
}

function layerName(layer: Layer): string {
  return layer === undefined ? l10n.t('outside layers') : l10n.t('layer {0}', layer);
}

function drawn(
  module: string,
  layer: Layer,
  cell: Cell | undefined,
  largestNorm: number,
  isMeasured: boolean,
): AdapterCell {
  const shade = shadeOf(cell, largestNorm, isMeasured);
  const norm = formatNorm(cell?.norm ?? 0);
  const state = typeof shade === 'string' ? SHADES[shade] : l10n.t('norm {0}', norm);
  const place = l10n.t('{0}, {1}', module, layerName(layer));
  if (cell === undefined) return { shade, text: l10n.t('{0}: {1}', place, state), value: '' };
  // Not `Math.min(...ranks)`: a cell can have more pairs than a call can have arguments.
  const [least, most, parameters] = cell.pairs.reduce(
    ([min, max, sum], pair) => [Math.min(min, pair.rank), Math.max(max, pair.rank), sum + pair.parameters],
    [Infinity, 0, 0],
  );
  const rank = rangeText(least, most);
  const facts = compact(
    cell.pairs.length > 1 && l10n.t('{0} modules', formatCount(cell.pairs.length)),
    l10n.t('rank {0}', rank),
    l10n.t('{0} parameters', formatCount(parameters)),
    shade !== 'adapted' && state,
  );
  return {
    shade,
    text: l10n.t('{0}: {1}', place, facts.join(', ')),
    value: !isMeasured ? l10n.t('r {0}', rank) : cell.norm === undefined ? state : norm,
  };
}

function shadeOf(cell: Cell | undefined, largestNorm: number, isMeasured: boolean): AdapterShade {
  if (cell === undefined) return 'none';
  const { pairs, measures, norm } = cell;
  if (pairs.some(({ isHalf }) => isHalf)) return 'half';
  if (!isMeasured) return 'adapted';
  if (measures.some(({ nonFinite }) => nonFinite > 0)) return 'bad';
  if (norm === 0 || (measures.length > 0 && measures.every(({ isZero }) => isZero))) return 'zero';
  return norm === undefined ? 'unknown' : norm / largestNorm;
}

const SHADES: Readonly<Record<Exclude<AdapterShade, number>, string>> = {
  adapted: l10n.t('adapted'),
  zero: l10n.t('all zero: learned nothing'),
  bad: l10n.t('NaN or infinity'),
  half: l10n.t('A or B is missing'),
  unknown: l10n.t('norm unknown'),
  none: l10n.t('not adapted'),
};

/** Lists only shades that occur in the picture. */
function legendOf(rows: AdapterPicture['rows'], largestNorm: number): AdapterPicture['legend'] {
  const seen = new Set(rows.flatMap(({ cells }) => cells.map(({ shade }) => shade)));
  const all: { shade: AdapterShade; text: string }[] = [
    { shade: 0.1, text: l10n.t('little') },
    { shade: 1, text: l10n.t('most ({0})', formatNorm(largestNorm)) },
    ...Object.entries(SHADES).map(([shade, text]) => ({ shade: shade as AdapterShade, text })),
  ];
  const hasNorms = [...seen].some((shade) => typeof shade === 'number');
  return all.filter(({ shade }) => (typeof shade === 'number' ? hasNorms : seen.has(shade)));
}

/** Describes what measuring found, or would find. */
function findingsOf(measurements: Measurements | undefined): AdapterNote[] {
  if (measurements === undefined) {
    const text = l10n.t('Measuring shows how much each module learned.');
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
  } else add('info', l10n.t('No NaN or infinite values ({0} checked).', formatCount(values)));
  if (hasNoEffect) add('warning', l10n.t('Nothing was learned: A or B is all zero.'));
  else if (zeros > 0) {
    const counts = [zeros, pairs.length].map(formatCount);
    const nothing = l10n.t('{0} of {1} modules learned nothing.', ...counts);
    add('warning', pairs.length === 1 ? l10n.t('The only adapted module learned nothing.') : nothing);
  }
  if (notMeasured.length > 0) {
    const types = notMeasured.map(({ dtype, tensors }) => `${dtype} (${formatCount(tensors)})`);
    add('info', l10n.t('These tensor types were not measured:'), types);
  }
  return notes;
}
