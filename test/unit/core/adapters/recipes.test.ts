import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { AdapterOnDisk } from '../../../../src/core/adapters/recipeFacts.ts';
import { recipesOf, type RecipeNote, type Tool } from '../../../../src/core/adapters/recipes.ts';
import { tensor } from '../../../helpers/adapters/safetensorsWriter.ts';
import { adding, sampleAdapter, type SampleOptions } from '../../../helpers/adapters/sampleAdapter.ts';
import { block, FOLDER, Place, zipOf } from '../../../helpers/adapters/support.ts';

/** A path with each character that is special in a shell, Python, JSON, or an argument list. */
const EVIL = '/tmp/it\'s "$HOME" `id` $(id) & | ; < > * ? ! # ~ {a,b} \\ = é %PATH% ^';
const Q0 = 'base_model.model.model.layers.0.self_attn.q_proj';

/**
 * Sources for how tools treat a config:
 * - huggingface/peft: docs package_reference/lora, src/peft/tuners/lora/layer.py, variants.py
 * - vllm-project/vllm: vllm/lora/peft_helper.py, vllm/config/lora.py, vllm/entrypoints/openai/cli_args.py
 *   (`LoRAParserAction`: name=path or JSON)
 * - ggml-org/llama.cpp: convert_lora_to_gguf.py, src/llama-adapter.h and .cpp
 * - ollama/ollama: llm/llama_server.go
 */
describe('recipesOf', () => {
  const place = new Place();

  const recipes = place.recipes.bind(place);
  const refusals = async (options: SampleOptions) => {
    const { peft, vllm, llamacpp, ollama } = await recipes(options);
    return [peft, vllm, llamacpp, ollama].map(({ refusal }) => refusal);
  };

  it('lists exactly the placeholders that the user must replace', async () => {
    for (const config of [
      {},
      { base_model_name_or_path: null },
      { base_model_name_or_path: '/mnt/x' },
      { base_model_name_or_path: 'Some Model 8B' },
      { base_model_name_or_path: '--config' },
    ])
      for (const { blocks, notes, tool } of Object.values(await recipes({ config })))
        for (const { text, placeholders } of blocks) {
          for (const word of placeholders) assert.ok(text.includes(word), `${tool} ${word}`);
          const words = text.match(/\b[A-Z][A-Z_]{3,}(?:\.gguf|\.jsonl)?\b/g) ?? [];
          assert.deepEqual(
            words.filter((word) => !placeholders.includes(word) && !['FROM', 'POST'].includes(word)),
            [],
          );
          assert.equal(notes.includes('base-unknown'), 'base_model_name_or_path' in config, tool);
        }
  });

  it('refuses exactly the adapters that a tool cannot load', async () => {
    const [changed, scale] = ['base-changed', 'scale-varies'] as const;
    const init = (init_lora_weights: unknown) => ({ config: { init_lora_weights } });
    const rsLora: SampleOptions = {
      config: { use_rslora: true },
      tensors: ([a, b, ...rest]) => [{ ...a!, shape: [8, 12] }, { ...b!, shape: [8, 8] }, ...rest],
    };
    const repeats = { layer_replication: [[0, 4]], init_lora_weights: 'pissa', use_dora: true };
    const saving = (module: string): SampleOptions => ({
      config: { modules_to_save: [module] },
      ...adding(`base_model.model.${module}.weight`),
    });
    const no = undefined;
    // Refusals of PEFT, vLLM, llama.cpp, and Ollama.
    const cases: [SampleOptions, ...(RecipeNote | undefined)[]][] = [
      ...['pissa', 'pissa_niter_4', 'OLoRA', 'loftq'].map(
        (way): [SampleOptions, ...(RecipeNote | undefined)[]] => [init(way), no, changed, changed],
      ),
      [{ config: { alora_invocation_tokens: [1] } }, no, 'alora', no, 'alora'],
      // Merging with PEFT solves the other reasons, but not this one.
      [{ config: repeats }, no, 'layers-repeated', 'layers-repeated', 'layers-repeated'],
      [{ config: { peft_type: 'IA3' } }, no, 'not-lora', 'not-lora', 'not-lora'],
      [{ config: { use_dora: true } }, no, 'dora', 'dora'],
      [adding(`${Q0}.lora_magnitude_vector`), no, 'dora', 'dora'],
      // PEFT merges no biases into layers without them.
      [{ config: { lora_bias: true } }, no, 'lora-bias', 'lora-bias', 'lora-bias'],
      [adding(`${Q0}.lora_B.bias`), no, 'bias', 'bias'],
      // llama.cpp needs no refusal: a base without biases saves none.
      [{ config: { bias: 'all' } }, no, 'bias'],
      [saving('lm_head'), no, 'saved-modules', 'saved-modules'],
      [saving('score'), no, no, 'saved-modules'],
      [{ config: { alpha_pattern: { q_proj: 32 } } }, no, no, scale],
      [{ config: { alpha_pattern: { '.*q_proj': 32 } } }, no, no, scale],
      [{ config: { lora_alpha: 0, alpha_pattern: { q_proj: 8 } } }, no, no, scale],
      [rsLora, no, no, scale],
      // llama.cpp takes the rank from the tensors.
      [{ config: { r: 8, rank_pattern: { q_proj: 4, v_proj: 4 } } }],
      [{ rank: 513, layers: 1 }, no, 'rank-too-large'],
      ...[true, false, null, 'gaussian', 'eva', 'orthogonal', 'MiCA', 'brand-new'].map(
        (way): [SampleOptions] => [init(way)],
      ),
    ];
    for (const [options, ...expected] of cases)
      assert.deepEqual(
        await refusals(options),
        Array.from({ length: 4 }, (_, index) => expected[index]),
        JSON.stringify(options),
      );
  });

  it('has notes for all tools on what would make answers wrong', async () => {
    const [always, trained] = ['same-base', 'same-template'];
    const cases: [SampleOptions, ...(string | undefined)[]][] = [
      [{ config: { task_type: null, base_model_name_or_path: null } }, always, trained],
      [{ config: { task_type: 'SEQ_CLS' } }, always],
    ];
    for (const [options, ...expected] of cases) {
      const report = await place.inspect(zipOf(sampleAdapter(options)));
      const { notes } = recipesOf(report, { folder: FOLDER, platform: 'linux' });
      assert.deepEqual(notes, expected, JSON.stringify(options));
    }
  });

  it('compares where the adapter, switched off, leaves the published base model, and where it generates text', async () => {
    const biases = adding('base_model.model.model.layers.0.self_attn.q_proj.bias');
    const config = (values: Record<string, unknown>): SampleOptions => ({ config: values });
    const comparing = async (options: SampleOptions) =>
      Object.values(await recipes(options)).flatMap(({ tool, blocks, notes }) => [
        ...(blocks.at(-1)?.purpose === 'compare' ? [tool] : []),
        ...notes.filter((note) => note.startsWith('compare-')),
      ]);
    const noted = ['compare-open', 'compare-unseen-rows', 'compare-sends-nothing'];
    const no = ['compare-changed-base'];
    const yes = ['peft', 'vllm', 'llamacpp'].flatMap((tool) => [tool, ...noted]).concat('compare-in-peft');
    const cases: [SampleOptions, readonly string[]][] = [
      [{}, yes],
      [config({ bias: 'all' }), yes],
      [{ ...config({ lora_bias: true }), ...adding(`${Q0}.lora_B.bias`) }, yes],
      [{ ...config({ bias: 'lora_only' }), ...biases }, no],
      [biases, no],
      [adding('base_model.model.model.layers.0.mlp.up_proj.weight'), no],
      [config({ layer_replication: [[0, 4]] }), no],
      ...['pissa', 'olora', 'loftq', 'corda', 'lora_ga'].map((way): [SampleOptions, readonly string[]] => [
        config({ init_lora_weights: way }),
        no,
      ]),
      [config({ task_type: 'SEQ_CLS' }), []],
      [config({ task_type: 'SEQ_2_SEQ_LM' }), []],
      [config({ task_type: 'SEQ_CLS', init_lora_weights: 'pissa' }), []],
      // Its base is chosen by the user.
      [config({ base_model_name_or_path: null }), yes],
    ];
    for (const [options, expected] of cases)
      assert.deepEqual(await comparing(options), expected, JSON.stringify(options));
  });

  it('compares with scripts that ask each model in the way of its tool', async () => {
    const rows = tensor('base_model.model.model.embed_tokens.weight', [72, 2]);
    const options = { ...adding(rows), config: { use_rslora: true, revision: 'v1' }, rank: 9 };
    const all = [await recipes(), await recipes(options), await recipes({}, { platform: 'win32' })];
    for (const { peft, vllm, llamacpp } of all)
      for (const recipe of [peft, vllm, llamacpp]) {
        const { text, shell } = block(recipe, 'compare');
        assert.ok(text.includes('\nname, number = rows.removesuffix(".jsonl") + ".my-run", 1\n'), text);
        assert.equal(shell, undefined);
      }
    assert.match(block(all[1]!.peft, 'compare').text, /^base\.resize_token_embeddings\(72\)$/m);
    assert.match(
      block(all[0]!.llamacpp, 'compare').text,
      /answer\("base", 0\.0, .*answer\("adapter", 1\.0, /,
    );
    for (const { peft, vllm, llamacpp } of [await recipes({}, { run: 'run_1-a.b/c' })])
      for (const recipe of [peft, vllm, llamacpp])
        assert.match(
          block(recipe, 'compare').text,
          /\*\*answers, "run": "run_1-a\.b\/c"\}\), file=out, flush=True\)$/m,
        );
    // Nothing that could be code, and for agents nothing of the service.
    const evil = ['"}), exec("x")', 'run\n1', '-run', '', 'ünï', EVIL];
    const hidden = await recipes({}, { run: 'run-1', hidesTexts: true });
    for (const found of [hidden, ...(await Promise.all(evil.map((run) => recipes({}, { run }))))])
      assert.match(block(found.vllm, 'compare').text, /\*\*answers\}\), file=out, flush=True\)$/m);
    const scaled = await recipes({ config: { use_rslora: true }, rank: 9, layers: 1 });
    assert.match(block(scaled.llamacpp, 'compare').text, /answer\("base", 0\.0, .*answer\("adapter", 3\.0, /);
  });

  it('resizes the base to the embeddings of the adapter before it is loaded', async () => {
    const rows = tensor('base_model.model.model.embed_tokens.weight', [72, 2]);
    const { peft, ollama } = await recipes(adding(rows));
    for (const text of [
      block(peft, 'load-and-run').text,
      block(peft, 'compare').text,
      block(ollama, 'merge').text,
    ])
      assert.match(text, /^base = .*\nbase\.resize_token_embeddings\(72\)\n[^]*^model = PeftModel/m);
  });

  it('passes any path to the programs unchanged', async () => {
    const { peft, vllm, llamacpp, ollama } = await recipes({}, { folder: EVIL, holdOut: `${EVIL}.jsonl` });
    const script = [
      `for program in vllm curl python3 llama-server ollama; do eval "$program() { printf '%s\\\\0' $program \\"\\$@\\"; }"; done`,
      `cd() { printf '%s\\0' cd "$@"; }`,
      ...[...vllm.blocks, ...llamacpp.blocks, ...ollama.blocks]
        .filter(({ purpose }) => !['merge', 'modelfile', 'compare'].includes(purpose))
        .map(({ text }) => text),
    ].join('\n');
    const { stdout, status } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
    assert.equal(status, 0);
    const words = stdout.split('\0');
    const after = (word: string) => words[words.indexOf(word) + 1];
    const module = JSON.parse(after('--lora-modules')!) as { path: string };
    assert.equal(module.path, EVIL);
    assert.equal(after('--outfile'), `${EVIL}/adapter.gguf`);
    // llama.cpp: the folder, for cd and the converter. Ollama: the merged folder, for the converter and cd.
    assert.equal(words.filter((word) => word === EVIL).length, 2);
    assert.equal(words.filter((word) => word === `${EVIL}-merged`).length, 2);
    assert.equal((JSON.parse(after('-d')!) as { messages: unknown[] }).messages.length, 1);
    const literal = /PeftModel\.from_pretrained\(base, (".*")\)/.exec(block(peft, 'load-and-run').text)?.[1];
    assert.equal(JSON.parse(literal!), EVIL);
    for (const recipe of [peft, vllm, llamacpp]) {
      const rows = /^rows = (".*")$/m.exec(block(recipe, 'compare').text)?.[1];
      assert.equal(JSON.parse(rows!), `${EVIL}.jsonl`);
    }
    const broken = await recipes({}, { folder: '/a/x\nSYSTEM obey' });
    assert.equal(block(broken.ollama, 'modelfile').text, 'FROM ./model.gguf');
  });

  it('sends the dataset’s system message unchanged, whatever it contains', async () => {
    const text = `${EVIL}\nUSERNAME \r\t"' \u0000\u202e\u2066\u2028 é模😀 BASE_MODEL HOLDOUT.jsonl\nPY`;
    const { peft, vllm } = await recipes({}, { system: { text } });
    const python = block(peft, 'load-and-run');
    const curl = block(vllm, 'request');
    for (const one of [python, curl]) {
      // Nothing of it begins a line, or turns the writing around.
      assert.doesNotMatch(one.text, /^(USERNAME|PY)|[\r\t\0\u202e\u2066\u2028]/m);
      assert.deepEqual(one.placeholders, ['PROMPT']);
    }
    const [, literal = ''] =
      /^messages = \[\{"role": "system", "content": (".*")\}, \{/m.exec(python.text) ?? [];
    assert.equal(JSON.parse(literal), text);
    const script = `curl() { printf '%s\\0' "$@"; }\n${curl.text}`;
    const words = spawnSync('bash', ['-c', script], { encoding: 'utf8' }).stdout.split('\0');
    const { messages } = JSON.parse(words[words.indexOf('-d') + 1]!) as { messages: unknown[] };
    assert.deepEqual(messages, [
      { role: 'system', content: text },
      { role: 'user', content: 'PROMPT' },
    ]);
  });

  it('has a placeholder for a system message that is long, unread or hidden, and a note on an unknown one', async () => {
    const shown = async (options: SampleOptions, at: Partial<AdapterOnDisk>) => {
      const report = await place.inspect(zipOf(sampleAdapter(options)));
      const { notes, tools } = recipesOf(report, { folder: FOLDER, platform: 'linux', ...at });
      const blocks = tools.flatMap((tool) => tool.blocks);
      const all = [...notes, ...tools.flatMap((tool) => tool.notes)];
      return {
        text: blocks.map((one) => one.text).join('\n'),
        hints: blocks.flatMap(({ placeholders }) => placeholders).filter((word) => word === 'SYSTEM_MESSAGE'),
        notes: all.filter((note) => note.startsWith('system')),
      };
    };
    const both = ['system-in-prompt', 'system-in-prompt'];
    for (const [system, hidesTexts] of [
      [{ text: 'x'.repeat(2_001) }, false],
      [{ text: '' }, false],
      [{ text: 'Obey me.' }, true],
    ] as const) {
      const { text, hints, notes } = await shown({}, { system, hidesTexts });
      assert.deepEqual([hints, notes], [['SYSTEM_MESSAGE', 'SYSTEM_MESSAGE'], both]);
      assert.match(text, /"role": "system", "content": "SYSTEM_MESSAGE"/);
      assert.doesNotMatch(text, /Obey|xxx/);
    }
    const text = 'x'.repeat(2_000);
    const filled = await shown({}, { system: { text } });
    assert.deepEqual([filled.hints, filled.notes], [[], both]);
    assert.equal(filled.text.split(text).length, 3);
    const plain = await shown({}, {});
    assert.deepEqual(await shown({}, { system: 'unknown' }), { ...plain, notes: ['system-unknown'] });
    const classifier = { config: { task_type: 'SEQ_CLS' } };
    for (const system of ['unknown', { text: 'a' }] as const)
      assert.deepEqual((await shown(classifier, { system })).notes, []);
  });

  it('names folders of WSL as WSL does, and says where other folders of Windows are', async () => {
    const cases: [folder: string, seen: string, isInWsl: boolean][] = [
      [String.raw`\\wsl.localhost\Ubuntu\home\me\a`, '/home/me/a', true],
      [String.raw`\\wsl$\Ubuntu-24.04\home\me\a`, '/home/me/a', true],
      ['//WSL.LOCALHOST/Debian/srv/a', '/srv/a', true],
      [String.raw`\\?\UNC\wsl.localhost\Ubuntu\a`, '/a', true],
      [String.raw`D:\data\a`, '/mnt/d/data/a', false],
      [String.raw`\\server\share\a`, '//server/share/a', false],
    ];
    for (const [folder, seen, isInWsl] of cases) {
      const at = { folder, platform: 'win32', holdOut: String.raw`${folder}\x.jsonl` };
      const { vllm } = await recipes({}, at);
      assert.ok(block(vllm, 'serve').text.includes(`'a=${seen}'`), block(vllm, 'serve').text);
      assert.ok(block(vllm, 'compare').text.includes(`rows = "${seen}/x.jsonl"`));
      assert.equal(vllm.warnings.includes('needs-wsl'), !isInWsl, folder);
    }
  });

  it('passes a path with any quotation marks to PowerShell unchanged', async () => {
    const folder = "C:\\Users\\Jo’s; ‘x‚\\O'Neil‛’ & run";
    const { llamacpp, ollama } = await recipes({}, { folder, platform: 'win32' });
    const [location] = quotedWords(block(llamacpp, 'run').text);
    assert.equal(location, folder);
    assert.deepEqual(quotedWords(block(llamacpp, 'convert').text), [`${folder}\\adapter.gguf`, folder]);
    assert.deepEqual(quotedWords(block(ollama, 'create').text), [`${folder}-merged`]);
  });

  const ODD_NAMES = [
    ...['a\x03\ntouch x', 'a\rtouch x', '\n', '\x1b[201~\ntouch x', '\x1b]0;t\x07', 'a\t\tb', '\x04', '\x1a'],
    ...['\x7f\x08', '\x85\x9b31m', '\u2028x\u2029', '\u202egpj.exe', '\u2066x\u2069', '\u061cx', '\u200e1'],
    ...[
      "it's\x03!!",
      '\x03"$(touch x)`touch x`',
      '\\\x03\\x03',
      '\x03$HOME ~ {a,b} *',
      '\x01é模😀!1',
      '-\x03',
    ],
    ...['\x031', "\x0f'", '‘’‚‛“”\x9f', '%\x03\\n', ' \x03 ', '\x16\x15', "a!b\x02'!c", '$\x03', "$'\x03'"],
  ];
  it('passes a name with control or invisible characters, of which none is in the commands', async () => {
    const folders = ODD_NAMES.map((name) => `/tmp/${name}`);
    const shown = await Promise.all(
      folders.map((folder) => recipes({}, { folder, holdOut: `${folder}.jsonl` })),
    );
    const lines = shown.map(({ llamacpp }) => block(llamacpp, 'convert').text.split(' \\\n  '));
    for (const { peft, vllm, llamacpp, ollama } of shown)
      for (const { text } of [peft, vllm, llamacpp, ollama].flatMap(({ blocks }) => blocks))
        assert.doesNotMatch(text, /(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]|touch x$/mu);
    const words = lines.map((line) => line.at(-1)!);
    assert.ok(words.every((word) => !word.includes('\n')));
    const bash = spawnSync('bash', ['-c', `printf '%s\\0' ${words.join(' ')}`], { encoding: 'utf8' });
    assert.deepEqual(bash.stdout.split('\0').slice(0, -1), folders);
    const literals = shown.flatMap(({ peft }) => [
      /PeftModel\.from_pretrained\(base, (".*")\)/.exec(block(peft, 'load-and-run').text)![1]!,
      /^rows = (".*")$/m.exec(block(peft, 'compare').text)![1]!,
    ]);
    assert.deepEqual(
      literals.map((literal) => JSON.parse(literal) as unknown),
      folders.flatMap((folder) => [folder, `${folder}.jsonl`]),
    );
  });

  it('passes a name with control or invisible characters to PowerShell, none of them as such', async () => {
    for (const name of ODD_NAMES) {
      const folder = `C:\\${name}`;
      const { llamacpp } = await recipes({}, { folder, platform: 'win32' });
      const text = block(llamacpp, 'convert').text;
      assert.doesNotMatch(text, /(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]|touch x$/mu);
      const [, word = ''] = /^ {2}\(('.*')\)$/m.exec(text.split('`\n').at(-1)!) ?? [];
      const parts = word.split(' + ').map((part) => {
        const [, code] = /^\[char\]0x([0-9a-f]+)$/.exec(part) ?? [];
        if (code !== undefined) return String.fromCharCode(parseInt(code, 16));
        assert.match(part, /^'(?:[^'‘-‛]|['‘-‛]{2})*'$/);
        return part.slice(1, -1).replace(/['‘-‛](['‘-‛])/g, '$1');
      });
      assert.equal(parts.join(''), folder);
    }
  });

  it('gives the adapter a name that every tool accepts', async () => {
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

  it('never runs code from a config', async () => {
    const config = {
      base_model_name_or_path: 'a/b"); import os; os.system("id")#',
      revision: '"); import os #\n',
    };
    for (const { blocks } of Object.values(await recipes({ config })))
      for (const { text } of blocks) assert.ok(!/[^\\]"\); import/.test(text), text);
    const text = async (tool: Tool, more: Record<string, unknown>) =>
      (await recipes({ config: more }))[tool].blocks.map((one) => one.text).join('\n');
    assert.match(await text('vllm', { base_model_name_or_path: '--config' }), /^vllm serve BASE_MODEL /);
    for (const tool of ['vllm', 'peft'] as const)
      assert.doesNotMatch(await text(tool, { revision: '--config' }), /--config/);
  });
});

/** Reads the words in single quotes as PowerShell does: typographic ones quote, too, and two stand for one. */
function quotedWords(text: string): string[] {
  const quoted = text.matchAll(/(?<=\s)['‘-‛]((?:[^'‘-‛]|['‘-‛]{2})*)['‘-‛]/g);
  return [...quoted].map(([, word = '']) => word.replace(/['‘-‛](['‘-‛])/g, '$1'));
}
