import assert from 'node:assert/strict';
import type { Recipe, TrapCode } from '../../../../src/core/adapters/report.ts';
import { sampleAdapter } from '../../../helpers/adapters/sampleAdapter.ts';
import { encode } from '../../../helpers/adapters/safetensorsWriter.ts';
import { block, codesOf, Place, zipOf } from '../../../helpers/adapters/support.ts';

/**
 * What tools do with what a config asks for was read in: huggingface/peft docs package_reference/lora and
 * src/peft/tuners/lora/layer.py, variants.py; vllm-project/vllm vllm/lora/peft_helper.py; ggml-org/llama.cpp
 * convert_lora_to_gguf.py, src/llama-adapter.h and .cpp, conversion of GPT-2; ollama/ollama llm/llama_server.go.
 */
describe('what a config asks of loading', () => {
  const place = new Place();

  const all = async (config: Record<string, unknown>) => {
    const { peft, vllm, llamacpp, ollama } = await place.recipes({ config });
    return [peft, vllm, llamacpp, ollama];
  };
  /** Why each tool cannot take it; nothing for those that can. */
  const whys = async (config: Record<string, unknown>) => (await all(config)).map(({ why }) => why);
  const codes = async (config: Record<string, unknown>) =>
    codesOf(await place.inspect(zipOf(sampleAdapter({ config }))));
  const bias = (name: string) => ({ name, dtype: 'F32', shape: [1], data: encode('F32', [1]) });
  const assertWarned = ({ warnings, applicable }: Recipe, trap: TrapCode) =>
    assert.deepEqual([applicable, warnings.includes(trap)], [true, true], trap);

  it('is nothing where training began by what leaves the base as it is', async () => {
    for (const init of [true, false, null, 'gaussian', 'eva', 'orthogonal', 'MiCA'])
      for (const { applicable, warnings } of await all({ init_lora_weights: init }))
        assert.deepEqual([applicable, warnings], [true, []], String(init));
  });

  it('is a base that was changed, which PEFT changes again before it is merged, and no other tool', async () => {
    for (const [init, trap] of [
      ['pissa', 'peft-base-repeated'],
      ['olora', 'peft-base-repeated'],
      ['OLoRA', 'peft-base-repeated'],
      ['pissa_niter_4', 'peft-base-nearly'],
      ['loftq', 'peft-base-quantized'],
    ] as const) {
      const config = { init_lora_weights: init };
      assert.deepEqual(await whys(config), [undefined, 'base-changed', 'base-changed', undefined], init);
      const [peft, , , ollama] = await all(config);
      assertWarned(peft!, trap);
      // It is merged with PEFT.
      assertWarned(ollama!, trap);
      assert.match(block(peft!, 'merge').text, /merge_and_unload/);
      const { problems } = await place.inspect(zipOf(sampleAdapter({ config })));
      assert.deepEqual(
        problems.map(({ code, severity, actual }) => [code, severity, actual]),
        [['base-changed', 'warning', init]],
      );
    }
    const { peft, ollama } = await place.recipes({ config: { init_lora_weights: 'loftq' } });
    assert.match(block(peft, 'install').text, / bitsandbytes scipy$/);
    assert.match(block(ollama, 'install').text, / bitsandbytes scipy -r /);
  });

  it('is a base that no tool can make', async () => {
    for (const init of ['corda', 'lora_ga']) {
      const lost = Array.from({ length: 4 }, () => 'base-change-lost');
      assert.deepEqual(await whys({ init_lora_weights: init }), lost);
      const { problems } = await place.inspect(zipOf(sampleAdapter({ config: { init_lora_weights: init } })));
      assert.deepEqual(
        problems.map(({ code, severity }) => [code, severity]),
        [['base-changed', 'error']],
      );
    }
  });

  it('is not known where training began in a way that is not', async () => {
    for (const recipe of await all({ init_lora_weights: 'brand-new' })) assertWarned(recipe, 'init-unknown');
    assert.deepEqual(await codes({ init_lora_weights: 'brand-new' }), ['init-unknown']);
  });

  it('is a prompt with invocation tokens, which two tools look for', async () => {
    const config = { alora_invocation_tokens: [1, 2] };
    assert.deepEqual(await whys(config), [undefined, 'vllm-alora', undefined, 'ollama-alora']);
    const { peft, llamacpp } = await place.recipes({ config });
    assertWarned(peft, 'alora-tokens');
    assertWarned(llamacpp, 'alora-tokens');
    assertWarned(llamacpp, 'llamacpp-alora');
    assert.equal(
      peft.blocks.some(({ purpose }) => purpose === 'merge'),
      false,
    );
    assert.deepEqual(await codes(config), ['uses-alora']);
    assert.deepEqual(await codes({ alora_invocation_tokens: [] }), []);
    assert.deepEqual(await codes({ alora_invocation_tokens: 'x' }), ['config-wrong-type']);
  });

  it('is a stack of repeated layers, which PEFT alone builds and cannot merge', async () => {
    const config = {
      layer_replication: [
        [0, 4],
        [2, 5],
      ],
    };
    const why = 'layers-repeated';
    assert.deepEqual(await whys(config), [undefined, why, why, why]);
    const { peft } = await place.recipes({ config });
    assert.equal(
      peft.blocks.some(({ purpose }) => purpose === 'merge'),
      false,
    );
    assert.deepEqual(await codes(config), ['repeats-layers']);
  });

  it('tells first what merging does not help', async () => {
    const config = { init_lora_weights: 'pissa', use_dora: true, layer_replication: [[0, 1]] };
    assert.equal((await whys(config))[1], 'layers-repeated');
    assert.equal((await whys({ init_lora_weights: 'pissa', use_dora: true }))[2], 'base-changed');
  });

  it('is biases, which the converter and vLLM do not take, and Ollama does merged', async () => {
    assert.deepEqual(await whys({ lora_bias: true }), [undefined, 'vllm-bias', 'converter-bias', undefined]);
    const stored = await place.recipes({
      config: { bias: 'all' },
      tensors: (tensors) => [...tensors, bias('base_model.model.model.layers.0.self_attn.q_proj.bias')],
    });
    assert.deepEqual([stored.llamacpp.why, stored.ollama.why], ['converter-bias', undefined]);
    // A base without biases has none to store.
    assert.deepEqual(await whys({ bias: 'all' }), [undefined, 'vllm-bias', undefined, undefined]);
  });

  it('is weights that are stored turned, which the converter turns once more', async () => {
    const turned = 'converter-turned';
    assert.deepEqual(await whys({ fan_in_fan_out: true }), [undefined, undefined, turned, undefined]);
  });

  it('is no effect where alpha is 0, which llama.cpp reads as full strength', async () => {
    const { peft, vllm, llamacpp, ollama } = await place.recipes({ config: { lora_alpha: 0 } });
    assertWarned(llamacpp, 'gguf-alpha-zero');
    for (const { warnings } of [peft, vllm, ollama]) assert.deepEqual(warnings, []);
    const some = await whys({ lora_alpha: 0, alpha_pattern: { q_proj: 8 } });
    assert.deepEqual(some, [undefined, undefined, 'alpha-pattern', undefined]);
  });

  it('is the revision of the base, and the largest rank of a pattern, for vLLM', async () => {
    const { vllm } = await place.recipes({ config: { revision: 'v1.0', rank_pattern: { k_proj: 48 } } });
    assert.match(block(vllm, 'serve').text, /^vllm serve acme\/base-1b \\\n {2}--revision v1\.0 \\/);
    assert.match(block(vllm, 'serve').text, /--max-lora-rank 64 /);
    const odd = await place.recipes({ config: { revision: '--config' } });
    assert.doesNotMatch(block(odd.vllm, 'serve').text + block(odd.peft, 'load').text, /--config/);
  });
});
