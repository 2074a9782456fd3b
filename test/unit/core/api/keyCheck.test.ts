import assert from 'node:assert/strict';
import { keyCheckOf, keyIdOf, type KeyCheck } from '../../../../src/core/api/keyCheck.ts';
import { submissionsTo } from '../../../../src/core/submission/submission.ts';
import { submissionOf } from '../../../helpers/submissions.ts';

describe('keyIdOf, for an API key that is entered again,', () => {
  const owner = { accountId: 'account-1', origin: 'https://service.test' };
  let one: KeyCheck;
  let two: KeyCheck;
  before(
    async () => ([one, two] = await Promise.all([keyCheckOf('service_one'), keyCheckOf('service_two')])),
  );

  it('is the ID of the open submission with this key, whatever other keys were used before and after', async () => {
    const submissions = [
      submissionOf({ keyId: 'none' }),
      submissionOf({ keyId: 'id-one', keyCheck: one }),
      submissionOf({ keyId: 'id-two', keyCheck: two }),
    ];
    for (const [apiKey, keyId] of [
      ['service_one', 'id-one'],
      ['service_two', 'id-two'],
      ['service_three', undefined],
      ['', undefined],
    ] as const)
      assert.equal(await keyIdOf(submissionsTo(submissions, owner), apiKey), keyId);
  });

  it('prefers a submission of the account, then the newest one, at the same origin only', async () => {
    const at = (localMs: number) => ({ created: { localMs }, keyCheck: one });
    const elsewhere = submissionOf({ ...at(9), keyId: 'elsewhere', origin: 'https://service.test:444' });
    const others = [3, 5, 4].map((ms) =>
      submissionOf({ ...at(ms), keyId: `other-${ms}`, accountId: 'account-2' }),
    );
    const own = submissionOf({ ...at(1), keyId: 'own' });
    assert.equal(await keyIdOf(submissionsTo([elsewhere], owner), 'service_one'), undefined);
    assert.equal(await keyIdOf(submissionsTo([elsewhere, ...others], owner), 'service_one'), 'other-5');
    assert.equal(await keyIdOf(submissionsTo([elsewhere, ...others, own], owner), 'service_one'), 'own');
  });

  it('is undefined if the record was cut off', async () => {
    const keyCheck = { ...one, hash: one.hash.slice(0, 10) };
    assert.equal(
      await keyIdOf(submissionsTo([submissionOf({ keyId: 'cut', keyCheck })], owner), 'service_one'),
      undefined,
    );
  });
});
