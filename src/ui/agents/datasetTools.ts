import { basename } from 'node:path';
import { serviceOf } from '../../core/accounts/account.ts';
import { heldOutOf, type HeldOut } from '../../core/answers/filesBeside.ts';
import { sha256OfFile } from '../../core/api/dataset.ts';
import { MAX_DATASET_BYTES } from '../../core/api/types.ts';
import { CancelledError } from '../../core/base/errors.ts';
import { isSameStamp } from '../../core/base/fileStamp.ts';
import {
  changesAnything,
  hasUsableRow,
  isMendable,
  leavesOutUntrainable,
  masksSecrets,
  type Mendable,
  type PrepareChoices,
} from '../../core/datasets/copyTypes.ts';
import { findingsToRead, type FactName, type Reading } from '../../core/datasets/readFacts.ts';
import {
  CheckError,
  hasOnlyBlankRows,
  isConvertible,
  verdictOf,
  type Report,
} from '../../core/datasets/report.ts';
import { moneyOf, type BudgetCheck } from '../../core/money/accountMoney.ts';
import type { RunParameters } from '../../core/money/estimate.ts';
import { earlierSubmissionsOf, trainedBefore, wasSubmittedInSize } from '../../core/submission/earlier.ts';
import type { Services } from '../../services.ts';
import { differenceNumbers } from '../shared/differenceText.ts';
import { expectedPriceText } from '../shared/priceText.ts';
import { data, idOf, money, pathData, Refusal, time, type ToolResult } from './answer.ts';
import { count, FLAG, PATH, type Input, type InputSchema } from './input.ts';
import {
  datasetInWorkspace,
  holdOutInWorkspace,
  savedDataset,
  shownPath,
  UNSAVED,
  type InsideDataset,
} from './places.ts';
import { readySession } from './readySession.ts';

/** Places listed in one answer; a longer list would bury the rest. */
const MAX_PLACES = 50;
const MAX_PLACES_OF_A_KIND = 5;

export const ONE_DATASET = { properties: { path: PATH }, required: ['path'] } as const satisfies InputSchema;

export const PREPARATION = {
  properties: {
    path: PATH,
    withoutErrors: FLAG,
    withoutUntrainable: FLAG,
    withoutDuplicates: FLAG,
    withoutHeldOut: FLAG,
    maskSecrets: FLAG,
    maskPersonalData: FLAG,
    convertToChat: FLAG,
    holdOutPercent: count(1, 90),
    trialRows: count(1, 1_000_000),
  },
  required: ['path'],
} as const satisfies InputSchema;

export const PRICE = {
  properties: { path: PATH, priority: FLAG },
  required: ['path'],
} as const satisfies InputSchema;

/** Finds every problem of a dataset. */
export async function checkDatasetTool(
  services: Services,
  { path }: Input<typeof ONE_DATASET>,
  signal: AbortSignal,
): Promise<ToolResult> {
  const dataset = await datasetInWorkspace(path);
  const { shown, isDirty } = dataset;
  const report = await reportOn(dataset, services, signal);
  const verdict = verdictOf(report);
  const about = { path: pathData(shown), verdict, kind: report.kind, ...(isDirty && { unsaved: UNSAVED }) };
  if (report.kind !== 'rows') return { ...about, next: adviceOf(report) };
  const { rows, blankRows, errorRows, format, formats, sizeBytes, statistics, repeats } = report;
  const { maxTurns } = statistics;
  const reading = await (await services.readings()).currentReport(dataset.file, signal);
  if (!isSameStamp(reading, dataset.stamp)) throw new CheckError('changing');
  const heldOut = await heldOutOf(report, services, signal, holdOutInWorkspace);
  const checker = await services.datasetChecker.get()();
  return {
    ...about,
    ...{ rows, blankRows, errorRows, sizeBytes, format, maxTurns },
    ...(heldOut && { alsoInHoldOut: { rows: heldOut.rows, file: data(basename(heldOut.path)) } }),
    formats: Object.fromEntries(Object.entries(formats).filter(([, found]) => found > 0)),
    approximateTokens: { ...reading.tokens, rows: undefined },
    repeatedPrompts: repeats.prompts,
    texts: textsOf(reading),
    problems: problemsOf(report),
    prepareDatasetCan: changesOf(await checker.mendableIn(report, undefined, { signal })),
    next: adviceOf(report),
  };
}

/** @throws CheckError, also if another file replaced this one before it was read; CancelledError */
export async function reportOn(
  { file, stamp }: InsideDataset,
  { reports }: Services,
  signal: AbortSignal,
): Promise<Report> {
  const report = await (await reports()).currentReport(file, signal);
  if (!isSameStamp(report, stamp)) throw new CheckError('changing');
  return report;
}

function notJsonl({ kind }: Report): string {
  return isConvertible(kind)
    ? 'It isn’t a JSONL dataset. Don’t submit it; ask the user to run "Convert to JSONL".'
    : 'It isn’t JSONL. Don’t submit it, and don’t try to repair it; ask the user for the dataset.';
}

/** The card's facts about the texts, without quoting any. */
function textsOf(reading: Reading) {
  const { conversations, singleExchanges, system, findings, answers, labels, scripts } = reading;
  const { without, texts: differentTexts, main } = system;
  const rowsOf = (name: FactName) => {
    const { total = 0, rows = [] } = findings.find((one) => one.name === name) ?? {};
    return { count: total, firstRows: rows.slice(0, MAX_PLACES_OF_A_KIND) };
  };
  return {
    findings: findingsToRead(findings).map(({ name }) => ({ finding: name, ...rowsOf(name) })),
    ...{ conversations, singleExchanges },
    shareOfScripts: Object.fromEntries(Object.entries(scripts).filter(([, share]) => share >= 0.01)),
    ...{ answers, refusals: rowsOf('refusals'), rowsOfEachAnswer: labels.map(({ rows }) => rows) },
    systemMessage: {
      ...{ differentTexts, mostCommonIn: main?.rows ?? 0 },
      without: { ...rowsOf('withoutSystem'), count: without },
    },
  };
}

/** Lists each kind of problem with its count and first places, but never the text of a row. */
function problemsOf({ problems }: Report) {
  let left = MAX_PLACES;
  return problems.map((group) => {
    const shown = Math.min(group.located, MAX_PLACES_OF_A_KIND, left);
    left -= shown;
    const places = Array.from({ length: shown }, (_, index) => {
      const { row, line, column } = group.at(index);
      return { row, line, column };
    });
    return { problem: group.code, severity: group.severity, count: group.total, places };
  });
}

function changesOf(mendable: Mendable) {
  const { convertible, unconvertible, leavable: _, system: __, ...counts } = mendable;
  return {
    ...counts,
    convertible: Object.fromEntries(convertible),
    unconvertible: Object.fromEntries(unconvertible),
  };
}

/** Says what to do with a dataset after its check. */
export function adviceOf(report: Report): string {
  if (report.kind !== 'rows') return notJsonl(report);
  const verdict = verdictOf(report);
  if (hasOnlyBlankRows(report)) return 'It has only blank rows. Don’t submit it.';
  if (verdict === 'clean') return 'No problems. fineTuning_estimatePrice says what is known about the price.';
  if (verdict === 'errors' && !(hasUsableRow(report) && isMendable(report)))
    return 'Don’t propose it. A copy can’t fix it: show the user the rows and propose an edit.';
  return verdict === 'errors'
    ? 'Don’t propose it. Call fineTuning_prepareDataset, which writes a repaired copy, then check that copy.'
    : 'Review the warnings with the user. fineTuning_prepareDataset can fix some of them in a copy.';
}

/** Writes a prepared copy beside a dataset, which isn't changed. */
export async function prepareDatasetTool(
  services: Services,
  input: Input<typeof PREPARATION>,
  signal: AbortSignal,
): Promise<ToolResult> {
  const dataset = await savedDataset(input.path);
  const report = await reportOn(dataset, services, signal);
  if (report.kind !== 'rows') throw new Refusal(adviceOf(report));
  const checker = await services.datasetChecker.get()();
  const mendable = await checker.mendableIn(report, undefined, { signal });
  const heldOut =
    input.withoutHeldOut === false
      ? undefined
      : await heldOutOf(report, services, signal, holdOutInWorkspace);
  const choices = choicesOf(input, mendable, heldOut);
  if (!changesAnything(choices) && !mendable.hasLitter)
    return {
      path: pathData(dataset.shown),
      isCreated: false,
      next:
        verdictOf(report) === 'errors' ? adviceOf(report) : 'Nothing to change. Use the dataset as it is.',
    };
  const { main, holdOut, counts } = await checker.prepareCopy(report, choices, {
    maxBytes: MAX_DATASET_BYTES,
    signal,
  });
  const { dropped, ...counted } = counts;
  return {
    isCreated: true,
    path: pathData((await shownPath(main)) ?? ''),
    ...(holdOut !== undefined && { holdOut: pathData((await shownPath(holdOut)) ?? '') }),
    ...counted,
    // Only the number: a field's name is part of a row's text.
    droppedFields: dropped.size,
    next: 'The source isn’t changed. Check the new file with fineTuning_checkDataset before you propose it.',
  };
}

/** Uses the defaults of the user's dialog unless the input says otherwise. */
function choicesOf(
  input: Input<typeof PREPARATION>,
  mendable: Mendable,
  heldOut: HeldOut | undefined,
): PrepareChoices {
  const { errorRows, untrainableRows, duplicateRows, emailAddresses, cardNumbers } = mendable;
  const toChat = input.convertToChat ?? mendable.convertsAll;
  return {
    repair: mendable.repairableRows > 0,
    // Only the user can judge what the texts say.
    ...{ withoutFindings: [], system: undefined },
    withoutErrors: input.withoutErrors !== false && errorRows > 0,
    withoutUntrainable: untrainableRows > 0 && (input.withoutUntrainable ?? leavesOutUntrainable(mendable)),
    withoutDuplicates: input.withoutDuplicates !== false && duplicateRows > 0,
    // A new hold-out replaces the existing one.
    withoutHeldOut:
      heldOut !== undefined && heldOut.rows > 0 && input.holdOutPercent === undefined
        ? heldOut.source
        : undefined,
    mask: {
      secrets: masksSecrets(mendable, input.maskSecrets, toChat),
      personal: input.maskPersonalData === true && emailAddresses + cardNumbers > 0,
    },
    toChat,
    holdOut: input.holdOutPercent === undefined ? undefined : { share: input.holdOutPercent / 100 },
    trial: input.trialRows === undefined ? undefined : { rows: input.trialRows },
  };
}

/** Estimates the price from earlier receipts, and reports balance and budget. */
export async function estimatePriceTool(
  services: Services,
  { path, priority = false }: Input<typeof PRICE>,
  signal: AbortSignal,
): Promise<ToolResult> {
  const dataset = await datasetInWorkspace(path);
  const { stamp, shown, isDirty } = dataset;
  const session = await readySession(services);
  const { account, balance } = session;
  const report = await reportOn(dataset, services, signal);
  const receipts = await services.journal.receipts();
  await balance.refresh().catch(() => undefined);
  // The same bytes cost the same as last time.
  const sha256 = wasSubmittedInSize(receipts, serviceOf(account), stamp.sizeBytes)
    ? await sha256OfFile(stamp, signal)
    : undefined;
  const { rows, statistics } = report;
  const counts = report.kind === 'rows' ? { rows, characters: statistics.characters } : {};
  const wanted: RunParameters = { size: { bytes: stamp.sizeBytes, ...counts }, priority, sha256 };
  const known = moneyOf(session, receipts, services.submissions.pending);
  const last = trainedBefore(receipts, serviceOf(account), stamp, sha256);
  const difference =
    last?.kind === 'changed'
      ? await services.fingerprints.since(last.run.id, stamp, signal).catch((error: unknown) => {
          if (error instanceof CancelledError) throw error;
          services.log.error('since-the-run', error);
          return undefined;
        })
      : undefined;
  const earlier =
    sha256 === undefined ? [] : earlierSubmissionsOf(sha256, serviceOf(account), { records: receipts });
  return {
    path: pathData(shown),
    account: data(account.name),
    isSandbox: account.kind === 'sandbox',
    ...(isDirty && { unsaved: UNSAVED }),
    price: expectedPriceText(known.estimate(wanted)),
    balance: money(balance.current?.balance_cents, balance.current?.currency),
    balanceNote: known.balanceNote(wanted) ?? 'no reason to expect that it is too low',
    budget: budgetOf(known.checkBudget(wanted)),
    ...(last && difference && { rowsChanged: differenceNumbers(difference, last.run.submittedAtMs) }),
    sameBytesSubmittedBefore: earlier
      .slice(0, 5)
      .map(({ runId, submittedAtMs }) => ({ run: runId && idOf(runId), at: time(submittedAtMs) })),
    next: 'The price is known only after the charge: don’t promise one. Only the user can confirm a run.',
  };
}

function budgetOf(check: BudgetCheck) {
  if (check.kind === 'unset') return 'not set';
  if (check.kind === 'other-currency') return 'not checked: it is in another currency';
  const { limits, spending } = check;
  return {
    limits: limits.map(({ limit, limitCents, over }) => ({
      per: limit,
      amount: money(limitCents, spending.currency),
      exceeded:
        over ??
        (check.kind === 'no-price' ? 'not checked: this run’s price isn’t known' : 'not as far as known'),
    })),
    spentThisMonth: money(spending.spentCents, spending.currency),
    unknownPrices: spending.unknownPrices,
  };
}
