import { loraPair, sampleAdapter, type SampleOptions } from '../helpers/adapters/sampleAdapter.ts';

const MODULES = [
  'self_attn.q_proj',
  'self_attn.k_proj',
  'self_attn.v_proj',
  'self_attn.o_proj',
  'mlp.up_proj',
];

/** The files of a trained adapter: each module has a different norm, and `mlp` exists only in the later half of the layers. */
export function trainedAdapter({
  layers = 32,
  config,
  tensors = (all) => all,
}: Pick<SampleOptions, 'layers' | 'config' | 'tensors'> = {}): Record<string, Buffer> {
  const trained = Array.from({ length: layers }).flatMap((_, layer) =>
    MODULES.flatMap((module, index) => {
      if (module.startsWith('mlp') && layer < layers / 2) return [];
      const degree = (0.02 * (index + 1) * (layer + 1)) / layers;
      const a = (at: number) => Math.sin(at + layer) / 8;
      const b = (at: number) => degree * Math.cos(at * 7 + index);
      return loraPair(`model.layers.${layer}.${module}`, [64, 64, 32], 'F32', a, b);
    }),
  );
  return sampleAdapter({
    rank: 32,
    config: {
      base_model_name_or_path: 'meta-llama/Llama-3.1-8B-Instruct',
      target_modules: MODULES.map((module) => module.split('.')[1]),
      ...config,
    },
    tensors: () => tensors(trained),
  });
}
