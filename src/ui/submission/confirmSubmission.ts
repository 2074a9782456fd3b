import { l10n } from 'vscode';
import type { Account, ServiceAccount } from '../../core/accounts/account.ts';
import type { Balance, Model } from '../../core/api/types.ts';
import type { AccountMoney, BalanceNote, LimitCheck } from '../../core/money/accountMoney.ts';
import type { RunParameters } from '../../core/money/estimate.ts';
import type { EarlierSubmission } from '../../core/submission/earlier.ts';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import {
  compact,
  formatAgo,
  formatCount,
  formatMoney,
  MAX_CURRENCY_UNITS,
  sandboxNote,
} from '../shared/format.ts';
import { askModal, showWarning } from '../shared/notifications.ts';
import { estimateText, likelyPrice } from '../shared/priceText.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { factLine, TERMS } from '../shared/terms.ts';
import { overBudget } from './budgetText.ts';
import { MAX_FOLDER_UNITS, sizeFacts, type DatasetLocation } from './checkedDataset.ts';
import { CHARGE, resentSentence, SAME_LABEL } from './submissionText.ts';

/** What the final question shows before anything is sent. */
interface Confirmation {
  account: Account;
  dataset: { filename: string; sha256: string; place: DatasetLocation };
  /** Without its marker; may be empty. */
  label: string;
  /** Only the name if the service doesn't list the model now. */
  model: Pick<Model, 'name'> & Partial<Pick<Model, 'provider' | 'use_policy_url'>>;
  wanted: RunParameters;
  balance: Balance | undefined;
  money: Pick<AccountMoney, 'balanceNote' | 'checkBudget' | 'estimate'>;
  /** Earlier submissions that this one repeats, the one to name first; perhaps by mistake. */
  repeated?: readonly EarlierSubmission[] | undefined;
  /** How its rows changed since the last run, if known. */
  changed?: string | undefined;
  /** The submission that is resent with the same Idempotency-Key. */
  resent?: PendingSubmission;
}

/**
 * Asks the final question before anything is sent, with what is known about the money. It is also the second
 * consent. It is a modal dialog: other extensions can press anything else in VS Code by a command. Enter
 * presses the first button, which sends nothing.
 * @param now returns undefined if there is nothing left to send
 * @param agreed the budget warnings that the user has accepted
 */
export async function confirmSubmission(
  now: () => Confirmation | undefined,
  agreed = new Set<string>(),
): Promise<'submit' | 'back' | undefined> {
  const confirmation = now();
  if (confirmation === undefined) return 'back';
  const { size } = agreed;
  const over = await mayExceedBudget(confirmation, agreed);
  if (over !== 'continue') return over;
  // The balance or the spending may have changed in the meantime.
  if (agreed.size > size) return confirmSubmission(now, agreed);
  const { question, detail } = fittingTexts(confirmation);
  return askModal(showWarning, question, detail, {
    [backButton(confirmation)]: 'back',
    [submitButton(confirmation)]: 'submit',
  });
}

/** Asks once more before a run that exceeds or may exceed the budget; for the same figures only once. */
export async function mayExceedBudget(
  confirmation: Confirmation,
  agreed: Set<string>,
): Promise<'continue' | 'back' | undefined> {
  const { account, money, wanted } = confirmation;
  const over = overBudget(money.checkBudget(wanted), account.name);
  if (over === undefined || agreed.has(over.detail)) return 'continue';
  const choice = await askModal(showWarning, over.message, over.detail, {
    [backButton(confirmation)]: 'back',
    [l10n.t('Continue Over Budget')]: 'continue',
  });
  if (choice === 'continue') agreed.add(over.detail);
  return choice;
}

/** Sends nothing. */
function backButton({ resent }: Confirmation): string {
  return resent === undefined ? TERMS.backToSummary : l10n.t('Show Submission');
}

function submitButton({ account }: Confirmation): string {
  return account.kind === 'sandbox' ? l10n.t('Submit') : l10n.t('Submit and Pay');
}

/**
 * The longest names, in columns. The dialog has 48 columns (450 pixels), and the desktop's doesn't scroll:
 * only 21 lines are visible everywhere.
 */
const MAX = {
  lines: 21,
  columns: 48,
  file: 96,
  label: 24,
  account: 20,
  host: 16,
  model: 40,
  provider: 18,
  link: 40,
} as const;
/** How many digits of the SHA-256 are shown to distinguish two datasets. */
const DIGITS = 8;
/** East Asian letters, which are twice as wide as others. */
const WIDE_LETTER = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]/;

const WIDE_LETTERS = new RegExp(WIDE_LETTER, 'g');

function cut(text: string, columns: number): string {
  return sanitizeServiceText(text, WIDE_LETTER.test(text) ? Math.floor(columns / 2) : columns);
}

/** From the most to the least: the first one that fits is used. `columns`: of the name in the title. */
const LAYOUTS = [
  { columns: 40, hasBlank: true, hasChange: true },
  { columns: 16, hasBlank: true, hasChange: true },
  { columns: 16, hasBlank: true, hasChange: false },
  { columns: 16, hasBlank: false, hasChange: false },
] as const;

function fittingTexts(confirmation: Confirmation): { question: string; detail: string } {
  const all = LAYOUTS.map((layout) => textsOf(confirmation, layout));
  const fitting = all.find(({ question, detail }) => linesOf(`${question}\n${detail}`) <= MAX.lines);
  return fitting ?? textsOf(confirmation, LAYOUTS[3]);
}

/** Counts the lines of a text that is wrapped at spaces. */
function linesOf(text: string): number {
  const widths = (line: string) =>
    line
      .replaceAll(WIDE_LETTERS, 'xx')
      .split(' ')
      .map(({ length }) => length);
  return text.split('\n').reduce((lines, line) => {
    let [count, column] = [1, -1];
    for (const width of widths(line)) {
      const isNext = column >= 0 && column + 1 + width > MAX.columns;
      const end = isNext || column < 0 ? width : column + 1 + width;
      count += Number(isNext) + Math.max(0, Math.ceil(end / MAX.columns) - 1);
      column = end > MAX.columns ? end % MAX.columns || MAX.columns : end;
    }
    return lines + count;
  }, 0);
}

/** Repeats the consents, since another extension may have accepted the first one; only the user can press this dialog. */
function textsOf(
  confirmation: Confirmation,
  { columns, hasBlank, hasChange }: (typeof LAYOUTS)[number],
): { question: string; detail: string } {
  const { account, resent, dataset, label, model, repeated = [], wanted } = confirmation;
  const isSandbox = account.kind === 'sandbox';
  const name = cut(model.name, MAX.model);
  const provider = model.provider ? cut(model.provider, MAX.provider) : undefined;
  const maker = provider === undefined ? name : l10n.t('{0} ({1})', name, provider);
  const queue = wanted.priority ? l10n.t('priority (may cost extra)') : l10n.t('standard queue');
  const detail = compact(
    isSandbox && sandboxNote(),
    resent && resentSentence(resent),
    ...datasetLines(dataset),
    sizeFacts(wanted.size).join(' · '),
    hasChange && resent === undefined && confirmation.changed,
    label && factLine(TERMS.label, cut(label, MAX.label)),
    account.kind === 'service' && accountLine(account),
    factLine(TERMS.model, [maker, queue].join(' · ')),
    ...repeatedLine(repeated),
    priceLine(confirmation),
    ...moneyLines(confirmation),
    !isSandbox && chargeSentence(resent !== undefined),
    hasBlank ? ['', l10n.t('By submitting, you:')].join('\n') : l10n.t('By submitting, you:'),
    termsConsent(model.use_policy_url, provider ?? cut(model.name, MAX.provider)),
    l10n.t('• accept the service’s data policy (no link)'),
    l10n.t('• confirm you have the rights to this dataset'),
    l10n.t('• understand that results aren’t guaranteed'),
  ).join('\n');
  const question = isSandbox
    ? l10n.t('Submit {0} to the sandbox?', cut(dataset.filename, columns))
    : l10n.t('Submit this dataset to {0} and pay?', cut(account.name, columns));
  return { question, detail };
}

/** The account in one line: the host gets the room that the name leaves. */
function accountLine({ name, baseUrl }: ServiceAccount): string {
  const shown = cut(name, MAX.account);
  const hostColumns = WIDE_LETTER.test(shown) ? MAX.host : MAX.account + MAX.host - shown.length;
  return l10n.t('Account: {0} ({1})', shown, cut(new URL(baseUrl).host, hostColumns));
}

/** The file and its folder. A cut one gets the start of the SHA-256: no two datasets may read the same. */
function datasetLines({ filename, sha256, place }: Confirmation['dataset']): string[] {
  const identified = (text: string, columns: number) =>
    cut(text, columns) === text
      ? text
      : l10n.t('{0} ({1})', cut(text, columns - DIGITS - 3), sha256.slice(0, DIGITS));
  const file = identified(filename, MAX.file);
  const folder = (text: string, columns: number) =>
    file === filename ? identified(text, columns) : cut(text, columns);
  return [
    file,
    place.isLink
      ? l10n.t('link to {0}', folder(place.file, MAX.link))
      : l10n.t('in {0}', folder(place.folder, MAX_FOLDER_UNITS)),
  ];
}

function priceLine({ account, wanted, money }: Confirmation): string | undefined {
  const estimate = money.estimate(wanted);
  const likely = likelyPrice(estimate);
  if (account.kind === 'sandbox') return likely && factLine(TERMS.price, likely);
  const amount = estimateText(estimate);
  return compact(
    l10n.t('Price: known only after the charge.'),
    amount !== undefined && estimate.kind === 'range' ? l10n.t('Likely {0}', amount) : amount,
  ).join(' ');
}

/** The balance and, before the first attempt, why the budget isn't checked. */
function moneyLines({ balance, money, resent, wanted }: Confirmation): string[] {
  const budget = resent === undefined ? money.checkBudget(wanted) : undefined;
  return compact(
    balanceLine(balance, money.balanceNote(wanted)),
    budget && 'limits' in budget && overLine(budget.limits),
    budget?.kind === 'no-price' && factLine(TERMS.budget, l10n.t('not checked: the price isn’t known')),
    budget?.kind === 'other-currency' &&
      factLine(
        TERMS.budget,
        l10n.t('not checked: it’s in {0}', sanitizeServiceText(budget.budgetCurrency, MAX_CURRENCY_UNITS)),
      ),
  );
}

function overLine(limits: readonly LimitCheck[]): string | undefined {
  const month = limits.find(({ limit }) => limit === 'month')?.over;
  if (month === 'will') return l10n.t('Over the monthly budget');
  if (month === 'may') return l10n.t('May exceed the monthly budget');
  return limits.some(({ over }) => over) ? l10n.t('May exceed the per-run budget') : undefined;
}

/** @param isResent leaves out what the first question said */
function chargeSentence(isResent: boolean): string {
  return isResent
    ? l10n.t('You’re charged when the service accepts it.')
    : l10n.t('You’re charged when the service accepts the dataset. A run can’t be canceled or refunded.');
}

/** Leaves out the price: the likely price already is that of the same bytes. */
function repeatedLine([first, ...others]: readonly EarlierSubmission[]): string[] {
  if (first === undefined) return [];
  const isElsewhere = first.kind === 'elsewhere';
  const facts = compact(
    formatAgo(first.submittedAtMs, Date.now()),
    [first, ...others].some(({ runId }) => runId === undefined) && CHARGE.mayBeCharged,
    isElsewhere && SAME_LABEL,
    others.length > 0 && l10n.t('{0} more', formatCount(others.length)),
  );
  return [factLine(isElsewhere ? TERMS.submittedElsewhere : TERMS.submittedBefore, facts.join(' · '))];
}

function balanceLine(balance: Balance | undefined, note: BalanceNote): string {
  const notes: Record<NonNullable<BalanceNote>, string> = {
    empty: l10n.t('too low unless in your plan'),
    'probably-too-low': l10n.t('probably too low'),
    'may-be-too-low': l10n.t('may be too low'),
  };
  const amount = formatMoney(balance?.balance_cents, balance?.currency);
  return factLine(TERMS.balance, compact(amount, balance && note && notes[note]).join(' · '));
}

function termsConsent(policy: string | null | undefined, provider: string): string {
  return policy
    ? l10n.t('• accept the license terms and use policy of {0}', provider)
    : l10n.t('• accept the license terms of {0}', provider);
}
