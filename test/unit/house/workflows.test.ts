import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../../env/project.ts';
import { obstacles, type Release } from '../../env/release.ts';
import { diagnose, jobsOf, readWorkflow, WORKFLOWS } from '../../env/workflows.ts';

const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
  engines: { vscode: string };
};
const VERIFY = 'sha256sum -c SHA256SUMS';
const all = WORKFLOWS.map(readWorkflow);
const [ci = '', release = ''] = all;

describe('the workflows', () => {
  it('are those that are checked, and are valid', async () => {
    assert.deepEqual(readdirSync(path.join(root, '.github/workflows')).sort(), [...WORKFLOWS]);
    assert.deepEqual((await Promise.all(WORKFLOWS.map(diagnose))).flat(), []);
  });

  it('run only scripts of package.json, one a step', () => {
    const runs = all.flatMap(jobsOf).flatMap((job) => job.runs);
    const others = runs.filter((command) => {
      const bare = command.replace("${{ runner.os == 'Linux' && 'xvfb-run -a' || '' }} ", '');
      if (['npm ci', 'npm ci --ignore-scripts', 'npm test', VERIFY].includes(bare)) return false;
      const [, script = ''] =
        /^npm run ([\w:-]+)(?: -- \S+| -- --desktop=\$\{\{ matrix\.vscode \}\})?$/.exec(bare) ?? [];
      return manifest.scripts[script] === undefined;
    });
    assert.ok(runs.length > 10);
    assert.deepEqual(others, []);
    assert.doesNotMatch(all.join(''), /run: [|>]/);
  });

  it('pin each action to a commit, with its version beside it', () => {
    const uses = [...all.join('').matchAll(/uses: (.+)/g)].map(([, action]) => action ?? '');
    assert.deepEqual(
      uses.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action)),
      [],
    );
  });

  it('may only read, except for two jobs that wait for reviewers, with one right each', () => {
    const WRITES: Record<string, string[]> = { release: ['contents'], publish: ['id-token', 'attestations'] };
    for (const workflow of all) {
      assert.match(workflow, /\npermissions:\n {2}contents: read\n\n/);
      for (const { name, text } of jobsOf(workflow)) {
        const writes = [...text.matchAll(/([\w-]+): write/g)].map(([, right]) => right);
        assert.deepEqual(writes, WRITES[name] ?? [], name);
        assert.match(text, /^(build|test)$/.test(name) ? /timeout-minutes: (45|90)/ : /timeout-minutes: 20/);
        assert.equal(text.includes('environment: release'), name in WRITES);
      }
    }
  });

  it('run what README says, as CI does here', () => {
    const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
    const script = readFileSync(path.join(root, '.ci/run'), 'utf8');
    for (const command of ['npm ci && npm start', 'npm ci && npm test', 'npm ci && npm run package'])
      assert.ok(readme.includes(`\`${command}\``), command);
    const [test] = jobsOf(ci).filter(({ name }) => name === 'test');
    assert.deepEqual(test?.runs, ['npm ci', 'npm test']);
    assert.match(script, /^if ! npm ci; then$[^]*^exec npm test --silent$/m);
    for (const name of ['start', 'test', 'package']) assert.ok(manifest.scripts[name] !== undefined, name);
  });

  it('compare the released files with their checksums before they use them, and attest where all come from', () => {
    const files = ['fine-tuning.vsix', 'fine-tuning.cdx.json', 'SHA256SUMS'];
    const jobs = jobsOf(release).filter(({ name }) => name !== 'build');
    assert.deepEqual(
      jobs.map(({ name }) => name),
      ['release', 'publish'],
    );
    for (const { name, text, runs } of jobs) {
      assert.match(text, /needs: build\n/);
      assert.equal(runs[0], VERIFY, name);
      // Nothing but the checkout, which would remove the files, comes before.
      const before = text.slice(0, text.indexOf(VERIFY));
      const uses = [...before.matchAll(/uses: actions\/([\w-]+)@/g)].map(([, action]) => action);
      const checkout = name === 'publish' ? ['checkout'] : [];
      assert.deepEqual(uses, [...checkout, 'download-artifact'], name);
      const listed = /(?:subject-path|files): \|\n((?: {12}\S+\n)+)/.exec(text)?.[1] ?? '';
      assert.deepEqual(listed.trim().split(/\s+/), files, name);
    }
  });

  it('test the oldest VS Code that package.json allows', () => {
    assert.ok(ci.includes(`vscode: [stable, ${manifest.engines.vscode.replace('^', '')}]`));
  });
});

describe('a release', () => {
  const good: Release = {
    manifest: {
      version: '1.0.0',
      publisher: 'someone',
      repository: { url: 'git+https://example.org/someone/fine-tuning.git' },
      bugs: { url: 'https://example.org/someone/fine-tuning/issues' },
    },
    changelog: '# Changelog\n\n## 1.0.0\n\n- One\n\n## 0.9.0\n',
    security: 'Report it at https://example.org/',
    env: { GITHUB_REF_NAME: 'v1.0.0', PUBLISHER: 'someone', AZURE_CLIENT_ID: 'a', AZURE_TENANT_ID: 'b' },
  };

  it('goes on with everything that only an owner can do', () => {
    assert.deepEqual(obstacles(good), []);
    const changelog = good.changelog.replace('## ', '## Unreleased\n\n## ');
    assert.deepEqual(obstacles({ ...good, changelog }), [], 'nothing is unreleased');
  });

  const bad: Record<string, [Partial<Release>, RegExp]> = {
    'another tag': [{ env: { ...good.env, GITHUB_REF_NAME: 'v1.0.1' } }, /tag must be v1\.0\.0/],
    'changes that are not released': [
      { changelog: good.changelog.replace('## ', '## Unreleased\n\n- Two\n\n## ') },
      /CHANGELOG/,
    ],
    'no repository': [{ manifest: { ...good.manifest, repository: {} } }, /"repository"/],
    'no address for bugs': [{ manifest: { ...good.manifest, bugs: { url: 'x' } } }, /"bugs"/],
    'no contact': [{ security: 'Report it.' }, /SECURITY/],
    'a publisher that nobody confirmed': [{ env: { ...good.env, PUBLISHER: 'other' } }, /publisher someone/],
    'no identity at the Marketplace': [{ env: { ...good.env, AZURE_CLIENT_ID: '' } }, /AZURE_CLIENT_ID/],
  };
  for (const [what, [change, message]] of Object.entries(bad))
    it(`refuses to go on with ${what}`, () => {
      const found = obstacles({ ...good, ...change });
      assert.equal(found.length, 1);
      assert.match(found[0] ?? '', message);
    });
});
