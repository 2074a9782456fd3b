import assert from 'node:assert/strict';
import { AccountsUnreadableError } from '../../../../src/core/accounts/accountStore.ts';
import {
  DatasetChangedError,
  DownloadLinkError,
  NetworkError,
  ServiceError,
  SignedUrlRefusedError,
  UnexpectedResponseError,
} from '../../../../src/core/api/errors.ts';
import { ERROR_CODES } from '../../../../src/core/api/types.ts';
import { DiskError } from '../../../../src/core/base/diskError.ts';
import { DownloadError } from '../../../../src/core/downloads/downloads.ts';
import { SandboxNotStartedError } from '../../../../src/ui/sandbox/lazySandbox.ts';
import { golden } from '../../../helpers/golden.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { executed, forget, shown } from '../../../helpers/vscodeStandIn.ts';

const { act, asText, explain, formatBytes, formatDuration, formatRoughly, formatTime, notifyFailed } =
  await withVscode(async () => ({
    ...(await import('../../../../src/ui/shared/serviceErrors.ts')),
    ...(await import('../../../../src/ui/shared/format.ts')),
  }));

describe('notifyFailed', () => {
  it('names a file that can’t be read without its folder, and offers the folder beside the action', async () => {
    forget();
    const pressed: string[] = [];
    for (const nth of [0, 1]) {
      shown.answer = (buttons) => buttons[nth];
      notifyFailed(new AccountsUnreadableError('/storage/accounts.json', undefined), () =>
        pressed.push('again'),
      );
      await new Promise(setImmediate);
    }
    const text = 'Your accounts can’t be read from accounts.json. Check its permissions.';
    assert.deepEqual(shown.sentences, [text, text]);
    assert.deepEqual(
      [pressed, executed.map(String)],
      [['again'], ['revealFileInOS,file:///storage/accounts.json']],
    );
  });
});

describe('explain', () => {
  const service = (code: string, message = '') => new ServiceError(code, 422, message);

  it('says what happened and what helps, by the error, with one sentence for codes outside the contract', () => {
    const disk = (code: string) => new DiskError(Object.assign(new Error('x'), { code }));
    const codes = [...ERROR_CODES, 'too-late', 'key-missing', 'constructor', '__proto__', 'gpu_on_fire'];
    const NETWORK = ['refused', 'dns', 'connect-timeout', 'tls', 'proxy', 'answer-timeout', 'reset'] as const;
    const link = (failure: UnexpectedResponseError | NetworkError) => new DownloadLinkError(failure);
    const TLS = [
      ...['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'],
      'SELF_SIGNED_CERT_IN_CHAIN',
    ];
    const waits = [undefined, 400, 29_001, 60_000, 60_001, 120_000];
    const errors: (readonly [name: string, error: unknown])[] = [
      ...codes.map((code) => [`service: ${code}`, service(code, 'Please <b>wait</b>')] as const),
      ['answer: html', new UnexpectedResponseError(200, 'html')],
      ['answer: redirect', new UnexpectedResponseError(302, 'redirect')],
      ...[413, 422].map(
        (status) => [`answer: ${status}`, new UnexpectedResponseError(status, 'no-error-body')] as const,
      ),
      ...NETWORK.map((reason) => [`network: ${reason}`, new NetworkError(reason)] as const),
      ...TLS.map((code) => [`network: tls ${code}`, new NetworkError('tls', code)] as const),
      ...[429, 502, 503, 504].flatMap((status) =>
        waits.map(
          (ms) =>
            [`${status}, wait ${ms} ms`, new UnexpectedResponseError(status, 'no-error-body', ms)] as const,
        ),
      ),
      ...[undefined, 120_000].flatMap((ms) => [
        [`service: 503, wait ${ms} ms`, new ServiceError('maintenance', 503, '', ms)] as const,
        // From the client's rate gate, which sent nothing.
        [`service: not sent, wait ${ms} ms`, new ServiceError('unavailable', 429, '', ms)] as const,
      ]),
      ...(['unsafe-link', 'redirect', 'compressed'] as const).map(
        (kind) => [`link: ${kind}`, link(new UnexpectedResponseError(200, kind))] as const,
      ),
      ['link: too short', link(new NetworkError('other', 'ERR_TOO_SHORT'))],
      ...(['dns', 'tls', 'reset'] as const).map(
        (one) => [`link: ${one}`, link(new NetworkError(one))] as const,
      ),
      ['link: refused', new SignedUrlRefusedError(403)],
      ['download: file exists', new DownloadError('file-exists')],
      ...[undefined, 'ENOENT'].map(
        (code) => [`dataset: ${code}`, new DatasetChangedError('unreadable', code)] as const,
      ),
      ['dataset: grew', new DatasetChangedError('grew')],
      ...['ENOSPC', 'EACCES'].map((code) => [`disk: ${code}`, disk(code)] as const),
      ['sandbox', new SandboxNotStartedError()],
      ['unexpected', new Error('secret text')],
    ];
    golden(
      'errors',
      Object.fromEntries(
        errors.map(([name, error]) => {
          const { action, ...rest } = explain(error);
          return [name, `${asText({ action, ...rest })} [${action.title} → ${action.command}]`];
        }),
      ),
    );
    const sentences = ERROR_CODES.map((code) => explain(service(code)).sentence);
    assert.equal(new Set(sentences).size, ERROR_CODES.length);
  });

  it('repeats the failed operation by its action', () => {
    let calls = 0;
    act(explain(new NetworkError('reset')).action, () => calls++);
    assert.equal(calls, 1);
  });
});

describe('Formatting', () => {
  it('shows sizes and durations in suitable units', () => {
    assert.deepEqual([0, 999, 1_000, 999_949, 999_951, 629_145_600].map(formatBytes), [
      '0 bytes',
      '999 bytes',
      '1.0 kB',
      '999.9 kB',
      '1.0 MB',
      '629.1 MB',
    ]);
    assert.deepEqual([0, 59_000, 60_000, 3_600_000, 7_500_000, 172_800_000].map(formatDuration), [
      '0 s',
      '59 s',
      '1 min',
      '1 h',
      '2 h 5 min',
      '2 d',
    ]);
    // Remaining times are rounded down.
    assert.deepEqual([59_999, 119_999, 172_799_999, 259_199_999].map(formatRoughly), [
      ...['59 s', '1 min', '47 h', '2 days'],
    ]);
  });

  it('shows an invalid time as received', () => {
    assert.equal(formatTime('soon'), 'soon');
  });
});
