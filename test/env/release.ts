// `npm run release:check`: whether a tag can be released. Prints what is missing, which is in PUBLISHING.md.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './project.ts';

/** What a release depends on. */
export interface Release {
  manifest: {
    version: string;
    publisher: string;
    repository?: { url?: string };
    bugs?: { url?: string };
  };
  changelog: string;
  security: string;
  /** `GITHUB_REF_NAME`: the tag, and the variables of the repository. */
  env: NodeJS.ProcessEnv;
}

/** Why a tag can't be released; empty if it can. */
export function obstacles({ manifest, changelog, security, env }: Release): string[] {
  const { version, publisher, repository, bugs } = manifest;
  const isHttps = (url: string | undefined) => /^(git\+)?https:\/\/./.test(url ?? '');
  const [, newest] = /^## (?!Unreleased\n+## )(.+)$/m.exec(changelog) ?? [];
  const needs: [boolean, string][] = [
    [env.GITHUB_REF_NAME === `v${version}`, `The tag must be v${version}, the version in package.json.`],
    [
      newest === version,
      `The newest changes in CHANGELOG.md must stand under ${version}, and none under "Unreleased".`,
    ],
    [isHttps(repository?.url), '"repository" in package.json must have the https URL of the repository.'],
    [isHttps(bugs?.url), '"bugs" in package.json must have the https URL of the issues.'],
    [/https:\/\/|mailto:/.test(security), 'SECURITY.md must have a link to report a vulnerability.'],
    [
      env.PUBLISHER === publisher,
      `The variable PUBLISHER must confirm that the publisher ${publisher} is yours.`,
    ],
    ...['AZURE_CLIENT_ID', 'AZURE_TENANT_ID'].map((name): [boolean, string] => [
      (env[name] ?? '') !== '',
      `The variable ${name} is missing.`,
    ]),
  ];
  return needs.flatMap(([isMet, need]) => (isMet ? [] : [need]));
}

if (import.meta.main) {
  const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
  const found = obstacles({
    manifest: JSON.parse(read('package.json')) as Release['manifest'],
    changelog: read('CHANGELOG.md'),
    security: read('SECURITY.md'),
    env: process.env,
  });
  for (const one of found) console.error(one);
  if (found.length > 0) {
    console.error('Not released: see PUBLISHING.md.');
    process.exitCode = 1;
  }
}
