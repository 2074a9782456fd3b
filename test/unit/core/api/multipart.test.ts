import assert from 'node:assert/strict';
import type { RunSubmission } from '../../../../src/core/api/types.ts';
import { encodeMultipart } from '../../../../src/core/api/upload.ts';

const SUBMISSION: RunSubmission = {
  idempotencyKey: '00000000-0000-4000-8000-000000000000',
  boundary: '--B_1',
  dataset: { path: '/nowhere', filename: 'data.jsonl', sizeBytes: 3, sha256: '' },
  model_id: 'm-1',
  label: 'My run',
  model_terms_accepted: true,
  data_policy_accepted: true,
  priority_processing: false,
};
const headOf = (change: Partial<RunSubmission>) =>
  Buffer.from(encodeMultipart({ ...SUBMISSION, ...change }).head).toString();

describe('multipart', () => {
  it('has the fields first in a fixed order, and the file last', () => {
    const { head, tail, contentType } = encodeMultipart(SUBMISSION);
    const field = (name: string, value: string) =>
      `----B_1\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    assert.equal(
      Buffer.from(head).toString(),
      field('model_id', 'm-1') +
        field('label', 'My run') +
        field('model_terms_accepted', 'true') +
        field('data_policy_accepted', 'true') +
        field('priority_processing', 'false') +
        '----B_1\r\nContent-Disposition: form-data; name="dataset"; filename="data.jsonl"\r\n' +
        'Content-Type: application/octet-stream\r\n\r\n',
    );
    assert.equal(Buffer.from(tail).toString(), '\r\n----B_1--\r\n');
    assert.equal(contentType, 'multipart/form-data; boundary=--B_1');
  });

  it('omits an empty label', () => {
    assert.doesNotMatch(headOf({ label: undefined }), /label/);
    assert.doesNotMatch(headOf({ label: '' }), /label/);
  });

  it('escapes the file name as specified by the HTML standard', () => {
    const filename = 'a"b\r\nc%22 ü\\.jsonl';
    assert.ok(
      headOf({ dataset: { ...SUBMISSION.dataset, filename } }).includes(
        'filename="a%22b%0D%0Ac%22 ü\\.jsonl"\r\n',
      ),
    );
  });

  it('does not allow the injection of another field', () => {
    const label = 'x\n--other\rContent-Disposition: form-data; name="priority_processing"\r\n\r\ntrue';
    assert.equal(headOf({ label }).split('\r\n----B_1').length, headOf({}).split('\r\n----B_1').length);
    assert.ok(headOf({ label: 'a\nb\rc\r\nd' }).includes('\r\n\r\na\r\nb\r\nc\r\nd\r\n'));
  });

  it('rejects an invalid boundary', () => {
    for (const boundary of ['', 'a b', 'a\r\nb', 'a"b', 'x'.repeat(71)])
      assert.throws(() => encodeMultipart({ ...SUBMISSION, boundary }), TypeError);
  });
});
