import * as vscode from 'vscode';
import type { AdapterWord } from './protocol.ts';
import { knownFault } from './verdictMessages.ts';
import { formatBytes } from '../shared/format.ts';

/** The words that the page itself needs; `{0}` is filled in there. */
export function adapterWords(): Record<AdapterWord, string> {
  const { l10n } = vscode;
  return {
    facts: l10n.t('Facts'),
    problems: l10n.t('Problems'),
    toKnow: l10n.t('Good to Know'),
    picture: l10n.t('What Is Adapted'),
    recipes: l10n.t('How to Use It'),
    files: l10n.t('Files'),
    reload: l10n.t('Reload'),
    cancel: l10n.t('Cancel'),
    copy: l10n.t('Copy'),
    copyOf: l10n.t('Copy: {0}', '{0}'),
    copied: l10n.t('Copied'),
    asTable: l10n.t('The picture as a table'),
    gridHint: l10n.t('Arrow keys move between modules and layers.'),
    legend: l10n.t('Legend'),
    tools: l10n.t('Tools that load adapters'),
    progress: l10n.t('Progress'),
    error: l10n.t('Error:'),
    warning: l10n.t('Warning:'),
  };
}

/** The title of the page's tab. */
export function adapterTitle(fileName: string): string {
  return vscode.l10n.t('Adapter {0}', fileName);
}

/** While the headers are read. */
export function readingText(fileName: string): string {
  return vscode.l10n.t('Reading {0}…', fileName);
}

/** Why there is nothing to show, and the name of the button that looks again. */
export function adapterFailure(fileName: string, why: 'missing' | 'inside'): { text: string; retry: string } {
  const { l10n } = vscode;
  return {
    text:
      why === 'missing'
        ? l10n.t('{0} is not there any more. If you moved it, inspect it where it is now.', fileName)
        : l10n.t(
            '{0} could not be looked into, because something went wrong inside the extension. The log tells more.',
            fileName,
          ),
    retry: l10n.t('Look Again'),
  };
}

/** The notice over what is shown when the disk holds something else. */
export function adapterNotice(fileName: string, change: 'changed' | 'missing'): string {
  const { l10n } = vscode;
  return change === 'changed'
    ? l10n.t('{0} has changed on disk. What you see is how it was.', fileName)
    : l10n.t('{0} is not there any more. What was read of it is still shown.', fileName);
}

/** How far the measuring or the unpacking is. */
export function workProgress(
  kind: 'measure' | 'unpack',
  doneBytes: number,
  totalBytes: number,
): { text: string; fraction: number } {
  const { l10n } = vscode;
  const [done, total] = [formatBytes(doneBytes), formatBytes(totalBytes)];
  return {
    text:
      kind === 'measure'
        ? l10n.t('Measuring: {0} of {1}', done, total)
        : l10n.t('Unpacking: {0} of {1}', done, total),
    fraction: totalBytes > 0 ? Math.min(1, doneBytes / totalBytes) : 0,
  };
}

/** How the measuring or the unpacking ended. @param end `code` is the file system's, or says what is wrong with the archive */
export function workEndText(
  fileName: string,
  kind: 'measure' | 'unpack',
  end: {
    outcome: 'done' | 'cancelled' | 'failed';
    code?: string;
    folder?: string;
    leftOut?: readonly string[];
  },
): string {
  const { l10n } = vscode;
  const { outcome, code, folder = '', leftOut = [] } = end;
  if (outcome === 'cancelled')
    return kind === 'measure'
      ? l10n.t('Measuring was cancelled.')
      : l10n.t('Unpacking was cancelled, and nothing of it was left on disk.');
  if (outcome === 'done') {
    if (kind === 'measure') return l10n.t('Measured.');
    const done = l10n.t('Unpacked into {0}. The recipes name that folder.', folder);
    return leftOut.length === 0
      ? done
      : l10n.t('{0} Pickle files were left out: {1}.', done, leftOut.join(', '));
  }
  const fault = code === undefined ? undefined : knownFault(code);
  if (fault !== undefined)
    return kind === 'measure'
      ? l10n.t('{0} could not be measured. {1}', fileName, fault)
      : l10n.t('{0} could not be unpacked, and nothing of it was left on disk. {1}', fileName, fault);
  return kind === 'measure' ? measureFailure(fileName, code) : unpackFailure(code, folder);
}

function measureFailure(fileName: string, code: string | undefined): string {
  const { l10n } = vscode;
  return code === 'not-an-adapter'
    ? l10n.t('{0} is no adapter that could be measured any more. Reload the page.', fileName)
    : l10n.t('{0} could not be measured. The log tells more.', fileName);
}

function unpackFailure(code: string | undefined, folder: string): string {
  const { l10n } = vscode;
  switch (code) {
    case 'disk-full':
      return l10n.t('The disk is full, so nothing was unpacked. Make room, or unpack elsewhere.');
    case 'no-permission':
      return l10n.t('{0} may not be written, so nothing was unpacked. Unpack elsewhere.', folder);
    case 'folder-exists':
      return l10n.t('{0} exists already and stays as it is. Nothing was unpacked.', folder);
    case 'not-an-adapter':
      return l10n.t('There is no adapter in the archive any more, so nothing was unpacked. Reload the page.');
    default:
      return l10n.t('The archive could not be unpacked. The log tells more.');
  }
}
