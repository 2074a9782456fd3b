import os from 'node:os';
import * as vscode from 'vscode';
import { API_KEY_PREFIX, API_VERSION } from '../../core/api/types.ts';
import { redact } from '../../core/base/redact.ts';
import { isCharged, overAt } from '../../core/submission/submission.ts';
import type { Services } from '../../services.ts';
import { showInformation } from '../shared/notifications.ts';
import { proxySettings } from '../shared/settings.ts';

type Parts = Pick<
  Services,
  'accounts' | 'context' | 'downloads' | 'journal' | 'openJournal' | 'rareCases' | 'sessions' | 'submissions'
>;

/** How many receipts and runs are included, newest first. */
const MAX_LISTED = 20;

export async function copySupportInfo(parts: Parts): Promise<void> {
  await vscode.env.clipboard.writeText(await supportInfo(parts));
  void showInformation(
    vscode.l10n.t('Support info copied. It contains no API keys, addresses, file names or labels.'),
  );
}

/** Opens VS Code's issue reporter, which is unavailable if the extension's manifest has no address for issues. */
export async function reportIssue(parts: Parts): Promise<void> {
  const data = await supportInfo(parts);
  // In a browser, the reporter is a page of the repository, which gets no data.
  if (vscode.env.uiKind === vscode.UIKind.Web) await copySupportInfo(parts);
  try {
    const options = { extensionId: parts.context.extension.id, data };
    await vscode.commands.executeCommand('workbench.action.openIssueReporter', options);
  } catch {
    await vscode.env.clipboard.writeText(data);
    void showInformation(vscode.l10n.t('Issue reporting isn’t available here. Support info was copied.'));
  }
}

/**
 * Returns support data as JSON: only numbers, times, codes, and IDs. Any other text may be private (URLs,
 * paths, names, labels), so only its presence is reported.
 */
async function supportInfo(parts: Parts): Promise<string> {
  const { accounts, context, downloads, journal, openJournal, sessions, submissions } = parts;
  const { active } = sessions;
  const ids = accounts.accounts.map(({ id }) => id);
  // If the journal cannot be read, that is reported.
  const pending = await openJournal()
    .then(() => submissions.pending)
    .catch(() => undefined);
  const receipts = await journal.receipts().catch(() => undefined);
  const manifest = context.extension.packageJSON as Manifest;
  const info = {
    extension: code(manifest.version),
    contract: API_VERSION,
    vscode: [vscode.version, vscode.env.appName, remote()],
    system: [process.platform, process.arch, os.release(), process.versions.node],
    settings: { ...ownSettings(manifest), ...httpSettings() },
    accounts: accounts.isUnreadable ? 'unreadable' : accounts.accounts.map(({ kind }) => kind),
    active: active && {
      account: ids.indexOf(active.account.id),
      state: active.state,
      offlineSince: time(active.offlineSince),
      notBefore: time(active.notBeforeMs),
      clockSkewMs: active.clockSkewMs,
    },
    submissions:
      pending?.map(({ accountId, submission, state: now }) => ({
        account: ids.indexOf(accountId),
        state: now,
        stage: submission.stage,
        created: time(submission.created.localMs),
        attempts: submission.attempts.map(({ closed, code: why, httpStatus }) => ({
          complete: closed !== undefined,
          code: code(why),
          httpStatus,
        })),
        refused: code(submission.end?.code),
      })) ?? 'unreadable',
    receipts:
      receipts?.slice(0, MAX_LISTED).map((receipt) => ({
        account: ids.indexOf(receipt.accountId),
        stage: receipt.reason ?? receipt.stage,
        at: time(overAt(receipt).localMs),
        ...(isCharged(receipt) && { run: code(receipt.charge.run.run_id), how: receipt.charge.foundBy }),
        ...(receipt.end?.code !== undefined && { code: code(receipt.end.code) }),
      })) ?? 'unreadable',
    runs: active?.runs.rows?.slice(0, MAX_LISTED).map(({ run_id, status, created_at }) => ({
      run: code(run_id),
      status: code(status),
      created: code(created_at),
    })),
    downloads: downloads.active.map(({ runId, state: now, code: why }) => ({
      run: code(runId),
      state: now,
      code: code(why),
    })),
    rare: await parts.rareCases.line(),
  };
  return redact(JSON.stringify(info, undefined, 2));
}

interface Manifest {
  version: string;
  contributes: { configuration: { properties: Record<string, { enum?: string[] }> } };
}

/** Returns a code, an ID, or a time unchanged; any other text may be private. */
function code(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  return /^[\w.:+-]{1,64}$/.test(text) && !text.includes(API_KEY_PREFIX) ? text : '(other)';
}

/** Returns the kind of remote. For a VS Code server, `remoteName` is its address, which may be private. */
function remote(): string | undefined {
  const { remoteName } = vscode.env;
  const isKind = /^(ssh-remote|wsl|dev-container|attached-container|codespaces|tunnel)$/.test(
    remoteName ?? '',
  );
  return remoteName === undefined || isKind ? remoteName : '(other)';
}

function time(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

function ownSettings({ contributes }: Manifest): Record<string, unknown> {
  const own = vscode.workspace.getConfiguration('fineTuning');
  return Object.fromEntries(
    Object.entries(contributes.configuration.properties).map(([name, { enum: words = [] }]) => {
      const value = own.get<unknown>(name.replace('fineTuning.', ''));
      const isPlain = ['number', 'boolean'].includes(typeof value) || words.includes(String(value));
      return [name, isPlain ? value : isSet(value)];
    }),
  );
}

function httpSettings(): Record<string, unknown> {
  const { httpProxy, proxyAuthorization, noProxy = [], strictSsl, systemCertificates, env } = proxySettings();
  return {
    'http.proxy': isSet(httpProxy),
    'http.proxyAuthorization': isSet(proxyAuthorization),
    'http.noProxy': noProxy.length,
    'http.proxyStrictSSL': strictSsl,
    'http.systemCertificates': systemCertificates,
    environment: Object.keys(env).filter((name) => /^(https?|no)_proxy$/i.test(name)),
  };
}

function isSet(value: unknown): 'set' | 'empty' {
  const isNothing = value === undefined || value === null || value === '' || JSON.stringify(value) === '{}';
  return isNothing ? 'empty' : 'set';
}
