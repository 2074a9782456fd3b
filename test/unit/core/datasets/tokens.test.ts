import assert from 'node:assert/strict';
import { escaped } from '../../../helpers/jsonWriters.ts';
import { Random } from '../../../helpers/random.ts';
import { readingOf } from '../../../helpers/reading.ts';

/** The weights of texts. */
interface Sizes {
  text: number;
  assistant: number;
}

/** Rows with texts of known lengths: U, V and W are of others, A and B are of the assistant. */
const table = `
{"messages":[{"role":"system","content":"U"},{"role":"user","content":"V"},{"role":"assistant","content":"A"},{"role":"user","content":"W"},{"role":"assistant","content":"B"}]}
{"messages":[{"content":"A","role":"assistant"},{"content":"U","role":"user"}]}
{"messages":[{"role":"user","content":["U","V"]},{"role":"assistant","content":[{"type":"text","text":"A"},{"text":"B","type":"text"}]}]}
{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"no"}},{"type":"image","image":"no","text":"U"}]}]}
{"messages":[{"role":"user","content":"U","name":"no"},{"role":"assistant","content":null,"tool_calls":[{"function":{"arguments":"no"}}]},{"role":"tool","content":"V"}]}
{"messages":[{"role":"no","content":"U"},{"content":"V"},{"role":["assistant"],"content":"W"},{"role":5,"content":"U"}]}
{"messages":[{"role":"user","content":"U"}],"text":"no","prompt":"no","tools":["no"],"id":"no"}
{"text":"no","messages":[{"role":"user","content":"no"}],"messages":[{"role":"user","content":"U"}]}
{"conversations":[{"from":"human","value":"U"},{"from":"gpt","value":"A"},{"value":"B","from":"chatgpt"},{"from":"observation","value":"V"}],"system":"no"}
{"conversations":["U","A","V","B"]}
{"conversations":["U","A"],"conversations":["V"]} | last
{"prompt":"U","completion":"A"}
{"prompt":[{"role":"user","content":"U"}],"completion":[{"role":"assistant","content":"A"}]}
{"prompt":[{"role":"user","content":"U"}],"input":{"a":{"b":"no no no"}},"completion":[{"role":"assistant","content":"A"}]}
{"prompt":"U","chosen":"A","rejected":"B","score":"no"}
{"chosen":[{"role":"user","content":"U"},{"role":"assistant","content":"A"}],"rejected":[{"role":"user","content":"V"},{"role":"assistant","content":"B"}]}
{"input":{"tools":["no"],"messages":[{"role":"user","content":"U"}],"model":"no"},"preferred_output":[{"role":"assistant","content":"A"}],"non_preferred_output":[{"role":"assistant","content":"B"}]}
{"prompt":"no","input":{"messages":[{"role":"user","content":"U"}]},"chosen":{"messages":[{"role":"user","content":"V"},{"role":"assistant","content":"A"}]},"rejected":"B"}
{"input":"no","chosen":"A","rejected":"B"}
{"instruction":"U","input":"V","output":"A","response":"no"}
{"instruction":"U","context":"V","response":"A","category":"no"}
{"input":"U","output":"A"}
{"question":"U","answer":"A","context":"V"}
{"question":"U","answer":["no"],"choices":["no"]}
{"text":"U"}
{"instruction":{"text":"no"},"input":["no"],"output":"A"}
{"a":"no","b":{"text":"no"}}
["no"]
{"text":"no",}`
  .trim()
  .split('\n');

describe('the texts of rows', () => {
  const tokensOf = (content: string) => {
    const { rows: _, ...tokens } = readingOf(content.split('\n')).tokens;
    return tokens;
  };

  it('are those of the format that a row has, and the assistant’s by its role', () => {
    const sizes: Readonly<Record<string, number>> = { U: 400, V: 8_000, W: 40, A: 80_000, B: 800_000 };
    for (const line of table) {
      const [row = '', note] = line.split(' | ');
      const text = (row.match(/"[UVWAB]"/g) ?? []).map((letter) => letter.charAt(1));
      const counted = note === 'last' ? ['V'] : text;
      const sum = (letters: readonly string[]) =>
        letters.reduce((total, letter) => total + (sizes[letter] ?? 0), 0) / 4;
      const content = row.replace(
        /"([UVWAB])"/g,
        (_, letter: string) => `"${'x'.repeat(sizes[letter] ?? 0)}"`,
      );
      const { text: all, assistant } = tokensOf(content);
      assert.deepEqual(
        { row, all, assistant },
        { row, all: sum(counted), assistant: sum(counted.filter((letter) => 'AB'.includes(letter))) },
      );
    }
  });

  it('leave out a row that is broken, and count rows with more than 4,096 and 8,192 tokens', () => {
    const broken = '{"messages":[{"role":"assistant","content":"xxxxxxxx"';
    const sound = '{"messages":[{"content":"xxxx"}]}';
    assert.deepEqual(tokensOf(`${broken}\n${sound}`), {
      text: 1,
      assistant: 0,
      rowsOver4096: 0,
      rowsOver8192: 0,
    });
    const rows = [16_384, 16_385, 32_768, 32_769].map((bytes) => `{"text":"${'x'.repeat(bytes)}"}`);
    const { rowsOver4096, rowsOver8192 } = tokensOf(rows.join('\n'));
    assert.deepEqual([rowsOver4096, rowsOver8192], [3, 1]);
  });

  it('are counted as by a simple implementation, whatever they hold', () => {
    const random = new Random(31);
    const piece = () =>
      random.of(['a', ' ', 'é', 'ж', '模型', '😀', '\n', '"', '\\', '\ud800', '\u0001', '{"role":']);
    const string = () =>
      random.several(random.chance(0.01) ? 14_000 : random.chance(0.1) ? 400 : 12, piece).join('');
    const expected = { text: 0, assistant: 0, rowsOver4096: 0, rowsOver8192: 0 };
    const rows = Array.from({ length: 3_000 }, () => {
      const sizes: Sizes = { text: 0, assistant: 0 };
      const add = (text: string, isAssistant: boolean) => {
        sizes.text += weightOf(text);
        if (isAssistant) sizes.assistant += weightOf(text);
        return text;
      };
      const row = randomRow(random, string, add);
      expected.text += sizes.text;
      expected.assistant += sizes.assistant;
      expected.rowsOver4096 += Number(sizes.text > 16_384);
      expected.rowsOver8192 += Number(sizes.text > 32_768);
      return random.chance(0.3) ? escaped(JSON.stringify(row)) : JSON.stringify(row);
    });
    const tokens = {
      ...expected,
      ...{ text: Math.round(expected.text / 4), assistant: Math.round(expected.assistant / 4) },
    };
    assert.ok(tokens.rowsOver8192 > 0 && tokens.rowsOver4096 > tokens.rowsOver8192);
    const content = rows.join('\n');
    assert.deepEqual(tokensOf(content), tokens);
  });
});

/** Returns the bytes of a text as they count: a Cyrillic letter 1.25, half of a surrogate pair 2. */
function weightOf(text: string): number {
  const letters = text.match(/[\u0400-\u053f]/g) ?? [];
  const halves = text.match(/\p{Surrogate}/gu) ?? [];
  return Buffer.byteLength(text) - halves.length - Math.floor((letters.length * 3) / 4);
}

/** Returns a row of some format; `add` gets each of its texts, and whether it is the assistant's. */
function randomRow(
  random: Random,
  string: () => string,
  add: (text: string, isAssistant: boolean) => string,
): object {
  const message = (speaker: string, content: string) => {
    const role = random.of(['user', 'assistant', 'system', 'tool', 'other']);
    const [one, other] = [string(), string()];
    const text = add(one + other, role === 'assistant');
    const value = random.chance(0.2) ? [{ type: string(), text: one, image: string() }, other] : text;
    const parts = [
      [speaker, role],
      [content, value],
      [`${string()}!`, string()],
    ];
    return Object.fromEntries(random.chance(0.5) ? parts : parts.toReversed()) as object;
  };
  const other = {
    [`${string()}!`]: random.of([string(), [string()], { text: string(), messages: [string()] }]),
  };
  return random.of<() => object>([
    () => ({ ...other, messages: random.several(6, () => message('role', 'content')) }),
    () => ({ conversations: random.several(6, () => message('from', 'value')), ...other }),
    () => ({ prompt: add(string(), false), ...other, completion: add(string(), true) }),
    () => ({ instruction: add(string(), false), output: add(string(), true), input: add(string(), false) }),
    () => ({ ...other, answer: add(string(), true), question: add(string(), false) }),
    () => ({ ...other, text: add(string(), false) }),
    () => other,
  ])();
}
