// Files of ordinary rows in many shapes, languages and notations, without anything to find.
import { Random } from './random.ts';

const LANGUAGES = [
  'All people are born free, and equal in dignity; “they are endowed with reason” — so it says.',
  'Alle Menschen sind frei und gleich an Würde geboren. „Übermäßig“ groß ist das nicht.',
  'Tous les êtres humains naissent libres ; voilà… « à bientôt » ! Où ça ? Âgé, dès Noël.',
  'Todos los seres humanos nacen libres. ¿Qué? ¡Mañana! La letra “Ñ” y el señor Ñúñez.',
  'Todas as pessoas nascem livres. NÃO, AMANHÃ! Irmã, coração, “Ã”.',
  'Все люди рождаются свободными. «Да», — сказал он.',
  'Всі люди народжуються вільними. Ґанок, їжак, єдність.',
  '人人生而自由，在尊严和权利上一律平等。“是的”，他说。',
  'すべての人間は、生まれながらにして自由である。「はい」と言った。',
  '모든 인간은 태어날 때부터 자유로우며 동등하다.',
  'يولد جميع الناس أحرارا متساوين في الكرامة والحقوق.',
  'כל בני האדם נולדו בני חורין ושווים בערכם.',
  'सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता प्राप्त है।',
  'มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกัน',
  'Όλοι οι άνθρωποι γεννιούνται ελεύθεροι.',
  'Bütün insanlar hür doğar; İstanbul, ığdır, şöyle.',
  'Tất cả mọi người sinh ra đều được tự do và bình đẳng.',
  'Wszyscy ludzie rodzą się wolni. Zażółć gęślą jaźń.',
  'Všichni lidé se rodí svobodní. Příliš žluťoučký kůň.',
  'Minden emberi lény szabadon születik. Árvíztűrő tükörfúrógép.',
];
const CODE = [
  'Use a loop:\n\n```python\nfor i in range(3):\n    print(f"{i}\\n")\n```\n\nIt prints three lines.',
  '```js\nconst a = x => x && y < 3 || z > "\\t";\n```',
  '~~~sh\necho "a\\nb" | sed -e \'s/\\s\\+/ /g\' > /tmp/x\n~~~',
  'In F#, `xs |> List.map f` is the same as `f <| xs`; `a <|> b` is a parser.',
  "SELECT a, b FROM t WHERE a <> '' AND b IS NOT NULL;",
  'The regex `^\\d+\\n$` matches a number, C:\\New\\Temp is a path.',
  '#include <stdio.h>\nint main(void) { printf("%d\\n", 1 << 3); return 0; }',
  'fn main() {\n    let x: Vec<&str> = vec!["a"];\n    println!("{}\\n", x[0]);\n}',
  '1. First:\n   ```yaml\n   a: null\n   b: ~\n   ```\n2. Then:\n   ```json\n   {"a": null}\n   ```',
];
const HTML = [
  '<p>Fish &amp; chips, <s>old</s> <b>new</b></p>',
  '<ul>\n  <li>One&nbsp;thing</li>\n  <li>&copy; 2024</li>\n</ul>',
  '<!-- a comment --><a href="https://example.com/?a=1&amp;b=2">here</a>',
  '<thinking-cap>a custom element</thinking-cap>',
  '<svg viewBox="0 0 1 1"><path d="M0 0"/></svg>',
];
const NUMBERS = [
  'She has 3 + 4 = <<3+4=7>>7 apples.\n#### 7',
  'He pays $5 and $6, so $5 + $6 = $<<5+6=11>>11.\n#### 11',
  'The gradient $\\nabla f \\neq 0$ and $\\nu$ hold; \\(\\theta\\) too.\n#### 2',
];
const LABELS = ['positive', 'negative', 'neutral', 'none', 'N/A'];
const MARKDOWN = [
  '# Title\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |',
  'Dear Ms. Lee,\n\nPlease let me know if you have questions about the order.\n\nBest regards,\nAnna',
  '{"name": "A\\nB", "from": "x", "to": null}',
  'Emoji 😀👩‍👩‍👧 and symbols ½ © ® ™ § ° µ ¿ — all fine…',
  'USER: noun. ASSISTANT: noun. Human: noun.',
  'Terminal: \u001b[31mred\u001b[0m\tand\r\nmore',
];
const THEMES: Readonly<Record<string, readonly string[]>> = {
  ...{ languages: LANGUAGES, code: CODE, html: HTML, numbers: NUMBERS, labels: LABELS, markdown: MARKDOWN },
};

/** Makes a row of a question and an answer. */
type Shape = (question: string, answer: string, at: number) => object;

const tool = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } };
const SHAPES: Readonly<Record<string, Shape>> = {
  chat: (question, answer, id) => ({
    messages: [
      { role: 'user', content: question },
      { role: 'assistant', content: answer },
    ],
    ...{ id, tags: ['a'], source: id % 2 === 0 ? null : 'web' },
  }),
  'chat with a system message': (question, answer) => ({
    messages: [
      { role: 'system', content: 'You answer questions of the USER: briefly.' },
      { role: 'user', content: question },
      { role: 'assistant', content: answer },
      { role: 'user', content: 'None' },
      { role: 'assistant', content: 'Understood.' },
    ],
  }),
  'chat of parts': (question, answer) => ({
    messages: [
      { role: 'user', content: [{ type: 'text', text: question }] },
      { role: 'assistant', content: [{ type: 'text', text: answer }] },
    ],
  }),
  'chat with tools': (question, answer, id) => ({
    tools: [tool],
    messages: [
      { role: 'user', content: question },
      {
        ...{ role: 'assistant', content: null },
        tool_calls: [{ id: `c${id}`, type: 'function', function: { name: 'look', arguments: '{"a": 1}' } }],
      },
      { role: 'tool', tool_call_id: `c${id}`, content: '{"role": "user", "content": null}' },
      { role: 'assistant', content: answer },
    ],
  }),
  'chat that thinks': (question, answer) => ({
    messages: [
      { role: 'user', content: question },
      { role: 'assistant', content: `<think>\nLet me see.\n</think>\n\n${answer}` },
    ],
  }),
  'chat that thinks beside': (question, answer) => ({
    messages: [
      { role: 'user', content: question },
      { role: 'assistant', reasoning_content: 'Let me see.', content: answer },
    ],
  }),
  sharegpt: (question, answer) => ({
    conversations: [
      { from: 'human', value: question },
      { from: 'gpt', value: answer },
    ],
  }),
  strings: (question, answer) => ({ conversations: [question, answer] }),
  alpaca: (instruction, output, at) => ({ instruction, input: at % 2 === 0 ? '' : 'Some input.', output }),
  dolly: (instruction, response) => ({ instruction, context: '', response, category: 'open' }),
  pairs: (prompt, completion) => ({ prompt, completion: ` ${completion}` }),
  preference: (prompt, chosen) => ({ prompt, chosen, rejected: 'No.' }),
  questions: (question, answer) => ({ question, answer }),
  texts: (question, answer) => ({ text: `${question}\n\n${answer}` }),
};

const random = new Random(60);
const QUESTIONS = ['What is it?', 'Sag es mir bitte.', 'Show `x` in C.', '请解释一下。', 'Ist das <b> fett?'];

/** A file for each shape and theme. */
export const CLEAN_FILES: Readonly<Record<string, readonly object[]>> = Object.fromEntries(
  Object.entries(SHAPES).flatMap(([shape, row]) =>
    Object.entries(THEMES).map(([theme, texts]) => [
      `${shape}: ${theme}`,
      Array.from({ length: 60 }, (_, at) => row(`${random.of(QUESTIONS)} (${at})`, random.of(texts), at)),
    ]),
  ),
);
