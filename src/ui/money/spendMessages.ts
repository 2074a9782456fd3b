import { l10n } from 'vscode';
import type { AccountMoney } from '../../core/money/accountMoney.ts';
import {
  amountsOf,
  balancePoints,
  groupsOf,
  GROUPS,
  type Amounts,
  type ChargedRun,
  type GroupBy,
} from '../../core/money/spending.ts';
import type { Session } from '../../core/runs/session.ts';
import type { ChargedReceipt } from '../../core/submission/intent.ts';
import { keyAction } from '../shared/accountMessages.ts';
import type { Loading } from '../shared/accountPage.ts';
import { amountsText, limitsText, monthText, spentText, underWayAmount } from '../shared/budgetMessages.ts';
import {
  formatBytes,
  formatCount,
  formatDay,
  formatMoney,
  formatRows,
  formatRuns,
  formatTime,
  sandboxNote,
} from '../shared/format.ts';
import { keyProblem, offlineText, serviceText } from '../shared/runMessages.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { TERMS } from '../shared/termMessages.ts';
import type {
  SpendBalance,
  SpendButton,
  SpendColumn,
  SpendGroups,
  SpendNotice,
  SpendRow,
  SpendRuns,
  SpendState,
  SpendView,
} from './protocol.ts';
import { listedRuns } from './spendList.ts';

const DAY_MS = 24 * 60 * 60_000;
/** So many groups are shown one by one. */
const MAX_GROUPS = 20;
/** So many rows the table of balances has. */
const MAX_BALANCES = 200;
/** About so many points the line of balances has. */
const MAX_POINTS = 500;

/** What is known of the account of a page. */
export interface SpendFacts {
  accountId: string;
  /** Undefined where it is signed out of. */
  session: Session | undefined;
  /** Of an account that is signed out of, where it is known. */
  formerName: string | undefined;
  receipts: Loading;
  money: AccountMoney;
  /** What is being read of the runs, as the user asked. */
  reading: 'runs' | 'prices' | undefined;
  view: SpendView;
  /** How many rows are shown at most. */
  mostRows: number;
}

type Whose = Pick<SpendFacts, 'session' | 'formerName'>;

/** Of its tab. */
export function spendPageTitle(whose: Whose): string {
  return l10n.t('Spending: {0}', accountName(whose));
}

/** Everything that the spend page shows now. */
export function spendPageState(facts: SpendFacts): SpendState {
  const { accountId, session, money, receipts, view } = facts;
  const isEmpty = money.charged.length === 0;
  return {
    type: 'state',
    memory: { accountId, view },
    title: l10n.t('Spending: {0}', accountName(facts)),
    status: statusText(facts),
    actionsName: TERMS.actions,
    actions: [
      ...(session === undefined ? [] : [button('setBudget', TERMS.setBudget)]),
      { ...button('exportCsv', l10n.t('Export CSV…')), isDisabled: isEmpty },
      { ...button('exportJsonl', l10n.t('Export JSONL…')), isDisabled: isEmpty },
      ...(session === undefined ? [] : [button('refresh', TERMS.refresh)]),
    ],
    notices: noticesOf(facts),
    facts: receipts === 'loading' ? [] : factsOf(facts),
    groups: isEmpty ? undefined : groupsSection(facts),
    balance: balanceSection(facts),
    runs: isEmpty ? undefined : runsSection(facts),
  };
}

function accountName({ session, formerName }: Whose): string {
  return sanitizeServiceText(session?.account.name ?? formerName ?? l10n.t('signed-out account'));
}

function statusText({ session, receipts, money }: SpendFacts): string {
  if (receipts === 'loading') return TERMS.loading;
  // Without an account only its receipts say so.
  const isSandbox =
    session?.account.kind === 'sandbox' || money.receipts.some(({ origin }) => origin === 'sandbox');
  const isKnownEmpty =
    money.charged.length === 0 && receipts === 'loaded' && session?.isLocked === false && isComplete(session);
  return [...(isSandbox ? [sandboxNote()] : []), ...(isKnownEmpty ? [l10n.t('No runs yet.')] : [])].join(' ');
}

function noticesOf({ session, receipts, money, reading }: SpendFacts): SpendNotice[] {
  const notice = (
    key: string,
    kind: SpendNotice['kind'],
    text: string,
    ...buttons: SpendButton[]
  ): SpendNotice => ({ key, kind, text, buttons });
  const found: SpendNotice[] = [];
  if (receipts === 'failed')
    found.push(notice('receipts', 'error', l10n.t('Couldn’t read the receipts on this machine.')));
  const newKey = session && keyAction(session.state);
  if (session === undefined || newKey !== undefined) {
    const buttons = newKey === undefined ? [] : [button('replaceKey', newKey)];
    const why = (session && keyProblem(session.state)) ?? l10n.t('This account is signed out.');
    const text = [why, l10n.t('Only the receipts on this machine are listed.')].join(' ');
    return [...found, notice('account', newKey === undefined ? 'info' : 'error', text, ...buttons)];
  }
  if (session.state === 'offline')
    found.push(
      notice('offline', 'warning', offlineText(session.offlineSince), button('refresh', TERMS.retry)),
    );
  if (!isComplete(session)) {
    const isBusy = reading === 'runs';
    const words = isBusy ? l10n.t('Loading Runs…') : l10n.t('Load All Runs');
    const text = l10n.t('Not all runs are loaded, so sums may be too low.');
    found.push(notice('runs', 'info', text, { ...button('loadRuns', words), isDisabled: isBusy }));
  }
  const unread = money.charged.filter(({ isUnread }) => isUnread).length;
  if (unread > 0) {
    const isBusy = reading === 'prices';
    const words = isBusy ? l10n.t('Reading Prices…') : l10n.t('Read Prices');
    const text = l10n.t('Prices not read from the service: {0}.', formatCount(unread));
    found.push(notice('prices', 'info', text, { ...button('readPrices', words), isDisabled: isBusy }));
  }
  return found;
}

function factsOf({ session, money }: SpendFacts): SpendState['facts'] {
  const { spending, charged } = money;
  const balance = session?.isLocked === true ? undefined : session?.balance.current;
  const fact = (key: string, name: string, value: string) => ({ key, name, value });
  const all = amountsOf(charged);
  const underWay = spending && underWayAmount(spending);
  const budget = session?.account.budget;
  return [
    ...(spending === undefined
      ? []
      : [fact('month', l10n.t('Spent in {0}', monthText(spending.month)), spentText(spending))]),
    ...(underWay === undefined ? [] : [fact('underWay', l10n.t('Pending'), underWay)]),
    ...(charged.length === 0
      ? []
      : [
          fact(
            'all',
            l10n.t('Total of {0}', formatRuns(charged.length)),
            amountsText(all, session !== undefined && isComplete(session)),
          ),
        ]),
    ...(session === undefined
      ? []
      : [fact('balance', TERMS.balance, formatMoney(balance?.balance_cents, balance?.currency))]),
    ...(budget === undefined ? [] : [fact('budget', TERMS.budget, limitsText(budget))]),
  ];
}

function isComplete({ runs }: Session): boolean {
  return runs.isCompleteSince(0);
}

function groupsSection({ money: { charged }, session, view: { groupBy } }: SpendFacts): SpendGroups {
  const names: Readonly<Record<GroupBy, string>> = {
    month: l10n.t('Month'),
    model: TERMS.model,
    label: TERMS.label,
    plan: TERMS.plan,
  };
  const groups = groupsOf(charged, groupBy);
  const most = Math.max(1, ...groups.map(({ mainCents }) => mainCents));
  const row = (
    key: string,
    name: string,
    amounts: Amounts,
    mainCents: number,
  ): SpendGroups['rows'][number] => ({
    key,
    name,
    runs: formatCount(amounts.runs),
    spent: amountsText(amounts),
    share: Math.max(0, mainCents / most),
  });
  const rest = groups.slice(MAX_GROUPS);
  const restAmounts = amountsOf(rest.flatMap(({ runs }) => runs));
  return {
    title: l10n.t('Spending by'),
    choices: GROUPS.map((choice) => ({
      groupBy: choice,
      words: names[choice],
      isChosen: choice === groupBy,
    })),
    columns: [names[groupBy], l10n.t('Runs'), l10n.t('Spent')],
    rows: [
      ...groups
        .slice(0, MAX_GROUPS)
        .map(({ key, amounts, mainCents }) =>
          row(`is ${key ?? ''}`, groupName(key, groupBy, session), amounts, mainCents),
        ),
      ...(rest.length === 0
        ? []
        : [row('rest', l10n.t('{0} more', formatCount(rest.length)), restAmounts, 0)]),
    ],
  };
}

function groupName(key: string | undefined, groupBy: GroupBy, session: Session | undefined): string {
  if (key === undefined) return TERMS.unknown;
  if (groupBy === 'month') return monthText(key, 'with-year');
  return groupBy === 'model' ? modelName(key, session) : serviceText(key);
}

function modelName(modelId: string, session: Session | undefined): string {
  return serviceText(session?.models.nameOf(modelId) ?? modelId) || TERMS.unknown;
}

function balanceSection({ money: { receipts }, session }: SpendFacts): SpendBalance | undefined {
  const balance = session?.isLocked === true ? undefined : session?.balance.current;
  const known = balancePoints(receipts, balance, session?.balance.readAtMs);
  const [first, last] = [known?.points[0], known?.points.at(-1)];
  if (known === undefined || first === undefined || last === undefined || known.points.length < 2)
    return undefined;
  const { points, currency } = known;
  const money = (cents: number) => formatMoney(cents, currency);
  const step = Math.ceil(points.length / MAX_POINTS);
  const drawn = points.filter((point, at) => at % step === 0 || point === last);
  const amounts = drawn.map(({ cents }) => cents);
  const [low, high] = [Math.min(...amounts), Math.max(...amounts)];
  const spanMs = Math.max(1, last.atMs - first.atMs);
  const when = spanMs > DAY_MS ? formatDay : formatTime;
  return {
    title: l10n.t('Balance over time'),
    summary: l10n.t(
      'Balance: {0} on {1}, {2} on {3}',
      money(first.cents),
      formatTime(first.atMs),
      money(last.cents),
      formatTime(last.atMs),
    ),
    points: drawn.map(({ atMs, cents }) => [
      (atMs - first.atMs) / spanMs,
      (cents - low) / Math.max(1, high - low),
    ]),
    high: money(high),
    low: money(low),
    from: when(first.atMs),
    to: when(last.atMs),
    tableTitle: l10n.t(
      'Balance table (last {0} of {1})',
      formatCount(Math.min(MAX_BALANCES, points.length)),
      formatCount(points.length),
    ),
    columns: [l10n.t('Time'), TERMS.balance],
    rows: points
      .slice(-MAX_BALANCES)
      .map(({ atMs, cents }) => [formatTime(atMs), money(cents)] as const)
      .reverse(),
  };
}

function runsSection({ money: { charged }, session, view, mostRows }: SpendFacts): SpendRuns {
  const { search, sortBy, isDescending } = view;
  const listed = listedRuns(charged, view, (modelId) => session?.models.nameOf(modelId) ?? modelId);
  const shown = listed.slice(0, mostRows);
  const columns: Readonly<Record<SpendColumn, string>> = {
    date: TERMS.submitted,
    price: TERMS.price,
    label: TERMS.label,
    model: TERMS.model,
    dataset: TERMS.dataset,
    queue: TERMS.queue,
    plan: TERMS.plan,
    balance: l10n.t('Balance after'),
  };
  const counts = [formatCount(shown.length), formatCount(listed.length)] as const;
  return {
    title: l10n.t('Runs'),
    searchWords: l10n.t('Search runs'),
    columns: COLUMNS.map((column) => ({
      column,
      words: columns[column],
      sort: column !== sortBy ? 'none' : isDescending ? 'descending' : 'ascending',
    })),
    rows: shown.map((run) => rowOf(run, session)),
    count:
      listed.length === 0 && search !== ''
        ? l10n.t('No matching runs')
        : shown.length < listed.length
          ? l10n.t('{0} of {1} runs', ...counts)
          : formatRuns(listed.length),
    more: shown.length < listed.length ? button('showMore', TERMS.loadMore) : undefined,
    note: shown.some(({ isCurrencyAssumed }) => isCurrencyAssumed)
      ? l10n.t('* Currency assumed from the balance.')
      : undefined,
  };
}

/** In the order in which the table has them. */
export const COLUMNS: readonly SpendColumn[] = [
  'date',
  'price',
  'balance',
  'label',
  'model',
  'dataset',
  'queue',
  'plan',
];

function rowOf(run: ChargedRun, session: Session | undefined): SpendRow {
  const { runId, createdAtMs, priceCents, currency, isCurrencyAssumed, label, modelId, plan, receipt } = run;
  const unknown = TERMS.unknown;
  const afterCents = receipt?.settled.run.balance_after_cents;
  const price = priceCents === undefined ? unknown : formatMoney(priceCents, currency);
  const date = createdAtMs === undefined ? TERMS.justNow : formatTime(createdAtMs);
  const cells: Readonly<Record<SpendColumn, string>> = {
    date,
    price: isCurrencyAssumed ? `${price}*` : price,
    label: label === undefined ? '–' : serviceText(label),
    model: modelName(modelId, session),
    dataset: receipt === undefined ? l10n.t('submitted elsewhere') : datasetText(receipt.dataset),
    queue: receipt === undefined ? unknown : receipt.priority_processing ? TERMS.priority : TERMS.standard,
    plan: plan === undefined ? unknown : serviceText(plan),
    balance: afterCents === undefined ? unknown : formatMoney(afterCents, currency),
  };
  return {
    key: `run ${runId}`,
    cells: COLUMNS.map((column) => cells[column]),
    iso: createdAtMs === undefined ? undefined : new Date(createdAtMs).toISOString(),
    show: button('showRun', date, runId),
  };
}

/** Broken between its facts, not within them. */
function datasetText({ filename, sizeBytes, rows }: ChargedReceipt['dataset']): string {
  const facts = [formatBytes(sizeBytes), ...(rows === undefined ? [] : [formatRows(rows)])];
  return [sanitizeServiceText(filename), ...facts.map((one) => one.replaceAll(' ', '\u00a0'))].join(' · ');
}

function button(action: SpendButton['action'], words: string, target = ''): SpendButton {
  return { action, target, words };
}
