import type { AdapterRequest } from '../../src/ui/adapters/protocol.ts';
import type { Extension } from '../shared/extension.ts';

/** What the page keeps while it is hidden, and over a reload of the window. */
export interface PageState {
  file: string;
  /** The tool whose recipe is shown. */
  tool: string | undefined;
}

export type AdapterExtension = Extension<AdapterRequest, PageState>;
