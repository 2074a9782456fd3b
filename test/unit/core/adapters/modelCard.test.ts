import assert from 'node:assert/strict';
import { modelCard } from '../../../../src/core/adapters/modelCard.ts';
import type { AdapterReport } from '../../../../src/core/adapters/report.ts';
import { sampleAdapter, type SampleOptions } from '../../../helpers/adapters/sampleAdapter.ts';
import { FOLDER, Place, zipOf } from '../../../helpers/adapters/support.ts';
import { changedLines, golden } from '../../../helpers/golden.ts';

/** Each would be markup, metadata, a link or a command if it stood in the card as it is. */
const HOSTILE = [
  'a\n---\nlicense: mit',
  '---',
  'x"\nlicense: "mit',
  '<script>alert(1)</script>',
  '![x](https://evil.test/x.png)',
  '`code` ``` # Title',
  '--> <!-- ',
  '\u202eevil',
];

describe('modelCard', () => {
  const place = new Place();
  const report = (options: SampleOptions = {}) => place.inspect(zipOf(sampleAdapter(options)));
  const card = (of: AdapterReport, termsUrls: readonly string[] = [], folder = FOLDER) =>
    modelCard(of, { folder, termsUrls });
  const withConfig = async (config: Record<string, unknown>) => card(await report({ config }));

  it('says what the files of an adapter say, and asks for what only the user knows', async () => {
    const plain = card(await report());
    const changed = (text: string) => changedLines(text.split('\n'), plain.split('\n'));
    const config = async (values: Record<string, unknown>) => changed(await withConfig(values));
    golden('model-card', {
      'a LoRA adapter': plain.split('\n'),
      'a revision and a version of PEFT': await config({ revision: 'v1.0', peft_version: '0.17.1' }),
      'rsLoRA and DoRA': await config({ use_rslora: true, use_dora: true }),
      'another type': await config({ peft_type: 'IA3' }),
      'another task': await config({ task_type: 'SEQ_CLS' }),
      'no task': await config({ task_type: null }),
      'a base that is no repository': await config({ base_model_name_or_path: 'Qwen3 8B' }),
      'a base that is a folder': await config({ base_model_name_or_path: '/home/jo/secret', revision: 'v1' }),
      'no base': await config({ base_model_name_or_path: null }),
      'a base that no tool can recreate': await config({ init_lora_weights: 'corda' }),
      'several ranks': changed(
        card({ ...(await report()), weights: { ...(await report()).weights!, minRank: 4, maxRank: 8 } }),
      ),
      'many modules': changed(
        card(
          await report({
            layers: 1,
            modules: Object.fromEntries(Array.from({ length: 22 }, (_, at) => [`m${at}`, [2, 2]])),
          }),
        ),
      ),
      'terms of the model': changed(
        card(await report(), ['https://a.test/license', 'https://a.test/use?x=1']),
      ),
      'an adapter of the sandbox': changed(card({ ...(await report()), isFromSandbox: true })),
    });
  });

  it('is named after a repository that the Hub accepts', async () => {
    const at = await report();
    for (const [folder, name] of [
      ['/a/My Run (2)', 'My-Run-2'],
      ['/a/a--b..c.-d', 'a-b.c.d'],
      ['/a/adapter.git', 'adapter'],
      [`/a/${'x'.repeat(63)}-yz`, 'x'.repeat(63)],
      ['C:\\a\\run', 'run'],
    ] as const)
      assert.ok(card(at, [], folder).includes(`PeftModel.from_pretrained(base, "USERNAME/${name}")`), folder);
  });

  it('names as its base only what can be a repository of the Hub', async () => {
    for (const base of ['acme/base-1b', 'gpt2', 'a_b/C.d-1']) {
      const text = await withConfig({ base_model_name_or_path: base });
      assert.ok(text.includes(`\nbase_model: "${base}"\nbase_model_relation: adapter\n`), base);
      assert.ok(text.includes(`\n  - "base_model:adapter:${base}"\n`), base);
    }
    for (const base of [
      'a/b/c',
      './a',
      '/a',
      'C:\\a',
      '~/a',
      '-a',
      'a.',
      'a--b',
      'a..b',
      'a/',
      'a b',
      'a:b',
      ...HOSTILE,
    ])
      assert.doesNotMatch(await withConfig({ base_model_name_or_path: base }), /base_model/, base);
  });

  it('shows hostile names as text only, whatever they contain', async () => {
    for (const text of HOSTILE) {
      const all = {
        ...{ base_model_name_or_path: text, revision: text, peft_version: text, peft_type: text },
        ...{ task_type: text, target_modules: [text] },
      };
      const hostile = await report({ config: all });
      const named = { ...hostile, weights: { ...hostile.weights!, modules: [text, 'q_proj'] } };
      for (const one of [named, { ...named, config: { ...named.config!, peftType: 'LORA' } }]) {
        // Neither the reader of the config nor that of the tensors may be the only guard.
        const config = one.config!;
        const raw = { ...one, config: { ...config, baseModel: text, revision: text, peftVersion: text } };
        for (const shown of [card(one), card(raw)]) {
          const [, front = '', body = ''] = /^---\n([^]*?)\n---\n([^]*)$/.exec(shown) ?? [];
          assert.match(front, /^library_name: peft(\ntags:\n {2}- "lora")?$/, text);
          const outside = body.replace(/```python\n[^]*?\n```|<!-- [^\n]*? -->/g, '');
          // A code span begins and ends with the same number of backticks.
          const plain = outside.replace(/(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, 'CODE');
          assert.doesNotMatch(plain, /[`<>!\]\u202e]|---|license:|evil|alert/, text);
          assert.deepEqual(
            plain.match(/^#.*$/gm)?.filter((line) => !/^# (LoRA a|A)dapter( for CODE)?$/.test(line)),
            ['## Intended use', '## Training data', '## Evaluation', '## License'].toSpliced(
              0,
              0,
              ...(plain.includes('## How to load it') ? ['## How to load it'] : []),
            ),
            text,
          );
        }
      }
    }
  });

  it('links only addresses of websites', async () => {
    const at = await report();
    for (const url of ['javascript:alert(1)', 'http://a.test', 'command:x', 'a', '', 'https://'])
      assert.doesNotMatch(card(at, [url]), /Terms|alert|command|http/, url);
    assert.match(
      card(at, ['https://a.test/> <script>x\n[y](z)']),
      /\n- <https:\/\/a\.test\/%3E%20%3Cscript%3Ex\[y\]\(z\)>\n/,
    );
  });

  it('has no license, language, data, path, file name, label or run', async () => {
    const text = card(
      { ...(await report()), file: '/home/jo/label-5f0c1c9e/secret.zip' },
      [],
      '/home/jo/label-5f0c1c9e/my run',
    );
    assert.doesNotMatch(text, /^(license|language|datasets)|\/home|jo\b|label-|5f0c1c9e|secret|\.zip|USD/m);
  });
});
