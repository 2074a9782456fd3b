/** What the values of one matrix are like. */
export interface MatrixMeasure {
  /** Frobenius norm; NaN where a value is not finite. */
  norm: number;
  nans: number;
  infinities: number;
  isZero: boolean;
}

/** What the values of one pair are like. */
export interface PairMeasure {
  /** As `LoraPair.path`. */
  path: string;
  layer?: number;
  module: string;
  a?: MatrixMeasure;
  b?: MatrixMeasure;
  /**
   * Frobenius norm of what is added to the weight, `scale · ‖BA‖`, exact; undefined where a matrix or the scale is
   * missing, a value is not finite, or the rank is too large for it. The magnitudes of DoRA are not in it.
   */
  update?: number;
  /** `scale · ‖B‖ · ‖A‖`, which `update` never exceeds; undefined where a part is missing or not finite. */
  updateBound?: number;
}

/** What one pass over all values finds. */
export interface Measurements {
  /** In the order of `WeightsReport.pairs`. */
  pairs: readonly PairMeasure[];
  /** Root of the sum of the squares of all known updates. */
  update: number;
  /** Values seen, in all tensors of a dtype that is measured. */
  values: number;
  nans: number;
  infinities: number;
  /** At most 10 names of tensors with such values. */
  nonFinite: readonly string[];
  /** Pairs whose A or B is all zero. */
  zeroPairs: number;
  /** Every pair's A or B is all zero, and nothing else is stored: the adapter changes nothing. */
  hasNoEffect: boolean;
  /** Dtypes that were not measured. */
  notMeasured: readonly { dtype: string; tensors: number; parameters: number; sizeBytes: number }[];
}

/** Progress of a pass over the bytes. */
export interface Progress {
  doneBytes: number;
  totalBytes: number;
}
