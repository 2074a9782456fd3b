import { withoutMarker } from '../../core/runs/marker.ts';
import type { Draft } from '../../core/submission/intent.ts';

/** What "Submit Again…" and a refused submission start with. */
export interface Preset {
  modelId?: string | undefined;
  /** Without its marker; the default is the file name. */
  label?: string | undefined;
  priority?: boolean;
  /** The refused submission that this one replaces. */
  replaces?: string | undefined;
  /** The run whose dataset is submitted again. */
  again?: string | undefined;
  /** The account that this was chosen for, which may no longer be active. */
  accountId?: string | undefined;
}

/** The choices of an earlier submission, which a new one starts with. */
export function presetOf({ model_id, label = '', priority_processing }: Draft): Preset {
  return { modelId: model_id, label: withoutMarker(label), priority: priority_processing };
}

/** Validates the preset, since any extension can call a command with anything. */
export function presetFrom(value: unknown): Preset {
  const given = { ...(value as Record<string, unknown> | undefined) };
  const text = (field: keyof Preset) => (typeof given[field] === 'string' ? given[field] : undefined);
  return {
    modelId: text('modelId'),
    label: text('label'),
    priority: given['priority'] === true,
    replaces: text('replaces'),
    again: text('again'),
    accountId: text('accountId'),
  };
}
