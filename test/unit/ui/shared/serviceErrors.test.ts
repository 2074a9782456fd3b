import assert from 'node:assert/strict';
import { AccountsUnreadableError } from '../../../../src/core/accounts/accountStore.ts';
import {
  DatasetChangedError,
  DownloadLinkError,
  NetworkError,
  ServiceError,
  SignedUrlRefusedError,
  UnexpectedAnswerError,
} from '../../../../src/core/api/errors.ts';
import { ERROR_CODES } from '../../../../src/core/api/types.ts';
import { DiskError } from '../../../../src/core/base/diskError.ts';
import { DownloadError } from '../../../../src/core/downloads/errors.ts';
import { SandboxNotStartedError } from '../../../../src/ui/sandbox/lazySandbox.ts';
import { COMMANDS } from '../../../../src/ui/shared/ids.ts';
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

  it('returns a distinct sentence and an action for each code of the contract', () => {
    const explanations = ERROR_CODES.map((code) => explain(service(code)));
    assert.equal(new Set(explanations.map(({ sentence }) => sentence)).size, ERROR_CODES.length);
    for (const { action, sentence } of explanations) assert.ok(action.title.length > 0, sentence);
  });

  it('uses one sentence for all codes outside the contract, even if the extension uses them', () => {
    const own = ['too-late', 'candidates', 'journal-unreadable', 'key-missing'];
    for (const code of [...own, 'constructor', 'toString', '__proto__', 'gpu_on_fire']) {
      const explained = explain(service(code, 'Please <b>wait</b>'));
      const sentence = `Service error “${code}” (422).`;
      assert.deepEqual([explained.sentence, explained.action.title], [sentence, 'Show Log']);
      assert.equal(asText(explained), `${sentence} The service says: “Please <b>wait</b>”`);
    }
  });

  it('distinguishes the reasons for a missing or unexpected response, and shows its status', () => {
    const reasons = ['refused', 'tls', 'proxy', 'answer-timeout', 'reset'] as const;
    const answers = [
      new UnexpectedAnswerError(200, 'html'),
      new UnexpectedAnswerError(302, 'redirect'),
      ...[413, 422].map((status) => new UnexpectedAnswerError(status, 'no-error-body')),
    ];
    const sentences = [
      ...answers,
      ...reasons.map((reason) => new NetworkError(reason)),
      ...[undefined, 'ENOENT'].map((code) => new DatasetChangedError('unreadable', code)),
      new DatasetChangedError('grew'),
    ].map((error) => explain(error).sentence);
    assert.equal(new Set(sentences).size, sentences.length);
    for (const [index, { httpStatus }] of answers.entries())
      assert.ok(sentences[index]?.includes(`(${httpStatus})`), sentences[index]);
  });

  it('advises on certificates only where something speaks TLS', () => {
    const sentence = (code: string) => explain(new NetworkError('tls', code)).sentence;
    for (const code of ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'])
      assert.equal(sentence(code), 'Nothing answers with https at this address. Check the service URL.');
    assert.match(sentence('SELF_SIGNED_CERT_IN_CHAIN'), /certificate/);
  });

  it('distinguishes why the server of a download link doesn’t send the file', () => {
    const failures = [
      ...(['unsafe-link', 'redirect', 'compressed'] as const).map(
        (kind) => new UnexpectedAnswerError(200, kind),
      ),
      new NetworkError('other', 'ERR_TOO_SHORT'),
      ...(['dns', 'tls', 'reset'] as const).map((reason) => new NetworkError(reason)),
    ];
    const sentences = failures.map((failure) => explain(new DownloadLinkError(failure)).sentence);
    assert.equal(new Set(sentences).size, sentences.length);
    assert.equal(sentences[2], 'The download server compressed the file, so it couldn’t be verified.');
  });

  it('shows how long the service is unavailable, whoever responded', () => {
    for (const status of [502, 503, 504])
      for (const [retryAfterMs, end] of [
        [undefined, 'later.'],
        [120_000, 'in 2 min.'],
      ] as const)
        for (const error of [
          new UnexpectedAnswerError(status, 'no-error-body', retryAfterMs),
          new ServiceError('maintenance', status, '', retryAfterMs),
          // From the client's rate gate, which sent nothing.
          new ServiceError('unavailable', 429, '', retryAfterMs),
        ]) {
          const { sentence, action } = explain(error);
          assert.match(sentence, /unavailable/);
          assert.ok(sentence.endsWith(end), sentence);
          assert.equal(action.command, 'again');
        }
  });

  it('rounds waits up', () => {
    for (const [ms, wait] of [
      [400, '1 s'],
      [29_001, '30 s'],
      [60_000, '1 min'],
      [60_001, '2 min'],
    ] as const)
      for (const status of [429, 503]) {
        const { sentence } = explain(new UnexpectedAnswerError(status, 'no-error-body', ms));
        assert.ok(sentence.endsWith(` in ${wait}.`), `${status}: ${sentence}`);
      }
  });

  it('offers to repeat the failed operation where that may help', () => {
    const again = (error: unknown) => {
      const { action } = explain(error);
      let calls = 0;
      if (action.command === 'again') act(action, () => calls++);
      return calls === 1 ? action.title : undefined;
    };
    const disk = (code: string) => new DiskError(Object.assign(new Error('x'), { code }));
    assert.deepEqual(
      [
        new NetworkError('reset'),
        service('rate_limited'),
        new SignedUrlRefusedError(403),
        new DownloadError('file-exists'),
        disk('ENOSPC'),
        disk('EACCES'),
        new DatasetChangedError('grew'),
      ].map(again),
      [
        'Retry',
        'Retry',
        'Download Again…',
        'Download Again…',
        'Choose Another Folder…',
        'Choose Another Folder…',
        'Submit Again…',
      ],
    );
    assert.equal(again(service('invalid_api_key')), undefined);
  });

  it('names a refresh after its object', () => {
    const { action } = explain(service('not_found'));
    assert.deepEqual(action, { title: 'Refresh Runs', command: COMMANDS.refresh });
  });

  it('distinguishes a sandbox that cannot start from a service that cannot be reached', () => {
    const { sentence, action } = explain(new SandboxNotStartedError());
    assert.match(sentence, /^The sandbox could not be started\./);
    assert.equal(action.command, COMMANDS.showLog);
  });

  it('does not show the text of an unexpected error', () => {
    assert.doesNotMatch(explain(new Error('secret text')).sentence, /secret/);
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
