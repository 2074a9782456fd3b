import type { PreviewFilter, PreviewRequest } from '../../src/ui/datasets/protocol.ts';
import type { Extension } from '../shared/extension.ts';

/** What the page keeps while it is hidden, and over a reload of the window. */
export interface PageState {
  filter: PreviewFilter;
  /** The row at the top. */
  row: number;
  detailsHidden: boolean;
  /** Rows that are shown raw though they can be read, or the other way round. */
  switched: readonly number[];
}

export type PreviewExtension = Extension<PreviewRequest, PageState>;
