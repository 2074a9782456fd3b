import assert from 'node:assert/strict';
import { isPlainRunId, runIdOfLink, runLinkPath } from '../../../../src/core/runs/runLink.ts';

describe('runIdOfLink', () => {
  const of = (path: string, query = '', fragment = '') => runIdOfLink({ path, query, fragment });
  const UUID = '01890a5d-ac96-774b-bcce-b302099a8057';

  it('is the id that the link was made of, however odd', () => {
    const odd = ['a b', 'a/b', '..', 'ä', 'a%2Fb', 'a?b#c', '<b>', '“x”', '👩‍💻'];
    for (const id of [UUID, 'r_1', 'a'.repeat(128), ...odd]) {
      const link = runLinkPath(id);
      assert.match(link, /^\/run\/[\w.!~*'()%-]+$/);
      // As VS Code reads it.
      assert.equal(of(decodeURIComponent(link)), id);
      assert.equal(isPlainRunId(id), !odd.includes(id), id);
    }
    assert.equal(runLinkPath('a\ud800'), '/run/a%EF%BF%BD');
  });

  it('is nothing for every other link, so that a link can do nothing else', () => {
    const paths = ['', '/', '/run', '/run/', 'run/abc', '//run/abc', '/Run/abc', '/runs/abc', '/submit/abc'];
    for (const path of paths) assert.equal(of(path), undefined, JSON.stringify(path));
    assert.deepEqual([of('/run/abc', 'key=service_x'), of('/run/abc', '', 'x')], [undefined, undefined]);
  });
});

describe('isPlainRunId', () => {
  it('lets through no words', () => {
    for (const id of ['.', '-abc', 'a\nb', 'abc\n', 'a?b', 'a'.repeat(129)]) assert.ok(!isPlainRunId(id), id);
  });
});
