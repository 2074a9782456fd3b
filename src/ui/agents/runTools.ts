import { recipesOf, type RecipeBlock } from '../../core/adapters/recipes.ts';
import { runInWorker, type AdapterReport } from '../../core/adapters/report.ts';
import { isNotFound } from '../../core/api/errors.ts';
import { foldText, isPlainId } from '../../core/base/plainText.ts';
import { localAdapter } from '../../core/downloads/localFiles.ts';
import { moneyOf } from '../../core/money/accountMoney.ts';
import type { ChargedRun } from '../../core/money/spending.ts';
import { type Phase, artifactsOf, spanMs, timesOf } from '../../core/runs/run.ts';
import { serviceNowMs, type Session } from '../../core/runs/session.ts';
import { mayBecomeCharge, type PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import { submissionName } from '../../core/submission/submission.ts';
import type { Services } from '../../services.ts';
import { data, idOf, money, pathData, Refusal, time, type ToolResult } from './answer.ts';
import { count, PATH, text, type Input, type InputSchema } from './input.ts';
import { adapterInWorkspace, shownPath } from './places.ts';
import { readySession } from './readySession.ts';

const PHASES: Readonly<Record<Phase, string>> = {
  waiting: 'queued',
  active: 'running',
  finished: 'completed',
  ended: 'ended',
};

export const RUNS = {
  properties: {
    status: { type: 'string', enum: ['queued', 'running', 'completed', 'ended'] },
    limit: count(1, 50),
  },
  required: [],
} as const satisfies InputSchema;

export const ONE_RUN = { properties: { run: text(255) }, required: ['run'] } as const satisfies InputSchema;

export const ADAPTER = {
  properties: { run: text(255), path: PATH },
  required: [],
} as const satisfies InputSchema;

const DEFAULT_RUNS = 10;
/** A list older than this is read again; the refresher reads sooner while a run is active. */
const OLD_MS = 60_000;

/** Lists open submissions, then the newest runs of the active account. */
export async function listRunsTool(
  services: Services,
  { status, limit = DEFAULT_RUNS }: Input<typeof RUNS>,
): Promise<ToolResult> {
  const session = await readySession(services);
  const { account, runs } = session;
  if (runs.rows === undefined || Date.now() - runs.readAtMs > OLD_MS)
    await runs.refresh().catch((error: unknown) => {
      if (runs.rows === undefined) throw error;
    });
  await Promise.all([services.submissions.probe(), services.downloads.open(account.id)]);
  const { charged } = moneyOf(session, await services.journal.receipts(), []);
  const found = charged.filter(({ phase = 'active' }) => status === undefined || PHASES[phase] === status);
  const open = services.submissions.pending.filter(({ accountId }) => accountId === account.id);
  return {
    account: data(account.name),
    openSubmissions: open.map((one) => submissionInfo(one, session)),
    runs: await Promise.all(found.slice(0, limit).map((run) => runInfo(run, session, services))),
    more: found.length > limit || runs.hasMore,
    readAt: time(runs.readAtMs),
  };
}

function submissionInfo(row: PendingSubmission, { models }: Session) {
  const { submission, state } = row;
  return {
    label: data(submissionName(submission)),
    model: data(models.nameOf(submission.model_id)),
    state: state === 'idle' ? (submission.reason ?? submission.stage) : state,
    mayBeCharged: mayBecomeCharge(row),
    next: 'Don’t propose this dataset again. Only the user can resolve this submission.',
  };
}

async function runInfo(run: ChargedRun, session: Session, { downloads }: Services) {
  const { models, runs } = session;
  const { runId, label, modelId, phase, priceCents, currency, createdAtMs, status, receipt } = run;
  const row = runs.get(runId);
  const detail = runs.detail(runId);
  const { startedAtMs, completedAtMs } = timesOf(detail ?? {});
  const artifacts = row && artifactsOf(row, detail, serviceNowMs(session));
  const adapter = localAdapter(downloads.records(session.account.id), runId);
  return {
    run: idOf(runId),
    label: label === undefined ? 'unknown; fineTuning_getRun reads it' : data(label),
    model: data(models.nameOf(modelId)),
    status: phase === undefined ? 'unknown' : PHASES[phase],
    statusOfService: status === undefined ? undefined : data(status),
    price: money(priceCents, currency),
    createdAt: time(createdAtMs),
    startedAt: time(startedAtMs),
    completedAt: time(completedAtMs),
    adapter: artifacts?.kind,
    adapterExpiresAt: time(artifacts?.expiresAtMs),
    downloaded:
      adapter === undefined
        ? 'no'
        : await shownPath(adapter.path).then((at) => (at ? pathData(at) : ELSEWHERE)),
    ...(receipt?.proposedBy && { proposedBy: 'an agent' }),
  };
}

const ELSEWHERE = 'yes, outside the workspace; fineTuning_inspectAdapter takes the run ID';

/** Shows one run with everything known. */
export async function getRunTool(services: Services, { run }: Input<typeof ONE_RUN>): Promise<ToolResult> {
  const session = await readySession(services);
  const { runs } = session;
  const runId = await findRun(services, session, run);
  if (runs.detail(runId) === undefined)
    await runs.loadDetail(runId).catch((error: unknown) => {
      if (isNotFound(error)) throw new Refusal(NO_RUN);
      // The list and the receipts already say what is known.
      if (runs.get(runId) === undefined) throw error;
    });
  await services.downloads.open(session.account.id);
  const { charged } = moneyOf(session, await services.journal.receipts(), []);
  const known = charged.find((one) => one.runId === runId);
  if (known === undefined) throw new Refusal(NO_RUN);
  const times = timesOf(runs.detail(runId) ?? {});
  const minutes = (ms: number | undefined) => (ms === undefined ? undefined : Math.round(ms / 60_000));
  return {
    ...(await runInfo(known, session, services)),
    queue:
      known.receipt === undefined ? 'unknown' : known.receipt.priority_processing ? 'priority' : 'standard',
    queuedMinutes: minutes(spanMs(times, 'queue')),
    trainingMinutes: minutes(spanMs(times, 'training')),
  };
}

const NO_RUN =
  'The active account doesn’t have this run. Don’t guess IDs; call fineTuning_listRuns, or ask which account is meant.';

/** Finds a run by its ID or label, and returns its ID. @throws Refusal */
async function findRun(services: Services, session: Session, wanted: string): Promise<string> {
  const { charged } = moneyOf(session, await services.journal.receipts(), []);
  if (charged.some(({ runId }) => runId === wanted)) return wanted;
  const named = charged.filter(({ label }) => label !== undefined && foldText(label) === foldText(wanted));
  const [first, ...others] = named;
  if (others.length > 0)
    throw new Refusal('Several runs have this label. Call fineTuning_listRuns and pass an ID; don’t guess.');
  if (first !== undefined) return first.runId;
  if (!isPlainId(wanted)) throw new Refusal(NO_RUN);
  return wanted;
}

/** Says what an adapter contains, and how to load it. */
export async function inspectAdapterTool(
  services: Services,
  input: Input<typeof ADAPTER>,
  signal: AbortSignal,
): Promise<ToolResult> {
  if ((input.run === undefined) === (input.path === undefined))
    throw new Refusal('Pass either "run" or "path". Nothing was read.');
  const file =
    input.path === undefined
      ? await downloadedAdapter(services, input.run ?? '')
      : (await adapterInWorkspace(input.path)).file;
  const report = await runInWorker('inspect', file, { worker: services.dist('adapterWorker.cjs'), signal });
  const { config, container, isFromSandbox, problems, sizeBytes, verdict, weights } = report;
  return {
    verdict: verdict.code,
    fault: verdict.fault,
    container,
    sizeBytes,
    ...(isFromSandbox && { isFromSandbox: 'Made by the sandbox, which trains nothing.' }),
    baseModel: config?.baseModel === undefined ? 'unknown' : data(config.baseModel, 128),
    baseRevision: config?.revision === undefined ? undefined : data(config.revision, 128),
    type: config?.peftType === undefined ? 'unknown' : data(config.peftType),
    rank: weights?.maxRank ?? config?.rank,
    alpha: config?.alpha,
    modules: weights?.modules.slice(0, 20).map((name) => data(name)),
    problems: problems.map(({ code, severity, count: found }) => ({ problem: code, severity, count: found })),
    ...(verdict.code === 'other-format' && { format: verdict.detail }),
    ...((verdict.code === 'adapter' || verdict.code === 'other-format') && recipesFor(report)),
  };
}

/** @throws Refusal */
async function downloadedAdapter(services: Services, run: string): Promise<string> {
  const session = await readySession(services);
  const runId = await findRun(services, session, run);
  await services.downloads.open(session.account.id);
  const record = localAdapter(services.downloads.records(session.account.id), runId);
  if (record === undefined)
    throw new Refusal(
      'This run’s adapter hasn’t been downloaded. Ask the user to run "Download Adapter"; don’t do it yourself.',
    );
  return record.path;
}

/** The folder that the commands name. */
const FOLDER = 'ADAPTER_FOLDER';

function recipesFor(report: AdapterReport) {
  const { notes, tools, mend } = recipesOf(report, {
    ...{ folder: FOLDER, platform: process.platform, system: { text: '' } },
    hidesTexts: true,
  });
  const commandsOf = (blocks: readonly RecipeBlock[]) =>
    blocks.map(({ purpose, text: lines, placeholders }) => ({ purpose, lines, placeholders }));
  return {
    ...(mend.length > 0 && { howToMend: commandsOf(mend) }),
    howToLoad: tools.map(({ tool, refusal, warnings, blocks, notes: more }) =>
      refusal !== undefined
        ? { tool, cannotLoadIt: refusal }
        : {
            tool,
            warnings,
            notes: [...notes, ...more],
            commands: commandsOf(blocks),
          },
    ),
    next: `Replace ${FOLDER} with the unpacked folder that has adapter_config.json, BASE_MODEL with "baseModel", BASE_MODEL_16BIT with its 16-bit original, BASE_REVISION with "baseRevision", and SYSTEM_MESSAGE with the dataset’s system message, or leave that message out if the dataset has none. Don’t run commands without asking.`,
  };
}
