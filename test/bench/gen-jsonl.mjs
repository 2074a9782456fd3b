#!/usr/bin/env node
// Deterministic JSONL chat dataset generator. No dependencies, constant memory.
//   node gen-jsonl.mjs --out FILE [--bytes 600000000] [--seed 1] [--bad 0.01] [--dup 0.002]
//                      [--scale 1] [--esc 0.11] [--multibyte 0.08] [--manifest FILE.ndjson] [--crlf] [--no-final-newline]
// Size is exact only to a row: stops before a row would pass --bytes.
// Each malformed row is one manifest line {line,kind,byteOffset,expect}; expect is the class a validator must report.
import fs from 'node:fs';
const a = process.argv.slice(2);
const opt = (n, d) => {
  const i = a.indexOf('--' + n);
  return i < 0 ? d : a[i + 1];
};
const flag = (n) => a.includes('--' + n);
const OUT = opt('out'),
  BYTES = +opt('bytes', 600e6),
  BAD = +opt('bad', 0),
  DUP = +opt('dup', 0.002),
  MB = +opt('multibyte', 0.08),
  SC = +opt('scale', 1),
  MAN = opt('manifest'),
  EOL = flag('crlf') ? '\r\n' : '\n';
let s0 = +opt('seed', 1) >>> 0 || 1,
  s1 = 0x9e3779b9,
  s2 = 0x243f6a88,
  s3 = 0xb7e15162;
const u32 = () => {
  // xoshiro128**
  const r = Math.imul(((Math.imul(s1, 5) << 7) | (Math.imul(s1, 5) >>> 25)) >>> 0, 9) >>> 0,
    t = s1 << 9;
  s2 ^= s0;
  s3 ^= s1;
  s1 ^= s2;
  s0 ^= s3;
  s2 ^= t;
  s3 = (s3 << 11) | (s3 >>> 21);
  return r;
};
const f = () => u32() / 4294967296;
const int = (n) => Math.floor(f() * n);
const norm = () => Math.sqrt(-2 * Math.log(1 - f())) * Math.cos(6.283185307179586 * f());
const ASCII = (
  'the of and to in is that for with as it on be by this are from or an at not which have can model data ' +
  'train value function return error request server field token string number array object update please explain ' +
  'write code example result because however first second should would could between system answer question user ' +
  'python const await async import export class select where order group table index cache buffer stream retry'
).split(' ');
const PLAIN = [' ', ' ', ' ', ' ', ' ', ' ', ' ', ' ', ', ', '. ', ': ', ' (', ') ', '; '];
const ESCD = ['\n', '\n\n', '\n- ', ' "', '" ', '\n    ', '\t', ' \\n ']; // cost an escape each in JSON
const ESC = +opt('esc', 0.11); // chance per word; 0.11 gives about one backslash per 60 bytes
const sep = () => (f() < ESC ? ESCD[int(ESCD.length)] : PLAIN[int(PLAIN.length)]);
const MBW = [
  'Привет',
  'мир',
  'модель',
  'данные',
  '模型',
  '训练数据',
  '微调',
  '日本語',
  'テキスト',
  '한국어',
  'café',
  'naïve',
  'Zürich',
  'señor',
  '😀',
  '👩‍💻',
  '🚀',
  '€',
  '→',
  '—',
  '“quoted”',
  'مرحبا',
  'नमस्ते',
  '𝒳',
  'ß',
  'é',
];
// Text is sliced out of a 4 MB prebuilt pool: fast, still non-repeating per row.
function pool(n, mb) {
  const p = [];
  let c = 0;
  while (c < n) {
    const w = (mb && f() < mb ? MBW[int(MBW.length)] : ASCII[int(ASCII.length)]) + sep();
    p.push(w);
    c += w.length;
  }
  return p;
}
const PA = pool(4e6, 0),
  PM = pool(2e6, 0.35);
function text(chars, mb) {
  const P = mb ? PM : PA;
  let i = int(P.length),
    out = '';
  while (out.length < chars) {
    out += P[i];
    if (++i === P.length) i = 0;
  }
  return out;
}
const SYS = [
  'You are a helpful assistant.',
  'You are a senior software engineer. Answer briefly.',
  'Translate the text.',
  'You classify support tickets.',
];
function row() {
  const mb = f() < MB,
    m = [];
  if (f() < 0.6) m.push({ role: 'system', content: SYS[int(4)] });
  const turns = f() < 0.75 ? 1 : 1 + int(6);
  for (let t = 0; t < turns; t++) {
    m.push({ role: 'user', content: text(SC * Math.min(20000, Math.exp(5.0 + 0.9 * norm())), mb) });
    m.push({ role: 'assistant', content: text(SC * Math.min(60000, Math.exp(6.0 + 1.0 * norm())), mb) });
  }
  const o = { messages: m };
  if (f() < 0.1) o.id = 'r' + u32();
  return o;
}
const B = (s) => Buffer.from(s, 'utf8');
const cut = (b, i, ins) => Buffer.concat([b.subarray(0, i), ins, b.subarray(i)]);
const inStr = (b) => b.indexOf('"content":"') + 11;
const BADS = [
  ['truncated', 'json', (b) => b.subarray(0, Math.max(2, b.length - 1 - int(Math.min(b.length - 3, 200))))],
  ['trailing_comma', 'json', (b) => Buffer.concat([b.subarray(0, b.length - 1), B(',}')])],
  ['single_quotes', 'json', () => B("{'messages':[]}")],
  ['bare_word', 'json', () => B('{"messages":NaN}')],
  ['ctrl_in_string', 'json', (b) => cut(b, inStr(b), Buffer.from([9]))],
  ['nul_in_string', 'json', (b) => cut(b, inStr(b), Buffer.from([0]))],
  ['bad_escape', 'json', (b) => cut(b, inStr(b), B('\\x41'))],
  ['two_values', 'json', (b) => Buffer.concat([b, B(' '), B('{}')])],
  ['utf8_c0', 'utf8', (b) => cut(b, inStr(b), Buffer.from([0xc0, 0xaf]))],
  ['utf8_trunc', 'utf8', (b) => cut(b, inStr(b), Buffer.from([0xe2, 0x82]))],
  ['utf8_surrogate', 'utf8', (b) => cut(b, inStr(b), Buffer.from([0xed, 0xa0, 0x80]))],
  ['bom_midfile', 'json', (b) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), b])],
  ['lone_surrogate_escape', 'warn', (b) => cut(b, inStr(b), B('\\ud800'))],
  ['dup_key', 'warn', (b) => Buffer.concat([B('{"messages":[],'), b.subarray(1)])],
  ['array_row', 'shape', () => B('[1,2,3]')],
  ['scalar_row', 'shape', () => B('"hello"')],
  ['null_row', 'shape', () => B('null')],
  ['no_messages', 'shape', () => B('{"prompt":"a","completion":"b"}')],
  ['messages_not_array', 'shape', () => B('{"messages":{"role":"user"}}')],
  ['content_number', 'shape', () => B('{"messages":[{"role":"user","content":5}]}')],
  ['bad_role', 'shape', () => B('{"messages":[{"role":"bot","content":"x"}]}')],
  ['no_assistant', 'shape', () => B('{"messages":[{"role":"user","content":"x"}]}')],
  [
    'proto_key',
    'shape',
    () => B('{"__proto__":{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}}'),
  ],
  ['blank', 'blank', () => B('')],
  ['blank_spaces', 'blank', () => B('   ')],
];
const fd = fs.openSync(OUT, 'w'),
  mfd = MAN ? fs.openSync(MAN, 'w') : -1;
const eol = B(EOL);
let pend = [],
  pl = 0,
  total = 0,
  line = 0,
  prev = [],
  nbad = 0,
  ndup = 0,
  first = true;
const flush = () => {
  if (pl) {
    fs.writeSync(fd, Buffer.concat(pend, pl));
    pend = [];
    pl = 0;
  }
};
for (;;) {
  let b,
    kind = null,
    exp = null;
  if (DUP && prev.length && f() < DUP) {
    b = prev[int(prev.length)];
    ndup++;
  } else {
    b = B(JSON.stringify(row()));
    if (prev.length < 512) prev.push(b);
    else prev[int(512)] = b;
  }
  if (BAD && f() < BAD) {
    const k = BADS[int(BADS.length)];
    kind = k[0];
    exp = k[1];
    b = k[2](b);
  }
  const need = b.length + (first ? 0 : eol.length) + (flag('no-final-newline') ? 0 : eol.length);
  if (total + need > BYTES) break;
  if (!first) {
    pend.push(eol);
    pl += eol.length;
    total += eol.length;
  }
  first = false;
  line++;
  if (kind) {
    nbad++;
    if (MAN) fs.writeSync(mfd, JSON.stringify({ line, kind, byteOffset: total, expect: exp }) + '\n');
  }
  pend.push(b);
  pl += b.length;
  total += b.length;
  if (pl > 4 << 20) flush();
}
if (!flag('no-final-newline')) {
  pend.push(eol);
  pl += eol.length;
  total += eol.length;
}
flush();
fs.closeSync(fd);
if (MAN) fs.closeSync(mfd);
console.log(JSON.stringify({ out: OUT, bytes: total, rows: line, bad: nbad, dup: ndup }));
