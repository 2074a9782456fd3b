import { l10n } from 'vscode';
import type { RunDetail } from '../../core/api/types.ts';
import type { ActiveDownload, DownloadRecord } from '../../core/downloads/types.ts';
import type { Phase } from '../../core/runs/phase.ts';
import type {
  ArtifactsState,
  BalanceEffect,
  ChargedReceipt,
  DatasetState,
  RunTimes,
  UsualTime,
} from '../../core/submission/runFacts.ts';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatMoment,
  formatMoney,
  formatPrice,
  formatTime,
  sandboxNote,
} from '../shared/format.ts';
import { runStatus, serviceText } from '../shared/runMessages.ts';
import { sanitizeText, sanitizeServiceText } from '../shared/serviceText.ts';
import type { RunPageEntry, RunPageHeading } from './protocol.ts';

/** Whether the details of a run, or its receipt, are known. */
export type Loading = 'loaded' | 'loading' | 'failed';

/** A fact of the page; `copy` is what its button copies. */
export interface PageFact {
  key: string;
  name: string;
  value: string;
  copy?: string;
}

export const pageWords = {
  actions: () => l10n.t('Actions'),
  copy: () => l10n.t('Copy'),
  copyOf: (name: string) => l10n.t('Copy {0}', name),
  download: () => l10n.t('Download Adapter…'),
  resumeDownload: () => l10n.t('Resume Download…'),
  downloadAgain: () => l10n.t('Download Again…'),
  inspect: () => l10n.t('Inspect Adapter'),
  submitAgain: () => l10n.t('Submit Again…'),
  copyRunId: () => l10n.t('Copy Run ID'),
  refresh: () => l10n.t('Refresh'),
  retry: () => l10n.t('Retry'),
  openDataset: () => l10n.t('Open Dataset'),
  replaceKey: () => l10n.t('Replace API Key…'),
  enterKey: () => l10n.t('Enter API Key…'),
  switchAccount: () => l10n.t('Switch Account…'),
  switchTo: (name: string) => l10n.t('Switch to {0}', sanitizeServiceText(name)),
  cancel: () => l10n.t('Cancel'),
  discard: () => l10n.t('Discard'),
  copyPath: () => l10n.t('Copy Path'),
  copyDigest: () => l10n.t('Copy SHA-256'),
  /** A button's name for screen readers: what it does, and with what. */
  about: (words: string, name: string) => l10n.t('{0}: {1}', words, name),
  timeline: () => l10n.t('Timeline'),
  adapter: () => l10n.t('Adapter'),
  money: () => l10n.t('Price and balance'),
  run: () => l10n.t('Run'),
  dataset: () => l10n.t('Dataset'),
  consents: () => l10n.t('Consents'),
  chargedNote: () => l10n.t('The price was charged when the run was submitted.'),
  noReceipt: () =>
    l10n.t('This run was submitted from another machine, so its dataset and consents aren’t available here.'),
};

export const pageNotices = {
  loading: () => l10n.t('Loading the run…'),
  notListed: () => l10n.t('The service no longer lists this run.'),
  notFound: (accountName: string) =>
    l10n.t('{0} has no such run. It may belong to another account.', sanitizeServiceText(accountName)),
  accountGone: () => l10n.t('The account of this run is not on this machine.'),
  keyRejected: () => l10n.t('The service rejected this account’s API key, so its data is hidden.'),
  keyMissing: () => l10n.t('This account’s API key is not on this machine, so its data is hidden.'),
  offline: (sinceMs: number | undefined) =>
    sinceMs === undefined
      ? l10n.t('Offline. This may be out of date.')
      : l10n.t('Offline since {0}. This may be out of date.', formatMoment(sinceMs, Date.now())),
  notActive: (accountName: string) =>
    l10n.t(
      'This run belongs to {0}, which is not the active account, so it isn’t updated.',
      sanitizeServiceText(accountName),
    ),
  detailsFailed: (reason: string) => l10n.t('Couldn’t load the details. {0}', reason),
};

/** The title of the page's tab. */
export function runPageTitle(name: string): string {
  return l10n.t('Run: {0}', name);
}

export function runHeading(
  name: string,
  phase: Phase,
  status: string,
  modelName: string,
  account: { name: string; kind: string },
): RunPageHeading {
  const whose =
    account.kind === 'sandbox' ? sandboxNote() : l10n.t('Account: {0}', sanitizeServiceText(account.name));
  return {
    title: name,
    phase,
    status: runStatus(status, phase),
    lines: name === modelName ? [whose] : [l10n.t('Model: {0}', serviceText(modelName)), whose],
  };
}

/** Above a run that cannot be shown. */
export function noRunHeading(name: string): RunPageHeading {
  return { title: l10n.t('Run {0}', name), phase: 'none', status: '', lines: [] };
}

/** In place of a value. @param mayCome whether the service may still provide it */
function missingText(loading: Loading, mayCome = false): string {
  if (loading === 'loading') return l10n.t('loading…');
  if (loading === 'failed') return l10n.t('could not be loaded');
  return mayCome ? l10n.t('not provided yet') : l10n.t('not provided');
}

export interface TimelineView {
  phase: Phase;
  details: Loading;
  times: RunTimes;
  /** How long it waited and trained, where it is known. */
  queueMs: number | undefined;
  trainingMs: number | undefined;
  /** How long other runs waited and trained. */
  usualQueue: UsualTime | undefined;
  usualTraining: UsualTime | undefined;
  receipt: ChargedReceipt | undefined;
  receiptLoading: Loading;
  artifacts: ArtifactsState;
  nowMs: number;
}

/** The events of a run in order, those to come included. */
export function timelineEntries(view: TimelineView): RunPageEntry[] {
  return [submitted(view), queued(view), started(view), completed(view), expiry(view)];
}

function submitted({ receipt, receiptLoading }: TimelineView): RunPageEntry {
  const name = l10n.t('Submitted');
  if (receipt === undefined) {
    const text =
      receiptLoading === 'loaded' ? l10n.t('no receipt on this machine') : missingText(receiptLoading);
    return timeless('submitted', 'unknown', name, text);
  }
  const { attempts, created, dataset, settled } = receipt;
  const notes = [l10n.t('From this machine: {0}', sanitizeServiceText(dataset.filename))];
  if (attempts.length > 1) notes.push(l10n.t('{0} attempts, charged once', formatCount(attempts.length)));
  if (settled.how === 'found')
    notes.push(l10n.t('Response lost; the run was found by the marker in its label'));
  if (settled.how === 'recognised') notes.push(l10n.t('Response lost; you confirmed the run'));
  return timed('submitted', 'done', name, created.localMs, notes);
}

function queued({ phase, times: { createdAtMs }, usualQueue, nowMs }: TimelineView): RunPageEntry {
  const name = l10n.t('Queued');
  if (createdAtMs === undefined) return timeless('queued', 'unknown', name, missingText('loaded'));
  if (phase !== 'waiting') return timed('queued', 'done', name, createdAtMs);
  const soFar = l10n.t('{0} so far', formatDuration(nowMs - createdAtMs));
  return timed('queued', 'now', name, createdAtMs, [withUsual(soFar, usualQueue)]);
}

function started({ phase, details, times, queueMs, usualQueue, nowMs }: TimelineView): RunPageEntry {
  const name = l10n.t('Started');
  const { startedAtMs } = times;
  if (startedAtMs === undefined) return toCome('started', name, phase, details);
  const notes =
    queueMs === undefined
      ? []
      : [withUsual(l10n.t('after {0} in the queue', formatDuration(queueMs)), usualQueue)];
  // Whether it is still training no status of the contract says.
  if (phase === 'active') notes.push(l10n.t('{0} ago', formatDuration(nowMs - startedAtMs)));
  return timed('started', 'done', name, startedAtMs, notes);
}

function completed({ phase, details, times, trainingMs, usualTraining }: TimelineView): RunPageEntry {
  const name = l10n.t('Completed');
  if (times.completedAtMs === undefined) {
    const notes = usualTraining === undefined ? [] : [usualText(usualTraining)];
    return { ...toCome('completed', name, phase, details), notes };
  }
  const notes =
    trainingMs === undefined
      ? []
      : [withUsual(l10n.t('after {0} of training', formatDuration(trainingMs)), usualTraining)];
  return timed('completed', 'done', name, times.completedAtMs, notes);
}

function expiry({ artifacts: { kind, expiresAtMs }, nowMs }: TimelineView): RunPageEntry {
  const name = kind === 'expired' ? l10n.t('Adapter expired') : l10n.t('Adapter expires');
  if (kind === 'not-yet') return timeless('adapter', 'next', name, l10n.t('not yet'));
  if (expiresAtMs === undefined)
    return timeless('adapter', 'unknown', name, missingText('loaded', kind === 'not-known'));
  if (kind === 'expired') return timed('adapter', 'over', name, expiresAtMs);
  return timed('adapter', 'next', name, expiresAtMs, [
    l10n.t('{0} left', formatDuration(expiresAtMs - nowMs)),
  ]);
}

function timed(
  key: string,
  state: RunPageEntry['state'],
  name: string,
  atMs: number,
  notes: readonly string[] = [],
): RunPageEntry {
  return { key, state, name, when: formatTime(atMs), iso: new Date(atMs).toISOString(), notes };
}

function timeless(key: string, state: RunPageEntry['state'], name: string, when: string): RunPageEntry {
  return { key, state, name, when, notes: [] };
}

/** The contract doesn't say whether a time that doesn't apply yet is null or missing: "not yet" only where that is certain. */
function toCome(key: string, name: string, phase: Phase, details: Loading): RunPageEntry {
  return phase === 'waiting'
    ? timeless(key, 'next', name, l10n.t('not yet'))
    : timeless(key, 'unknown', name, missingText(details, phase === 'active'));
}

function withUsual(text: string, usual: UsualTime | undefined): string {
  return usual === undefined ? text : l10n.t('{0} ({1})', text, usualText(usual));
}

/** `usually 12–18 min` */
function usualText({ fromMs, toMs }: UsualTime): string {
  const [from, to] = [formatDuration(fromMs), formatDuration(toMs)];
  if (from === to) return l10n.t('usually {0}', from);
  const minutes = [fromMs, toMs].map((ms) => Math.round(ms / 60_000));
  return minutes.every((one) => one >= 1 && one < 60)
    ? l10n.t('usually {0}–{1} min', ...minutes)
    : l10n.t('usually {0} to {1}', from, to);
}

/** Whether there is an adapter to download, and until when. @param status as the service's list spells it */
export function adapterText({ kind, expiresAtMs }: ArtifactsState, status: string, nowMs: number): string {
  switch (kind) {
    case 'not-yet':
      return l10n.t('The adapter can be downloaded once the run has completed.');
    case 'not-known':
      return serviceText(status) === ''
        ? l10n.t('The run’s status is unknown. If it completes, you can download its adapter here.')
        : l10n.t(
            'The service reports “{0}”. If the run completes, you can download its adapter here.',
            serviceText(status),
          );
    case 'available':
      return expiresAtMs === undefined
        ? l10n.t('The adapter is available. Expiry unknown.')
        : l10n.t(
            'The adapter expires on {0} ({1} left).',
            formatTime(expiresAtMs),
            formatDuration(expiresAtMs - nowMs),
          );
    case 'expired':
      return expiresAtMs === undefined
        ? l10n.t('This adapter has expired.')
        : l10n.t('This adapter expired on {0}.', formatTime(expiresAtMs));
    case 'unknown':
      return l10n.t('The service lists no adapter for this run.');
  }
}

/** The contract names one type of artifact; others keep their name. */
export function artifactName(type: string, filename: string | undefined): string {
  const name = filename === undefined ? l10n.t('unnamed') : serviceText(filename);
  return type === 'model'
    ? l10n.t('Adapter: {0}', name)
    : l10n.t('Other file ({0}): {1}', serviceText(type), name);
}

export function downloadText({ state, receivedBytes, totalBytes, target }: ActiveDownload): string {
  const received = formatBytes(receivedBytes);
  const amount =
    totalBytes === undefined ? received : l10n.t('{0} of {1}', received, formatBytes(totalBytes));
  switch (state) {
    case 'waiting':
      return l10n.t('Waiting for the network · {0}', target);
    case 'downloading':
      return l10n.t('{0} · {1}', amount, target);
    case 'verifying':
      return l10n.t('Verifying {0} in {1}', received, target);
    case 'interrupted':
      return l10n.t('Interrupted at {0} · {1}', amount, target);
  }
}

/** What is known of a downloaded file. */
export function fileLines({ sizeBytes, sha256, verified, completedAtMs }: DownloadRecord, isGone: boolean) {
  return [
    ...(isGone ? [l10n.t('The file was moved or deleted.')] : []),
    l10n.t('{0}, downloaded {1}', formatBytes(sizeBytes), formatTime(completedAtMs)),
    verifiedText(verified),
    l10n.t('SHA-256: {0} (no checksum from the service to compare)', sha256),
  ];
}

/** The contract has no digest: the length and the archive's own checksums are all there is to verify. */
function verifiedText(verified: DownloadRecord['verified']): string {
  switch (verified) {
    case 'zip':
      return l10n.t('Verified: complete, and all checksums of the ZIP archive match.');
    case 'gzip':
      return l10n.t('Verified: complete, and the gzip checksum matches.');
    case 'tar':
      return l10n.t('Verified: complete, and all header checksums of the tar archive match.');
    case 'safetensors':
      return l10n.t('Verified: complete, and the lengths in the safetensors header match.');
    case 'unread':
      return l10n.t('Complete, but its contents couldn’t be checked.');
    case 'length':
      return l10n.t('Complete. Only its size could be verified.');
    case 'html':
      return l10n.t('This is a web page, not an adapter. Only its size could be verified.');
    case 'damaged':
      return l10n.t('Complete, but its archive looks damaged.');
  }
}

export interface MoneyView {
  priceCents: number | undefined;
  /** Of the receipt; the details have none. */
  currency: string | undefined;
  /** Of the account's balance, assumed where the price has none. */
  balanceCurrency: string | undefined;
  plan: string | undefined;
  /** `unknown`: the run was submitted here, but a balance is missing. */
  effect: BalanceEffect | 'unknown' | undefined;
  details: Loading;
}

export function moneyFacts(view: MoneyView): PageFact[] {
  const { priceCents, currency, balanceCurrency, plan, effect, details } = view;
  const price =
    priceCents === undefined
      ? missingText(details)
      : currency === undefined
        ? formatPrice(priceCents, balanceCurrency)
        : formatMoney(priceCents, currency);
  const facts = [
    { key: 'price', name: l10n.t('Price'), value: price },
    {
      key: 'plan',
      name: l10n.t('Plan'),
      value: plan === undefined ? missingText(details) : serviceText(plan),
    },
  ];
  if (effect === undefined) return facts;
  const name = l10n.t('Balance');
  if (effect === 'unknown') return [...facts, { key: 'effect', name, value: missingText('loaded') }];
  const { beforeCents, afterCents, otherCents } = effect;
  const money = (cents: number) => formatMoney(cents, effect.currency);
  facts.push({
    key: 'effect',
    name,
    value: l10n.t('{0} before, {1} after', money(beforeCents), money(afterCents)),
  });
  if (otherCents !== undefined && otherCents !== 0)
    facts.push({ key: 'other', name: l10n.t('Other balance changes'), value: money(otherCents) });
  return facts;
}

export interface RunFactsView {
  runId: string;
  modelId: string;
  modelName: string;
  /** As the service has it; undefined where it is not known. */
  label: string | undefined;
  hasMarker: boolean;
  /** Of the list. */
  status: string;
  detail: RunDetail | undefined;
  details: Loading;
  link: string;
  receipt: ChargedReceipt | undefined;
}

export function runFacts(view: RunFactsView): PageFact[] {
  const { runId, modelId, modelName, status, detail, link, receipt } = view;
  const named = (one: string) => serviceText(one) || l10n.t('unknown');
  const [inDetails, inList] = [named(detail?.status ?? status), named(status)];
  return [
    {
      key: 'model',
      name: l10n.t('Model'),
      value:
        modelName === modelId ? serviceText(modelId) : `${serviceText(modelName)} (${serviceText(modelId)})`,
    },
    { key: 'label', name: l10n.t('Label'), value: labelText(view) },
    {
      key: 'status',
      name: l10n.t('Status'),
      value: inDetails === inList ? inList : l10n.t('{0} (details), {1} (list)', inDetails, inList),
    },
    ...(receipt === undefined
      ? []
      : [
          {
            key: 'queue',
            name: l10n.t('Queue'),
            value: receipt.priority_processing ? l10n.t('Priority') : l10n.t('Standard'),
          },
        ]),
    { key: 'run', name: l10n.t('Run ID'), value: serviceText(runId), copy: runId },
    { key: 'link', name: l10n.t('Link'), value: link, copy: link },
    ...(receipt === undefined
      ? []
      : [
          {
            key: 'attempts',
            name: l10n.t('Attempts'),
            value: formatCount(Math.max(1, receipt.attempts.length)),
          },
          { key: 'idempotency', name: 'Idempotency-Key', value: receipt.id, copy: receipt.id },
        ]),
  ];
}

function labelText({ label, hasMarker, details }: RunFactsView): string {
  // Only the details have labels.
  if (label === undefined && details !== 'loaded') return missingText(details);
  if (label === undefined || label === '') return l10n.t('none');
  return hasMarker ? l10n.t('{0} (with this extension’s marker)', serviceText(label)) : serviceText(label);
}

/** @param state undefined until the disk was read */
export function datasetFacts(
  dataset: ChargedReceipt['dataset'],
  state: DatasetState | undefined,
): PageFact[] {
  const { path, sizeBytes, sha256, rows } = dataset;
  return [
    { key: 'path', name: l10n.t('File'), value: sanitizeText(path), copy: path },
    ...(state === undefined ? [] : [{ key: 'now', name: l10n.t('Now'), value: datasetStateText(state) }]),
    {
      key: 'rows',
      name: l10n.t('Rows'),
      value: rows === undefined ? l10n.t('not counted') : formatCount(rows),
    },
    { key: 'size', name: l10n.t('Size'), value: formatBytes(sizeBytes) },
    { key: 'sha256', name: 'SHA-256', value: sha256, copy: sha256 },
  ];
}

function datasetStateText(state: DatasetState): string {
  switch (state) {
    case 'same':
      return l10n.t('unchanged (same size and modification time)');
    case 'written':
      return l10n.t('modified since (same size)');
    case 'changed':
      return l10n.t('modified since');
    case 'gone':
      return l10n.t('moved or deleted');
  }
}

export function consentFacts({
  model_terms: terms,
  data_policy: policy,
}: ChargedReceipt['consents']): PageFact[] {
  const accepted = (at: string) => l10n.t('accepted {0}', formatTime(at));
  // Two are stored in the order in which they were shown; one alone may be either.
  const names = terms.urls.length === 2 ? [l10n.t('License terms'), l10n.t('Use policy')] : [];
  const shown = l10n.t('Link shown');
  return [
    { key: 'terms', name: l10n.t('Terms of the provider'), value: accepted(terms.accepted_at) },
    ...terms.urls.map((url, index) => ({
      key: `link:${index}`,
      name: names[index] ?? shown,
      value: sanitizeText(url),
      copy: url,
    })),
    ...(terms.urls.length > 0 ? [] : [{ key: 'link', name: shown, value: l10n.t('none') }]),
    { key: 'data-policy', name: l10n.t('Data policy'), value: accepted(policy.accepted_at) },
  ];
}
