import { basename } from 'node:path';
import { l10n } from 'vscode';
import type { HeldOut } from '../../core/answers/filesBeside.ts';
import {
  leavesOut,
  leavesOutUntrainable,
  masksSecrets,
  type Leavable,
  type Mendable,
  type PrepareChoices,
  type Amount,
  USUAL_HOLD_OUT,
} from '../../core/datasets/copyTypes.ts';
import { FORMAT_NAMES } from '../shared/datasetTexts.ts';
import { compact, formatCount, formatRows } from '../shared/format.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import {
  ask,
  pickMany,
  runSteps,
  separator,
  type DialogEnd,
  type PickRow,
  type Step,
} from '../shared/steps.ts';

/** What a row of the dialog chooses. */
type Change =
  | ('errors' | 'untrainable' | 'held-out' | 'duplicates')
  | Leavable
  | ('repair' | 'system' | 'secrets' | 'personal' | 'chat' | 'hold-out' | 'trial');

type Offered = Mendable & { heldOut: HeldOut | undefined };

/** What the user has chosen so far. */
interface State {
  changes: ReadonlySet<Change>;
  holdOut: Amount;
  trial: Amount;
}

const TRIAL_ROWS = 100;
const FEWEST_TRIAL_ROWS = 10;

/**
 * Asks what a copy of a dataset should change, and how many rows a split has. Asks nothing if there is nothing to choose.
 * @returns undefined if the user canceled
 */
export async function choosePreparation(
  name: string,
  mendable: Offered,
): Promise<PrepareChoices | undefined> {
  const title = l10n.t('Prepare a copy of {0}', name);
  const rows = rowsFor(mendable);
  const initial: State = {
    changes: pickedAtFirst(mendable),
    holdOut: USUAL_HOLD_OUT,
    trial: { rows: trialRows(mendable.rows) },
  };
  if (rows.length === 0) return choicesOf({ ...initial, changes: new Set() }, mendable);
  const chooseChanges: Step<State> = async (state) => {
    const placeholder = l10n.t('{0} itself isn’t changed.', name);
    const answer = await pickMany({ title }, { placeholder, items: rows, picked: state.changes });
    return answer.kind === 'value'
      ? { kind: 'value', value: { ...state, changes: new Set(answer.value) } }
      : answer;
  };
  const askAmount =
    (change: 'hold-out' | 'trial', of: 'holdOut' | 'trial', prompt: string): Step<State> =>
    async (state) => {
      if (!state.changes.has(change)) return { kind: 'value', value: state };
      const answer = await amountFor({ title, prompt, amount: state[of], rows: mendable.rows });
      // Don't go to the previous step, which may have been skipped.
      if (answer.kind === 'back') return { kind: 'go', to: 0, state };
      return answer.kind === 'value' ? { kind: 'value', value: { ...state, [of]: answer.value } } : answer;
    };
  const end = await runSteps<State>(
    title,
    [
      chooseChanges,
      askAmount(
        'hold-out',
        'holdOut',
        mendable.namesNoPrompt
          ? l10n.t(
              'Rows for evaluation: a percentage or a number. These rows have no prompt, so rows that start alike can end up on both sides.',
            )
          : l10n.t(
              'Rows for evaluation: a percentage or a number. Rows with the same prompt stay together, ignoring white space, A–Z case and JSON escapes.',
            ),
      ),
      askAmount('trial', 'trial', l10n.t('Rows for a trial run: a percentage or a number.')),
    ],
    initial,
  );
  return end && choicesOf(end, mendable);
}

/** Turns the chosen rows of the dialog into what the copy does. */
function choicesOf({ changes, holdOut, trial }: State, mendable: Offered): PrepareChoices {
  const wasAsked = secretsPhrase(mendable) !== '';
  const secrets = masksSecrets(mendable, wasAsked ? changes.has('secrets') : undefined, changes.has('chat'));
  return {
    repair: changes.has('repair'),
    withoutFindings: mendable.leavable.filter(({ name }) => changes.has(name)),
    system: changes.has('system') ? mendable.system?.text : undefined,
    withoutErrors: changes.has('errors'),
    withoutUntrainable: changes.has('untrainable'),
    withoutDuplicates: changes.has('duplicates'),
    // A new hold-out replaces the existing one.
    withoutHeldOut: changes.has('held-out') && !changes.has('hold-out') ? mendable.heldOut?.path : undefined,
    mask: { secrets, personal: changes.has('personal') },
    toChat: changes.has('chat'),
    holdOut: changes.has('hold-out') ? holdOut : undefined,
    trial: changes.has('trial') ? trial : undefined,
  };
}

/** A trial has a tenth of the rows, but at least a few. */
function trialRows(rows: number): number {
  return Math.min(Math.max(FEWEST_TRIAL_ROWS, Math.floor(rows / 10)), TRIAL_ROWS, rows - 1);
}

function pickedAtFirst(mendable: Mendable): ReadonlySet<Change> {
  const always: readonly Change[] = ['errors', 'held-out', 'duplicates', 'repair', 'system', 'secrets'];
  const untrainable = leavesOutUntrainable(mendable) && 'untrainable';
  const chat = mendable.convertsAll && 'chat';
  const findings = mendable.leavable.filter((one) => leavesOut(one, mendable.rows)).map(({ name }) => name);
  return new Set([...always, ...compact<Change>(untrainable, chat), ...findings]);
}

/** Only rows that apply, with their counts. */
function rowsFor(mendable: Offered): PickRow<Change>[] {
  const { untrainableRows, heldOut, duplicateRows, repairableRows, leavable, system } = mendable;
  const { convertible, unconvertible, canSplit } = mendable;
  const row = (value: Change, label: string, description: string | false | undefined): PickRow<Change>[] =>
    description ? [{ label, description, value }] : [];
  const group = (label: string, rows: readonly PickRow<Change>[][]): PickRow<Change>[] =>
    rows.flat().length === 0 ? [] : [separator(label), ...rows.flat()];
  const duplicates = duplicateRows > 0 && l10n.t('{0}; the first of each is kept', formatRows(duplicateRows));
  const converts = convertible.length > 0 && conversionPhrase(convertible, unconvertible);
  const trial = canSplit && formatRows(trialRows(mendable.rows));
  return [
    ...group(l10n.t('Leave Out'), [
      row('errors', l10n.t('Rows with errors'), errorsPhrase(mendable)),
      row(
        'untrainable',
        l10n.t('Rows unusable for training'),
        untrainableRows > 0 && untrainableRows < mendable.rows && reasonsPhrase(mendable),
      ),
      row('held-out', l10n.t('Rows that are in the hold-out'), heldOut && heldOutPhrase(heldOut)),
      row('duplicates', l10n.t('Duplicate rows'), duplicates),
      ...leavable.map((one) => row(one.name, ...LEAVABLE[one.name](one.total, quoted(one.kinds)))),
    ]),
    ...group(l10n.t('Change'), [
      row('repair', l10n.t('Repair JSON syntax'), repairableRows > 0 && formatRows(repairableRows)),
      row('system', addsSystem(system?.rows), system && quoted({ [system.text]: 1 })),
      row('secrets', l10n.t('Mask secrets'), secretsPhrase(mendable)),
      row('personal', l10n.t('Mask email addresses and card numbers'), personalPhrase(mendable)),
      row('chat', l10n.t('Convert to chat messages'), converts),
    ]),
    ...group(l10n.t('Split'), [
      row('hold-out', l10n.t('Hold out rows for evaluation…'), canSplit && '10%'),
      row('trial', l10n.t('Only some rows, for a trial run…'), trial),
    ]),
  ];
}

function addsSystem(rows = 0): string {
  return rows === 1
    ? l10n.t('Add the usual system message to 1 row')
    : l10n.t('Add the usual system message to {0} rows', formatCount(rows));
}

/** The rows of the dialog that leave findings out. */
const LEAVABLE: Readonly<
  Record<Leavable, (rows: number, kinds: string) => [label: string, description: string]>
> = {
  templateMarks: (rows, kinds) => [
    l10n.t('Rows with chat template tokens'),
    l10n.t('{0}: {1}', formatRows(rows), kinds),
  ],
  emptyWords: (rows, kinds) => [
    l10n.t('Rows with empty-cell placeholders'),
    l10n.t('{0}: {1}', formatRows(rows), kinds),
  ],
  refusals: (rows) => [
    rows === 1
      ? l10n.t('1 answer that begins like a refusal')
      : l10n.t('{0} answers that begin like a refusal', formatCount(rows)),
    l10n.t('some datasets need them'),
  ],
};

function quoted(texts: Readonly<Record<string, unknown>>): string {
  const first = Object.keys(texts).slice(0, 3);
  return first.map((text) => l10n.t('“{0}”', sanitizeServiceText(text, 60))).join(', ');
}

function errorsPhrase({ errorRows, repairableRows }: Mendable): string | false {
  if (repairableRows === 0) return errorRows > 0 && formatRows(errorRows);
  return l10n.t('{0}; {1} can be repaired', formatRows(errorRows), formatCount(repairableRows));
}

/** "125 rows: 50 of no known format, 40 without content, 35 without an answer". */
function reasonsPhrase({
  untrainableRows,
  untrainable: { format, content, answer, weight },
}: Mendable): string {
  const reasons = compact(
    format > 0 && l10n.t('{0} in an unknown format', formatCount(format)),
    content > 0 && l10n.t('{0} without content', formatCount(content)),
    answer > 0 && l10n.t('{0} without an answer', formatCount(answer)),
    weight > 0 && l10n.t('{0} with weight 0 only', formatCount(weight)),
  );
  return l10n.t('{0}: {1}', formatRows(untrainableRows), reasons.join(', '));
}

function heldOutPhrase({ path, rows }: HeldOut): string | false {
  return rows > 0 && l10n.t('{0} also in {1}', formatRows(rows), sanitizeServiceText(basename(path)));
}

function secretsPhrase({ apiKeys, privateKeys }: Mendable): string {
  return compact(
    apiKeys > 0 && (apiKeys === 1 ? l10n.t('1 API key') : l10n.t('{0} API keys', formatCount(apiKeys))),
    privateKeys > 0 &&
      (privateKeys === 1 ? l10n.t('1 private key') : l10n.t('{0} private keys', formatCount(privateKeys))),
  ).join(', ');
}

/** "14 email addresses, 1 card number"; empty if there is none. */
export function personalPhrase({
  emailAddresses,
  cardNumbers,
}: Pick<Mendable, 'emailAddresses' | 'cardNumbers'>): string {
  return compact(
    emailAddresses > 0 &&
      (emailAddresses === 1
        ? l10n.t('1 email address')
        : l10n.t('{0} email addresses', formatCount(emailAddresses))),
    cardNumbers > 0 &&
      (cardNumbers === 1 ? l10n.t('1 card number') : l10n.t('{0} card numbers', formatCount(cardNumbers))),
  ).join(', ');
}

function conversionPhrase(from: Mendable['convertible'], others: Mendable['unconvertible']): string {
  const names = from.map(([format]) => FORMAT_NAMES[format]).join(', ');
  // "129 rows of plain text".
  const left = others
    .map(([format, rows]) => l10n.t('{0} with {1}', formatRows(rows), FORMAT_NAMES[format]))
    .join(', ');
  // The loss comes first: a long description is cut.
  return left === '' ? l10n.t('from {0}', names) : l10n.t('{0} can’t be converted', left);
}

/** Asks for a share such as `10%`, or a number of rows. At least one row is left. */
async function amountFor({
  title,
  prompt,
  amount,
  rows,
}: {
  title: string;
  prompt: string;
  amount: Amount;
  rows: number;
}): Promise<DialogEnd<Amount>> {
  const validate = (text: string) =>
    parsedAmount(text, rows) === undefined
      ? l10n.t('Enter a percentage such as 10%, or a number of rows below {0}.', formatCount(rows))
      : undefined;
  const value = 'rows' in amount ? String(amount.rows) : `${Math.round(amount.share * 1_000) / 10}%`;
  const answer = await ask({ title, hasBack: true }, { prompt, value, validate });
  if (answer.kind !== 'value') return answer;
  return { kind: 'value', value: parsedAmount(answer.value, rows) ?? amount };
}

/** @returns undefined if it isn't a share from 0.1 to 99 percent, or a number from 1 to one below `rows` */
export function parsedAmount(text: string, rows: number): Amount | undefined {
  const [, digits = '', percent] = /^\s*(\d{1,7}(?:[.,]\d)?)\s*(%?)\s*$/.exec(text) ?? [];
  const value = Number(digits.replace(',', '.'));
  if (digits === '') return undefined;
  if (percent === '%') return value >= 0.1 && value <= 99 ? { share: value / 100 } : undefined;
  return Number.isInteger(value) && value >= 1 && value < rows ? { rows: value } : undefined;
}
