/** What the spend page and the extension send each other. Types only. Every text is made by the extension or comes from the service. */

import type { PageAct, PageButton, PageNotice } from '../shared/protocol.ts';

/** A button was pressed, or something else is to be shown. */
export type SpendRequest =
  PageAct | { type: 'view'; groupBy: string; search: string; sortBy: string; isDescending: boolean };

export type SpendGroupBy = 'month' | 'model' | 'label' | 'plan';

export type SpendColumn = 'date' | 'price' | 'label' | 'model' | 'dataset' | 'queue' | 'plan' | 'balance';

/** What the page shows of what there is. */
export interface SpendView {
  groupBy: SpendGroupBy;
  search: string;
  sortBy: SpendColumn;
  isDescending: boolean;
}

/** What the page remembers when the window is reloaded. */
export interface SpendMemory {
  accountId: string;
  view?: SpendView | undefined;
}

/** Everything on the page. */
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
  /** The rest is missing while nothing was charged. */
  groups: SpendGroups | undefined;
  balance: SpendBalance | undefined;
  runs: SpendRuns | undefined;
}

export type SpendNotice = PageNotice<SpendAction>;
export type SpendButton = PageButton<SpendAction>;
export type SpendAction =
  | 'setBudget'
  | 'exportCsv'
  | 'exportJsonl'
  | 'refresh'
  | 'loadRuns'
  | 'readPrices'
  | 'replaceKey'
  | 'showMore'
  | 'showRun';

export interface SpendGroups {
  title: string;
  /** The properties to group by; the one that is chosen is pressed. */
  choices: readonly { groupBy: SpendGroupBy; words: string; isChosen: boolean }[];
  columns: readonly [name: string, runs: string, spent: string];
  rows: readonly {
    key: string;
    name: string;
    runs: string;
    spent: string;
    /** From 0 to 1: of the highest sum. */
    share: number;
  }[];
}

export interface SpendBalance {
  title: string;
  /** The chart in words. */
  summary: string;
  /** From 0 to 1: time and amount; the balance stays until the next point. */
  points: readonly (readonly [time: number, amount: number])[];
  high: string;
  low: string;
  from: string;
  to: string;
  tableTitle: string;
  columns: readonly [time: string, balance: string];
  rows: readonly (readonly [time: string, balance: string])[];
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
  /** How many are listed. */
  count: string;
  more: SpendButton | undefined;
  note: string | undefined;
}

export interface SpendRow {
  key: string;
  /** In the order of the columns. */
  cells: readonly string[];
  /** ISO 8601, of the first cell. */
  iso: string | undefined;
  show: SpendButton;
}
