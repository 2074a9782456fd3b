import assert from 'node:assert/strict';
import { splitThinking } from '../../../../src/core/answers/thinking.ts';

describe('splitThinking', () => {
  const start = '<|start|>assistant';
  const analysis = '<|channel|>analysis<|message|>';
  const final = '<|channel|>final<|message|>';

  it('splits what an answer begins with, in each spelling', () => {
    for (const [text, thinking, answer] of [
      ['5', '', '5'],
      [' 5 ', '', ' 5 '],
      ['<think>2 and 3.</think>\n\n5', '2 and 3.', '5'],
      ['<think>\n\n</think>\n\n5', '', '5'],
      ['\n<Think type="x">Hm.</THINK >5', 'Hm.', '5'],
      ['<thinking>Hm.</thinking>5', 'Hm.', '5'],
      ['<thought>\nHm.\n</thought>\n\n5', 'Hm.', '5'],
      ['<reasoning>Hm.</reasoning>\n5', 'Hm.', '5'],
      ['<seed:think>Hm.</seed:think>5', 'Hm.', '5'],
      ['<mm:think>Hm.</mm:think>5', 'Hm.', '5'],
      ['<think>Hm.</think><response>5</response>', 'Hm.', '5'],
      ['[THINK]Hm.[/THINK]5', 'Hm.', '5'],
      ['◁think▷Hm.◁/think▷5', 'Hm.', '5'],
      [`${analysis}Hm.<|end|>${start}${final}5`, 'Hm.', '5'],
      [`${start}${analysis}Hm.<|end|>${start}${final}5<|return|>`, 'Hm.', '5'],
      [
        `${analysis}Hm.<|end|>${start}<|channel|>commentary<|message|>So.<|end|>${start}${final}5`,
        `Hm.<|end|>${start}<|channel|>commentary<|message|>So.`,
        '5',
      ],
      [`${final}5<|return|>`, '', '5'],
      [`${analysis}Hm.<|end|>${start}<|channel|>final <|constrain|>json<|message|>{}`, 'Hm.', '{}'],
      [
        `${analysis}Hm.<|end|>${start}<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>`,
        'Hm.',
        '{}',
      ],
      ['analysisThe user asks.assistantfinal5', 'The user asks.', '5'],
      ['analysis\nwe add.\nassistantfinal\n5', 'we add.', '5'],
      ['<|channel>thought\nHm.\n<channel|>5', 'Hm.', '5'],
      ['<|channel>thought\n<channel|>5', '', '5'],
      ['<unused94>thought\nHm.<unused95>5', 'Hm.', '5'],
      ['Here is my thought process: Hm. Here is my response: 5', 'Hm.', '5'],
      ["Here's my thought process:\nHm.\nHere’s my response:\n5", 'Hm.', '5'],
      ['<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>5<|END_RESPONSE|>', 'Hm.', '5'],
      ['<|begin_of_thought|>Hm.<|end_of_thought|>\n<|begin_of_solution|>5<|end_of_solution|>\n', 'Hm.', '5'],
      ['Here are my reasoning steps:\nHm.\n[BEGIN FINAL RESPONSE]\n5\n[END FINAL RESPONSE]', 'Hm.', '5\n'],
      // Templates may put the opening mark into the prompt.
      ['2 and 3.\n</think>\n5', '2 and 3.', '5'],
      ['Hm.</seed:think>5', 'Hm.', '5'],
      ['```\nHm.\n```\n</think>5', '```\nHm.\n```', '5'],
      ['Hm.[/THINK]5', 'Hm.', '5'],
      ['Hm.<channel|>5', 'Hm.', '5'],
      [`Hm.<|end|>${start}${final}5`, 'Hm.', '5'],
      // Several, and others within
      ['<think>a</think>\n<think>b</think>\n5', 'a\n\nb', '5'],
      ['<think></think><thinking>b</thinking>5', 'b', '5'],
      ['<think>a<think>b</think>c</think>5', 'a<think>b</think>c', '5'],
      ['<think>a<reasoning>b</reasoning>c</think>5', 'a<reasoning>b</reasoning>c', '5'],
      ['\n<think>\na <think> b\n</think> 5', 'a <think> b', '5'],
      ['<think>Close it by `</think>`.</think>5', 'Close it by `</think>`.', '5'],
      ['<think>It is "5"</think>5', 'It is "5"', '5'],
    ] as const)
      assert.deepEqual(splitThinking(text), { thinking, answer, isUnended: false }, text);
  });

  it('has no answer if the thinking doesn’t end', () => {
    for (const [text, thinking] of [
      ['<think>2 and', '2 and'],
      ['<think>', ''],
      ['<thinking>Hm', 'Hm'],
      ['[THINK]Hm', 'Hm'],
      ['<think>a</think><think>b', 'a\n\nb'],
      [`${analysis}Hm`, 'Hm'],
      [`${analysis}Hm<|end|>`, 'Hm<|end|>'],
      ['analysisThe user', 'The user'],
      ['<|channel>thought\nHm', 'Hm'],
    ] as const)
      assert.deepEqual(splitThinking(text), { thinking, answer: '', isUnended: true }, text);
  });

  it('leaves texts as they are that only mention a mark, or are like one', () => {
    for (const text of [
      'Use <think>a</think> here.',
      'Use <think>.',
      'Use `<think>`.',
      '`<think>` opens it.',
      'It ends with `</think>`, then comes the answer.',
      'It ends with "</thinking>".',
      '```xml\n<think>\n```',
      'Put this after it:\n```\n</think>\n```',
      '<thinker>a</thinker>',
      '<think/>5',
      'analysis of the tides',
      'Analysis: none.',
      'Here is my thought process: I add.',
      'This is final. Here is my response: 5',
      '<review><reasoning>a</reasoning></review>',
    ])
      assert.deepEqual(splitThinking(text), { thinking: '', answer: text, isUnended: false }, text);
  });

  it('is quick, whatever a model repeats', () => {
    for (const text of [
      '<think>',
      '<think><think></think>',
      '<think></think>',
      '</think>',
      '<',
      ' ',
      '`</think>`',
    ])
      splitThinking(text.repeat(50_000));
  });
});
