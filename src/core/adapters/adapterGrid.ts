import type { LoraPair, Measurements, PairMeasure, WeightsReport } from './report.ts';

/** More would be no picture, and a page that does not answer. */
const MOST_COLUMNS = 200;
const MOST_ROWS = 60;

/** Pairs of one module in one layer: one as a rule, more with experts. */
export interface GridCell {
  pairs: number;
  /** Pairs that lack their A or their B. */
  halves: number;
  minRank: number;
  maxRank: number;
  parameters: number;
  /** Undefined until measured. */
  measured?: GridMeasure;
}

/** What the values of some pairs are like. */
export interface GridMeasure {
  /** Root of the sum of the squares; undefined where nothing of it is known. */
  norm?: number;
  /** Whether a bound stands in the norm for what is not known exactly. */
  isBound: boolean;
  /** Pairs that change nothing, since their A or B is all zero. */
  zeros: number;
  nonFinite: number;
}

export interface GridRow {
  /** `experts.*.up_proj` for all experts together. */
  module: string;
  /** One for each column. */
  cells: readonly (GridCell | undefined)[];
  total: GridMeasure | undefined;
}

/** Which modules of which layers are adapted, as a table of a size that a page can show. */
export interface AdapterGrid {
  /** Undefined is what stands outside of layers. */
  columns: readonly (number | undefined)[];
  rows: readonly GridRow[];
  /** Over all modules, for each column; undefined until measured. */
  totals: readonly GridMeasure[] | undefined;
  /** The largest norm of a cell. */
  largestNorm: number;
  hiddenColumns: number;
  hiddenRows: number;
}

/** Arranges pairs by layer and module; experts of one kind stand together. */
export function gridOf(weights: WeightsReport, measurements: Measurements | undefined): AdapterGrid {
  const measures =
    measurements && new Map(measurements.pairs.map((measure) => [measure.path, measure] as const));
  const byModule = new Map<string, Map<number | undefined, LoraPair[]>>();
  for (const pair of weights.pairs) {
    const name = groupOf(pair.module);
    const layers = byModule.get(name) ?? new Map<number | undefined, LoraPair[]>();
    byModule.set(name, layers);
    const cell = layers.get(pair.layer);
    if (cell === undefined) layers.set(pair.layer, [pair]);
    else cell.push(pair);
  }
  const hasOutside = weights.pairs.some(({ layer }) => layer === undefined);
  const layers = wholeRange(weights.layers);
  const allColumns = [...layers, ...(hasOutside ? [undefined] : [])];
  const columns = allColumns.slice(0, MOST_COLUMNS);
  const modules = [...byModule].slice(0, MOST_ROWS);
  const rows = modules.map(([module, cells]): GridRow => ({
    module,
    cells: columns.map((layer) => cellOf(cells.get(layer), measures)),
    total: measures && measureOf([...cells.values()].flat(), measures),
  }));
  const totals =
    measures &&
    columns.map((layer) =>
      measureOf(
        weights.pairs.filter((pair) => pair.layer === layer),
        measures,
      ),
    );
  const norms = rows.flatMap(({ cells }) => cells.map((cell) => cell?.measured?.norm ?? 0));
  return {
    columns,
    rows,
    totals,
    largestNorm: Math.max(0, ...norms),
    hiddenColumns: allColumns.length - columns.length,
    hiddenRows: byModule.size - modules.length,
  };
}

/** Layers without any pair between others are shown as such, unless the numbers are too far apart. */
function wholeRange(layers: readonly number[]): readonly number[] {
  const [first, last] = [layers[0], layers.at(-1)];
  if (first === undefined || last === undefined || last - first >= MOST_COLUMNS) return layers;
  // The layers before the first adapted one belong into the picture too.
  const from = last < MOST_COLUMNS ? 0 : first;
  return Array.from({ length: last - from + 1 }, (_, index) => from + index);
}

function groupOf(module: string): string {
  return module.replace(/(^|\.)experts\.\d+(?=\.|$)/, '$1experts.*');
}

function cellOf(
  pairs: readonly LoraPair[] | undefined,
  measures: ReadonlyMap<string, PairMeasure> | undefined,
): GridCell | undefined {
  if (pairs === undefined) return undefined;
  const cell: GridCell = {
    pairs: pairs.length,
    halves: pairs.filter(({ hasA, hasB }) => !hasA || !hasB).length,
    // Of more pairs than a call may have arguments.
    minRank: pairs.reduce((least, { rank }) => Math.min(least, rank), Infinity),
    maxRank: pairs.reduce((most, { rank }) => Math.max(most, rank), 0),
    parameters: pairs.reduce((sum, { parameters }) => sum + parameters, 0),
  };
  return measures === undefined ? cell : { ...cell, measured: measureOf(pairs, measures) };
}

function measureOf(pairs: readonly LoraPair[], measures: ReadonlyMap<string, PairMeasure>): GridMeasure {
  let squares = 0;
  let known = 0;
  let isBound = false;
  let zeros = 0;
  let nonFinite = 0;
  for (const { path } of pairs) {
    const measure = measures.get(path);
    if (measure === undefined) continue;
    const { a, b, update, updateBound } = measure;
    if (a?.isZero === true || b?.isZero === true) zeros += 1;
    nonFinite += [a, b].reduce((sum, one) => sum + (one?.nans ?? 0) + (one?.infinities ?? 0), 0);
    const norm = update ?? updateBound;
    if (norm === undefined) continue;
    if (update === undefined) isBound = true;
    squares += norm ** 2;
    known += 1;
  }
  return { ...(known === 0 ? {} : { norm: Math.sqrt(squares) }), isBound, zeros, nonFinite };
}
