import * as vscode from 'vscode';
import type { Account } from '../../core/accounts/account.ts';
import { ServiceError } from '../../core/api/errors.ts';
import type { RunDetail, RunSummary } from '../../core/api/types.ts';
import type { ActiveDownload, DownloadRecord } from '../../core/downloads/types.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import type { Session } from '../../core/runs/session.ts';
import {
  artifactsOf,
  balanceEffectOf,
  datasetStateOf,
  spanMs,
  timesOf,
  usualTime,
  type ChargedReceipt,
} from '../../core/submission/runFacts.ts';
import { revealOf } from '../shared/openMessages.ts';
import { serviceText } from '../shared/runMessages.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import {
  adapterText,
  artifactName,
  consentFacts,
  datasetFacts,
  downloadText,
  fileLines,
  moneyFacts,
  noRunHeading,
  pageNotices,
  pageWords,
  runFacts,
  runHeading,
  timelineEntries,
  type Loading,
  type PageFact,
} from './pageMessages.ts';
import type {
  RunPageButton,
  RunPageDownload,
  RunPageFile,
  RunPageNotice,
  RunPageSection,
  RunPageState,
} from './protocol.ts';

/** Enough of an ID to name a run of which nothing else is known. */
const SHORT_ID_LENGTH = 8;

/** A file as it is on the disk now. */
export interface FileNow {
  sizeBytes: number;
  changedAtMs: number;
}

/** What is known of the run of a page. */
export interface RunPageView {
  accountId: string;
  runId: string;
  /** Undefined where the account is not on this machine. */
  account: Account | undefined;
  session: Session | undefined;
  isActive: boolean;
  /** As last read. */
  detail: RunDetail | undefined;
  isReading: boolean;
  receipt: ChargedReceipt | undefined;
  receiptLoading: Loading;
  /** Of this run. */
  downloads: readonly ActiveDownload[];
  /** Of this run. */
  records: readonly DownloadRecord[];
  /** By path. `null`: there is no such file; undefined: not known yet. */
  files: ReadonlyMap<string, FileNow | null>;
  link: string;
  /** By the service's clock. */
  nowMs: number;
}

interface KnownRun extends RunPageView {
  account: Account;
  session: Session;
  run: RunSummary;
  details: Loading;
}

/** Everything that the page of a run shows now, and the name of the run. */
export function runPageState(view: RunPageView): { name: string; state: RunPageState } {
  const known = knownRun(view);
  const name = known === undefined ? view.runId.slice(0, SHORT_ID_LENGTH) : nameOf(known);
  const content = known === undefined ? absent(view, name) : present(known, name);
  const { accountId, runId } = view;
  const memory = { accountId, runId };
  return { name, state: { type: 'state', memory, actionsName: pageWords.actions(), ...content } };
}

/** The buttons of a page: it may ask for nothing else. */
export function buttonsOf({ actions, notices, sections }: RunPageState): RunPageButton[] {
  const holders = sections.flatMap((section): readonly { buttons: readonly RunPageButton[] }[] => {
    if (section.kind === 'timeline') return [];
    return section.kind === 'facts' ? section.facts : [...section.downloads, ...section.files];
  });
  return [...actions, ...[...notices, ...holders].flatMap(({ buttons }) => buttons)];
}

type Content = Pick<RunPageState, 'heading' | 'notices' | 'actions' | 'sections'>;

/** Nothing that was read with a rejected API key is shown. */
function knownRun(view: RunPageView): KnownRun | undefined {
  const { account, session, runId, detail } = view;
  if (account === undefined || session === undefined || session.isLocked) return undefined;
  const run = session.runs.get(runId);
  if (run === undefined) return undefined;
  const isFailed = session.runs.detailFailure(runId) !== undefined;
  const details = detail !== undefined ? 'loaded' : isFailed ? 'failed' : 'loading';
  return { ...view, account, session, run, details };
}

function nameOf({ session, run }: KnownRun): string {
  const label = withoutMarker(session.runs.label(run.run_id) ?? '');
  return label === '' ? session.models.nameOf(run.model_id) : serviceText(label);
}

function present(view: KnownRun, name: string): Content {
  const { account, session, run, runId } = view;
  const modelName = session.models.nameOf(run.model_id);
  return {
    heading: runHeading(name, session.runs.phase(run), run.status, modelName, account),
    notices: presentNotices(view),
    actions: [
      ...adapterActions(view),
      { action: 'submitAgain', target: runId, words: pageWords.submitAgain() },
      { action: 'copy', target: runId, words: pageWords.copyRunId() },
      { action: 'refresh', target: runId, words: pageWords.refresh() },
    ],
    sections: [timeline(view), adapterSection(view), ...factSections(view)],
  };
}

function presentNotices({ account, session, runId, isActive }: KnownRun): RunPageNotice[] {
  const failure = session.runs.detailFailure(runId);
  const warning = (text: string): RunPageNotice => ({ kind: 'warning', text, buttons: [retry(runId)] });
  const notices: RunPageNotice[] = [];
  if (session.state === 'offline') notices.push(warning(pageNotices.offline(session.offlineSince)));
  else if (failure !== undefined) notices.push(warning(pageNotices.detailsFailed(asText(explain(failure)))));
  const { id, name } = account;
  const use: RunPageButton = { action: 'useAccount', target: id, words: pageWords.switchTo(name) };
  if (!isActive) notices.push({ kind: 'info', text: pageNotices.notActive(name), buttons: [use] });
  return notices;
}

function retry(runId: string): RunPageButton {
  return { action: 'refresh', target: runId, words: pageWords.retry() };
}

/** There is no run to show: it is loading, unknown, out of reach or hidden. */
function absent({ account, accountId, session, runId, isReading }: RunPageView, name: string): Content {
  const because = (kind: RunPageNotice['kind'], text: string, ...buttons: RunPageButton[]): Content => ({
    heading: noRunHeading(name),
    notices: [{ kind, text, buttons }],
    actions: [],
    sections: [],
  });
  const replaceKey = (words: string): RunPageButton => ({ action: 'replaceKey', target: accountId, words });
  if (account === undefined || session === undefined) return because('info', pageNotices.accountGone());
  if (session.state === 'key-rejected')
    return because('error', pageNotices.keyRejected(), replaceKey(pageWords.replaceKey()));
  if (session.state === 'key-missing')
    return because('error', pageNotices.keyMissing(), replaceKey(pageWords.enterKey()));
  const failure = session.runs.detailFailure(runId);
  if (isNotFound(failure)) {
    const words = pageWords.switchAccount();
    const text = pageNotices.notFound(account.name);
    return because('warning', text, { action: 'switchAccount', target: '', words }, retry(runId));
  }
  if (failure !== undefined) return because('error', asText(explain(failure)), retry(runId));
  return isReading
    ? because('info', pageNotices.loading())
    : because('info', pageNotices.notListed(), retry(runId));
}

/** Whether the service says that the account has no such run (spec: "GET /api/v1/runs/{run_id}"). */
export function isNotFound(error: unknown): boolean {
  return error instanceof ServiceError && error.httpStatus === 404;
}

function timeline(view: KnownRun): RunPageSection {
  const { session, run, detail, details, receipt, receiptLoading, nowMs } = view;
  const times = timesOf({ ...run, ...detail });
  const known = (session.runs.rows ?? []).flatMap((row) => session.runs.detail(row.run_id) ?? []);
  const entries = timelineEntries({
    phase: session.runs.phase(run),
    details,
    times,
    queueMs: spanMs(times, 'queue'),
    trainingMs: spanMs(times, 'training'),
    usualQueue: usualTime('queue', run, known),
    usualTraining: usualTime('training', run, known),
    receipt,
    receiptLoading,
    artifacts: artifactsOf(run, detail, nowMs),
    nowMs,
  });
  return { kind: 'timeline', key: 'timeline', title: pageWords.timeline(), entries };
}

/** Always the same two buttons: what is not possible now is disabled. */
function adapterActions({ run, runId, detail, nowMs, files, downloads, records }: KnownRun): RunPageButton[] {
  const { kind } = artifactsOf(run, detail, nowMs);
  const here = records.filter(({ path }) => files.get(path) != null);
  const adapter = here.find(({ artifactType, verified }) => artifactType === 'model' && verified !== 'html');
  const isBusy = downloads.some(({ state }) => state !== 'interrupted');
  const words =
    downloads.length > 0 && !isBusy
      ? pageWords.resumeDownload()
      : here.length > 0
        ? pageWords.downloadAgain()
        : pageWords.download();
  const canDownload = (kind === 'available' || kind === 'unknown') && !isBusy;
  return [
    {
      action: 'inspect',
      target: adapter?.path ?? '',
      words: pageWords.inspect(),
      isFirst: adapter !== undefined,
      isDisabled: adapter === undefined,
    },
    {
      action: 'download',
      target: runId,
      words,
      isFirst: canDownload && adapter === undefined,
      isDisabled: !canDownload,
    },
  ];
}

function adapterSection({ run, detail, nowMs, downloads, records, files }: KnownRun): RunPageSection {
  return {
    kind: 'adapter',
    key: 'adapter',
    title: pageWords.adapter(),
    text: adapterText(artifactsOf(run, detail, nowMs), run.status, nowMs),
    downloads: downloads.map(downloadOf),
    files: records.map((record) => fileOf(record, files.get(record.path) === null)),
  };
}

function downloadOf(download: ActiveDownload): RunPageDownload {
  const { id, artifactType, filename, state, receivedBytes, totalBytes } = download;
  const name = artifactName(artifactType, filename);
  const isBusy = state !== 'interrupted';
  const words = isBusy ? pageWords.cancel() : pageWords.discard();
  return {
    key: id,
    name,
    text: downloadText(download),
    fraction: totalBytes === undefined || totalBytes === 0 ? undefined : receivedBytes / totalBytes,
    isBusy,
    buttons: [{ action: 'cancelDownload', target: id, words, label: pageWords.about(words, name) }],
  };
}

function fileOf(record: DownloadRecord, isGone: boolean): RunPageFile {
  const { path, artifactType, filename, sha256, completedAtMs } = record;
  const name = artifactName(artifactType, filename);
  const button = (action: RunPageButton['action'], target: string, words: string): RunPageButton => ({
    action,
    target,
    words,
    label: pageWords.about(words, name),
  });
  const reveal = revealOf(vscode.Uri.file(path));
  return {
    key: `${completedAtMs} ${path}`,
    name,
    lines: fileLines(record, isGone),
    path,
    isGone,
    buttons: [
      ...(isGone ? [] : [button('inspect', path, pageWords.inspect())]),
      ...(isGone || reveal.title === pageWords.copyPath() ? [] : [button('reveal', path, reveal.title)]),
      button('copy', path, pageWords.copyPath()),
      button('copy', sha256, pageWords.copyDigest()),
    ],
  };
}

/** Money, the run itself and, where there is a receipt, its dataset and consents. */
function factSections(view: KnownRun): RunPageSection[] {
  const { session, run, runId, detail, details, receipt, receiptLoading, link, files } = view;
  const charged = receipt?.settled.run;
  const priceCents = detail?.price_cents ?? charged?.price_cents;
  const label = session.runs.label(runId);
  const money = moneyFacts({
    priceCents,
    currency: charged?.currency,
    balanceCurrency: session.balance.current?.currency,
    plan: detail?.plan ?? charged?.plan_name,
    effect: receipt && (balanceEffectOf(receipt, priceCents) ?? 'unknown'),
    details,
  });
  const about = runFacts({
    runId,
    modelId: run.model_id,
    modelName: session.models.nameOf(run.model_id),
    label,
    hasMarker: label !== undefined && withoutMarker(label) !== label,
    status: run.status,
    detail,
    details,
    link,
    receipt,
  });
  // Where it is not known whether the run has ended, users ask about the money.
  const mayHaveEnded = session.runs.phase(run) === 'active' && priceCents !== undefined;
  const isElsewhere = receipt === undefined && receiptLoading === 'loaded';
  const sections = [
    facts('money', pageWords.money(), money, mayHaveEnded ? pageWords.chargedNote() : undefined),
    facts('run', pageWords.run(), about, isElsewhere ? pageWords.noReceipt() : undefined),
  ];
  if (receipt === undefined) return sections;
  const { path } = receipt.dataset;
  const now = files.get(path);
  const state = now === undefined ? undefined : datasetStateOf(receipt, now ?? undefined);
  const open: RunPageButton = { action: 'openDataset', target: path, words: pageWords.openDataset() };
  const dataset = datasetFacts(receipt.dataset, state);
  return [
    ...sections,
    facts('dataset', pageWords.dataset(), dataset, undefined, now == null ? {} : { path: open }),
    facts('consents', pageWords.consents(), consentFacts(receipt.consents)),
  ];
}

/** @param more buttons of facts by their keys, besides those that copy */
function facts(
  key: string,
  title: string,
  list: readonly PageFact[],
  note?: string,
  more: Readonly<Record<string, RunPageButton>> = {},
): RunPageSection {
  const buttons = ({ key: fact, name, copy }: PageFact): RunPageButton[] => [
    ...(more[fact] === undefined ? [] : [more[fact]]),
    ...(copy === undefined
      ? []
      : [{ action: 'copy' as const, target: copy, words: pageWords.copy(), label: pageWords.copyOf(name) }]),
  ];
  return {
    kind: 'facts',
    key,
    title,
    facts: list.map((fact) => ({
      key: fact.key,
      name: fact.name,
      value: fact.value,
      buttons: buttons(fact),
    })),
    note,
  };
}
