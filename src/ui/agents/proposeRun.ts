import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { l10n, Uri } from 'vscode';
import { serviceOf } from '../../core/accounts/account.ts';
import { sha256OfFile } from '../../core/api/dataset.ts';
import { MAX_LABEL_LENGTH, type Model } from '../../core/api/types.ts';
import { throwIfCancelled } from '../../core/base/errors.ts';
import { isPlainId, toPlainLine } from '../../core/base/plainText.ts';
import { verdictOf } from '../../core/datasets/report.ts';
import type { Session } from '../../core/runs/session.ts';
import { Lease } from '../../core/storage/lease.ts';
import { earlierSubmissionsOf, isPast } from '../../core/submission/earlier.ts';
import { busyUntilMs } from '../../core/submission/stage.ts';
import { isCharged, isRunOf, isSent } from '../../core/submission/submission.ts';
import type { Services } from '../../services.ts';
import type { CommandResult } from '../shared/commands.ts';
import { inSandbox } from '../shared/format.ts';
import { COMMANDS } from '../shared/ids.ts';
import { showInformation } from '../shared/notifications.ts';
import { Proposal } from '../shared/proposal.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { data, idOf, money, Refusal, type ToolResult } from './answer.ts';
import { adviceOf, reportOn } from './datasetTools.ts';
import { FLAG, PATH, text, type Input, type InputSchema } from './input.ts';
import { datasetInWorkspace, savedDataset } from './places.ts';
import { isRecent, ProposalMarks } from './proposalMarks.ts';
import { readySession } from './readySession.ts';

/** Never a consent, an API key, an Idempotency-Key or an account: only the user decides about those. */
export const PROPOSAL = {
  properties: { path: PATH, model: text(255), label: text(200), priority: FLAG, reason: text(1_000) },
  required: ['path', 'reason'],
} as const satisfies InputSchema;

/** How long an unanswered proposal stays open and blocks others. */
const UNANSWERED_MS = 5 * 60_000;
/** How long the same bytes count as submitted: the agent may have lost the answer to an earlier call. */
const REPEATED_MS = 24 * 60 * 60_000;
const MAX_REASON_UNITS = 200;
const MAX_MODELS = 20;

/**
 * Proposes a run to the user, who confirms it like their own. Only the final modal dialog sends anything.
 * @returns the outcome, even after a cancel: an open modal dialog still counts
 */
export async function proposeRun(
  services: Services,
  input: Input<typeof PROPOSAL>,
  signal: AbortSignal,
): Promise<ToolResult> {
  const dataset = await savedDataset(input.path);
  const session = await readySession(services);
  const folder = path.join(services.context.globalStorageUri.fsPath, 'proposals');
  const marks = new ProposalMarks(folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Only one proposal at a time, across all windows.
  const lease = await Lease.take(path.join(folder, 'open.lock'));
  if (lease === undefined)
    throw new Refusal(
      'Another proposal is open. Don’t propose again; ask the user to answer it, perhaps in another window.',
    );
  let proposal: Proposal | undefined;
  try {
    if (await marks.areTooManyCanceled()) throw new Refusal(TOO_MANY);
    if (await marks.isDeclined(dataset)) throw new Refusal(DECLINED);
    const model = await modelFor(input.model, session);
    const report = await reportOn(dataset, services, signal);
    if (verdictOf(report) === 'errors') throw new Refusal(`${NOT_READY} ${adviceOf(report)}`);
    const sha256 = await sha256OfFile(dataset.stamp, signal);
    if (await marks.isDeclined({ sha256 })) throw new Refusal(DECLINED);
    await refuseRepeated(services, session, sha256);
    throwIfCancelled(signal);
    const question = questionOf(input, model, path.basename(dataset.file), session);
    // Submitting the same bytes elsewhere closes the proposal.
    const closed = new AbortController();
    const watch = services.journal.onDidChange(() => {
      refuseRepeated(services, session, sha256).catch((error: unknown) => {
        if (error instanceof Refusal) closed.abort(error);
      });
    });
    const choice = await ask(question, AbortSignal.any([signal, closed.signal]))
      .catch((error: unknown) => {
        closed.signal.throwIfAborted();
        throw error;
      })
      .finally(() => watch.dispose());
    const where = session.account.kind === 'sandbox' && { sandbox: true };
    if (choice === 'decline') {
      await marks.decline(dataset.file, sha256);
      return { status: 'declined', ...where, next: DECLINED };
    }
    if (choice === undefined) return { status: 'closed', ...where, next: CLOSED };
    // The user may have changed the workspace meanwhile.
    const now = await datasetInWorkspace(dataset.opened);
    if (now.file !== dataset.file) throw new Refusal(CHANGED);
    proposal = new Proposal(input.reason, signal);
    const preset = {
      ...{
        modelId: model?.model_id,
        label: labelOf(input.label),
        priority: input.priority === true,
        proposal,
      },
      accountId: session.account.id,
    };
    const end = await services.commands.run(COMMANDS.submitDataset, [
      Uri.file(dataset.opened),
      undefined,
      preset,
    ]);
    return { ...where, ...(await endOf(end, proposal, session, services)) };
  } finally {
    if (proposal !== undefined) proposal.isOver = true;
    if (signal.aborted) await marks.cancel();
    lease.release();
  }
}

function labelOf(label: string | undefined): string | undefined {
  return label === undefined ? undefined : toPlainLine(label, MAX_LABEL_LENGTH) || undefined;
}

const CHANGED = 'The file was replaced while the user decided. Nothing was sent. Check it again.';
const DECLINED = 'The user declined. Don’t propose it again; ask what to change.';
const TOO_MANY = 'Too many proposals were canceled. Wait a minute.';
const CLOSED =
  'This proposal sent nothing. The user closed it or didn’t answer it. Don’t propose it again without asking.';
const MET_OPEN =
  'This proposal sent nothing: it met an open submission. Don’t propose it again; fineTuning_listRuns shows what is known.';
const ASK = 'Don’t propose it again. Only the user can submit the same bytes again.';
const NOT_READY =
  'The dataset has errors, secrets, or no rows usable for training. Nothing was shown to the user.';

/** @throws Refusal, and the errors of the service */
async function modelFor(modelId: string | undefined, { models }: Session): Promise<Model | undefined> {
  if (modelId === undefined) return undefined;
  const all = models.models ?? (await models.refresh()).data;
  const available = all.filter((one) => one.available);
  const found = available.find(({ model_id }) => model_id === modelId);
  if (found !== undefined) return found;
  throw new Refusal('This model isn’t available. Don’t guess; choose one of these.', {
    available: available.slice(0, MAX_MODELS).map(({ model_id }) => data(model_id, 128)),
  });
}

/** An earlier call may have been canceled while the user confirmed it. @throws Refusal */
async function refuseRepeated({ journal }: Services, { account }: Session, sha256: string): Promise<void> {
  const records = await journal.records();
  const earlier = earlierSubmissionsOf(sha256, serviceOf(account), { records });
  const last = earlier.find(({ kind }) => kind === 'charged');
  if (last?.runId !== undefined && isRecent(REPEATED_MS, last.submittedAtMs))
    throw new Refusal(
      `Already submitted: run ${isPlainId(last.runId) ? last.runId : '(see "run")'}. ${ASK}`,
      {
        run: idOf(last.runId),
      },
    );
  if (!earlier.every(isPast))
    throw new Refusal(
      'Already submitted, and the outcome isn’t known yet. Don’t propose it again; call fineTuning_listRuns.',
    );
}

function questionOf(
  { reason }: Input<typeof PROPOSAL>,
  model: Model | undefined,
  filename: string,
  { account }: Session,
): string {
  const [file, why] = [sanitizeServiceText(filename), sanitizeServiceText(reason, MAX_REASON_UNITS)];
  const question =
    model === undefined
      ? l10n.t('An agent proposes training on {0}: “{1}”', file, why)
      : l10n.t('An agent proposes training {0} on {1}: “{2}”', sanitizeServiceText(model.name), file, why);
  return inSandbox(question, account.kind === 'sandbox');
}

/**
 * Asks in a notification, whose buttons send nothing. VS Code can't close it, so a late press gets its own answer.
 * @returns undefined if the user closed it or didn't answer in time
 */
async function ask(question: string, signal: AbortSignal): Promise<'review' | 'decline' | undefined> {
  const [review, decline] = [l10n.t('Review…'), l10n.t('Decline')];
  const over = new AbortController();
  const isOver = AbortSignal.any([signal, over.signal]);
  const pressed = Promise.resolve(showInformation(question, review, decline)).then((button) => {
    if (button === undefined || !isOver.aborted) return button;
    void showInformation(l10n.t('This proposal has ended. Nothing was sent.'));
    return undefined;
  });
  const unanswered = new Promise<undefined>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      resolve(undefined);
    };
    const timer = setTimeout(end, UNANSWERED_MS);
    isOver.addEventListener('abort', end);
  });
  const button = await Promise.race([pressed, unanswered]).finally(() => over.abort());
  throwIfCancelled(signal);
  return button === review ? 'review' : button === decline ? 'decline' : undefined;
}

/** Describes the outcome of the proposal, or of an open submission that it met, money first. */
async function endOf(
  end: CommandResult,
  proposal: Proposal,
  session: Session,
  services: Services,
): Promise<ToolResult> {
  const answer = await outcomeOf(end, proposal, session, services);
  if (!proposal.metOpen) return answer;
  const openSubmission = end.outcome === 'cancelled' ? undefined : answer.status;
  return { ...answer, status: 'closed', openSubmission, next: MET_OPEN };
}

async function outcomeOf(
  { outcome, id = '' }: CommandResult,
  { isReplaced }: Proposal,
  { longWaitUntilMs }: Session,
  { journal, submissions }: Services,
): Promise<ToolResult> {
  const other = isReplaced ? { note: 'The user chose another dataset instead of the proposed one.' } : {};
  const receipts = await journal.receipts().catch(() => []);
  const unsent = submissions.pending.find((one) => one.id === id && !isSent(one.submission));
  const untilMs =
    outcome === 'unavailable' ? longWaitUntilMs : unsent && busyUntilMs(unsent.submission, Date.now());
  switch (outcome === 'unavailable' && untilMs !== undefined ? 'not-charged' : outcome) {
    case 'charged': {
      const receipt = receipts.find((one) => isRunOf(one, id));
      const { price_cents: cents, currency } = receipt && isCharged(receipt) ? receipt.charge.run : {};
      const next = 'The user confirmed it. Don’t propose it again; fineTuning_getRun shows its progress.';
      return { status: 'submitted', run: idOf(id), price: money(cents, currency), ...other, next };
    }
    case 'not-charged': {
      const code = [...journal.submissions, ...receipts].find((one) => one.id === id)?.end?.code ?? 'other';
      const isKept = journal.submissions.some((one) => one.id === id);
      const next = isKept
        ? 'Nothing was charged. Don’t propose it again; the user can continue it in the Runs view.'
        : 'Nothing was charged for this proposal. Call fineTuning_listRuns, then ask the user.';
      const named = /^[\w-]{1,60}$/.test(code) ? code : 'refused';
      const reason =
        untilMs === undefined
          ? named
          : `the service asked you to wait until ${new Date(untilMs).toISOString()}`;
      return { status: `not charged: ${reason}`, ...other, next };
    }
    case 'unknown': {
      const next =
        'It may have been charged. Never propose it again; fineTuning_listRuns shows what is known.';
      return { status: 'unknown', ...other, next };
    }
    case 'cancelled':
      return { status: 'closed', ...other, next: CLOSED };
    default: {
      const next = 'It ended with a message to the user. Call fineTuning_listRuns first, then ask the user.';
      return { status: 'unknown', ...other, next };
    }
  }
}
