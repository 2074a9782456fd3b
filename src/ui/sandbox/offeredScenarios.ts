import { commands, l10n } from 'vscode';
import { DownloadLinkError, NetworkError, ServiceError } from '../../core/api/errors.ts';
import type { Scenario } from '../../sandbox/scenarios.ts';
import { COMMANDS } from '../shared/ids.ts';
import type { SandboxFault } from '../shared/notifications.ts';

/** Returns name and effect of each scenario. */
export function offeredScenarios(): Record<Scenario, { label: string; detail: string }> {
  return {
    none: {
      label: l10n.t('No fault'),
      detail: l10n.t('Runs are charged, trained and downloaded as usual.'),
    },
    'answer-lost': {
      label: l10n.t('Response lost after the charge'),
      detail: l10n.t('A submission gets no response. Seconds later, its run is found, and it was charged.'),
    },
    'connection-lost': {
      label: l10n.t('Connection lost before the charge'),
      detail: l10n.t('The first attempt gets no response; the second gets one and is charged.'),
    },
    'rate-limited': {
      label: l10n.t('Too many requests'),
      detail: l10n.t(
        'The service rejects each request once and asks you to wait 2 seconds. Requests take longer; runs are charged as usual.',
      ),
    },
    'service-down': {
      label: l10n.t('Service down'),
      detail: l10n.t('Nothing is charged. Every request fails, so nothing loads.'),
    },
    'insufficient-balance': {
      label: l10n.t('Balance too low'),
      detail: l10n.t('Submissions are refused and not charged. To continue them, choose another scenario.'),
    },
    'failed-run': {
      label: l10n.t('Failed run'),
      detail: l10n.t('New runs are charged, then fail without an adapter.'),
    },
    'cut-download': {
      label: l10n.t('Interrupted download'),
      detail: l10n.t('A download stops halfway, then resumes automatically.'),
    },
    'short-retention': {
      label: l10n.t('Adapter expires in two hours'),
      detail: l10n.t('When a new run completes, a reminder offers to download its adapter.'),
    },
  };
}

/** Returns the faults that cause such an error. */
export function faultsBehind(error: unknown): readonly Scenario[] {
  if (error instanceof NetworkError) return ['answer-lost', 'connection-lost'];
  if (error instanceof DownloadLinkError) return ['cut-download'];
  if (!(error instanceof ServiceError)) return [];
  const { code, httpStatus } = error;
  if (httpStatus >= 500) return ['service-down'];
  if (code === 'rate_limited') return ['rate-limited'];
  return code === 'insufficient_balance' ? ['insufficient-balance'] : [];
}

/** Returns the sentence that names a fault, and the button that chooses another. */
export function shownFault(fault: Scenario): SandboxFault {
  return {
    sentence: l10n.t('Sandbox scenario “{0}” is on.', offeredScenarios()[fault].label),
    button: { [l10n.t('Choose Another')]: () => commands.executeCommand(COMMANDS.sandbox, 'scenario') },
  };
}
