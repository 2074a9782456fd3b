import * as vscode from 'vscode';
import { MAX_LABEL_LENGTH, type Balance, type Model } from '../../api/types.ts';
import type { Summary } from '../../dataset/summary.ts';
import { cutLabel } from '../label.ts';
import { openServiceLink } from '../links.ts';
import { modelLinks } from '../modelLinks.ts';
import { checkRows, sizePhrase } from '../wording/dataset.ts';
import { formatBytes, formatMoney } from '../wording/format.ts';
import { ask, pick, runSteps, type Choice, type Place, type Step, type StepEnd } from './steps.ts';

/** What the steps are about and do not change. */
interface SubmissionContext {
  accountName: string;
  isSandbox: boolean;
  fileName: string;
  sizeBytes: number;
  check: Summary | 'unchecked';
  models: readonly Model[];
  balance: Balance | undefined;
}

/** What a person chose before consenting. */
interface SubmissionChoices {
  model: Model | undefined;
  label: string;
  priority: boolean;
}

/** The choices, with a model and both consents given by the person in this very run of the steps. */
export interface ConsentedChoices {
  model: Model;
  label: string;
  priority: boolean;
  model_terms_accepted: true;
  data_policy_accepted: true;
}

interface State extends SubmissionChoices {
  termsAccepted: boolean;
  dataPolicyAccepted: boolean;
}

const MODEL_STEP = 0;
const LABEL_STEP = 1;
const PRIORITY_STEP = 2;

/**
 * Leads through model, label, priority, summary and the two consents.
 * @returns undefined when it was given up or a consent was declined: nothing is kept and nothing is sent
 */
export async function askToSubmit(
  context: SubmissionContext,
  initial: SubmissionChoices,
): Promise<ConsentedChoices | undefined> {
  const steps: Step<State>[] = [
    (state, place) => modelStep(context, state, place),
    labelStep,
    priorityStep,
    (state, place) => summaryStep(context, state, place),
    termsStep,
    dataPolicyStep,
  ];
  const title = context.isSandbox
    ? vscode.l10n.t('Submit {0} to the sandbox (nothing is trained)', context.fileName)
    : vscode.l10n.t('Submit {0}', context.fileName);
  const start = initial.model === undefined ? MODEL_STEP : LABEL_STEP;
  const state = await runSteps(
    title,
    steps,
    { ...initial, termsAccepted: false, dataPolicyAccepted: false },
    start,
  );
  if (state?.model === undefined || !state.termsAccepted || !state.dataPolicyAccepted) return undefined;
  const { model, label, priority } = state;
  return { model, label, priority, model_terms_accepted: true, data_policy_accepted: true };
}

async function modelStep(context: SubmissionContext, state: State, place: Place): Promise<StepEnd<State>> {
  const { l10n } = vscode;
  const terms: vscode.QuickInputButton = {
    iconPath: new vscode.ThemeIcon('law'),
    tooltip: l10n.t('Open the license terms'),
  };
  const items: Choice<Model>[] = [];
  let provider: string | undefined;
  for (const model of byProvider(context.models)) {
    if (model.provider !== provider) {
      provider = model.provider;
      items.push({ label: provider, kind: vscode.QuickPickItemKind.Separator } as Choice<Model>);
    }
    items.push({
      label: model.name,
      description: model.model_id,
      value: model,
      buttons: modelLinks(model).terms === undefined ? [] : [terms],
    });
  }
  const answer = await pick(place, {
    placeholder: l10n.t('Base model to fine-tune; the choice does not change the price'),
    items,
    ...(state.model === undefined ? {} : { active: state.model }),
    onButton: (model) => void openServiceLink(model.terms_url ?? ''),
  });
  return answer.kind === 'value' ? { kind: 'next', state: { ...state, model: answer.value } } : answer;
}

function byProvider(models: readonly Model[]): Model[] {
  return models
    .filter((model) => model.available)
    .sort((a, b) => a.provider.localeCompare(b.provider) || a.name.localeCompare(b.name));
}

async function labelStep(state: State, place: Place): Promise<StepEnd<State>> {
  const { l10n } = vscode;
  const answer = await ask(place, {
    prompt: l10n.t('Label, to find the run again (may be empty; at most {0} characters)', MAX_LABEL_LENGTH),
    value: state.label,
    validate: (text) =>
      text.length <= MAX_LABEL_LENGTH
        ? undefined
        : {
            message: l10n.t('{0} of {1} characters: the end will be cut.', text.length, MAX_LABEL_LENGTH),
            severity: vscode.InputBoxValidationSeverity.Warning,
          },
  });
  return answer.kind === 'value'
    ? { kind: 'next', state: { ...state, label: cutLabel(answer.value.trim()) } }
    : answer;
}

async function priorityStep(state: State, place: Place): Promise<StepEnd<State>> {
  const { l10n } = vscode;
  const answer = await pick(place, {
    placeholder: l10n.t('Place in the queue'),
    items: [
      { label: l10n.t('Standard queue'), description: l10n.t('no extra price'), value: false },
      {
        label: l10n.t('Priority queue'),
        description: l10n.t('costs extra'),
        detail: l10n.t('Unless the plan of the account includes it. The service tells neither beforehand.'),
        value: true,
      },
    ],
    active: state.priority,
  });
  return answer.kind === 'value' ? { kind: 'next', state: { ...state, priority: answer.value } } : answer;
}

async function summaryStep(context: SubmissionContext, state: State, place: Place): Promise<StepEnd<State>> {
  const { l10n } = vscode;
  const stay = 'stay' as const;
  const row = (
    icon: string,
    name: string,
    value: string,
    to: number | typeof stay = stay,
  ): Choice<number | typeof stay | 'next'> => ({
    label: `$(${icon}) ${name}`,
    description: value,
    value: to,
  });
  const { balance } = context;
  const size = sizePhrase(context.sizeBytes);
  const answer = await pick<number | typeof stay | 'next'>(place, {
    placeholder: l10n.t('Read this, then continue. Nothing has been sent.'),
    items: [
      { label: l10n.t('$(arrow-right) Continue to the two consents'), value: 'next' },
      row(
        'account',
        l10n.t('Account'),
        context.isSandbox
          ? l10n.t('{0}: nothing is trained, nothing is paid', context.accountName)
          : context.accountName,
      ),
      row('file', l10n.t('Dataset'), l10n.t('{0}, {1}', context.fileName, formatBytes(context.sizeBytes))),
      ...(size === undefined ? [] : [row('warning', l10n.t('Size'), size)]),
      ...checkRows(context.check).map(({ icon, name, value }) => row(icon, name, value)),
      row(
        'symbol-misc',
        l10n.t('Model'),
        l10n.t('{0}, {1}', state.model?.name ?? '', state.model?.provider ?? ''),
        MODEL_STEP,
      ),
      row('tag', l10n.t('Label'), state.label === '' ? l10n.t('none') : state.label, LABEL_STEP),
      row(
        'rocket',
        l10n.t('Queue'),
        state.priority ? l10n.t('priority: costs extra unless the plan includes it') : l10n.t('standard'),
        PRIORITY_STEP,
      ),
      row(
        'credit-card',
        l10n.t('Balance'),
        balance === undefined
          ? l10n.t('not known at the moment')
          : formatMoney(balance.balance_cents, balance.currency),
      ),
      row(
        'question',
        l10n.t('Price'),
        l10n.t('known only after submission; it is charged to the balance at once'),
      ),
      row('warning', l10n.t('No way back'), l10n.t('a run cannot be cancelled')),
    ],
    stays: (value) => value === stay,
  });
  if (answer.kind !== 'value') return answer;
  if (answer.value === 'next') return { kind: 'next', state };
  return answer.value === stay ? { kind: 'cancel' } : { kind: 'go', to: answer.value };
}

type ConsentChoice = 'accept' | 'decline' | 'terms' | 'policy';

async function termsStep(state: State, place: Place): Promise<StepEnd<State>> {
  const { l10n } = vscode;
  const { model } = state;
  const provider = model?.provider ?? '';
  const links: Choice<ConsentChoice>[] = [];
  const link = (label: string, url: string | undefined, value: ConsentChoice) => {
    if (url !== undefined) links.push({ label: `$(link-external) ${label}`, description: url, value });
  };
  const { terms, policy } = modelLinks(model ?? {});
  link(l10n.t('Read the license terms'), terms, 'terms');
  link(l10n.t('Read the use policy'), policy, 'policy');
  const answer = await consent(place, {
    placeholder: l10n.t('First consent: the terms of {0}', provider),
    accept:
      model?.use_policy_url === undefined
        ? l10n.t('I accept the license terms of {0} for {1}', provider, model?.name ?? '')
        : l10n.t('I accept the license terms and the use policy of {0} for {1}', provider, model.name),
    detail: '',
    links,
    onLink: (value) => void openServiceLink((value === 'terms' ? terms : policy) ?? ''),
  });
  return afterConsent(answer, { ...state, termsAccepted: true });
}

async function dataPolicyStep(state: State, place: Place): Promise<StepEnd<State>> {
  const { l10n } = vscode;
  const answer = await consent(place, {
    placeholder: l10n.t('Second consent: your data. Accepting submits the run and charges the account.'),
    accept: l10n.t('I accept the data policy, and submit'),
    detail: l10n.t(
      'I accept the data policy of the service, I have the rights to this dataset, and I know that results are not guaranteed.',
    ),
    links: [],
    onLink: () => undefined,
  });
  return afterConsent(answer, { ...state, dataPolicyAccepted: true });
}

/** The row that declines stands first, so that pressing Enter without reading sends nothing. */
async function consent(
  place: Place,
  options: {
    placeholder: string;
    accept: string;
    detail: string;
    links: Choice<ConsentChoice>[];
    onLink: (value: ConsentChoice) => void;
  },
): ReturnType<typeof pick<ConsentChoice>> {
  const { l10n } = vscode;
  return pick<ConsentChoice>(place, {
    placeholder: options.placeholder,
    items: [
      {
        label: l10n.t('$(circle-slash) I do not accept'),
        description: l10n.t('nothing is sent'),
        value: 'decline',
      },
      {
        label: `$(check) ${options.accept}`,
        value: 'accept',
        ...(options.detail === '' ? {} : { detail: options.detail }),
      },
      ...options.links,
    ],
    stays: (value) => {
      const isLink = value === 'terms' || value === 'policy';
      if (isLink) options.onLink(value);
      return isLink;
    },
  });
}

function afterConsent(answer: Awaited<ReturnType<typeof consent>>, accepted: State): StepEnd<State> {
  if (answer.kind !== 'value') return answer;
  return answer.value === 'accept' ? { kind: 'next', state: accepted } : { kind: 'cancel' };
}
