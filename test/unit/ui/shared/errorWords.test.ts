import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import { ServiceError, UnexpectedAnswerError } from '../../../../src/core/api/errors.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';

describe('what a status means', () => {
  let hooks: ModuleHooks;
  let explain: typeof import('../../../../src/ui/shared/serviceErrors.ts').explain;

  before(async () => {
    hooks = standInForVscode();
    ({ explain } = await import('../../../../src/ui/shared/serviceErrors.ts'));
  });
  after(() => hooks.deregister());

  for (const status of [502, 503, 504])
    it(`is that the service is unavailable: ${status}`, () => {
      for (const [retryAfterMs, sentence] of [
        [undefined, 'The service is unavailable. Try again later.'],
        [120_000, 'The service is unavailable. Try again in 2 min.'],
      ] as const)
        for (const error of [
          new UnexpectedAnswerError(status, 'no-error-body', retryAfterMs),
          new ServiceError('maintenance', status, '', retryAfterMs),
          // As it is told while nothing is sent.
          new ServiceError('unavailable', 429, '', retryAfterMs),
        ]) {
          const { sentence: said, action } = explain(error);
          assert.deepEqual([said, action?.title], [sentence, 'Retry']);
        }
    });

  it('names a wait that is never too short', () => {
    for (const [ms, wait] of [
      [400, '1 s'],
      [29_001, '30 s'],
      [60_000, '1 min'],
      [60_001, '2 min'],
      [89_000, '2 min'],
    ] as const)
      for (const status of [429, 503])
        assert.ok(
          explain(new UnexpectedAnswerError(status, 'no-error-body', ms)).sentence.endsWith(` in ${wait}.`),
          `${status} ${ms}`,
        );
  });

  it('is told where a proxy or gateway answered in place of the service', () => {
    for (const [status, sentence] of [
      [413, /^A proxy or gateway rejected the upload as too large/],
      [422, /^The request was rejected \(422\) without the service’s usual error message\.$/],
      [429, /often|many/],
      [404, /not from this service \(404\)/],
    ] as const)
      assert.match(explain(new UnexpectedAnswerError(status, 'no-error-body')).sentence, sentence);
  });
});
