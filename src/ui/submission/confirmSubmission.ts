import { l10n } from 'vscode';
import type { Account, ServiceAccount } from '../../core/accounts/account.ts';
import type { Balance, Model } from '../../core/api/types.ts';
import type { AccountMoney, BalanceNote } from '../../core/money/accountMoney.ts';
import type { RunParameters } from '../../core/money/estimate.ts';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import type { Prior } from '../../core/submission/receipts.ts';
import { compact, formatAgo, formatMoney, MAX_CURRENCY_UNITS, sandboxNote } from '../shared/format.ts';
import { askModal, showWarning } from '../shared/notifications.ts';
import { estimateText, likelyPrice } from '../shared/priceText.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { factLine, TERMS } from '../shared/terms.ts';
import { budgetText, overBudget } from './budgetText.ts';
import { MAX_FOLDER_UNITS, sizeFacts, type DatasetPlace } from './datasetPlace.ts';
import { moneySentence, RESENDING } from './submissionMoney.ts';

/** What the final question shows before anything is sent. */
export interface Confirmation {
  account: Account;
  dataset: { filename: string; sha256: string; place: DatasetPlace };
  /** Without its marker; may be empty. */
  label: string;
  /** Only the name if the service doesn't list the model now. */
  model: Pick<Model, 'name'> & Partial<Pick<Model, 'provider' | 'use_policy_url'>>;
  wanted: RunParameters;
  balance: Balance | undefined;
  money: Pick<AccountMoney, 'balanceNote' | 'checkBudget' | 'estimate'>;
  /** The submission of the same bytes, model, and queue within the last day, which this one repeats, most likely by mistake. */
  repeated?: Prior | undefined;
  /** The submission that is resent with the same Idempotency-Key. */
  resent?: PendingSubmission;
}

/**
 * Asks the final question before anything is sent, which is also the second consent, with what is then known about the money.
 * It is a modal dialog, since other extensions can press anything else in VS Code by a command. Enter presses the first button,
 * so that button sends nothing.
 * @param now returns undefined if there is nothing left to send
 * @param agreed the budget warnings that the user has accepted
 */
export async function confirmSubmission(
  now: () => Confirmation | undefined,
  agreed = new Set<string>(),
): Promise<'submit' | 'back' | undefined> {
  for (;;) {
    const confirmation = now();
    if (confirmation === undefined) return 'back';
    const { size } = agreed;
    const over = await mayExceedBudget(confirmation, agreed);
    if (over !== 'continue') return over;
    // The balance or the spending may have changed in the meantime.
    if (agreed.size > size) continue;
    const { question, detail } = textsOf(confirmation);
    return askModal(showWarning, question, detail, {
      [backButton(confirmation)]: 'back',
      [submitButton(confirmation)]: 'submit',
    });
  }
}

/** Asks for one more confirmation if a run exceeds or may exceed the budget; the same figures are confirmed only once. */
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

/** The dialog is 450 pixels wide, and the desktop's doesn't scroll: this much is visible everywhere. */
const MAX_LINES = 21;
const LINE_UNITS = 48;
const MAX_LINK_UNITS = 40;
/** Of names, of which only the model's may take a second line: its size and version are in the middle. */
const MAX_UNITS = { question: 16, label: 24, account: 20, host: 16, model: 40, provider: 18 } as const;
const MAX_FILE_UNITS = 96;
/** How many digits of the SHA-256 tell two datasets apart. */
const DIGITS = 8;

/** How much room texts have. */
interface Room {
  /** The longest name of a file that isn't cut. If it is, its SHA-256 still identifies it. */
  file: number;
  /** Whether the queue stands with the price, the budget with the balance, and an estimate in place of the sentence about the price. */
  isBrief: boolean;
}

/** The first one in which everything fits is used. */
const ROOMS: readonly Room[] = [
  { file: MAX_FILE_UNITS, isBrief: false },
  { file: MAX_FILE_UNITS, isBrief: true },
  { file: LINE_UNITS, isBrief: true },
];

/** Repeats the consents, since another extension may have accepted the first one; only the user can press this dialog. */
function textsOf(confirmation: Confirmation): { question: string; detail: string } {
  const question = questionText(confirmation);
  const details = ROOMS.map((room) => detailText(confirmation, room));
  const fits = details.find((detail) => linesOf(`${question}\n${detail}`) <= MAX_LINES);
  return { question, detail: fits ?? details.at(-1) ?? '' };
}

function questionText({ account, dataset }: Confirmation): string {
  return account.kind === 'sandbox'
    ? l10n.t('Submit {0} to the sandbox?', sanitizeServiceText(dataset.filename, MAX_UNITS.question))
    : l10n.t('Submit this dataset to {0} and pay?', sanitizeServiceText(account.name, MAX_UNITS.question));
}

function detailText(confirmation: Confirmation, room: Room): string {
  const { account, resent, dataset, model, repeated } = confirmation;
  const isSandbox = account.kind === 'sandbox';
  const provider = model.provider ? sanitizeServiceText(model.provider, MAX_UNITS.provider) : undefined;
  return compact(
    isSandbox && sandboxNote(),
    resent && resentSentence(resent),
    ...datasetLines(dataset, room.file),
    sizeFacts(confirmation.wanted.size).join(' · '),
    confirmation.label && factLine(TERMS.label, sanitizeServiceText(confirmation.label, MAX_UNITS.label)),
    account.kind === 'service' && accountLine(account),
    factLine(TERMS.model, modelText(confirmation, provider, room)),
    repeated && factLine(TERMS.submittedBefore, repeatedFacts(repeated)),
    priceLine(confirmation, room),
    ...moneyLines(confirmation, room),
    !isSandbox && chargeSentence(resent !== undefined),
    l10n.t('By submitting you:'),
    termsConsent(model.use_policy_url, provider ?? sanitizeServiceText(model.name, MAX_UNITS.provider)),
    l10n.t('• accept the service’s data policy (no link)'),
    l10n.t('• confirm you have the rights to this dataset'),
    l10n.t('• understand that results aren’t guaranteed'),
  ).join('\n');
}

/** On one line, of which the host has what the name leaves. */
function accountLine({ name, baseUrl }: ServiceAccount): string {
  const shown = sanitizeServiceText(name, MAX_UNITS.account);
  const hostUnits = MAX_UNITS.account + MAX_UNITS.host - shown.length;
  return l10n.t('Account: {0} ({1})', shown, sanitizeServiceText(new URL(baseUrl).host, hostUnits));
}

/** The file and its folder, whole or with the start of the SHA-256, so that no two datasets read the same. */
function datasetLines({ filename, sha256, place }: Confirmation['dataset'], maxUnits: number): string[] {
  const identified = (text: string, units: number) =>
    sanitizeServiceText(text, units) === text
      ? text
      : l10n.t('{0} ({1})', sanitizeServiceText(text, units - DIGITS - 3), sha256.slice(0, DIGITS));
  const file = identified(filename, maxUnits);
  const folder = (text: string, units: number) =>
    file === filename ? identified(text, units) : sanitizeServiceText(text, units);
  return [
    file,
    place.isLink
      ? l10n.t('link to {0}', folder(place.file, MAX_LINK_UNITS))
      : l10n.t('in {0}', folder(place.folder, MAX_FOLDER_UNITS)),
  ];
}

function modelText({ model, wanted }: Confirmation, provider: string | undefined, room: Room): string {
  const name = sanitizeServiceText(model.name, MAX_UNITS.model);
  // The consent names the provider, too.
  if (room.isBrief) return name;
  const queue = wanted.priority ? l10n.t('priority (may cost extra)') : l10n.t('standard queue');
  return [provider === undefined ? name : l10n.t('{0} ({1})', name, provider), queue].join(' · ');
}

function priceLine({ account, wanted, money }: Confirmation, room: Room): string | undefined {
  const estimate = money.estimate(wanted);
  const likely = likelyPrice(estimate);
  const isPriority = wanted.priority && room.isBrief;
  if (likely !== undefined && (account.kind === 'sandbox' || room.isBrief))
    return factLine(isPriority ? l10n.t('Price (priority)') : TERMS.price, likely);
  if (account.kind === 'sandbox') return undefined;
  const amount = estimateText(estimate);
  return compact(
    isPriority
      ? l10n.t('Price (priority): known only after the charge.')
      : l10n.t('Price: known only after the charge.'),
    amount !== undefined && estimate.kind === 'range' ? l10n.t('Likely {0}', amount) : amount,
  ).join(' ');
}

function moneyLines({ balance, money, wanted }: Confirmation, room: Room): string[] {
  const budget = money.checkBudget(wanted);
  const lines = compact(
    balanceLine(balance, money.balanceNote(wanted)),
    budget.kind === 'no-price' && budgetText(budget),
    budget.kind === 'other-currency' &&
      factLine(
        TERMS.budget,
        l10n.t('not checked: it is in {0}', sanitizeServiceText(budget.budgetCurrency, MAX_CURRENCY_UNITS)),
      ),
  );
  return room.isBrief ? [lines.join(' · ')] : lines;
}

/** East Asian letters, which are twice as wide as others. */
const WIDE_LETTERS = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]/g;

/** Returns how many lines a text takes up when its words are wrapped. */
function linesOf(text: string): number {
  let lines = 0;
  for (const line of text.split('\n')) {
    let room = 0;
    for (const word of line.split(' ')) {
      const units = word.length + (word.match(WIDE_LETTERS)?.length ?? 0);
      if (units > room) {
        lines += Math.max(1, Math.ceil(units / LINE_UNITS));
        room = LINE_UNITS - (units % LINE_UNITS || LINE_UNITS);
      } else room -= units;
      room -= 1;
    }
  }
  return lines;
}

/** @param isResent leaves out what the question of the first attempt said */
function chargeSentence(isResent: boolean): string {
  return isResent
    ? l10n.t('You’re charged when the service accepts it.')
    : l10n.t('You’re charged when the service accepts the dataset. A run can’t be canceled or refunded.');
}

/** Leaves out the price, which is shown as the likely price. */
function repeatedFacts({ submittedAtMs, runId }: Prior): string {
  const time = formatAgo(submittedAtMs, Date.now());
  return runId === undefined ? [time, TERMS.mayBeCharged].join(' · ') : time;
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

/** Starts with the money. */
function resentSentence(submission: PendingSubmission): string {
  if (submission.state === 'unsent') return moneySentence(submission, Date.now());
  const money =
    submission.state === 'not-charged' ? l10n.t('Not charged so far.') : l10n.t('You may have been charged.');
  return [money, RESENDING].join(' ');
}
