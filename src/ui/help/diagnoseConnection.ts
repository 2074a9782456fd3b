import * as vscode from 'vscode';
import type { Account } from '../../core/accounts/account.ts';
import { parseAddress } from '../../core/api/address.ts';
import type { Connection } from '../../core/api/client.ts';
import { unlessCancelled } from '../../core/base/errors.ts';
import type { Services } from '../../services.ts';
import type { Log } from '../shared/log.ts';
import { withLateProgress } from '../shared/notifications.ts';
import { proxySettings, setting } from '../shared/settings.ts';
import { pick } from '../shared/steps.ts';
import { diagnosisRows, type Diagnosis } from './diagnosis.ts';

/** Sent if there is no API key: a refusal also proves that the service answers. */
const NO_KEY = 'none';

const KEY_MS = 30_000;

/** Tests the connection to the service, and shows the result of each part; a row runs its fix. */
export async function diagnoseConnection(parts: Parts): Promise<void> {
  const title = vscode.l10n.t('Diagnose Connection');
  const items = diagnosisRows(await withLateProgress(title, (signal) => examine(parts, signal)));
  const problems = items.filter(({ verdict }) => verdict === 'problem').length;
  const placeholder =
    problems === 0 ? vscode.l10n.t('No problems found') : vscode.l10n.t('Problems found: {0}', problems);
  const answer = await pick({ title }, { placeholder, items, stays: (fix) => fix === undefined });
  if (answer.kind === 'value' && answer.value !== undefined)
    await vscode.commands.executeCommand(...answer.value);
}

type Parts = Pick<Services, 'accounts' | 'connect' | 'createClient' | 'sessions'> & {
  log: Pick<Log, 'error'>;
};

async function examine(parts: Parts, signal: AbortSignal): Promise<Diagnosis> {
  const { accounts, connect, createClient, log, sessions } = parts;
  const account = accounts.active;
  const settings = proxySettings();
  let connection: Connection | undefined;
  let failure: unknown;
  // The system may ask for the password of its keyring.
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(KEY_MS)]);
  try {
    connection = account && (await unlessCancelled(connect(account), inTime));
  } catch (error) {
    if (signal.aborted) throw error;
    failure = error;
    log.error('diagnosed', error);
  }
  const baseUrl = connection?.baseUrl ?? baseUrlOf(account);
  const diagnosis = {
    account,
    setting: setting('baseUrl'),
    baseUrl,
    hasKey: failure === undefined ? connection !== undefined : undefined,
    failure,
    strictSsl: settings.strictSsl,
  };
  if (baseUrl === undefined) return { ...diagnosis, facts: undefined };
  const client = createClient(connection ?? { baseUrl, apiKey: NO_KEY, keyId: NO_KEY });
  // A pause that the service requested applies to this request, too.
  const { notBeforeMs } = sessions.active ?? {};
  if (notBeforeMs !== undefined) client.holdUntil(notBeforeMs);
  const { diagnose } = await import('../../core/api/diagnose.ts');
  return { ...diagnosis, facts: await diagnose(new URL(baseUrl), settings, client, signal) };
}

function baseUrlOf(account: Account | undefined): string | undefined {
  if (account !== undefined) return account.kind === 'service' ? account.baseUrl : undefined;
  const address = parseAddress(setting('baseUrl'));
  return address.ok ? address.baseUrl : undefined;
}
