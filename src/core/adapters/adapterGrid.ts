import type { LoraPair, Measurements, PairMeasure, WeightsReport } from './report.ts';

/** More than a page can show and stay responsive. */
const MAX_COLUMNS = 200;
const MAX_ROWS = 60;

/** Pairs of one module in one layer: mostly one, more with experts. */
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

/** What the values of a cell's pairs are like. */
export interface GridMeasure {
  /** Root of the sum of the squares of `PairMeasure.norm`; undefined where none is known. */
  norm?: number;
  /** Pairs that change nothing. */
  zeros: number;
  nonFinite: number;
}

export interface GridRow {
  /** `experts.*.up_proj` for all experts together. */
  module: string;
  /** One for each column. */
  cells: readonly (GridCell | undefined)[];
}

/** Which modules of which layers are adapted, as a table of a size that a page can show. */
export interface AdapterGrid {
  /** Layers; undefined for what is outside of them. */
  columns: readonly (number | undefined)[];
  rows: readonly GridRow[];
  /** The largest norm of a cell. */
  largestNorm: number;
  hiddenColumns: number;
  hiddenRows: number;
}

/** Arranges pairs by layer and module, experts of one kind together. */
export function gridOf(
  { pairs, layers }: WeightsReport,
  measurements: Measurements | undefined,
): AdapterGrid {
  const measures = measurements && new Map(measurements.pairs.map((measure) => [measure.path, measure]));
  const byModule = new Map<string, Map<number | undefined, LoraPair[]>>();
  for (const pair of pairs) {
    const name = pair.module.replace(/(^|\.)experts\.\d+(?=\.|$)/, '$1experts.*');
    const byLayer = byModule.get(name) ?? new Map<number | undefined, LoraPair[]>();
    byModule.set(name, byLayer);
    const cell = byLayer.get(pair.layer) ?? [];
    byLayer.set(pair.layer, cell);
    cell.push(pair);
  }
  const hasOutside = pairs.some(({ layer }) => layer === undefined);
  const allColumns = [...columnsOf(layers), ...(hasOutside ? [undefined] : [])];
  const columns = allColumns.slice(0, MAX_COLUMNS);
  const rows = [...byModule].slice(0, MAX_ROWS).map(([module, byLayer]): GridRow => ({
    module,
    cells: columns.map((layer) => cellOf(byLayer.get(layer), measures)),
  }));
  return {
    columns,
    rows,
    largestNorm: Math.max(0, ...rows.flatMap(({ cells }) => cells.map((cell) => cell?.measured?.norm ?? 0))),
    hiddenColumns: allColumns.length - columns.length,
    hiddenRows: byModule.size - rows.length,
  };
}

/** Includes layers without any pair, unless the numbers are too far apart. */
function columnsOf(layers: readonly number[]): readonly number[] {
  const [first, last] = [layers[0], layers.at(-1)];
  if (first === undefined || last === undefined || last - first >= MAX_COLUMNS) return layers;
  const from = last < MAX_COLUMNS ? 0 : first;
  return Array.from({ length: last - from + 1 }, (_, index) => from + index);
}

function cellOf(
  pairs: readonly LoraPair[] | undefined,
  measures: ReadonlyMap<string, PairMeasure> | undefined,
): GridCell | undefined {
  if (pairs === undefined) return undefined;
  return {
    pairs: pairs.length,
    halves: pairs.filter(({ isHalf }) => isHalf).length,
    // Of more pairs than a call may have arguments.
    minRank: pairs.reduce((least, { rank }) => Math.min(least, rank), Infinity),
    maxRank: pairs.reduce((most, { rank }) => Math.max(most, rank), 0),
    parameters: pairs.reduce((sum, { parameters }) => sum + parameters, 0),
    ...(measures === undefined ? {} : { measured: measureOf(pairs, measures) }),
  };
}

function measureOf(pairs: readonly LoraPair[], measures: ReadonlyMap<string, PairMeasure>): GridMeasure {
  const its = pairs.map(({ path }) => measures.get(path)).filter((measure) => measure !== undefined);
  const norms = its.map(({ norm }) => norm).filter((norm) => norm !== undefined);
  return {
    ...(norms.length === 0 ? {} : { norm: Math.sqrt(norms.reduce((sum, norm) => sum + norm ** 2, 0)) }),
    zeros: its.filter(({ isZero }) => isZero).length,
    nonFinite: its.reduce((sum, { nonFinite }) => sum + nonFinite, 0),
  };
}
