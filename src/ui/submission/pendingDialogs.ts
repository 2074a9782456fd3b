import * as vscode from 'vscode';
import type { RunDetail } from '../../core/api/types.ts';
import {
  stateText,
  submissionDescription,
  submissionName,
  truthSentence,
  type SubmissionView,
} from './pendingMessages.ts';
import { candidateText, knownRows, type KnownSubmission } from './resolveMessages.ts';
import { pick, type Choice } from '../shared/steps.ts';
import { strangerText } from '../shared/strangerText.ts';
import { showWarning } from '../shared/notifications.ts';

/** What a person can do about a submission that is not settled. */
export type Resolution =
  | { kind: 'continue' }
  | { kind: 'check' }
  | { kind: 'adopt'; run: RunDetail }
  | { kind: 'discard' }
  | { kind: 'cancel' };

/** Which of the resolutions there are at the moment. */
export interface Possible {
  continue: boolean;
  check: boolean;
  discard: boolean;
  cancel: boolean;
  /** The runs that could be this one. */
  candidates: readonly RunDetail[];
}

/** Shows what is known of a submission, above it what can be done; undefined when it is left. */
export async function askToResolve(
  known: KnownSubmission,
  possible: Possible,
): Promise<Resolution | undefined> {
  const { l10n } = vscode;
  const nowMs = Date.now();
  const separator = (label: string) => ({ label, kind: vscode.QuickPickItemKind.Separator }) as Choice<Row>;
  const actions = actionRows(known, possible);
  const facts = knownRows(known, nowMs).map(({ icon, name, value }): Choice<Row> => ({
    icon,
    label: name,
    description: value,
    value: 'stay',
  }));
  const title = l10n.t('Submission of {0}', known.view.intent.dataset.filename);
  const answer = await pick<Row>(
    { title, step: 1, totalSteps: 1 },
    {
      placeholder: truthSentence(known.view, nowMs),
      items: [
        ...(actions.length === 0 ? [] : [separator(l10n.t('what can be done')), ...actions]),
        separator(l10n.t('what is known')),
        ...facts,
      ],
      stays: (value) => value === 'stay',
    },
  );
  return answer.kind === 'value' && answer.value !== 'stay' ? answer.value : undefined;
}

type Row = Resolution | 'stay';

/** What costs nothing stands first, so that pressing Enter sends and discards nothing. */
function actionRows({ view }: KnownSubmission, possible: Possible): Choice<Row>[] {
  const { l10n } = vscode;
  const row = (icon: string, label: string, detail: string, value: Resolution): Choice<Row> => ({
    icon,
    label,
    detail,
    value,
  });
  const currency = view.intent.balanceBefore?.currency;
  const isRefused = view.state === 'refused';
  return [
    ...(possible.check
      ? [
          row('search', l10n.t('Check Now'), l10n.t('Reads runs and balance; sends nothing.'), {
            kind: 'check',
          }),
        ]
      : []),
    ...possible.candidates.map((run) => {
      const { name, detail } = candidateText(run, currency);
      return row('pass', name, detail, { kind: 'adopt', run });
    }),
    ...(possible.cancel
      ? [row('close', l10n.t('Cancel'), l10n.t('Stops it before it is sent whole.'), { kind: 'cancel' })]
      : []),
    ...(possible.continue
      ? [
          row(
            'play',
            l10n.t('Continue…'),
            isRefused
              ? l10n.t('Leads through the steps again, with fresh consents.')
              : l10n.t('Resend; charged at most once within 24 hours.'),
            { kind: 'continue' },
          ),
        ]
      : []),
    ...(possible.discard
      ? [
          row(
            'trash',
            l10n.t('Discard…'),
            view.state === 'unknown'
              ? l10n.t('Takes it off the list. It may have been charged.')
              : l10n.t('Takes it off the list. Nothing was charged.'),
            { kind: 'discard' },
          ),
        ]
      : []),
  ];
}

/** Whether to take a submission off the list. */
export async function confirmDiscard(view: SubmissionView): Promise<boolean> {
  const { l10n } = vscode;
  const discard = l10n.t('Discard');
  const choice = await showWarning(
    l10n.t('Discard the submission of {0}?', view.intent.dataset.filename),
    {
      modal: true,
      detail:
        view.state === 'unknown'
          ? l10n.t(
              'It may have been charged, and after this it is not looked for any more. Compare the balance and the newest runs first.',
            )
          : l10n.t('Nothing was charged. The dataset stays where it is.'),
    },
    discard,
  );
  return choice === discard;
}

/** Whether a run is the one that a submission became. */
export async function confirmAdopt(
  view: SubmissionView,
  run: RunDetail,
  currency: string | undefined,
): Promise<boolean> {
  const { l10n } = vscode;
  const yes = l10n.t('This Is My Run');
  const { label = '' } = run;
  const { detail } = candidateText(run, currency);
  const choice = await showWarning(
    l10n.t('Did the submission of {0} become this run?', view.intent.dataset.filename),
    {
      modal: true,
      detail: l10n.t(
        '{0}. The submission then counts as charged, and leaves the list.',
        // Short, so that what follows is seen.
        label === '' ? detail : `${strangerText(label)} · ${detail}`,
      ),
    },
    yes,
  );
  return choice === yes;
}

/**
 * Before the steps, where a submission of the same dataset is open. One of another account of the service counts as well: both may
 * be the same account there.
 */
export async function offerOpenOne(
  fileName: string,
  view: SubmissionView,
  modelName: string,
  isOtherAccount: boolean,
): Promise<'open' | 'another' | undefined> {
  const { l10n } = vscode;
  const open = l10n.t('Open It');
  const another = isOtherAccount ? l10n.t('Submit Anyway') : l10n.t('Go On with Another Model');
  const facts = [stateText(view, Date.now()), strangerText(modelName)];
  const choice = await showWarning(
    isOtherAccount
      ? l10n.t('Another account of this service has an open submission of {0}.', fileName)
      : l10n.t('A submission of {0} is open already.', fileName),
    {
      modal: true,
      detail: isOtherAccount
        ? l10n.t(
            '{0}, model {1}. If both are the same account of the service, you can be charged twice.',
            ...facts,
          )
        : l10n.t(
            '{0}, model {1}. The same dataset with the same model can be submitted again once that one is settled or discarded; with another model it is another run, with another charge.',
            ...facts,
          ),
    },
    open,
    another,
  );
  return choice === open ? 'open' : choice === another ? 'another' : undefined;
}

/** Which one of several. */
export async function pickSubmission<T extends SubmissionView>(
  views: readonly T[],
  accountNameOf: (view: T) => string | undefined,
): Promise<T | undefined> {
  const { l10n } = vscode;
  const answer = await pick<T>(
    { title: l10n.t('Choose a Submission'), step: 1, totalSteps: 1 },
    {
      placeholder: l10n.t('Which submission?'),
      items: views.map((view) => ({
        label: submissionName(view),
        description: submissionDescription(view, Date.now(), accountNameOf(view)),
        value: view,
      })),
    },
  );
  return answer.kind === 'value' ? answer.value : undefined;
}
