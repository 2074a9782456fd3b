import { l10n } from 'vscode';
import type { Progress } from '../../core/adapters/report.ts';
import { diskSentence } from '../shared/datasetTexts.ts';
import { formatBytes } from '../shared/format.ts';
import { factLine, TERMS } from '../shared/terms.ts';
import { listText } from './adapterOverview.ts';
import { knownFault } from './adapterVerdict.ts';
import type { AdapterPageState, AdapterWork } from './protocol.ts';

export function adapterPageWords(): AdapterPageState['words'] {
  return {
    reload: TERMS.reload,
    cancel: TERMS.cancel,
    copy: TERMS.copy,
    copyOf: factLine(TERMS.copy, '{0}'),
    tools: l10n.t('Tools that load adapters'),
    progress: l10n.t('Progress'),
    error: l10n.t('Error:'),
    warning: l10n.t('Warning:'),
  };
}

/** Returns the status of a page without a report: that it is being read, or why it can't be. */
export function pageStatus(
  fileName: string,
  why: 'missing' | 'failed' | undefined,
): NonNullable<AdapterPageState['status']> {
  if (why === undefined) return { text: l10n.t('Reading {0}…', fileName), retry: undefined };
  const text =
    why === 'missing'
      ? diskSentence(fileName, 'missing')
      : l10n.t('Couldn’t inspect {0}. See the log for details.', fileName);
  return { text, retry: TERMS.retry };
}

export function workProgress(
  kind: AdapterWork['kind'],
  { doneBytes, totalBytes }: Progress,
): NonNullable<AdapterWork['progress']> {
  const [done, total] = [formatBytes(doneBytes), formatBytes(totalBytes)];
  return {
    text:
      kind === 'measure'
        ? l10n.t('Measuring: {0} of {1}', done, total)
        : l10n.t('Unpacking: {0} of {1}', done, total),
    fraction: totalBytes > 0 ? Math.min(1, doneBytes / totalBytes) : 0,
  };
}

/** The result of measuring or unpacking. `code` comes from the error of the disk or the archive. */
export interface WorkEnd {
  outcome: 'done' | 'cancelled' | 'failed';
  code?: string;
  /** Where the archive was, or should have been, unpacked. */
  folder?: string;
  /** Files that were not unpacked. */
  leftOut?: readonly string[];
}

export function workResult(
  fileName: string,
  kind: AdapterWork['kind'],
  end: WorkEnd,
): NonNullable<AdapterWork['result']> {
  return {
    isError: end.outcome === 'failed',
    isQuiet: kind === 'measure' && end.outcome === 'done',
    text: resultText(fileName, kind, end),
  };
}

function resultText(
  fileName: string,
  kind: AdapterWork['kind'],
  { outcome, code = '', folder = '', leftOut = [] }: WorkEnd,
): string {
  const isMeasure = kind === 'measure';
  if (outcome === 'cancelled') return l10n.t('Canceled.');
  if (outcome === 'failed')
    return isMeasure
      ? l10n.t('Couldn’t measure {0}. {1}', fileName, failureReason(code))
      : l10n.t('Couldn’t unpack {0}. {1}', fileName, knownFault(code) ?? failureReason(code, folder));
  if (isMeasure) return l10n.t('Measurement complete.');
  if (leftOut.length === 0) return l10n.t('Unpacked to {0}.', folder);
  return l10n.t('Unpacked to {0}. Left out: {1}.', folder, listText(leftOut));
}

/** @param folder the folder to write to, if any */
function failureReason(code: string, folder?: string): string {
  if (code === 'disk-full') return l10n.t('The disk is full.');
  if (code === 'no-permission')
    return folder === undefined
      ? l10n.t('No permission to read it.')
      : l10n.t('No permission to write to {0}.', folder);
  if (code === 'folder-exists' && folder !== undefined) return l10n.t('{0} already exists.', folder);
  if (code === 'not-an-adapter') return l10n.t('It no longer contains an adapter.');
  return l10n.t('See the log for details.');
}
