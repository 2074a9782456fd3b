import { ServiceError } from '../../core/api/errors.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import { clockTexts, noRunHeading, runHeading, runNotices, runPageWords, wholeText } from './pageMessages.ts';
import { artifactsOf, timesOf } from '../../core/submission/runFacts.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import type { RunPageClock, RunPageNotice, RunPageSection, RunPageState } from './protocol.ts';
import { artifactsSection, downloadActions } from './runPageArtifacts.ts';
import { PageButtons } from './runPageButtons.ts';
import { durationsSection, factSections, timelineSection } from './runPageSections.ts';
import type { KnownRunView, RunPageView } from './runPageView.ts';

/** Enough of an id to name a run of which nothing else is known. */
const SHORT_ID_LENGTH = 8;

/** A page as it is to be shown, and what its buttons are about. */
export interface BuiltPage {
  name: string;
  state: RunPageState;
  buttons: PageButtons;
}

/** Puts together everything that the page of a run shows now. */
export function runPageState(view: RunPageView): BuiltPage {
  const buttons = new PageButtons();
  const known = knownRun(view);
  const name = known === undefined ? view.runId.slice(0, SHORT_ID_LENGTH) : nameOf(known);
  const content = known === undefined ? absent(view, name, buttons) : present(known, name, buttons);
  const { accountId, runId } = view;
  const words = { actions: runPageWords.actions() };
  return { name, state: { type: 'state', memory: { accountId, runId }, words, ...content }, buttons };
}

/** What the clocks of the page say now. */
export function runPageClocks(view: RunPageView): Partial<Record<RunPageClock, string>> {
  const known = knownRun(view);
  if (known === undefined) return {};
  const { session, run, detail, nowMs } = known;
  const phase = session.runs.phase(run);
  const { createdAtMs, startedAtMs } = timesOf({ ...run, ...detail });
  const { kind, expiresAtMs } = artifactsOf(run, detail, nowMs);
  return {
    ...(phase === 'waiting' && createdAtMs !== undefined && { queue: clockTexts.queue(nowMs - createdAtMs) }),
    ...(phase === 'active' &&
      startedAtMs !== undefined && { started: clockTexts.started(nowMs - startedAtMs) }),
    ...((kind === 'available' || kind === 'not-known' || kind === 'not-told') &&
      expiresAtMs !== undefined && { artifacts: clockTexts.artifacts(expiresAtMs - nowMs) }),
  };
}

type Content = Pick<RunPageState, 'heading' | 'notices' | 'actions' | 'sections'>;

/** Nothing that a refused API key once read is shown. */
function knownRun(view: RunPageView): KnownRunView | undefined {
  const { account, session, runId } = view;
  if (account === undefined || session === undefined || session.isLocked) return undefined;
  const run = session.runs.get(runId);
  return run === undefined ? undefined : { ...view, account, session, run };
}

function present(view: KnownRunView, name: string, buttons: PageButtons): Content {
  const { account, session, run, runId } = view;
  const phase = session.runs.phase(run);
  const heading = runHeading({
    name,
    phase,
    status: run.status,
    modelName: session.models.nameOf(run.model_id),
    isSandbox: account.kind === 'sandbox',
    accountName: account.name,
  });
  const sections: RunPageSection[] = [
    timelineSection(view),
    artifactsSection(view, buttons),
    durationsSection(view, buttons),
    ...factSections(view, buttons),
  ];
  const actions = [
    ...downloadActions(view, buttons),
    buttons.make('submitAgain', 'run', runPageWords.submitAgain()),
    buttons.copy('run-id', runId, runPageWords.copyRunId()),
    buttons.make('refresh', 'run', runPageWords.refresh()),
  ];
  return { heading, notices: presentNotices(view, buttons), actions, sections };
}

function presentNotices(view: KnownRunView, buttons: PageButtons): RunPageNotice[] {
  const { account, session, runId, isActive } = view;
  const failure = session.runs.detailFailure(runId);
  const again = () => [buttons.make('refresh', 'notice', runPageWords.tryAgain())];
  return [
    ...(session.state === 'offline'
      ? [notice('offline', 'warning', runNotices.offline(session.offlineSince), again())]
      : failure === undefined
        ? []
        : [notice('details', 'warning', runNotices.detailsFailed(asText(explain(failure))), again())]),
    ...(isActive
      ? []
      : [
          notice('account', 'info', runNotices.notActive(account.name), [
            buttons.make('useAccount', 'notice', runPageWords.switchTo(account.name)),
          ]),
        ]),
  ];
}

/** The page where there is no run to show: it is being read, unknown, out of reach, or not to be seen. */
function absent(view: RunPageView, name: string, buttons: PageButtons): Content {
  const of = (kind: RunPageNotice['kind'], text: string, ...more: RunPageNotice['buttons']): Content => ({
    heading: noRunHeading(name),
    notices: [notice('absent', kind, text, more)],
    actions: [],
    sections: [],
  });
  const { account, session, runId } = view;
  if (account === undefined || session === undefined) return of('info', runNotices.accountGone());
  if (session.state === 'key-rejected')
    return of(
      'error',
      runNotices.keyRejected(),
      buttons.make('replaceKey', 'notice', runPageWords.replaceKey()),
    );
  if (session.state === 'key-missing')
    return of(
      'error',
      runNotices.keyMissing(),
      buttons.make('replaceKey', 'notice', runPageWords.enterKey()),
    );
  const failure = session.runs.detailFailure(runId);
  const again = () => buttons.make('refresh', 'notice', runPageWords.tryAgain());
  if (isNotFound(failure))
    return of(
      'warning',
      runNotices.notFound(account.name),
      buttons.make('switchAccount', 'notice', runPageWords.switchAccount()),
      again(),
    );
  if (failure !== undefined) return of('error', asText(explain(failure)), again());
  return view.isReading ? of('info', runNotices.reading()) : of('info', runNotices.notListed(), again());
}

/** Whether the service says that the account has no such run (spec: "GET /api/v1/runs/{run_id}"). */
export function isNotFound(error: unknown): boolean {
  return error instanceof ServiceError && error.httpStatus === 404;
}

function nameOf({ session, run }: KnownRunView): string {
  const label = withoutMarker(session.runs.label(run.run_id) ?? '');
  return label === '' ? session.models.nameOf(run.model_id) : wholeText(label);
}

function notice(
  key: string,
  kind: RunPageNotice['kind'],
  text: string,
  buttons: RunPageNotice['buttons'],
): RunPageNotice {
  return { key, kind, text, buttons };
}
