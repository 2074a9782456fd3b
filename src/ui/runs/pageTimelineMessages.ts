import * as vscode from 'vscode';
import { formatCount, formatDuration, formatTime } from '../shared/format.ts';
import { missingText, type DetailsState } from './pageMessages.ts';
import { strangerText } from '../shared/strangerText.ts';

/** What the timeline of a run is made of. */
export interface TimelineView {
  phase: 'waiting' | 'active' | 'finished';
  /** Whether the details stand; the list knows only when the run was created. */
  details: DetailsState;
  createdAtMs: number | undefined;
  startedAtMs: number | undefined;
  completedAtMs: number | undefined;
  /** How long it waited and trained, where both ends are told. */
  queueMs: number | undefined;
  trainingMs: number | undefined;
  /** Whether it is known that there is a receipt, or none. */
  receipt: DetailsState;
  /** From its receipt; undefined where it was not submitted from this machine. */
  submission:
    | {
        atMs: number;
        fileName: string;
        attempts: number;
        how: 'answered' | 'found' | 'recognised';
      }
    | undefined;
  artifacts: {
    kind: 'not-yet' | 'not-known' | 'available' | 'expired' | 'not-told';
    expiresAtMs: number | undefined;
  };
}

type Clock = 'queue' | 'started' | 'artifacts';
interface Entry {
  key: string;
  state: 'done' | 'now' | 'next' | 'unknown' | 'over';
  name: string;
  when: string;
  iso: string | undefined;
  notes: readonly string[];
  clock: Clock | undefined;
}

/** The events of a run in their order, those that are still to come included. */
export function timelineEntries(view: TimelineView): Entry[] {
  return [submitted(view), queued(view), started(view), completed(view), artifacts(view)];
}

function submitted({ submission, receipt }: TimelineView): Entry {
  const { l10n } = vscode;
  const name = l10n.t('Submitted');
  if (submission === undefined)
    return unknown(
      'submitted',
      name,
      receipt === 'read' ? l10n.t('not from this machine, or without a receipt') : missingText(receipt),
    );
  const { atMs, fileName, attempts, how } = submission;
  const notes = [l10n.t('From this machine, with {0}', strangerText(fileName))];
  if (attempts > 1) notes.push(l10n.t('{0} attempts, one charge', formatCount(attempts)));
  if (how === 'found')
    notes.push(l10n.t('The answer got lost; the run was found by the marker in its label'));
  if (how === 'recognised') notes.push(l10n.t('The answer got lost; you recognised the run'));
  return told('submitted', 'done', name, atMs, notes);
}

function queued({ phase, createdAtMs }: TimelineView): Entry {
  const name = vscode.l10n.t('Queued');
  if (createdAtMs === undefined) return unknown('queued', name, notTold());
  return phase === 'waiting'
    ? { ...told('queued', 'now', name, createdAtMs), clock: 'queue' }
    : told('queued', 'done', name, createdAtMs);
}

function started(view: TimelineView): Entry {
  const { l10n } = vscode;
  const { phase, startedAtMs, queueMs } = view;
  const name = l10n.t('Started');
  if (startedAtMs === undefined) return missing('started', name, view);
  const notes = queueMs === undefined ? [] : [l10n.t('after {0} in the queue', formatDuration(queueMs))];
  const entry = told('started', 'done', name, startedAtMs, notes);
  // Whether it is still trained no status of the contract says, only how long ago that began.
  return phase === 'active' ? { ...entry, clock: 'started' } : entry;
}

function completed(view: TimelineView): Entry {
  const { l10n } = vscode;
  const { completedAtMs, trainingMs } = view;
  const name = l10n.t('Completed');
  if (completedAtMs === undefined) return missing('completed', name, view);
  const notes = trainingMs === undefined ? [] : [l10n.t('after {0} of training', formatDuration(trainingMs))];
  return told('completed', 'done', name, completedAtMs, notes);
}

function artifacts({ artifacts: { kind, expiresAtMs } }: TimelineView): Entry {
  const { l10n } = vscode;
  const name = l10n.t('Adapter kept until');
  if (kind === 'not-yet') return { ...unknown('artifacts', name, notYet()), state: 'next' };
  if (kind === 'expired')
    return expiresAtMs === undefined
      ? unknown('artifacts', l10n.t('Adapter expired'), notTold())
      : told('artifacts', 'over', l10n.t('Adapter expired'), expiresAtMs);
  return expiresAtMs === undefined
    ? unknown('artifacts', name, missingText('read', kind === 'not-known'))
    : { ...told('artifacts', 'next', name, expiresAtMs), clock: 'artifacts' };
}

function told(
  key: string,
  state: Entry['state'],
  name: string,
  atMs: number,
  notes: readonly string[] = [],
): Entry {
  const iso = new Date(atMs).toISOString();
  return { key, state, name, when: formatTime(atMs), iso, notes, clock: undefined };
}

function unknown(key: string, name: string, when: string): Entry {
  return { key, state: 'unknown', name, when, iso: undefined, notes: [], clock: undefined };
}

/** Whether a time that does not apply yet is null or left out the contract does not show: what is missing is not told. */
function missing(key: string, name: string, { phase, details }: TimelineView): Entry {
  return phase === 'waiting'
    ? { ...unknown(key, name, notYet()), state: 'next' }
    : unknown(key, name, missingText(details, phase === 'active'));
}

function notTold(): string {
  return missingText('read');
}

function notYet(): string {
  return vscode.l10n.t('not yet');
}
