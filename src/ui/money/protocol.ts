/** Messages between the spend page and the extension. Types only. All texts come from the extension or the service. */

import type { PageAct, PageButton, PageNotice } from '../shared/protocol.ts';

/** A button was pressed, or the view changed. */
export type SpendRequest =
  | PageAct
  | { type: 'view'; groupBy: string; search: string; sortBy: string; isDescending: boolean };

export type SpendGroupBy = 'month' | 'model' | 'label' | 'plan';

export type SpendColumn =
  | 'date'
  | 'price'
  | 'balance'
  | 'label'
  | 'status'
  | 'model'
  | 'dataset'
  | 'queue'
  | 'plan';

/** The grouping, search, and sorting that the page shows. */
export interface SpendView {
  groupBy: SpendGroupBy;
  search: string;
  sortBy: SpendColumn;
  isDescending: boolean;
}

/** What the page stores for a reload of the window. */
export interface SpendMemory {
  accountId: string;
  view?: SpendView | undefined;
}

/** The complete state of the page. */
export interface SpendState {
  type: 'state';
  memory: SpendMemory;
  title: string;
  /** Below the title; announced when it changes. */
  status: string;
  actionsName: string;
  actions: readonly SpendButton[];
  notices: readonly SpendNotice[];
  facts: readonly { key: string; name: string; value: string }[];
  /** The sections from here on are undefined if they would be empty. */
  groups: SpendGroups | undefined;
  runs: SpendRuns | undefined;
}

export type SpendNotice = PageNotice<SpendAction>;
export type SpendButton = PageButton<SpendAction>;
export type SpendAction =
  | 'setBudget'
  | 'exportCsv'
  | 'refresh'
  | 'loadRuns'
  | 'readPrices'
  | 'replaceKey'
  | 'showMore'
  | 'showRun';

export interface SpendGroups {
  title: string;
  /** The properties to group by; the chosen one is shown as pressed. */
  choices: readonly { groupBy: SpendGroupBy; words: string; isChosen: boolean }[];
  columns: readonly [name: string, runs: string, spent: string];
  rows: readonly {
    key: string;
    name: string;
    runs: string;
    spent: string;
    /** From 0 to 1, relative to the highest sum. */
    share: number;
  }[];
}

export interface SpendRuns {
  title: string;
  searchWords: string;
  columns: readonly {
    column: SpendColumn;
    words: string;
    sort: 'ascending' | 'descending' | 'none';
  }[];
  rows: readonly SpendRow[];
  /** What all rows say, instead of columns. */
  same: string | undefined;
  /** How many runs are listed. */
  count: string;
  more: SpendButton | undefined;
  note: string | undefined;
}

export interface SpendRow {
  key: string;
  /** In the order of the columns. */
  cells: readonly string[];
  /** The time of the first cell in ISO 8601. */
  iso: string | undefined;
  show: SpendButton;
}
