import type { RunDetail } from '../../core/api/types.ts';
import {
  comparedNote,
  comparisonText,
  pictureText,
  readMoreWords,
  spanName,
  spanText,
} from './pageDurationMessages.ts';
import {
  chargedNote,
  consentFacts,
  datasetFacts,
  moneyFacts,
  noReceiptNote,
  runPageFacts,
  type PageFact,
} from './pageFactMessages.ts';
import { runPageWords } from './pageMessages.ts';
import { timelineEntries } from './pageTimelineMessages.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import {
  artifactsOf,
  balanceEffectOf,
  barsOf,
  compare,
  datasetStateOf,
  spanMs,
  timesOf,
  type ChargedReceipt,
  type Span,
} from '../../core/submission/runFacts.ts';
import type { RunPageDuration, RunPageFact, RunPageSection } from './protocol.ts';
import type { Session } from '../../core/runs/session.ts';
import type { PageButtons } from './runPageButtons.ts';
import type { FileNow, KnownRunView } from './runPageView.ts';

/** So many runs are read at once, when the person wants more to compare with. */
export const MORE_TO_COMPARE = 10;

export function timelineSection(view: KnownRunView): RunPageSection {
  const { session, run, detail, receipt, receiptState, nowMs } = view;
  const times = timesOf({ ...run, ...detail });
  return {
    kind: 'timeline',
    key: 'timeline',
    title: runPageWords.timeline(),
    entries: timelineEntries({
      phase: session.runs.phase(run),
      details: detailsState(view),
      ...times,
      queueMs: spanMs(times, 'queue'),
      trainingMs: spanMs(times, 'training'),
      receipt: receiptState,
      submission: receipt && {
        atMs: receipt.created.localMs,
        fileName: receipt.dataset.filename,
        attempts: receipt.attempts.length,
        how: receipt.settled.how,
      },
      artifacts: artifactsOf(run, detail, nowMs),
    }),
  };
}

/** How far the details are: without them the list's few facts stand alone. */
function detailsState({ session, runId, detail }: KnownRunView): 'read' | 'being-read' | 'failed' {
  if (detail !== undefined) return 'read';
  return session.runs.detailFailure(runId) === undefined ? 'being-read' : 'failed';
}

/** Finished runs whose details are not loaded, those of the same model first: what more there is to compare with. */
export function comparableRuns(session: Session, runId: string, modelId: string): string[] {
  const { runs } = session;
  const unread = (runs.rows ?? []).filter(
    (row) =>
      row.run_id !== runId &&
      runs.phase(row) === 'finished' &&
      runs.detail(row.run_id) === undefined &&
      runs.detailFailure(row.run_id) === undefined,
  );
  return [
    ...unread.filter((row) => row.model_id === modelId),
    ...unread.filter((row) => row.model_id !== modelId),
  ].map((row) => row.run_id);
}

export function durationsSection(view: KnownRunView, buttons: PageButtons): RunPageSection {
  const { session, run } = view;
  const details = (session.runs.rows ?? []).flatMap((row) => session.runs.detail(row.run_id) ?? []);
  const more = Math.min(MORE_TO_COMPARE, comparableRuns(session, run.run_id, run.model_id).length);
  return {
    kind: 'durations',
    key: 'durations',
    title: runPageWords.durations(),
    items: [durationOf('queue', view, details), durationOf('training', view, details)],
    note: comparedNote(more > 0),
    buttons: more > 0 ? [buttons.make('compare', 'durations', readMoreWords(more))] : [],
  };
}

function durationOf(span: Span, view: KnownRunView, details: readonly RunDetail[]): RunPageDuration {
  const { session, run, detail } = view;
  const phase = session.runs.phase(run);
  const times = timesOf({ ...run, ...detail });
  const ms = spanMs(times, span);
  // No status of the contract says that a run is being trained: one that is none of the others may have ended.
  const isRunning = span === 'queue' && phase === 'waiting' && times.createdAtMs !== undefined;
  // What goes on is not compared: it may still become longer than any other.
  const ownMs = isRunning ? undefined : ms;
  const comparison = compare(span, run, ownMs, details);
  const name = spanName(span);
  return {
    key: span,
    name,
    value: spanText(ms, isRunning, span === 'training' ? phase : undefined, detailsState(view)),
    clock: isRunning ? 'queue' : undefined,
    comparison: comparisonText(ownMs, comparison),
    bars: comparison === undefined ? [] : barsOf(ownMs, comparison),
    picture: pictureText(name, ownMs, comparison),
  };
}

/** Money, the run itself, and where there is a receipt its dataset and consents. */
export function factSections(view: KnownRunView, buttons: PageButtons): RunPageSection[] {
  const { session, run, detail, receipt, receiptState, link } = view;
  const priceCents = detail?.price_cents ?? receipt?.settled.run.price_cents;
  const label = session.runs.label(run.run_id);
  const section = (
    key: string,
    title: string,
    facts: readonly PageFact[],
    note?: string,
  ): RunPageSection => ({
    kind: 'facts',
    key,
    title,
    facts: facts.map((fact) => withCopy(fact, key, buttons)),
    note,
  });
  return [
    section(
      'money',
      runPageWords.money(),
      moneyFacts({
        priceCents,
        toldCurrency: receipt?.settled.run.currency,
        balanceCurrency: session.balance.current?.currency,
        plan: detail?.plan ?? receipt?.settled.run.plan_name,
        effect: receipt && balanceEffectOf(receipt, priceCents),
        isFromHere: receipt !== undefined,
        details: detailsState(view),
      }),
      // Where it is not known whether the run has ended, the money is what a person asks for.
      session.runs.phase(run) === 'active' && priceCents !== undefined ? chargedNote() : undefined,
    ),
    section(
      'run',
      runPageWords.run(),
      runPageFacts({
        runId: run.run_id,
        link,
        modelId: run.model_id,
        modelName: session.models.nameOf(run.model_id),
        label,
        details: detailsState(view),
        hasMarker: label !== undefined && withoutMarker(label) !== label,
        statuses: detail === undefined ? [run.status] : [run.status, detail.status],
        priority: receipt?.priority_processing,
        idempotencyKey: receipt?.id,
        attempts: receipt?.attempts.length ?? 0,
      }),
      receipt === undefined && receiptState === 'read' ? noReceiptNote() : undefined,
    ),
    ...(receipt === undefined ? [] : receiptSections(view, receipt, buttons, section)),
  ];
}

function receiptSections(
  { fileNow }: KnownRunView,
  receipt: ChargedReceipt,
  buttons: PageButtons,
  section: (key: string, title: string, facts: readonly PageFact[]) => RunPageSection,
): RunPageSection[] {
  const { dataset, consents } = receipt;
  const now = fileNow(dataset.path);
  const facts = datasetFacts({ ...dataset, state: now === undefined ? undefined : stateOf(receipt, now) });
  const drawn = section('dataset', runPageWords.dataset(), facts);
  if (drawn.kind === 'facts' && now != null)
    drawn.facts = drawn.facts.map((fact) =>
      fact.key === 'path'
        ? {
            ...fact,
            buttons: [
              buttons.make('openDataset', 'dataset', runPageWords.openDataset(), { target: dataset.path }),
              ...fact.buttons,
            ],
          }
        : fact,
    );
  const { model_terms, data_policy } = consents;
  return [
    drawn,
    section(
      'consents',
      runPageWords.consents(),
      consentFacts({
        terms: { acceptedAt: model_terms.accepted_at, addresses: model_terms.urls },
        dataPolicy: { acceptedAt: data_policy.accepted_at },
      }),
    ),
  ];
}

function stateOf(receipt: ChargedReceipt, now: FileNow | null) {
  return datasetStateOf(receipt, now ?? undefined);
}

function withCopy({ key, name, value, copy }: PageFact, section: string, buttons: PageButtons): RunPageFact {
  return {
    key,
    name,
    value,
    buttons:
      copy === undefined
        ? []
        : [buttons.copy(`${section}.${key}`, copy, runPageWords.copy(), runPageWords.copyOf(name))],
  };
}
