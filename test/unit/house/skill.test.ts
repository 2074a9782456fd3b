import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { WARN_DATASET_BYTES } from '../../../src/core/api/types.ts';
import { FORMATS } from '../../../src/core/datasets/formats.ts';
import { AGENT_TOOLS, COMMANDS, SETTINGS } from '../../../src/ui/shared/ids.ts';

const ROOT = new URL('../../../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, ROOT), 'utf8');
const { contributes } = JSON.parse(read('package.json')) as {
  contributes: {
    chatSkills: { path: string }[];
    languageModelTools: { name: string; inputSchema: object }[];
  };
};
const texts = JSON.parse(read('package.nls.json')) as Record<string, string>;

describe('the skill for agents', () => {
  const [skill, ...others] = contributes.chatSkills;
  const text = read(skill?.path ?? '');
  const [, head = '', body = ''] = /^---\n(.+?)\n---\n(.+)$/s.exec(text) ?? [];
  /** The words in backquotes. */
  const names = [...body.matchAll(/`([^`\n]+)`/g)].map(([, name = '']) => name);

  it('is contributed by its path alone, and named like its folder', () => {
    assert.deepEqual(skill, { path: './media/skills/fine-tuning/SKILL.md' });
    assert.deepEqual(others, []);
    const description = /^description: (.+)$/m.exec(head)?.[1] ?? '';
    assert.match(head, /^name: fine-tuning$/m);
    assert.ok(description.length > 100 && description.length <= 1_024);
    assert.doesNotMatch(description, /[<>]|: /);
    assert.ok(text.split('\n').length <= 150);
    assert.doesNotMatch(text, /https?:/);
  });

  it('names every tool, and only tools, choices, commands and settings that exist', () => {
    const tools = names.filter((name) => name.startsWith('fineTuning_'));
    assert.deepEqual([...new Set(tools)].sort(), [...AGENT_TOOLS].sort());
    const schemas = JSON.stringify(contributes.languageModelTools);
    for (const name of names.filter((one) => /^[a-z]+([A-Z][a-z]+)+$/.test(one)))
      assert.ok(schemas.includes(`"${name}":{`), name);
    const known: readonly string[] = [
      ...Object.values(COMMANDS),
      ...Object.keys(SETTINGS).map((name) => `fineTuning.${name}`),
    ];
    for (const name of names.filter((one) => one.startsWith('fineTuning.')))
      assert.ok(known.includes(name), name);
    const titles = [...body.matchAll(/"Fine-Tuning: ([^"]+)"\s+\(`fineTuning\.(\w+)`\)/g)];
    assert.equal(titles.length, 4);
    for (const [, title, id = ''] of titles) assert.equal(title, texts[`command.${id}`]);
  });

  it('names every format and the limit', () => {
    const formats = [...body.matchAll(/^- `([\w-]+)`: `\{/gm)].map(([, name]) => name);
    assert.deepEqual(formats.sort(), FORMATS.filter((name) => name !== 'unknown').sort());
    assert.match(body, new RegExp(`at most ${WARN_DATASET_BYTES / 1_000_000} MB\\b`));
  });

  it('names every status of a proposal, and for how long a declined one is refused', () => {
    const source = read('src/ui/agents/proposeRun.ts');
    const statuses = [...source.matchAll(/status: ['`]([\w ]+)/g)].map(([, status]) => status);
    const named = [...body.matchAll(/^\| `([\w ]+?)(?:: …)?`\s+\| [a-z]/gm)]
      .map(([, name = '']) => name)
      .filter((name) => !name.startsWith('fineTuning_'));
    assert.deepEqual([...new Set(statuses)].sort(), [...new Set(named)].sort());
    assert.match(read('src/ui/agents/proposalMarks.ts'), /DECLINED_MS = 10 \* 60_000/);
    assert.match(body, /for 10 minutes/);
  });

  it('is packed', () => {
    assert.ok(existsSync(new URL('media/skills/fine-tuning/SKILL.md', ROOT)));
    assert.match(read('.vscodeignore'), /^!media\/skills\/\*\*$/m);
  });
});
