import assert from 'node:assert/strict';
import {
  DatasetChangedError,
  isUnauthorized,
  NetworkError,
  ServiceError,
  SignedUrlRefusedError,
  UnexpectedAnswerError,
} from '../../../../src/core/api/errors.ts';
import { toNetworkError } from '../../../../src/core/api/networkFailure.ts';
import { ERROR_CODES } from '../../../../src/core/api/types.ts';
import { ExpectedError } from '../../../../src/core/base/errors.ts';

describe('errors', () => {
  it('know the codes of the contract, and keep others as they came', () => {
    for (const code of ERROR_CODES) assert.ok(new ServiceError(code, 422).known, code);
    const error = new ServiceError('brand_new', 418, 'words', 5);
    assert.deepEqual(
      [error.code, error.known, error.httpStatus, error.serviceMessage, error.retryAfterMs],
      ['brand_new', false, 418, 'words', 5],
    );
    assert.equal(error.name, 'ServiceError');
  });

  it('hold nothing in their messages that came in', () => {
    const error = new ServiceError('row_{"text":"private"}', 422, 'row 3: private');
    assert.doesNotMatch(`${error.message} ${String(error.stack)}`, /private/);
  });

  it('are all expected', () => {
    for (const error of [
      new ServiceError('x', 500),
      new NetworkError('reset', 'EPIPE'),
      new UnexpectedAnswerError(200, 'html'),
      new DatasetChangedError('grew'),
      new SignedUrlRefusedError(403),
    ])
      assert.ok(error instanceof ExpectedError);
  });

  it('know a refused API key, whatever the body', () => {
    assert.ok(isUnauthorized(new ServiceError('invalid_api_key', 401)));
    assert.ok(isUnauthorized(new ServiceError('invalid_api_key', 403)));
    assert.ok(isUnauthorized(new ServiceError('other', 401)));
    assert.ok(isUnauthorized(new UnexpectedAnswerError(401, 'no-error-body')));
    assert.ok(!isUnauthorized(new ServiceError('not_found', 404)));
    assert.ok(!isUnauthorized(new UnexpectedAnswerError(403, 'no-error-body')));
    assert.ok(!isUnauthorized(new NetworkError('reset')));
    assert.ok(!isUnauthorized(undefined));
  });

  for (const [code, reason] of [
    ['ECONNREFUSED', 'refused'],
    ['ENOTFOUND', 'dns'],
    ['EAI_AGAIN', 'dns'],
    ['EPIPE', 'reset'],
    ['UND_ERR_SOCKET', 'reset'],
    ['ETIMEDOUT', 'connect-timeout'],
    ['CERT_HAS_EXPIRED', 'tls'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'tls'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls'],
    ['ENETUNREACH', 'other'],
  ] as const) {
    it(`reads ${code} as ${reason}`, () => {
      const { reason: read, causeCode } = toNetworkError(Object.assign(new Error('secret'), { code }));
      assert.deepEqual([read, causeCode], [reason, code]);
    });
  }
});
