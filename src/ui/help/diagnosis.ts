import { l10n } from 'vscode';
import type { Account } from '../../core/accounts/account.ts';
import { isLoopback } from '../../core/api/address.ts';
import type { ConnectionFacts } from '../../core/api/diagnose.ts';
import { isUnauthorized, isWithoutTls, NetworkError, ServiceError } from '../../core/api/errors.ts';
import { formatDuration } from '../shared/format.ts';
import { COMMANDS } from '../shared/ids.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import { TERMS } from '../shared/terms.ts';

/** Facts about the connection to the service of the active account or, without one, of the setting. */
export interface Diagnosis {
  account: Account | undefined;
  /** The setting as the user wrote it; used only without an account. */
  setting: string;
  /** Undefined if there is no URL to test. */
  baseUrl: string | undefined;
  /** Whether an API key was found; undefined if reading it failed with `failure`. */
  hasKey: boolean | undefined;
  failure: unknown;
  strictSsl: boolean;
  facts: ConnectionFacts | undefined;
}

/** A smaller difference between the clocks is harmless. */
const MAX_SKEW_MS = 60_000;

type Verdict = 'ok' | 'problem' | 'not-checked';

/** The result for one part of the connection, and the command that fixes it. */
type Finding = [verdict: Verdict, detail: string, fix?: [command: string, ...args: unknown[]]];

const VERDICTS: Readonly<Record<Verdict, { icon: string; description: string }>> = {
  ok: { icon: 'pass', description: l10n.t('OK') },
  problem: { icon: 'error', description: l10n.t('Problem') },
  'not-checked': { icon: 'circle-slash', description: TERMS.notChecked },
};

const NOT_NEEDED = l10n.t('Not needed.');
const NOTHING_TO_TRY = l10n.t('Nothing to check.');

/** Returns a row for each part of the connection, in the order of their dependencies; its value is the fix. */
export function diagnosisRows(diagnosis: Diagnosis) {
  const { baseUrl, facts, strictSsl } = diagnosis;
  const tried = (find: (facts: ConnectionFacts, url: URL) => Finding): Finding =>
    baseUrl === undefined || facts === undefined
      ? ['not-checked', NOTHING_TO_TRY]
      : find(facts, new URL(baseUrl));
  const findings: [string, Finding][] = [
    [l10n.t('Service URL'), serviceUrl(diagnosis)],
    [l10n.t('Proxy'), tried(proxy)],
    [l10n.t('Name resolution'), tried(nameResolution)],
    [l10n.t('Certificate'), tried((found, url) => certificate(found, url, strictSsl))],
    [l10n.t('Reachability'), tried(reachability)],
    [l10n.t('API key'), tried((found) => apiKey(found, diagnosis))],
    [l10n.t('Clock'), tried(clock)],
    [l10n.t('Keychain'), keychain(diagnosis)],
  ];
  return findings.map(([label, [verdict, detail, fix]]) => ({
    ...VERDICTS[verdict],
    label,
    detail,
    verdict,
    value: fix,
  }));
}

function serviceUrl({ account, baseUrl, failure, setting }: Diagnosis): Finding {
  if (account?.kind === 'sandbox')
    return failure === undefined
      ? ['ok', l10n.t('The sandbox runs on this machine.')]
      : ['problem', asText(explain(failure)), [COMMANDS.showLog]];
  if (baseUrl !== undefined) return ['ok', baseUrl];
  return setting === ''
    ? ['not-checked', TERMS.noAccount, [COMMANDS.signIn]]
    : ['problem', l10n.t('“fineTuning.baseUrl” must be an https:// URL.'), openSetting('fineTuning.baseUrl')];
}

function proxy({ route, wasSent, error }: ConnectionFacts, { hostname }: URL): Finding {
  if (route.kind === 'direct' && route.exception !== undefined)
    return ['ok', l10n.t('Not used because {0} is excluded in “{1}”.', hostname, route.exception)];
  if (route.kind === 'direct')
    return isLoopback(hostname)
      ? ['ok', NOT_NEEDED]
      : ['ok', l10n.t('No proxy is set. System proxies and PAC files aren’t used.')];
  const { source } = route;
  const problem = (sentence: string): Finding =>
    source === 'http.proxy' ? ['problem', sentence, openSetting(source)] : ['problem', sentence];
  if (route.kind === 'unusable')
    return problem(
      l10n.t(
        'The URL in “{0}” is invalid. Use the form http://host:8080. In the password, replace / with %2F, ? with %3F and # with %23.',
        source,
      ),
    );
  const { url } = route;
  if (isNetworkError(error, 'connect-timeout'))
    return problem(l10n.t('{0} didn’t connect in time. Check “{1}”, your network and VPN.', url, source));
  if (!isNetworkError(error, 'proxy'))
    return [wasSent && !(error instanceof NetworkError) ? 'ok' : 'not-checked', url];
  const { causeCode = 'unknown' } = error;
  if (causeCode === 'HTTP_407')
    return problem(l10n.t('{0} didn’t accept the password (407). Check “{1}”.', url, source));
  return causeCode.startsWith('HTTP_')
    ? problem(l10n.t('{0} blocked the connection to the service ({1}).', url, causeCode))
    : problem(l10n.t('{0} couldn’t be reached ({1}). Check “{2}”.', url, causeCode, source));
}

function nameResolution({ route, name }: ConnectionFacts, { hostname }: URL): Finding {
  if (route.kind === 'unusable') return notSent();
  if (route.kind === 'proxy') return ['not-checked', l10n.t('The proxy resolves the name.')];
  if (name === undefined) return ['not-checked', NOT_NEEDED];
  return name === 'found'
    ? ['ok', l10n.t('{0} was found.', hostname)]
    : ['problem', l10n.t('{0} wasn’t found ({1}). Check the URL, network and VPN.', hostname, name.code)];
}

function certificate({ wasSent, error }: ConnectionFacts, { protocol }: URL, strictSsl: boolean): Finding {
  if (protocol === 'http:') return ['not-checked', NOT_NEEDED];
  if (isNetworkError(error, 'tls')) return certificateProblem(error);
  if (!strictSsl)
    return [
      'problem',
      l10n.t('Not verified because “http.proxyStrictSSL” is off. Others could read your API key.'),
      openSetting('http.proxyStrictSSL'),
    ];
  // An established connection had its certificate verified.
  const hasStood = !(error instanceof NetworkError) || error.reason === 'answer-timeout';
  return wasSent && hasStood ? ['ok', l10n.t('Trusted.')] : notAnswered();
}

function certificateProblem(error: NetworkError): Finding {
  const { causeCode: code = 'unknown' } = error;
  if (code === 'CERT_NOT_YET_VALID' || code === 'CERT_HAS_EXPIRED')
    return ['problem', l10n.t('Expired or not yet valid ({0}). Check this machine’s clock.', code)];
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return ['problem', l10n.t('Issued for a different host ({0}). Check the service URL.', code)];
  if (isWithoutTls(error))
    return ['problem', l10n.t('No TLS at this address ({0}). Check the service URL.', code)];
  const sentence = l10n.t(
    'Not trusted ({0}). Add your company’s certificate to the system’s trust store.',
    code,
  );
  return ['problem', sentence, openSetting('http.systemCertificates')];
}

function reachability({ route, wasSent, error }: ConnectionFacts): Finding {
  if (route.kind === 'unusable') return notSent();
  // The rows above are more specific than the general sentence.
  if (isNetworkError(error, 'proxy') || isNetworkError(error, 'tls'))
    return ['problem', l10n.t('Not reached. Solve the problem above first.')];
  // Neither an error of the server nor an answer from a gateway or portal.
  const isService = error === undefined || (error instanceof ServiceError && error.httpStatus < 500);
  if (isService && wasSent) return ['ok', l10n.t('The service responded.')];
  return [isService ? 'not-checked' : 'problem', asText(explain(error))];
}

function apiKey({ wasSent, error }: ConnectionFacts, { account, hasKey }: Diagnosis): Finding {
  if (hasKey !== true) return ['not-checked', NOTHING_TO_TRY];
  if (error === undefined) return ['ok', l10n.t('The service accepted it.')];
  if (!wasSent || !(error instanceof Error) || !isUnauthorized(error)) return notAnswered();
  const sentence = l10n.t('The service rejected it. Create another in its dashboard.');
  return ['problem', sentence, [COMMANDS.replaceKey, account?.id]];
}

function clock({ clockSkewMs }: ConnectionFacts): Finding {
  if (clockSkewMs === undefined) return notAnswered();
  const difference = formatDuration(Math.abs(clockSkewMs));
  if (Math.abs(clockSkewMs) < MAX_SKEW_MS)
    return ['ok', l10n.t('Differs from the service’s clock by {0}.', difference)];
  return ['problem', l10n.t('This machine’s clock is off by {0}. Let the system set it.', difference)];
}

function keychain({ account, hasKey }: Diagnosis): Finding {
  if (account === undefined) return ['not-checked', TERMS.noAccount];
  if (account.kind === 'sandbox') return ['not-checked', NOT_NEEDED];
  if (hasKey === true) return ['ok', l10n.t('It has the API key for {0}.', account.name)];
  if (hasKey === undefined) return ['problem', l10n.t('It can’t be read.'), [COMMANDS.showLog]];
  const sentence = l10n.t(
    'No API key for {0}. Without a keychain, VS Code forgets it on exit.',
    account.name,
  );
  return ['problem', sentence, [COMMANDS.replaceKey, account.id]];
}

function notSent(): Finding {
  return ['not-checked', l10n.t('Nothing was sent.')];
}

function notAnswered(): Finding {
  return ['not-checked', l10n.t('The service didn’t say.')];
}

function isNetworkError(error: unknown, reason: NetworkError['reason']): error is NetworkError {
  return error instanceof NetworkError && error.reason === reason;
}

function openSetting(id: string): [string, string] {
  return ['workbench.action.openSettings', `@id:${id}`];
}
