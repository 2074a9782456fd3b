import assert from 'node:assert/strict';
import type { Recipe } from '../../../../../src/core/adapters/report.ts';
import { encode } from '../../../../helpers/adapters/safetensorsWriter.ts';
import { block, FOLDER, Place } from '../../../../helpers/adapters/support.ts';

/**
 * The tasks are those of huggingface/peft src/peft/auto.py; the classes are named in huggingface/transformers
 * docs/source/en/model_doc/auto.md.
 */
describe('the PEFT recipe', () => {
  const place = new Place();

  const peftOf = async (task: unknown): Promise<Recipe> =>
    (await place.recipes({ config: { task_type: task } })).peft;
  const head = (name: string, labels: number) => ({
    name: `base_model.model.${name}.weight`,
    dtype: 'F32',
    shape: [labels, 1],
    data: encode(
      'F32',
      Array.from({ length: labels }, () => 1),
    ),
  });

  it('loads the class of the task, and asks it', async () => {
    for (const [task, model, asks] of [
      ['CAUSAL_LM', 'AutoModelForCausalLM', /apply_chat_template[^]*\.generate\(/],
      ['SEQ_2_SEQ_LM', 'AutoModelForSeq2SeqLM', /tokenizer\("PROMPT"[^]*\.generate\(/],
      ['SEQ_CLS', 'AutoModelForSequenceClassification', /logits\.argmax/],
      ['TOKEN_CLS', 'AutoModelForTokenClassification', /logits\.argmax/],
      ['QUESTION_ANS', 'AutoModelForQuestionAnswering', /start_logits/],
      ['FEATURE_EXTRACTION', 'AutoModel', /last_hidden_state/],
    ] as const) {
      const recipe = await peftOf(task);
      const { text } = block(recipe, 'load');
      assert.ok(text.includes(`from transformers import ${model}, AutoTokenizer\n`), task);
      assert.ok(text.includes(`base = ${model}.from_pretrained("acme/base-1b", `), task);
      assert.match(text, asks, task);
      assert.deepEqual([recipe.applicable, recipe.warnings], [true, []]);
      assert.equal(recipe.traps.includes('chat-template'), task === 'CAUSAL_LM');
    }
  });

  it('assumes that text is generated where no task is known, and says so', async () => {
    for (const task of [undefined, null, 'NEW_TASK', 7]) {
      const recipe = await peftOf(task);
      assert.match(block(recipe, 'load').text, /AutoModelForCausalLM/);
      assert.deepEqual(recipe.warnings, ['task-assumed']);
    }
  });

  it('is the only one for a task other than generating text', async () => {
    const { peft, vllm, llamacpp, ollama } = await place.recipes({ config: { task_type: 'SEQ_CLS' } });
    assert.deepEqual(
      [peft, vllm, llamacpp, ollama].map(({ why }) => why),
      [undefined, 'other-task', 'other-task', 'other-task'],
    );
  });

  it('takes the number of labels from the head that is stored, or asks for it', async () => {
    const load = async (...names: string[]) => {
      const { peft } = await place.recipes({
        config: { task_type: 'SEQ_CLS', modules_to_save: ['classifier', 'score'] },
        tensors: (tensors) => [...tensors, ...names.map((name, index) => head(name, index + 3))],
      });
      return block(peft, 'load');
    };
    assert.match((await load('score')).text, /num_labels=3, dtype/);
    assert.match((await load('classifier.modules_to_save')).text, /num_labels=3, dtype/);
    assert.match((await load('classifier.dense', 'classifier.out_proj')).text, /num_labels=4, dtype/);
    const asked = await load();
    assert.match(asked.text, /num_labels=NUM_LABELS, dtype/);
    assert.deepEqual(asked.placeholders, ['NUM_LABELS', 'PROMPT']);
  });

  it('merges beside the folder', async () => {
    const { peft } = await place.recipes();
    assert.equal(
      block(peft, 'merge').text,
      `merged = model.merge_and_unload()\nmerged.save_pretrained("${FOLDER}-merged")\ntokenizer.save_pretrained("${FOLDER}-merged")`,
    );
    const windows = await place.recipes({}, { folder: 'D:\\it\'s\\a "b"\\', platform: 'win32' });
    assert.match(block(windows.peft, 'merge').text, /\("D:\\\\it's\\\\a \\"b\\"-merged"\)$/);
    assert.match(block(windows.peft, 'install').text, /^python -m pip install -U peft /);
    assert.match(block(peft, 'install').text, /^python3 -m pip install -U peft /);
  });

  it('merges no other kind than LoRA: some cannot be', async () => {
    const { peft } = await place.recipes({ config: { peft_type: 'PROMPT_TUNING' } });
    assert.deepEqual(
      peft.blocks.map(({ purpose }) => purpose),
      ['install', 'load'],
    );
  });
});
