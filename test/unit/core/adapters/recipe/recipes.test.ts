import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { inspectAdapter } from '../../../../../src/core/adapters/inspect.ts';
import { recipesOf } from '../../../../../src/core/adapters/recipe/recipes.ts';
import type { RecipePlace } from '../../../../../src/core/adapters/report.ts';
import { sampleAdapter, type SampleOptions } from '../../../../helpers/adapters/sampleAdapter.ts';
import { encode } from '../../../../helpers/adapters/safetensorsWriter.ts';
import { block, FOLDER, Place } from '../../../../helpers/adapters/support.ts';

/** Each character that means something to a shell, Python, JSON or a list of arguments. */
const EVIL = '/tmp/it\'s "$HOME" `id` $(id) & | ; < > * ? ! # ~ {a,b} \\ = é %PATH% ^';

/**
 * What the commands are was read in: vllm-project/vllm docs/features/lora.md, vllm/config/lora.py (ranks),
 * vllm/lora/peft_helper.py (what it refuses), vllm/entrypoints/openai/cli_args.py (`LoRAParserAction`: name=path or JSON);
 * ggml-org/llama.cpp convert_lora_to_gguf.py, tools/server/README.md; ollama/ollama docs/import.mdx; huggingface/peft
 * docs/source/quicktour.md; huggingface/transformers docs/source/en/peft.md.
 */
describe('recipes', () => {
  const place = new Place();

  const recipes = (options?: SampleOptions, at?: Partial<RecipePlace>) => place.recipes(options, at);

  it('have the person’s paths and the base of the config', async () => {
    const { peft, vllm, llamacpp, ollama } = await recipes();
    for (const recipe of [peft, vllm, llamacpp, ollama]) assert.equal(recipe.applicable, true);
    assert.match(block(peft, 'load').text, /AutoModelForCausalLM\.from_pretrained\("acme\/base-1b", /);
    assert.match(
      block(peft, 'load').text,
      /PeftModel\.from_pretrained\(base, "\/home\/jo\/adapters\/my run"\)/,
    );
    assert.equal(
      block(vllm, 'serve').text,
      "vllm serve acme/base-1b \\\n  --enable-lora \\\n  --lora-modules 'my-run=/home/jo/adapters/my run'",
    );
    assert.match(block(vllm, 'request').text, /"model":"my-run"/);
    assert.equal(
      block(llamacpp, 'install').text,
      'python3 -m pip install -r "LLAMA_CPP/requirements/requirements-convert_lora_to_gguf.txt"',
    );
    assert.equal(
      block(llamacpp, 'convert').text,
      "python3 \"LLAMA_CPP/convert_lora_to_gguf.py\" \\\n  --base-model-id acme/base-1b \\\n  --outtype f16 \\\n  --outfile '/home/jo/adapters/my run/adapter.gguf' \\\n  '/home/jo/adapters/my run'",
    );
    assert.equal(
      block(llamacpp, 'run').text,
      'cd \'/home/jo/adapters/my run\'\nllama-server -m "BASE.gguf" \\\n  --lora adapter.gguf',
    );
  });

  it('give Ollama one merged model, since its current versions refuse ADAPTER', async () => {
    const { ollama } = await recipes();
    assert.deepEqual(
      ollama.blocks.map(({ purpose, text }) => [purpose, text]),
      [
        [
          'install',
          'python3 -m pip install peft accelerate -r "LLAMA_CPP/requirements/requirements-convert_hf_to_gguf.txt"',
        ],
        [
          'merge-first',
          [
            'from peft import PeftModel',
            'from transformers import AutoModelForCausalLM, AutoTokenizer',
            '',
            'base = AutoModelForCausalLM.from_pretrained("acme/base-1b", dtype="auto")',
            'tokenizer = AutoTokenizer.from_pretrained("acme/base-1b")',
            'model = PeftModel.from_pretrained(base, "/home/jo/adapters/my run")',
            '',
            'merged = model.merge_and_unload()',
            'merged.save_pretrained("/home/jo/adapters/my run-merged")',
            'tokenizer.save_pretrained("/home/jo/adapters/my run-merged")',
          ].join('\n'),
        ],
        [
          'convert',
          "python3 \"LLAMA_CPP/convert_hf_to_gguf.py\" \\\n  --outtype f16 \\\n  --outfile '/home/jo/adapters/my run-merged/model.gguf' \\\n  '/home/jo/adapters/my run-merged'",
        ],
        ['modelfile', 'FROM ./model.gguf'],
        ['create', "cd '/home/jo/adapters/my run-merged'\nollama create my-run -f Modelfile"],
        ['run', 'ollama run my-run'],
      ],
    );
    assert.deepEqual(ollama.warnings, []);
    assert.equal(ollama.traps[0], 'ollama-merged');
  });

  it('name every word that has to be replaced, and no other', async () => {
    for (const config of [
      {},
      { base_model_name_or_path: null },
      { base_model_name_or_path: '/mnt/x' },
      { base_model_name_or_path: 'Some Model 8B' },
    ])
      for (const { blocks, traps, tool } of Object.values(await recipes({ config })))
        for (const { text, placeholders } of blocks) {
          for (const word of placeholders) assert.ok(text.includes(word), `${tool} ${word}`);
          const words = text.match(/\b[A-Z][A-Z_]{3,}(?:\.gguf)?\b/g) ?? [];
          assert.deepEqual(
            words.filter((word) => !placeholders.includes(word) && word !== 'FROM'),
            [],
          );
          assert.equal(traps.includes('base-unknown'), 'base_model_name_or_path' in config, tool);
        }
  });

  it('choose the smallest rank of vLLM that is enough', async () => {
    for (const [rank, told] of [
      [4, undefined],
      [8, undefined],
      [16, undefined],
      [17, 32],
      [64, 64],
      [65, 128],
      [300, 320],
      [512, 512],
    ] as const) {
      const { vllm } = await recipes({ rank, modules: { q_proj: [4, 4] }, layers: 1 });
      assert.equal(/--max-lora-rank (\d+)/.exec(block(vllm, 'serve').text)?.[1], told?.toString());
      assert.equal(vllm.traps.includes('vllm-rank'), told !== undefined);
    }
    const { vllm } = await recipes({ rank: 513, modules: { q_proj: [4, 4] }, layers: 1 });
    assert.deepEqual([vllm.applicable, vllm.why], [false, 'vllm-rank-too-large']);
  });

  it('take the largest rank where patterns have several', async () => {
    const { vllm } = await recipes({
      config: { rank_pattern: { q_proj: 32 } },
      tensors: ([a, b, ...rest]) => [
        {
          ...a!,
          shape: [32, 2],
          data: encode(
            'F32',
            Array.from({ length: 64 }, () => 1),
          ),
        },
        {
          ...b!,
          shape: [2, 32],
          data: encode(
            'F32',
            Array.from({ length: 64 }, () => 1),
          ),
        },
        ...rest,
      ],
    });
    assert.match(block(vllm, 'serve').text, /--max-lora-rank 32 /);
  });

  it('say what a tool does not load', async () => {
    const head = {
      name: 'base_model.model.lm_head.weight',
      dtype: 'F32',
      shape: [1],
      data: encode('F32', [1]),
    };
    const saved = await recipes({
      config: { modules_to_save: ['lm_head'] },
      tensors: (all) => [...all, head],
    });
    assert.deepEqual(
      Object.values(saved).map(({ tool, applicable, why }) => [tool, applicable, why]),
      [
        ['peft', true, undefined],
        ['vllm', false, 'vllm-modules-to-save'],
        ['llamacpp', false, 'llamacpp-modules-to-save'],
        ['ollama', true, undefined],
      ],
    );
    const score = await recipes({
      config: { modules_to_save: ['score'] },
      tensors: (all) => [...all, { ...head, name: 'base_model.model.score.weight' }],
    });
    assert.equal(score.vllm.applicable, true);
    const bias = { ...head, name: 'base_model.model.model.layers.0.self_attn.q_proj.lora_B.bias' };
    const biased = await recipes({ tensors: (all) => [...all, bias] });
    assert.deepEqual([biased.vllm.why, biased.llamacpp.applicable], ['vllm-bias', false]);
    const dora = await recipes({ config: { use_dora: true } });
    assert.deepEqual(
      [dora.peft.applicable, dora.vllm.why, dora.llamacpp.why, dora.ollama.why],
      [true, 'vllm-dora', 'llamacpp-dora', undefined],
    );
    assert.equal((await recipes({ config: { bias: 'all' } })).vllm.why, 'vllm-bias');
    const other = await recipes({ config: { peft_type: 'IA3' } });
    assert.deepEqual(
      [other.peft.applicable, other.vllm.why, other.ollama.why],
      [true, 'not-lora', 'not-lora'],
    );
  });

  it('correct the scale of rsLoRA where the tool knows none', async () => {
    const { vllm, llamacpp, ollama } = await recipes({ rank: 9, config: { use_rslora: true } });
    assert.equal(vllm.applicable, true);
    assert.match(block(llamacpp, 'run').text, /--lora-scaled adapter\.gguf:3$/);
    assert.deepEqual(
      [llamacpp.applicable, llamacpp.warnings[0], llamacpp.warnings.includes('rslora')],
      [true, 'llamacpp-scale-corrected', false],
    );
    // Merged with PEFT, which knows it.
    assert.deepEqual([ollama.applicable, ollama.why], [true, undefined]);
  });

  it('know no correction where ranks differ', async () => {
    const { llamacpp } = await recipes({
      config: { use_rslora: true },
      tensors: ([a, b, ...rest]) => [{ ...a!, shape: [8, 12] }, { ...b!, shape: [8, 8] }, ...rest],
    });
    assert.deepEqual([llamacpp.applicable, llamacpp.why], [false, 'rslora']);
    assert.equal(llamacpp.warnings.filter((trap) => trap === 'rslora').length, 1);
  });

  it('know that tools without patterns scale some modules wrongly', async () => {
    const why = async (config: Record<string, unknown>) => {
      const { peft, vllm, llamacpp, ollama } = await recipes({ config });
      assert.deepEqual([peft.applicable, vllm.applicable], [true, true]);
      return [vllm.warnings.find((trap) => trap === 'vllm-patterns'), llamacpp.why, ollama.why];
    };
    const all = ['vllm-patterns', 'alpha-pattern', undefined];
    assert.deepEqual(await why({ alpha_pattern: { q_proj: 32 } }), all);
    // What the pattern means is not known.
    assert.deepEqual(await why({ alpha_pattern: { '.*q_proj': 32 } }), all);
    assert.deepEqual(await why({ alpha_pattern: { q_proj: 8 } }), [undefined, undefined, undefined]);
    // llama.cpp takes the rank from the tensors.
    assert.deepEqual(await why({ r: 8, rank_pattern: { q_proj: 4, v_proj: 4 } }), [
      'vllm-patterns',
      undefined,
      undefined,
    ]);
    const { llamacpp } = await recipes({ config: { alpha_pattern: { q_proj: 12, v_proj: 12 } } });
    assert.match(block(llamacpp, 'run').text, /--lora-scaled adapter\.gguf:1\.5$/);
  });

  it('let vLLM take the rank of the config, too, which it compares', async () => {
    const { vllm } = await recipes({ config: { r: 64, rank_pattern: { q_proj: 4, v_proj: 4 } } });
    assert.match(block(vllm, 'serve').text, /--max-lora-rank 64 /);
  });

  it('let no line of a path be a line of a Modelfile', async () => {
    const { ollama } = await recipes({}, { folder: '/a/x\nSYSTEM obey' });
    assert.equal(block(ollama, 'modelfile').text, 'FROM ./model.gguf');
  });

  it('need a config and weights', async () => {
    const bare = await inspectAdapter(await place.file(sampleAdapter()['adapter_model.safetensors']!));
    for (const { applicable, why } of recipesOf(bare, { folder: FOLDER, platform: 'linux' }))
      assert.deepEqual([applicable, why], [false, 'config-missing']);
    const none = await inspectAdapter(await place.file(Buffer.from('x')));
    for (const { applicable, why } of recipesOf(none, { folder: FOLDER, platform: 'linux' }))
      assert.deepEqual([applicable, why], [false, 'no-weights']);
  });

  it('are for PowerShell and cmd on Windows, and for WSL where Linux is needed', async () => {
    const folder = "C:\\Users\\Jo O'Neil\\my 100% run";
    const { peft, vllm, llamacpp, ollama } = await recipes({}, { folder, platform: 'win32', name: 'mine' });
    assert.match(block(peft, 'load').text, /"C:\\\\Users\\\\Jo O'Neil\\\\my 100% run"/);
    assert.match(
      block(vllm, 'serve').text,
      /--lora-modules 'mine=\/mnt\/c\/Users\/Jo O'\\''Neil\/my 100% run'$/,
    );
    assert.ok(vllm.warnings.includes('vllm-not-on-windows'));
    assert.match(
      block(llamacpp, 'convert', 'powershell').text,
      /`\n {2}'C:\\Users\\Jo O''Neil\\my 100% run'$/,
    );
    assert.match(block(llamacpp, 'convert', 'cmd').text, /\^\n {2}"C:\\Users\\Jo O'Neil\\my 100"\^%" run"$/);
    assert.match(block(ollama, 'create', 'cmd').text, /^cd \/d "C:/);
    assert.match(block(ollama, 'create', 'powershell').text, /^Set-Location -LiteralPath 'C:/);
    assert.match(
      block(ollama, 'convert', 'powershell').text,
      /`\n {2}'C:\\Users\\Jo O''Neil\\my 100% run-merged'$/,
    );
    assert.equal(ollama.blocks.filter(({ purpose }) => purpose === 'run').length, 1);
  });

  it('reach programs as they were meant, whatever the path is', async () => {
    const { peft, vllm, llamacpp, ollama } = await recipes({}, { folder: EVIL });
    const script = [
      `for program in vllm curl python3 llama-server ollama; do eval "$program() { printf '%s\\\\0' $program \\"\\$@\\"; }"; done`,
      `cd() { printf '%s\\0' cd "$@"; }`,
      ...[...vllm.blocks, ...llamacpp.blocks, ...ollama.blocks]
        .filter(({ language }) => language === 'sh')
        .map(({ text }) => text),
    ].join('\n');
    const { stdout, status } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
    assert.equal(status, 0);
    const words = stdout.split('\0');
    const after = (word: string) => words[words.indexOf(word) + 1];
    assert.deepEqual(JSON.parse(after('--lora-modules')!), {
      name: after('--lora-modules')!.split('"')[3],
      path: EVIL,
    });
    assert.equal(after('--outfile'), `${EVIL}/adapter.gguf`);
    // The folder for cd and the converter of llama.cpp; for Ollama the merged one for the converter and cd.
    assert.equal(words.filter((word) => word === EVIL).length, 2);
    assert.equal(words.filter((word) => word === `${EVIL}-merged`).length, 2);
    assert.equal(after('-d')?.startsWith('{"model":"'), true);
    const literal = /PeftModel\.from_pretrained\(base, (".*")\)/.exec(block(peft, 'load').text)?.[1];
    assert.equal(JSON.parse(literal!), EVIL);
  });

  it('call the adapter a name that every tool takes', async () => {
    for (const [folder, name] of [
      ['/a/My Run (2)', 'My-Run-2'],
      ['/a/.hidden', 'hidden'],
      ['/a/运行', 'adapter'],
      ['/', 'adapter'],
      [`/a/${'x'.repeat(300)}`, 'x'.repeat(64)],
    ] as const) {
      const { vllm, ollama } = await recipes({}, { folder });
      assert.ok(block(vllm, 'request').text.includes(`"model":"${name}"`), name);
      assert.equal(block(ollama, 'run').text, `ollama run ${name.toLowerCase()}`);
    }
  });

  it('let no config write commands', async () => {
    const config = {
      base_model_name_or_path: 'a/b"); import os; os.system("id")#',
      revision: '"); import os #\n',
    };
    for (const { blocks } of Object.values(await recipes({ config })))
      for (const { text } of blocks) assert.ok(!/[^\\]"\); import/.test(text), text);
    const option = await recipes({ config: { base_model_name_or_path: '--config' } });
    assert.match(block(option.vllm, 'serve').text, /^vllm serve BASE_MODEL /);
  });
});
