import path from 'node:path';
import { commands, l10n, Uri } from 'vscode';
import { websiteOf, type Account } from '../../core/accounts/account.ts';
import type { HeldOut } from '../../core/answers/filesBeside.ts';
import type { Balance } from '../../core/api/types.ts';
import { findingsToRead, type Reading } from '../../core/datasets/readFacts.ts';
import { shownProblems, verdictOf, type ProblemChoice, type Report } from '../../core/datasets/report.ts';
import type { BalanceNote } from '../../core/money/accountMoney.ts';
import type { RunParameters } from '../../core/money/estimate.ts';
import { withMarker, withoutMarker } from '../../core/runs/marker.ts';
import { isPast, isRepeat } from '../../core/submission/earlier.ts';
import {
  earlierName,
  earlierPhrase,
  foundCounts,
  privacyPhrase,
  sizePhrase,
  trainedPhrase,
  verdictPhrase,
  type ShownEarlier,
} from '../shared/datasetTexts.ts';
import {
  compact,
  formatAgo,
  formatCount,
  formatDay,
  formatMoment,
  formatMoney,
  formatRows,
  sandboxNote,
} from '../shared/format.ts';
import { COMMANDS, type CommandId } from '../shared/ids.ts';
import { openServiceLink } from '../shared/open.ts';
import { expectedPriceText } from '../shared/priceText.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { pick, separator, type PickRow, type DialogTitle } from '../shared/steps.ts';
import { TERMS } from '../shared/terms.ts';
import { budgetText, overBudget } from './budgetText.ts';
import { isLongFolder, sizeFacts } from './checkedDataset.ts';
import type { Review, SubmissionChoices, SubmissionContext } from './review.ts';
import { SAME_LABEL } from './submissionText.ts';

/** What a priority queue costs. */
export const EXTRA_COST = l10n.t('costs extra unless your plan includes it');

/** The target of a row in the summary. */
export type SummaryTarget = 'continue' | 'model' | 'label' | 'queue' | 'dataset' | 'website';

/** Returns the title of the summary and the boxes of its rows, and what closes them. */
export function boxOf({ account, dataset, proposal }: SubmissionContext): DialogTitle {
  const filename = sanitizeServiceText(dataset.filename);
  const title =
    account.kind === 'sandbox'
      ? l10n.t('Submit {0} to the sandbox', filename)
      : l10n.t('Submit {0} to {1}', filename, sanitizeServiceText(account.name));
  return { title, signal: proposal?.signal };
}

/** Returns the label as it will be sent. */
export function sentLabel({ marker }: SubmissionContext, label: string): string {
  return marker === undefined ? label : withMarker(label, marker);
}

/** Shows what will be sent, who pays, and what is known about the price. @returns the chosen row */
export async function showSummary(
  review: Review,
  choices: SubmissionChoices,
  active: SummaryTarget,
): Promise<SummaryTarget | undefined> {
  const context = review.context();
  const sent = { ...choices, label: withoutMarker(sentLabel(context, choices.label)) };
  let sha256: string | undefined;
  const items = () => summaryRows(review.context(), sent, sha256);
  const answer = await pick<SummaryRow['value']>(boxOf(context), {
    placeholder: context.notice ?? l10n.t('Review before submitting. Nothing has been sent yet.'),
    items: items(),
    active,
    later: [review.sha256.then((digest) => (sha256 = digest)), ...review.late].map((known) =>
      known.then(items),
    ),
    settle: (target) => (target === 'continue' ? review.ready() : undefined),
    stays: (target) => {
      if (target === 'website') void openServiceLink(websiteOf(context.account) ?? '');
      if (typeof target === 'object') void commands.executeCommand(...target);
      return typeof target !== 'string' || target === 'website';
    },
  });
  return answer.kind === 'value' && typeof answer.value === 'string' ? answer.value : undefined;
}

/** A command that shows a row's subject behind the box, which stays open. */
type Shown = readonly [CommandId, ...unknown[]];

/** An informational row in a list of choices. */
interface Fact {
  icon: string;
  label: string;
  description: string;
  value?: Shown | undefined;
}

/** `undefined`: the row only shows something. */
type SummaryRow = PickRow<SummaryTarget | Shown | undefined>;

/** The rows about what will be sent, who pays, and the known price. */
function summaryRows(
  context: SubmissionContext,
  choices: SubmissionChoices,
  sha256: string | undefined,
): SummaryRow[] {
  const { account, money } = context;
  const { model, label, priority } = choices;
  const { folder } = context.dataset.place;
  const wanted = { size: context.dataset.size, priority, sha256 };
  const budget = budgetText(money.checkBudget(wanted));
  const website = websiteOf(account);
  const notes = noteRows(context, choices, sha256);
  const row = (icon: string, label: string, description: string, value?: SummaryTarget): SummaryRow => ({
    icon,
    label,
    description,
    value,
  });
  return compact<SummaryRow>(
    { icon: 'arrow-right', label: l10n.t('Continue'), value: 'continue' },
    separator(l10n.t('Run · Press Enter to change a row')),
    row('symbol-misc', TERMS.model, compact(model.name, model.provider).join(', '), 'model'),
    row('tag', TERMS.label, label || TERMS.none, 'label'),
    row('rocket', TERMS.queue, priority ? [TERMS.priority, EXTRA_COST].join(' · ') : TERMS.standard, 'queue'),
    row('file', TERMS.dataset, datasetText(context, sha256), 'dataset'),
    isLongFolder(context.dataset.place) && row('folder', l10n.t('Folder'), folder),
    separator(l10n.t('Payment')),
    row('account', TERMS.account, payerText(account)),
    row('graph', TERMS.price, pricePhrase(context, label, wanted)),
    row('credit-card', TERMS.balance, balanceText(context)),
    budget && row('target', TERMS.budget, budget),
    website && row('globe', l10n.t('Website'), website, 'website'),
    notes.length > 0 && separator(l10n.t('Notes')),
    ...notes.map((note) => ({ value: undefined, ...note })),
  );
}

/** The estimate. Without one for these bytes: what another account paid for them. */
function pricePhrase({ money, earlierOf }: SubmissionContext, label: string, wanted: RunParameters): string {
  const { priority, sha256 } = wanted;
  const estimate = money.estimate(wanted);
  const others = sha256 === undefined || estimate.kind === 'same' ? [] : earlierOf(sha256, label);
  const paid = others.find(
    (one) => one.otherAccount !== undefined && one.priority === priority && one.priceCents,
  );
  if (paid?.otherAccount === undefined) return expectedPriceText(estimate);
  const price = l10n.t(
    '{0} last time, paid by {1}',
    formatMoney(paid.priceCents, paid.currency),
    sanitizeServiceText(paid.otherAccount),
  );
  return estimate.kind === 'range' ? [price, expectedPriceText(estimate)].join(' · ') : price;
}

function payerText(account: Account): string {
  return account.kind === 'sandbox'
    ? sandboxNote()
    : l10n.t('{0} ({1})', account.name, new URL(account.baseUrl).host);
}

function balanceText({ balance, held }: SubmissionContext): string {
  const text = formatMoney(balance?.balance_cents, balance?.currency);
  return held?.balanceReadAtMs === undefined
    ? text
    : l10n.t('{0} (as of {1})', text, formatMoment(held.balanceReadAtMs, Date.now()));
}

function datasetText(context: SubmissionContext, sha256: string | undefined): string {
  const { dataset, earlier } = context;
  const { filename, place, size } = dataset;
  const path = isLongFolder(place) ? filename : place.file;
  const file = place.isLink ? l10n.t('{0} (link to {1})', filename, place.file) : path;
  const facts = [file, ...sizeFacts(size)];
  if (earlier !== undefined && sha256 !== undefined) {
    const day = formatDay(earlier.created.localMs);
    if (earlier.dataset.sha256 === sha256) facts.push(l10n.t('unchanged since {0}', day));
    // Another file name means another dataset, which the user chose.
    else if (earlier.dataset.filename === dataset.filename) facts.push(l10n.t('changed since {0}', day));
  }
  return facts.join(' · ');
}

/** How much of an agent's reason is shown. */
const MAX_REASON_UNITS = 200;

/** Only facts that the user may not expect. */
function noteRows(
  context: SubmissionContext,
  { label, model, priority }: SubmissionChoices,
  sha256: string | undefined,
): Fact[] {
  const { account, balance, check, dataset, earlierOf, held, money, proposal, reading, trainedBefore } =
    context;
  const size = sizePhrase(dataset.size.bytes);
  const wanted = { size: dataset.size, priority, sha256 };
  const note = money.balanceNote(wanted);
  const over = overBudget(money.checkBudget(wanted), account.name);
  const chosen = { modelId: model.model_id, priority };
  const earlier = sha256 === undefined ? [] : earlierOf(sha256, label);
  const trained = sha256 === undefined ? undefined : trainedBefore(sha256);
  const changed = trained?.kind === 'changed' && trainedPhrase(trained);
  return compact(
    proposal && {
      icon: 'hubot',
      label: l10n.t('Proposed by an agent'),
      description: sanitizeServiceText(proposal.reason, MAX_REASON_UNITS),
    },
    ...earlier.filter((one) => !isPast(one)).map(openRow),
    over && { icon: 'warning', label: l10n.t('Over budget'), description: over.message },
    held && {
      icon: 'watch',
      label: l10n.t('Upload'),
      description: l10n.t(
        'Waits until {0}, as the service requested.',
        formatMoment(held.untilMs, Date.now()),
      ),
    },
    note &&
      balance && {
        icon: 'warning',
        label: TERMS.balance,
        description: balanceNoteText(note, balance, account.kind === 'sandbox'),
      },
    ...earlierRows(earlier.filter(isPast), chosen, Date.now()),
    changed && {
      icon: 'history',
      label: earlierName(trained.run),
      description: changed,
      value: runOf(trained.run),
    },
    context.heldOut !== undefined && context.heldOut.rows > 0 && heldOutRow(context.heldOut),
    ...(check === undefined ? [] : checkRows(check)),
    ...(reading === undefined ? [] : textRows(reading)),
    size && { icon: 'warning', label: TERMS.size, description: size },
  );
}

function heldOutRow({ path: file, rows }: HeldOut): Fact {
  const name = sanitizeServiceText(path.basename(file));
  const description =
    rows === 1
      ? l10n.t('1 row is also in {0}, so its answer wouldn’t show what was learned.', name)
      : l10n.t(
          '{0} rows are also in {1}, so their answers wouldn’t show what was learned.',
          formatCount(rows),
          name,
        );
  return { icon: 'warning', label: l10n.t('Hold-out'), description };
}

/** An open submission, money first. A question about it follows the summary. */
function openRow({
  state,
  modelName,
  otherAccount,
}: ReturnType<SubmissionContext['earlierOf']>[number]): Fact {
  return {
    icon: 'warning',
    label: l10n.t('Open submission'),
    description: compact(state, modelName, otherAccount).join(' · '),
  };
}

/** Further rows are only counted. */
const MAX_EARLIER_ROWS = 3;

/** Rows about earlier submissions, likely repeats first. @param past newest first */
function earlierRows(
  past: readonly ShownEarlier[],
  chosen: { modelId: string; priority: boolean },
  nowMs: number,
): Fact[] {
  const isSame = (one: ShownEarlier) => isRepeat(chosen, one, nowMs);
  // A run from elsewhere may have different bytes, so it comes later.
  const rankOf = (one: ShownEarlier) => (isSame(one) ? 0 : 2) + (one.kind === 'elsewhere' ? 1 : 0);
  const sorted = past.toSorted((one, other) => rankOf(one) - rankOf(other));
  const rows = sorted.slice(0, MAX_EARLIER_ROWS).map((one) => {
    const isRepeated = isSame(one);
    const time = isRepeated ? formatAgo(one.submittedAtMs, nowMs) : formatDay(one.submittedAtMs);
    return {
      icon: isRepeated ? 'warning' : 'history',
      label: earlierName(one, isRepeated),
      description: compact(earlierPhrase(one, time), one.kind === 'elsewhere' && SAME_LABEL).join(' · '),
      value: runOf(one),
    };
  });
  const more = sorted.length - rows.length;
  const rest = l10n.t('{0} more', formatCount(more));
  return compact<Fact>(
    ...rows,
    more > 0 && { icon: 'history', label: TERMS.submittedBefore, description: rest },
  );
}

/** Shows the run, if one was charged. */
function runOf({ accountId, runId }: ShownEarlier): Shown | undefined {
  return runId === undefined ? undefined : [COMMANDS.showRun, { accountId, id: runId }];
}

/** Returns what a check adds to the summary of a submission: problems and possible personal data. */
function checkRows(check: Report | 'unchecked'): Fact[] {
  const label = l10n.t('Check');
  if (check === 'unchecked')
    return [{ icon: 'warning', label, description: l10n.t('skipped because the check failed') }];
  const privacy = privacyPhrase(check);
  const uri = Uri.file(check.path);
  // The preview of another kind of file has no rows.
  const previewed = (target: object): Shown => [
    ...([COMMANDS.previewDataset, uri, undefined] as const),
    check.kind === 'rows' ? target : {},
  ];
  const row = shownProblems(check, 1).shown[0]?.row;
  const verdict = verdictOf(check);
  const isError = check.kind !== 'rows' || foundCounts(check, false).length > 0;
  const icon = isError ? 'error' : 'warning';
  return compact(
    verdict !== 'clean' && { icon, label, description: verdictPhrase(check), value: previewed({ row }) },
    privacy !== '' && {
      icon: 'eye',
      label: l10n.t('Personal data'),
      description: privacy,
      value: previewed({ problems: 'privacy' satisfies ProblemChoice }),
    },
  );
}

/** From this share of the rows, lost characters have a row of their own. */
const LOST_SHARE = 0.01;

/** Returns rows about the dataset's texts; the card says more. */
function textRows({ path: file, findings, rows }: Reading): Fact[] {
  const count = findingsToRead(findings).length;
  const lost = findings.find(({ name }) => name === 'replacement')?.total ?? 0;
  const uri = Uri.file(file);
  const problems: ProblemChoice = 'replacement';
  return compact(
    lost > rows * LOST_SHARE && {
      icon: 'warning',
      label: l10n.t('Lost characters'),
      description: l10n.t('{0} with �', formatRows(lost)),
      value: [COMMANDS.previewDataset, uri, undefined, { problems }] as const,
    },
    count > 0 && {
      icon: 'info',
      label: l10n.t('Text'),
      description:
        count === 1 ? l10n.t('1 finding to review') : l10n.t('{0} findings to review', formatCount(count)),
      value: [COMMANDS.previewDataset, uri] as const,
    },
  );
}

/** Warns about the balance before anything is uploaded. */
function balanceNoteText(
  note: NonNullable<BalanceNote>,
  { balance_cents, currency }: Balance,
  isSandbox: boolean,
): string {
  if (note === 'probably-too-low') return l10n.t('The balance is probably too low for this run.');
  if (note === 'may-be-too-low') return l10n.t('The balance may be too low for this run.');
  const money = formatMoney(balance_cents, currency);
  return isSandbox
    ? l10n.t('The balance is {0} of sandbox money. The sandbox will refuse this run.', money)
    : l10n.t('The balance is {0}. The service will refuse this run unless your plan includes it.', money);
}
