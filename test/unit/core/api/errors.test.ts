import assert from 'node:assert/strict';
import {
  isUnauthorized,
  isTransient,
  NetworkError,
  ServiceError,
  SignedUrlRefusedError,
  UnexpectedResponseError,
} from '../../../../src/core/api/errors.ts';
import { toNetworkError } from '../../../../src/core/api/exchange.ts';
import { parseRetryAfter } from '../../../../src/core/api/response.ts';
import { CancelledError } from '../../../../src/core/base/errors.ts';

describe('errors', () => {
  it('have no input in their messages', () => {
    const error = new ServiceError('row_{"text":"private"}', 422, 'row 3: private');
    assert.doesNotMatch(`${error.message} ${String(error.stack)}`, /private/);
  });

  it('recognize a rejected API key, whatever the body', () => {
    assert.ok(isUnauthorized(new ServiceError('invalid_api_key', 401)));
    assert.ok(isUnauthorized(new ServiceError('invalid_api_key', 403)));
    assert.ok(isUnauthorized(new ServiceError('other', 401)));
    assert.ok(isUnauthorized(new UnexpectedResponseError(401, 'no-error-body')));
    assert.ok(!isUnauthorized(new ServiceError('not_found', 404)));
    assert.ok(!isUnauthorized(new UnexpectedResponseError(403, 'no-error-body')));
    assert.ok(!isUnauthorized(new NetworkError('reset')));
    assert.ok(!isUnauthorized(undefined));
  });

  it('map the codes of Node, OpenSSL, and undici', () => {
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
      const { reason: read, causeCode } = toNetworkError(Object.assign(new Error('secret'), { code }));
      assert.deepEqual([read, causeCode], [reason, code]);
    }
  });
});

describe('isTransient', () => {
  it('is true for temporary responses and network errors, except for lasting reasons', () => {
    for (const [status, expected] of [
      ...[408, 425, 429, 500, 502, 503, 504].map((status) => [status, true] as const),
      ...[200, 400, 401, 402, 403, 404, 409, 422].map((status) => [status, false] as const),
    ])
      for (const error of [
        new ServiceError('x', status),
        new UnexpectedResponseError(status, 'no-error-body'),
        new SignedUrlRefusedError(status),
      ])
        assert.equal(isTransient(error, []), expected, `${error.name} ${status}`);
    assert.equal(isTransient(new NetworkError('reset'), ['tls', 'proxy']), true);
    assert.equal(isTransient(new NetworkError('proxy'), ['tls', 'proxy']), false);
    for (const error of [new CancelledError(), new TypeError()]) assert.equal(isTransient(error, []), false);
  });
});

describe('parseRetryAfter', () => {
  it('reads seconds or an HTTP date, up to a week', () => {
    const now = Date.parse('2026-01-02T03:04:05Z');
    assert.equal(parseRetryAfter('120', now), 120_000);
    assert.equal(parseRetryAfter(' 0 ', now), 0);
    assert.equal(parseRetryAfter('Fri, 02 Jan 2026 03:04:35 GMT', now), 30_000);
    assert.equal(parseRetryAfter('Thu, 01 Jan 1970 00:00:00 GMT', now), 0);
    const weekMs = 7 * 24 * 60 * 60_000;
    assert.equal(parseRetryAfter('9'.repeat(400), now), weekMs);
    assert.equal(parseRetryAfter('Fri, 02 Jan 2032 03:04:35 GMT', now), weekMs);
  });

  it('ignores invalid values', () => {
    const dates = ['2026-01-02', 'Xxx, 99 Xxx 2026 99:99:99 GMT'];
    for (const value of [undefined, '', '-1', '1.5', '0x10', '1e3', 'soon', '5, 7', ...dates])
      assert.equal(parseRetryAfter(value, 0), undefined, value);
  });
});
