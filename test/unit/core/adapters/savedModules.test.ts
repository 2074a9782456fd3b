import assert from 'node:assert/strict';
import { encode, type WrittenTensor } from '../../../helpers/adapters/safetensorsWriter.ts';
import { sampleAdapter } from '../../../helpers/adapters/sampleAdapter.ts';
import { Place, zipOf } from '../../../helpers/adapters/support.ts';

/** huggingface/peft src/peft/peft_model.py (`classifier_module_names`): it names both heads of a classifier, of which models have one. */
describe('modules that are stored whole', () => {
  const place = new Place();

  const stored = (name: string): WrittenTensor => ({
    name: `base_model.model.${name}`,
    dtype: 'F32',
    shape: [2],
    data: encode('F32', [1, 1]),
  });
  const problemsOf = async (config: Record<string, unknown>, ...names: string[]) => {
    const tensors = (all: WrittenTensor[]) => [...all, ...names.map(stored)];
    const { problems } = await place.inspect(zipOf(sampleAdapter({ config, tensors })));
    return problems.filter(({ code }) => code !== 'modules-to-save');
  };
  const heads = { task_type: 'SEQ_CLS', modules_to_save: ['classifier', 'score'] };

  it('are one head of a classifier, though PEFT names two', async () => {
    assert.deepEqual(await problemsOf(heads, 'score.weight'), []);
    assert.deepEqual(await problemsOf(heads, 'classifier.weight', 'classifier.bias'), []);
    const [missing] = await problemsOf(heads);
    assert.deepEqual([missing?.code, missing?.examples], ['saved-module-missing', ['classifier', 'score']]);
  });

  it('may have parts, and biases of their own', async () => {
    const parts = ['classifier.dense', 'classifier.out_proj'].flatMap((one) => [
      `${one}.weight`,
      `${one}.bias`,
    ]);
    assert.deepEqual(await problemsOf(heads, ...parts), []);
    const [unexpected] = await problemsOf({}, 'classifier.dense.weight');
    assert.deepEqual(unexpected?.code, 'saved-module-unexpected');
    const [bias] = await problemsOf({ modules_to_save: ['score'] }, 'score.weight', 'model.norm.bias');
    assert.deepEqual(bias?.code, 'bias-mismatch');
  });
});
