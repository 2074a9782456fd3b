import assert from 'node:assert/strict';
import { isPlainRunId, runIdOfLink, runLinkPath } from '../../../../src/core/runs/runLink.ts';

describe('runIdOfLink', () => {
  const of = (path: string, query = '', fragment = '') => runIdOfLink({ path, query, fragment });

  it('is the id of a link to a run', () => {
    const uuid = '01890a5d-ac96-774b-bcce-b302099a8057';
    assert.equal(of(`/run/${uuid}`), uuid);
    assert.equal(of('/run/r_1'), 'r_1');
    assert.equal(of(`/run/${'a'.repeat(128)}`), 'a'.repeat(128));
  });

  it('is the id that the link was made of, however odd', () => {
    for (const id of ['r_1', 'a b', 'a/b', '..', 'ä', 'a%2Fb', 'a?b#c', '<b>', '“x”', '👩‍💻']) {
      const link = runLinkPath(id);
      assert.match(link, /^\/run\/[\w.!~*'()%-]+$/);
      // As VS Code reads it.
      assert.equal(of(decodeURIComponent(link)), id);
    }
    assert.equal(runLinkPath('a\ud800'), '/run/a%EF%BF%BD');
  });

  it('is nothing for every other link, so that a link can do nothing else', () => {
    for (const path of [
      '',
      '/',
      '/run',
      '/run/',
      'run/abc',
      '//run/abc',
      '/Run/abc',
      '/runs/abc',
      '/submit/abc',
      '/signIn',
    ])
      assert.equal(of(path), undefined, JSON.stringify(path));
    assert.equal(of('/run/abc', 'key=service_x'), undefined);
    assert.equal(of('/run/abc', '', 'x'), undefined);
  });
});

describe('isPlainRunId', () => {
  it('lets through what an unknown id may look like, and no words', () => {
    for (const id of ['01890a5d-ac96-774b-bcce-b302099a8057', 'r_1', 'a'.repeat(128)])
      assert.ok(isPlainRunId(id), id);
    for (const id of [
      '..',
      '.',
      '-abc',
      'a b',
      'a/b',
      'a%2Fb',
      'a\nb',
      'abc\n',
      'a?b',
      'ä',
      '<b>',
      'a'.repeat(129),
    ])
      assert.ok(!isPlainRunId(id), id);
  });
});
