import { modelOf } from '../shared/arguments.ts';
import { openServiceLink, tellNoLink } from '../shared/modelMessages.ts';
import type { Sessions } from '../../core/runs/sessions.ts';

/** Opens the license terms or the use policy of a model, if the service named an https address. */
export function openModelLink(sessions: Sessions, field: 'terms_url' | 'use_policy_url') {
  return async (argument: unknown): Promise<void> => {
    const url = modelOf(argument, sessions.active?.models.models ?? [])?.[field];
    if (url === undefined || !(await openServiceLink(url))) tellNoLink();
  };
}
