import { l10n } from 'vscode';
import { isNotFound } from '../../core/api/errors.ts';
import { isAdapter } from '../../core/downloads/localFiles.ts';
import { currencyOf } from '../../core/money/estimate.ts';
import { userLabel } from '../../core/runs/marker.ts';
import { artifactsOf } from '../../core/runs/run.ts';
import { balanceEffectOf, type DatasetState, datasetStateOf } from '../../core/submission/receipts.ts';
import type { ChargedReceipt } from '../../core/submission/submission.ts';
import { severalRunsSentence } from '../shared/chargeText.ts';
import { keyAction, keyProblem, offlineText } from '../shared/connectionText.ts';
import { differenceSentences, namedReceipt } from '../shared/differenceText.ts';
import { compact, formatBytes, formatCount, formatMoney, formatTime } from '../shared/format.ts';
import { estimateText, rangeTooltip, unexpectedPrice } from '../shared/priceText.ts';
import { runStatus, serviceText } from '../shared/runText.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import { sanitizeServiceText, sanitizeText } from '../shared/serviceText.ts';
import { factLine, TERMS } from '../shared/terms.ts';
import type {
  RunPageButton,
  RunPageFact,
  RunPageHeading,
  RunPageNotice,
  RunPageSection,
  RunPageState,
} from './protocol.ts';
import { adapterSection } from './runAdapterSection.ts';
import {
  adapterHere,
  runButton,
  copied,
  fact,
  facts,
  hidesMissing,
  missingText,
  retry,
  type KnownRun,
  type RunPageView,
} from './runPageFacts.ts';
import { timeline } from './runTimeline.ts';
import { runPriceText } from './runTooltip.ts';

/** How many characters of its ID name a run if nothing else is known of it. */
const SHORT_ID_LENGTH = 8;

export function runPageTitle(view: RunPageView): string {
  return l10n.t('Run: {0}', nameOf(view, knownRun(view)));
}

/** Everything that a run's page shows now. */
export function runPageState(view: RunPageView): RunPageState {
  const { accountId, runId } = view;
  const known = knownRun(view);
  const name = nameOf(view, known);
  const content = known === undefined ? absent(view, name) : present(known, name);
  return { type: 'state', memory: { accountId, runId }, actionsName: TERMS.actions, ...content };
}

type Content = Pick<RunPageState, 'heading' | 'notices' | 'actions' | 'sections'>;

/** Returns undefined if the run is unknown, or if it must be hidden because the API key was rejected. */
function knownRun(view: RunPageView): KnownRun | undefined {
  const { session, runId, detail, nowMs } = view;
  if (session === undefined || session.isLocked) return undefined;
  const { runs, models } = session;
  const run = runs.get(runId);
  if (run === undefined) return undefined;
  const isFailed = runs.detailFailure(runId) !== undefined;
  return {
    ...view,
    session,
    run,
    details: detail !== undefined ? 'loaded' : isFailed ? 'failed' : 'loading',
    phase: runs.phase(run),
    modelName: models.nameOf(run.model_id),
    artifacts: artifactsOf(run, detail, nowMs),
  };
}

function nameOf({ runId }: RunPageView, known: KnownRun | undefined): string {
  if (known === undefined) return runId.slice(0, SHORT_ID_LENGTH);
  const label = userLabel(known.session.runs.label(runId));
  return label === undefined ? known.modelName : serviceText(label);
}

/** The page without a run: loading, unknown, unreachable, or hidden. */
function absent({ accountId, session, runId, isReading }: RunPageView, name: string): Content {
  const because = (kind: RunPageNotice['kind'], text: string, ...buttons: RunPageButton[]): Content => ({
    heading: { title: l10n.t('Run {0}', name), phase: 'none', status: '', lines: [] },
    notices: [{ key: 'absent', kind, text, buttons }],
    actions: [],
    sections: [],
  });
  if (session === undefined) return because('info', l10n.t('This run’s account isn’t on this machine.'));
  const [keyFault, newKey] = [keyProblem(session.state), keyAction(session.state)];
  if (keyFault !== undefined && newKey !== undefined)
    return because('error', keyFault, runButton('replaceKey', accountId, newKey));
  const failure = session.runs.detailFailure(runId);
  if (isNotFound(failure) && session.account.kind === 'sandbox')
    return because('info', l10n.t('The sandbox no longer has this run.'));
  if (isNotFound(failure))
    return because(
      'warning',
      l10n.t('{0} doesn’t have this run. Try another account.', sanitizeServiceText(session.account.name)),
      runButton('switchAccount', '', TERMS.switchAccount),
      retry(runId),
    );
  if (failure !== undefined) return because('error', asText(explain(failure)), retry(runId));
  return isReading
    ? because('info', l10n.t('Loading the run…'))
    : because('info', l10n.t('The service no longer lists this run.'), retry(runId));
}

function present(view: KnownRun, name: string): Content {
  const { runId } = view;
  return {
    heading: heading(view, name),
    notices: notices(view),
    actions: [
      ...adapterActions(view),
      runButton('submitAgain', runId, TERMS.submitAgain),
      runButton('copy', runId, TERMS.copyRunId),
      runButton('refresh', runId, TERMS.refresh),
    ],
    sections: compact(
      timeline(view),
      adapterSection(view),
      moneySection(view),
      datasetSection(view),
      runSection(view),
      consentsSection(view),
    ),
  };
}

function heading({ session, run, phase, modelName }: KnownRun, name: string): RunPageHeading {
  const { account } = session;
  const whose =
    account.kind === 'sandbox'
      ? TERMS.sandboxMoney
      : factLine(TERMS.account, sanitizeServiceText(account.name));
  return {
    title: name,
    phase,
    status: runStatus(run.status, phase),
    lines: name === modelName ? [whose] : [factLine(TERMS.model, serviceText(modelName)), whose],
  };
}

function notices(view: KnownRun): RunPageNotice[] {
  const { session, runId, isActive, several } = view;
  const failure = session.runs.detailFailure(runId);
  const { id, name } = session.account;
  const accountName = sanitizeServiceText(name);
  const warning =
    session.state === 'offline'
      ? offlineText(session.offlineSince)
      : failure !== undefined && l10n.t('Couldn’t load the details. {0}', asText(explain(failure)));
  const ended = endedText(view);
  return compact<RunPageNotice>(
    several && { key: 'several', kind: 'warning', text: severalRunsSentence(several), buttons: [] },
    ended && {
      key: 'ended',
      kind: 'warning',
      text: ended,
      buttons: [runButton('copy', runId, TERMS.copyRunId)],
    },
    warning && { key: 'warning', kind: 'warning', text: warning, buttons: [retry(runId)] },
    !isActive && {
      key: 'inactive',
      kind: 'info',
      text: l10n.t('Not updated: {0} isn’t the active account.', accountName),
      buttons: [runButton('useAccount', id, l10n.t('Switch to {0}', accountName))],
    },
  );
}

/** What to do about a run that reads as failed. It was charged when it was submitted. */
function endedText({ session, runId, phase, receipt, receiptLoading, detail, details }: KnownRun) {
  if (phase !== 'ended') return undefined;
  const price = runPriceText(receipt, detail);
  const id = serviceText(runId);
  if (price === undefined)
    return details !== 'loading' && receiptLoading !== 'loading' && session.account.kind === 'service'
      ? l10n.t('The price is unknown. Contact the service and give run ID {0}.', id)
      : undefined;
  return session.account.kind === 'sandbox'
    ? l10n.t('The run cost {0} of sandbox money.', price)
    : l10n.t('Charged {0}. Contact the service and give run ID {1}.', price, id);
}

/** Always returns the same two buttons; a button that can't be used now is disabled. */
function adapterActions({ runId, artifacts: { kind }, downloads, records }: KnownRun) {
  const here = records.filter(({ isGone, artifactType }) => !isGone && isAdapter(artifactType));
  const adapter = adapterHere({ records });
  const isBusy = downloads.some(({ state }) => state !== 'interrupted');
  const words =
    downloads.length > 0 && !isBusy
      ? l10n.t('Resume Download…')
      : here.length > 0
        ? TERMS.downloadAgain
        : TERMS.downloadAdapter;
  const canDownload = (kind === 'available' || kind === 'unknown') && !isBusy;
  return [
    {
      ...runButton('inspect', adapter?.path ?? '', l10n.t('Inspect Adapter')),
      isFirst: adapter !== undefined,
      isDisabled: adapter === undefined,
    },
    {
      ...runButton('download', runId, words),
      isFirst: canDownload && kind === 'available' && adapter === undefined,
      isDisabled: !canDownload,
    },
  ];
}

function moneySection(view: KnownRun): RunPageSection | undefined {
  const { session, phase, detail, details, receipt, estimate } = view;
  const charged = receipt?.charge.run;
  const priceCents = charged?.price_cents ?? detail?.price_cents;
  const plan = detail?.plan ?? charged?.plan_name;
  const expected = estimate && estimateText(estimate.before);
  const currency = (receipt && currencyOf(receipt)) ?? detail?.assumedCurrency;
  const missing = hidesMissing(view) ? undefined : missingText(details);
  const price = runPriceText(receipt, detail) ?? missing;
  const planName = plan === undefined ? missing : serviceText(plan);
  const list = compact(
    price && fact('price', TERMS.price, price),
    planName && fact('plan', TERMS.plan, planName),
    expected && fact('estimate', TERMS.estimate, expected),
    ...(receipt === undefined ? [] : balanceFacts(receipt, priceCents, missing && missingText('loaded'))),
  );
  if (list.length === 0) return undefined;
  const unexpected =
    estimate && priceCents !== undefined
      ? unexpectedPrice(estimate.before, priceCents, currency, price)
      : undefined;
  const note =
    unexpected !== undefined
      ? session.account.kind === 'sandbox'
        ? l10n.t('Sandbox money: {0}.', unexpected)
        : l10n.t('Charged {0}.', unexpected)
      : // Users ask about the charge if a run's status is unclear; a notice answers it for one that reads as failed.
        phase === 'active' && priceCents !== undefined
        ? l10n.t('Charged when the run was submitted.')
        : estimate?.before.kind === 'range'
          ? rangeTooltip(estimate.accuracy)
          : undefined;
  return facts('money', l10n.t('Price and balance'), list, note);
}

/** @param missing the text for an unknown effect; undefined to leave it out */
function balanceFacts(
  receipt: ChargedReceipt,
  priceCents: number | undefined,
  missing: string | undefined,
): RunPageFact[] {
  const effect = balanceEffectOf(receipt, priceCents);
  if (effect === undefined) return compact(missing && fact('effect', TERMS.balance, missing));
  const { beforeCents, afterCents, otherCents = 0, currency } = effect;
  const money = (cents: number) => formatMoney(cents, currency);
  const change = l10n.t('{0} before, {1} after', money(beforeCents), money(afterCents));
  return compact(
    fact('effect', TERMS.balance, change),
    otherCents !== 0 && fact('other', l10n.t('Other balance changes'), money(otherCents)),
  );
}

function runSection(view: KnownRun): RunPageSection {
  const { runId, run, modelName, link, receipt, several, mayBeOpen, receiptLoading } = view;
  const isElsewhere = !receipt && !several && receiptLoading === 'loaded' && mayBeOpen !== true;
  const list = compact(
    // The heading has the name.
    modelName !== run.model_id && fact('model', l10n.t('Model ID'), serviceText(run.model_id)),
    fact('label', TERMS.label, labelText(view)),
    receipt && fact('queue', TERMS.queue, receipt.priority_processing ? TERMS.priority : TERMS.standard),
    receipt?.proposedBy && fact('proposed', l10n.t('Proposed by'), l10n.t('an agent')),
    copied('run', TERMS.runId, runId, serviceText(runId)),
    copied('link', l10n.t('Link'), link),
    receipt && copied('idempotency', 'Idempotency-Key', receipt.id),
  );
  return facts('run', l10n.t('Run'), list, isElsewhere ? l10n.t('Submitted elsewhere.') : undefined);
}

function labelText({ session, runId, details }: KnownRun): string {
  const label = session.runs.label(runId);
  // Only the details have labels.
  if (label === undefined && details !== 'loaded') return missingText(details);
  return serviceText(userLabel(label) ?? TERMS.none);
}

/** Only the submitting machine knows the dataset. */
function datasetSection({ receipt, dataset: now, rows: known, session }: KnownRun) {
  if (receipt === undefined) return undefined;
  const { filename, path, sizeBytes, sha256, rows } = receipt.dataset;
  const open = now != null && runButton('openDataset', path, l10n.t('Open Dataset'));
  const state = now !== undefined && DATASET_STATES[datasetStateOf(receipt, now ?? undefined)];
  const { file, difference } = known?.now ?? {};
  const isRead = file?.sizeBytes === now?.sizeBytes && file?.mtimeMs === Math.trunc(now?.changedAtMs ?? 0);
  const changed = state === MODIFIED && isRead && difference;
  const since = changed ? differenceSentences(changed, namedReceipt(receipt, session)) : state;
  const earlier = known?.before;
  const before = earlier && differenceSentences(earlier.difference, namedReceipt(earlier.run, session));
  const list = compact(
    fact('file', l10n.t('File'), sanitizeServiceText(filename), ...compact(open)),
    fact('rows', TERMS.rows, rows === undefined ? TERMS.unknown : formatCount(rows)),
    since && fact('now', l10n.t('Now'), since),
    before && fact('before', l10n.t('Previous run'), before),
    fact('size', TERMS.size, formatBytes(sizeBytes)),
    copied('path', l10n.t('Path'), path, sanitizeText(path)),
    copied('sha256', 'SHA-256', sha256),
  );
  return facts('dataset', TERMS.dataset, list);
}

const MODIFIED = l10n.t('modified since');
const DATASET_STATES: Readonly<Record<DatasetState, string>> = {
  same: l10n.t('unchanged (same size and time)'),
  written: MODIFIED,
  changed: MODIFIED,
  gone: l10n.t('moved or deleted'),
};

function consentsSection({ receipt }: KnownRun): RunPageSection | undefined {
  if (receipt === undefined) return undefined;
  const { model_terms, data_policy } = receipt.consents;
  const accepted = (at: string) => l10n.t('accepted {0}', formatTime(at));
  const { urls, accepted_at } = model_terms;
  // Two links are stored in the order in which they were shown; a single one may be either.
  const names = urls.length === 2 ? [TERMS.licenseTerms, TERMS.usePolicy] : [];
  const shown = l10n.t('Link shown');
  const links = urls.map((url, index) =>
    copied(`link:${index}`, names[index] ?? shown, url, sanitizeText(url)),
  );
  return facts('consents', l10n.t('Consents'), [
    fact('terms', l10n.t('Provider terms'), accepted(accepted_at)),
    ...(links.length > 0 ? links : [fact('link', shown, TERMS.none)]),
    fact(
      'data-policy',
      l10n.t('Data policy'),
      l10n.t('accepted {0} (no link provided)', formatTime(data_policy.accepted_at)),
    ),
  ]);
}
