import { l10n } from 'vscode';
import type { AccountMoney, MonthSpending } from '../../core/money/accountMoney.ts';
import {
  amountsOf,
  groupsOf,
  GROUPS,
  monthOf,
  type Amounts,
  type GroupBy,
} from '../../core/money/spending.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Loading } from '../shared/accountPage.ts';
import { keyAction, keyProblem, offlineText } from '../shared/connectionText.ts';
import { compact, formatCount, formatMoney, formatRuns } from '../shared/format.ts';
import { serviceText } from '../shared/runText.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import {
  amountsText,
  limitsText,
  monthAmountsText,
  monthText,
  pendingAmount,
} from '../shared/spendingText.ts';
import { TERMS } from '../shared/terms.ts';
import type { SpendButton, SpendGroups, SpendNotice, SpendState, SpendView } from './protocol.ts';
import { spendButton, modelName, runsSection } from './spendRuns.ts';

/** How many groups are shown individually. */
const MAX_GROUPS = 20;

/** Known facts about the account of a page. */
export interface SpendFacts {
  accountId: string;
  /** Undefined if the account is signed out. */
  session: Session | undefined;
  /** The name of a signed-out account, if known. */
  formerName: string | undefined;
  receipts: Loading;
  money: AccountMoney;
  /** The data that is being read at the user's request. */
  reading: 'runs' | 'prices' | undefined;
  view: SpendView;
  /** How many rows are shown at most. */
  maxRows: number;
}

export function spendPageTitle({ session, formerName }: Pick<SpendFacts, 'session' | 'formerName'>): string {
  const name = session?.account.name ?? formerName ?? l10n.t('signed-out account');
  return l10n.t('Spending: {0}', sanitizeServiceText(name));
}

/** Returns the complete current state of the page. */
export function spendPageState(facts: SpendFacts): SpendState {
  const { accountId, session, money, receipts, view } = facts;
  const isEmpty = money.charged.length === 0;
  return {
    type: 'state',
    memory: { accountId, view },
    title: spendPageTitle(facts),
    status: pageStatus(facts),
    actionsName: TERMS.actions,
    actions: compact(
      session && spendButton('setBudget', TERMS.setBudget),
      spendButton('exportCsv', l10n.t('Export CSV…'), { isDisabled: isEmpty }),
      session && spendButton('refresh', TERMS.refresh),
    ),
    notices: noticesOf(facts),
    facts: receipts === 'loading' ? [] : factsOf(facts),
    groups: isEmpty ? undefined : groupsSection(facts),
    runs: isEmpty ? undefined : runsSection(money.charged, session, view, facts.maxRows),
  };
}

function pageStatus({ session, receipts, money }: SpendFacts): string {
  if (receipts === 'loading') return TERMS.loading;
  // Without a session, only the receipts identify the sandbox.
  const isSandbox =
    session?.account.kind === 'sandbox' || money.receipts.some(({ origin }) => origin === 'sandbox');
  const isKnownEmpty =
    money.charged.length === 0 && receipts === 'loaded' && session?.isLocked === false && isComplete(session);
  return compact(isSandbox && TERMS.sandboxMoney, isKnownEmpty && l10n.t('No runs yet.')).join(' · ');
}

function noticesOf({ session, receipts, money, reading }: SpendFacts): SpendNotice[] {
  const notice = (
    key: string,
    kind: SpendNotice['kind'],
    text: string,
    action?: SpendButton | false,
  ): SpendNotice => ({ key, kind, text, buttons: compact(action) });
  const unreadable =
    receipts === 'failed' &&
    notice('receipts', 'error', l10n.t('Couldn’t read the receipts on this machine.'));
  const newKey = session && keyAction(session.state);
  if (session === undefined || newKey !== undefined) {
    const why = (session && keyProblem(session.state)) ?? l10n.t('This account is signed out.');
    const text = [why, l10n.t('Only the receipts on this machine are listed.')].join(' ');
    const replaceKey = newKey !== undefined && spendButton('replaceKey', newKey);
    return compact(unreadable, notice('account', replaceKey ? 'error' : 'info', text, replaceKey));
  }
  const isLoading = reading === 'runs';
  const isReading = reading === 'prices';
  const prices = money.charged.filter((run) => run.isUnread).length;
  return compact(
    unreadable,
    session.state === 'offline' &&
      notice('offline', 'warning', offlineText(session.offlineSince), spendButton('refresh', TERMS.retry)),
    !isComplete(session) &&
      notice(
        'runs',
        'info',
        l10n.t('Not all runs are loaded, so totals may be too low.'),
        spendButton('loadRuns', isLoading ? l10n.t('Loading Runs…') : l10n.t('Load All Runs'), {
          isDisabled: isLoading,
        }),
      ),
    prices > 0 &&
      notice(
        'prices',
        'info',
        l10n.t('Prices not loaded: {0}.', formatCount(prices)),
        spendButton('readPrices', isReading ? l10n.t('Loading Prices…') : l10n.t('Load Prices'), {
          isDisabled: isReading,
        }),
      ),
  );
}

function factsOf({ session, money, receipts }: SpendFacts): SpendState['facts'] {
  const { spending, charged } = money;
  const balance = session?.isLocked === true ? undefined : session?.balance.current;
  const fact = (key: string, name: string, value: string) => ({ key, name, value });
  const areKnown = receipts !== 'failed';
  const isAll = areKnown && session?.isLocked === false && isComplete(session);
  const total = () => amountsText(amountsOf(charged), isAll);
  const spent = (month: MonthSpending) =>
    monthAmountsText({ ...month, isComplete: areKnown && month.isComplete });
  const pending = spending && pendingAmount(spending);
  const budget = session?.account.budget;
  const over = charged
    .filter(({ createdAtMs }) => createdAtMs === undefined || monthOf(createdAtMs) === spending?.month)
    .map(({ runId }) => money.exceededLimits(runId));
  return compact(
    spending && fact('month', l10n.t('Spent in {0}', monthText(spending.month)), spent(spending)),
    pending && fact('pending', l10n.t('Pending'), pending),
    charged.length > 0 && fact('all', l10n.t('Total for {0}', formatRuns(charged.length)), total()),
    session && fact('balance', TERMS.balance, formatMoney(balance?.balance_cents, balance?.currency)),
    budget &&
      fact(
        'budget',
        TERMS.budget,
        compact(
          limitsText(budget),
          over.some((one) => one.perMonthCents !== undefined) && l10n.t('monthly limit exceeded'),
          over.some((one) => one.perRunCents !== undefined) && l10n.t('limit per run exceeded this month'),
        ).join(' · '),
      ),
  );
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
  const row = (key: string, name: string, amounts: Amounts, mainCents: number) => ({
    key,
    name,
    runs: formatCount(amounts.runs),
    spent: amountsText(amounts),
    share: Math.max(0, mainCents / most),
  });
  const rest = groups.slice(MAX_GROUPS);
  const restRow = () =>
    row('rest', l10n.t('{0} more', formatCount(rest.length)), amountsOf(rest.flatMap(({ runs }) => runs)), 0);
  return {
    title: l10n.t('Spending by'),
    choices: GROUPS.map((one) => ({ groupBy: one, words: names[one], isChosen: one === groupBy })),
    columns: [names[groupBy], l10n.t('Runs'), l10n.t('Spent')],
    rows: compact(
      ...groups
        .slice(0, MAX_GROUPS)
        .map(({ key, amounts, mainCents }) =>
          row(`is ${key ?? ''}`, groupName(key, groupBy, session), amounts, mainCents),
        ),
      rest.length > 0 && restRow(),
    ),
  };
}

function groupName(key: string | undefined, groupBy: GroupBy, session: Session | undefined): string {
  if (key === undefined) return TERMS.unknown;
  if (groupBy === 'month') return monthText(key, 'with-year');
  return groupBy === 'model' ? modelName(key, session) : serviceText(key);
}
